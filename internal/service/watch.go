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

func result(a *assistant.Assistant, id string, end run.EndRecord) (Result, error) {
	shown, err := a.Show(end.Outcome)
	if err != nil {
		return Result{}, fmt.Errorf("outcome of run %s: %w: %w", id, journal.ErrCorrupt, err)
	}
	return Result{Run: id, Status: end.Status, Reason: end.Reason, Outcome: end.Outcome, Shown: shown}, nil
}

// Watch gives the events of the run from record number from on until it ends, this process stops driving it, or ctx is done.
func (r *Run) Watch(ctx context.Context, from int64) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		w := &watcher{a: r.a, words: r.s.words[r.a.Name], from: from}
		for u := range r.live.Watch(ctx, 0) {
			for _, e := range w.events(u) {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Event is one thing that happens in a run. Exactly one of Record, Step, Told, Text and Retract is set; Lines may stand beside all but
// text.
type Event struct {
	Seq     int64           // the record that it belongs to; of text, the last before it
	Record  *journal.Record // that was appended
	Step    *Step           // that the tree has made
	Told    *Told           // what a leaf of that step says it decided
	Text    string          // provisional: it may be retracted
	Retract bool            // all text of operation Op before it
	Op      uint64          // of text and retraction
	Lines   []string        // for somebody who waits
}

// Told is a typed event: its type and its named fields, where in the tree it was told, and the same in words.
type Told struct {
	Type  string          `json:"type"`
	Data  json.RawMessage `json:"data"`
	Rule  string          `json:"rule"`
	Words string          `json:"words"`
}

// Watch gives the events of any run of the owner, also of one that another process drives, from record number from on: its records,
// the steps on them with what they tell, and, while this process drives it, text as it arrives.
func (s *Service) Watch(ctx context.Context, owner journal.Owner, id string, from int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		row, err := s.Store.Run(ctx, owner, id)
		if err != nil {
			yield(Event{}, err)
			return
		}
		w := &watcher{a: s.byName[row.Assistant], words: s.words[row.Assistant], from: from}
		for u, err := range s.Engine.Watch(ctx, owner, id, 0) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, e := range w.events(u) {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// watcher makes events of updates.
type watcher struct {
	a     *assistant.Assistant // nil: this program does not have it
	words run.Vocabulary
	from  int64
	start *run.StartRecord
	last  int64
}

func (w *watcher) events(u run.Update) []Event {
	var all []Event
	switch {
	case u.Piece != nil:
		return []Event{{Seq: w.last, Op: u.Piece.Op, Text: u.Piece.Text, Retract: u.Piece.Retract}}
	case u.Record != nil:
		w.last = u.Record.Seq
		if u.Record.Kind == run.KindStart {
			if body, err := run.Read(*u.Record); err == nil {
				w.start = body.(*run.StartRecord)
			}
		}
		all = []Event{{Seq: u.Record.Seq, Record: u.Record, Lines: resumedLine(u.Record)}}
	case u.Step != nil:
		step := explained(*u.Step, w.words)
		all = []Event{{Seq: step.Record, Step: &step}}
		for i, e := range u.Step.Events {
			if e.Type == "" {
				continue
			}
			told := Event{Seq: u.Step.Record, Told: &Told{Type: e.Type, Data: e.Data, Rule: e.Rule, Words: step.Words[i]}}
			if w.a != nil && w.a.Lines != nil && w.start != nil {
				told.Lines = w.a.Lines(w.start, w.words.Read(e))
			}
			all = append(all, told)
		}
	}
	if all[0].Seq < w.from {
		return nil
	}
	return all
}

func resumedLine(r *journal.Record) []string {
	if r.Kind != run.KindResume {
		return nil
	}
	body, err := run.Read(*r)
	if err != nil {
		return nil
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
