package service

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"sibyl/internal/assistant"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// Run is a run that this process drives.
type Run struct {
	ID      string
	Session string
	Spec    run.Spec // as it was begun here; empty for one that was resumed

	s    *Service
	a    *assistant.Assistant
	live *run.Live
}

func (s *Service) driven(a *assistant.Assistant, live *run.Live, spec run.Spec) *Run {
	return &Run{ID: live.ID, Session: live.Session, Spec: spec, s: s, a: a, live: live}
}

// Assistant is the name of the run's assistant.
func (r *Run) Assistant() string { return r.a.Name }

// Result is how a run has ended.
type Result struct {
	Run     string
	Status  journal.Status
	Reason  string
	Outcome json.RawMessage // the assistant's own
	assistant.Shown
}

// Wait blocks until the run has ended, and reads what came of it. The error says why it stopped short of an end; it can be resumed then.
func (r *Run) Wait(ctx context.Context) (Result, error) {
	end, err := r.live.Wait(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("run %s stopped short: %w", r.ID, err)
	}
	return result(r.a, r.ID, end)
}

// Result reads what came of a run; journal.ErrNotFound if it has not ended.
func (s *Service) Result(ctx context.Context, owner journal.Owner, id string) (Result, error) {
	_, a, err := s.run(ctx, owner, id)
	if err != nil {
		return Result{}, err
	}
	end, err := run.ReadEnd(ctx, s.config.Store, owner, id)
	if err != nil {
		return Result{}, err
	}
	return result(a, id, end)
}

func result(a *assistant.Assistant, id string, end run.EndRecord) (Result, error) {
	shown, err := a.Show(end.Outcome)
	if err != nil {
		return Result{}, fmt.Errorf("outcome of run %s: %w: %w", id, journal.ErrCorrupt, err)
	}
	return Result{Run: id, Status: end.Status, Reason: end.Reason, Outcome: end.Outcome, Shown: shown}, nil
}

// Watch gives the updates of the run from record number from on until it ends, this process stops driving it, or ctx is done.
func (r *Run) Watch(ctx context.Context, from int64) iter.Seq[Update] {
	return func(yield func(Update) bool) {
		w := &watcher{a: r.a, words: r.s.words[r.a.Name], from: from}
		for u := range r.live.Watch(ctx, 0) {
			for _, e := range w.updates(u) {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Update is one thing that happens in a run. Exactly one of Record, Step, Event, Text, Retract and Wait is set; Lines may stand beside all but
// text.
type Update struct {
	Seq     int64           // the record that it belongs to; of text, the last before it
	Record  *journal.Record // that was appended
	Step    *Step           // that the tree has made
	Event   *Event          // that a leaf of that step has emitted
	Text    string          // provisional: it may be retracted
	Retract bool            // all text of operation Op before it
	Wait    *run.Wait       // that operation Op pauses for
	Op      uint64          // of text and retraction
	Lines   []string        // for somebody who waits
}

// Event is a typed event: its type and its named fields, the rule of the tree that it comes from, and the same in words.
type Event struct {
	Type  string          `json:"type"`
	Data  json.RawMessage `json:"data"`
	Rule  string          `json:"rule"`
	Words string          `json:"words"`
}

// Watch gives the updates of any run of the owner, also of one that another process drives, from record number from on: its records,
// the steps on them with their events, and, while this process drives it, text as it arrives.
func (s *Service) Watch(ctx context.Context, owner journal.Owner, id string, from int64) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		row, err := s.config.Store.Run(ctx, owner, id)
		if err != nil {
			yield(Update{}, err)
			return
		}
		w := &watcher{a: s.byName[row.Assistant], words: s.words[row.Assistant], from: from}
		for u, err := range s.config.Engine.Watch(ctx, owner, id, 0) {
			if err != nil {
				yield(Update{}, err)
				return
			}
			for _, e := range w.updates(u) {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// watcher makes these updates of the engine's.
type watcher struct {
	a     *assistant.Assistant // nil: this program does not have it
	words run.Vocabulary
	from  int64
	start *run.StartRecord
	last  int64
}

func (w *watcher) updates(u run.Update) []Update {
	var all []Update
	switch {
	case u.Piece != nil:
		return []Update{{Seq: w.last, Op: u.Piece.Op, Text: u.Piece.Text, Retract: u.Piece.Retract, Wait: u.Piece.Wait}}
	case u.Record != nil:
		w.last = u.Record.Seq
		if u.Record.Kind == run.KindStart {
			if body, err := run.Read(*u.Record); err == nil {
				w.start = body.(*run.StartRecord)
			}
		}
		all = []Update{{Seq: u.Record.Seq, Record: u.Record, Lines: recordLines(u.Record)}}
	case u.Step != nil:
		step := explained(*u.Step, w.words)
		all = []Update{{Seq: step.Record, Step: &step}}
		for i, e := range u.Step.Events {
			if e.Type == "" {
				continue
			}
			event := Update{Seq: u.Step.Record, Event: &Event{Type: e.Type, Data: e.Data, Rule: e.Rule, Words: step.Words[i]}}
			if w.a != nil && w.a.Lines != nil && w.start != nil {
				event.Lines = w.a.Lines(w.start, w.words.Read(e))
			}
			all = append(all, event)
		}
	}
	if all[0].Seq < w.from {
		return nil
	}
	return all
}

// recordLines tells of records that no event of the tree tells of.
func recordLines(r *journal.Record) []string {
	if r.Kind != run.KindResume && r.Kind != run.KindSuspend {
		return nil
	}
	body, err := run.Read(*r)
	if err != nil {
		return nil
	}
	if s, ok := body.(*run.SuspendRecord); ok {
		return []string{"suspended, to be resumed: " + s.Fault.Reason}
	}
	return []string{"resumed; " + counted(len(body.(*run.ResumeRecord).Repeated), "effect") + " performed again"}
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
