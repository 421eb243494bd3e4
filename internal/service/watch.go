package service

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// Run is a run that this process drives.
type Run struct {
	ID      string
	Session string
	Spec    run.Spec // that it was begun with here; empty if it was resumed
	Before  int64    // how many records it had when it was resumed here; 0: it was begun here
	// the model with which sessions of its assistant begin from now on; "": none, or the same as before
	Remembered string

	s    *Service
	a    *assistant.Assistant
	live *run.Live
}

func (s *Service) newRun(a *assistant.Assistant, live *run.Live, spec run.Spec) *Run {
	return &Run{ID: live.ID, Session: live.Session, Spec: spec, s: s, a: a, live: live}
}

// Assistant returns the name of the run's assistant.
func (r *Run) Assistant() string { return r.a.Name }

// Result is the outcome of a run: in the format of its assistant, and as it is shown to people.
type Result struct {
	Run     string          `json:"-"`
	Status  journal.Status  `json:"-"`
	Reason  string          `json:"-"`
	Outcome json.RawMessage `json:"outcome" doc:"In the form of the assistant."`
	assistant.Shown
	HTML *ResultHTML `json:"html,omitempty" doc:"Answer and footer as HTML in which nothing runs, if it was asked for."`
}

// ResultHTML is the Markdown of a result as HTML.
type ResultHTML struct {
	Answer string `json:"answer"`
	Footer string `json:"footer"`
}

// AddHTML adds answer and footer as HTML. In the answer, buttons with the numbers of the sources replace citations.
func (r *Result) AddHTML() {
	var cited []render.Citation
	for _, c := range r.Citations {
		cited = append(cited, render.Citation{Text: c.Text, Number: c.Number, Unread: !c.Read})
	}
	r.HTML = &ResultHTML{render.HTML(r.Answer, cited...), render.HTML(r.Footer)}
}

// Wait waits until the run has ended, and gives its outcome; for a suspended run, with Status Running, the outcome so
// far. An error says why this process stopped driving the run before its end, or that ctx is done.
func (r *Run) Wait(ctx context.Context) (Result, error) {
	end, err := r.live.Wait(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("run %s stopped short: %w", r.ID, err)
	}
	return readResult(r.a, r.ID, end)
}

// Result gives the outcome of a run; journal.ErrNotFound if it has not ended.
func (s *Service) Result(ctx context.Context, owner journal.Owner, id string) (Result, error) {
	_, a, err := s.runAndAssistant(ctx, owner, id)
	if err != nil {
		return Result{}, err
	}
	end, err := run.ReadEnd(ctx, s.config.Store, owner, id)
	if err != nil {
		return Result{}, err
	}
	return readResult(a, id, end)
}

func readResult(a *assistant.Assistant, id string, end run.EndRecord) (Result, error) {
	shown, err := a.Show(end.Outcome)
	if err != nil {
		return Result{}, fmt.Errorf("outcome of run %s: %w: %w", id, journal.ErrCorrupt, err)
	}
	return Result{Run: id, Status: end.Status, Reason: end.Reason, Outcome: end.Outcome, Shown: shown}, nil
}

// Watch gives the updates of the run from record number from on, until the run ends, this process stops driving it, or
// ctx is done. It skips what can't be converted.
func (r *Run) Watch(ctx context.Context, from int64) iter.Seq[Update] {
	return func(yield func(Update) bool) {
		w := &watcher{a: r.a, words: r.s.words[r.a.Name], from: Place{Record: from}}
		for u := range r.live.Watch(ctx, 0) {
			all, _ := w.updatesFor(u) // an error skips the update
			for _, e := range all {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Update is one thing that happens in a run. Exactly one of Record, Step, Event, Text, Retract, Wait, Reading, Thought
// and Left is set; Told may accompany Record and Event. What an Update points to must not be changed.
type Update struct {
	Seq     int64                // the record that it belongs to; of text, the last before it
	After   Place                // where a watch that has it continues
	Record  *journal.Record      // that was appended
	Step    *Step                // that the tree has made
	Event   *Event               // that a leaf of that step has emitted
	Early   *assistant.EarlyPart // with Record: a part of the answer
	Used    assistant.Usage      // with Record: the usage that its receipt reports
	Text    string               // provisional: it may be retracted
	Draft   []byte               // with Text: all text of operation Op so far
	Stands  int                  // with Draft: how many bytes of it nothing is expected to replace
	Retract bool                 // all text of operation Op until now
	Wait    *run.Wait            // that operation Op pauses for
	Reading *run.Reading         // by the model of operation Op
	Thought []byte               // the last of what the model of operation Op thinks, by now
	Left    bool                 // this process no longer drives the run: all provisional text is void
	Op      uint64               // of Text, Retract, Wait, Reading and Thought
	Told    bt.Why               // what to tell people of it; without text: nothing
}

// Watch gives the updates of any run of the owner, also of one that another process drives, from a place on: its
// records, the steps on them with their events, and, while this process drives it, text as it arrives. It ends with the
// run.
func (s *Service) Watch(ctx context.Context, owner journal.Owner, id string, from Place) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		row, err := s.config.Store.Run(ctx, owner, id)
		if err != nil {
			yield(Update{}, err)
			return
		}
		s.watch(ctx, row, from)(yield)
	}
}

func (s *Service) watch(ctx context.Context, row journal.Run, from Place) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		w := &watcher{a: s.byName[row.Assistant], words: s.words[row.Assistant], from: from}
		for u, err := range s.config.Engine.Watch(ctx, row.Owner, row.ID, 0) {
			var all []Update
			if err == nil {
				all, err = w.updatesFor(u)
			}
			if err != nil {
				yield(Update{}, err)
				return
			}
			for _, e := range all {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// Await watches a run until it has ended or nobody drives it, and gives its row. As a watch does not notice the latter,
// it reads the row at the interval every. onUpdate gets each update, and nil whenever the row still says running. A
// panic in the watch is an error.
func (s *Service) Await(
	ctx context.Context, owner journal.Owner, id string, every time.Duration, onUpdate func(*Update),
) (Row, error) {
	in, stop := Receive(ctx, "run "+id, 0, func(ctx context.Context) iter.Seq2[Update, error] {
		return s.Watch(ctx, owner, id, Place{})
	})
	defer stop()
	recheck := time.NewTicker(every)
	defer recheck.Stop()
	for {
		select {
		case u, more := <-in:
			switch {
			case ctx.Err() != nil: // the watch ended with ctx, not with the run
				return Row{}, ctx.Err()
			case u.Err != nil:
				return Row{}, u.Err
			case !more:
				return s.Run(ctx, owner, id)
			}
			onUpdate(&u.One)
		case <-recheck.C:
			if r, err := s.Run(ctx, owner, id); err != nil || r.State != run.StateRunning || r.Cause == run.CauseQueued {
				return r, err // also queued or paused
			}
			onUpdate(nil)
		case <-ctx.Done():
			return Row{}, ctx.Err()
		}
	}
}

// Received is an item of a sequence.
type Received[T any] struct {
	One T
	Err error
}

// Receive runs a sequence in a goroutine, and sends what it gives to a channel with a buffer of ahead, until it ends or
// stop is called; stop returns once the goroutine has ended. A panic there is sent as the last error, and names what.
func Receive[T any](
	ctx context.Context, what string, ahead int, from func(context.Context) iter.Seq2[T, error],
) (in <-chan Received[T], stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan Received[T], ahead)
	deliver := func(r Received[T]) bool {
		select {
		case out <- r:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer close(out)
		defer func() {
			if thrown := recover(); thrown != nil { // not its value, which may contain a user's words
				deliver(Received[T]{Err: fmt.Errorf("watching %s panicked: %T", what, thrown)})
			}
		}()
		for one, err := range from(ctx) {
			if !deliver(Received[T]{one, err}) || err != nil {
				return
			}
		}
	}()
	return out, func() {
		cancel()
		for range out { // until it is closed
		}
	}
}

// watcher converts the engine's updates of one run to those of this package.
type watcher struct {
	a       *assistant.Assistant // nil: this program does not have the assistant
	words   run.Vocabulary
	from    Place
	reached Place // after the last update of the engine that was converted
}

// updatesFor converts one update of the engine, and leaves out what comes before w.from. A panic of an assistant's code
// is an error of this watch only.
func (w *watcher) updatesFor(u run.Update) (all []Update, err error) {
	defer func() {
		if r := recover(); r != nil {
			// not the value of the panic, which may contain a user's words
			all, err = nil, fmt.Errorf("telling what happens in a run panicked: %T", r)
		}
	}()
	switch {
	case u.Left:
		return []Update{{Seq: w.reached.Record, After: w.continuationPlace(), Left: true}}, nil
	case u.Piece != nil:
		if receipt := (Place{Record: u.Settled}); u.Settled > 0 && receipt.Compare(w.from) < 0 {
			return nil, nil // whoever watches from there has the result already
		}
		return []Update{{Seq: w.reached.Record, After: w.continuationPlace(), Op: u.Piece.Op, Text: u.Piece.Text,
			Draft: u.Draft, Stands: u.Piece.Stands, Retract: u.Piece.Retract, Wait: u.Piece.Wait,
			Reading: u.Piece.Reading, Thought: u.Thought}}, nil
	}
	for _, one := range w.convert(u) {
		if w.reached = one.After; w.reached.Compare(w.from) > 0 {
			all = append(all, one)
		}
	}
	return all, nil
}

// convert gives the updates for a record or a step, each with its place.
func (w *watcher) convert(u run.Update) (all []Update) {
	var at Place
	if u.Record != nil {
		at.Record = u.Record.Seq
		all = []Update{w.recordUpdate(u.Record)}
	} else {
		at = Place{Record: u.Step.Record, Updates: 1} // after the record
		all = w.stepUpdates(u.Step)
	}
	for i := range all {
		at.Updates++
		all[i].Seq, all[i].After = at.Record, at
	}
	return all
}

// recordUpdate gives the update for a record; one that can't be read tells nothing.
func (w *watcher) recordUpdate(r *journal.Record) Update {
	body, err := run.Read(*r)
	if err != nil {
		return Update{Record: r}
	}
	u := Update{Record: r, Told: recordStory(r.Seq, body)}
	switch body := body.(type) {
	case *run.StartRecord:
		if w.a != nil && w.a.Begun != nil {
			u.Told = w.a.Begun(body)
		}
	case *run.CompletionRecord:
		if w.a == nil {
			break
		}
		if w.a.Early != nil {
			u.Early = w.a.Early(body)
		}
		if used, ok := usageReader(w.a)(body); ok {
			u.Used = assistant.UsageOf(used)
		}
	}
	return u
}

// stepUpdates gives the updates for a step and its events.
func (w *watcher) stepUpdates(traced *run.TraceStep) []Update {
	step := newStep(*traced, w.words)
	all := []Update{{Step: &step}}
	for i, e := range step.Events {
		if e.Type == "" {
			continue
		}
		all = append(all, Update{Event: &step.Events[i], Told: e.Why})
	}
	return all
}

// continuationPlace is where a watch continues if this one stops now: not before its own beginning.
func (w *watcher) continuationPlace() Place {
	if w.reached.Compare(w.from) < 0 {
		return w.from
	}
	return w.reached
}

// recordStory tells of the records that no event of the tree reports; the text is empty for the others.
func recordStory(seq int64, body any) bt.Why {
	switch body := body.(type) {
	case *run.SuspendRecord:
		return runSuspended.With(body.Fault.Why())
	case *run.LeaveRecord:
		return runLeft.With()
	case *run.ResumeRecord:
		if seq == 1 && len(body.Repeated) == 0 {
			return runTakenUp.With()
		}
		return runResumed.With(len(body.Repeated))
	}
	return bt.Why{}
}
