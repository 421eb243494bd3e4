package inquiry

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/text"
)

// mostFailed is the number of failed analyses in a row that ends an inquiry.
const mostFailed = 3

// mostRepairs is how often a detective is asked for one question again because its reply is unusable.
const mostRepairs = 2

// mostWords bounds a provider's error message, in characters.
const mostWords = 240

// suspendedBy is the error of an effect whose detective failed. The inquiry has failed, and its run is suspended until
// it is resumed; if ctx ended, the error is only a fault.
func suspendedBy(ctx context.Context, err error) error {
	fault := faultOf(err)
	if ctx.Err() != nil {
		return fault
	}
	return &run.Suspended{Fault: fault}
}

// faultOf is the fault of an effect whose model failed, in words for people.
func faultOf(err error) *bt.Fault {
	why := &bt.Fault{Kind: string(model.KindOf(err)), Reason: err.Error()}
	if e, ok := errors.AsType[*model.Error](err); ok {
		why.Reason, why.Unsent = failureLine(e.Model, e.Status, e.Kind), e.Unsent
		if e.Message != "" {
			why.Reason += ": " + text.Brief(e.Message, mostWords)
		}
	}
	return why
}

// failureLine is a model's failure in a few words: the model, the HTTP status, and what it means.
func failureLine(id string, status int, kind model.Kind) string {
	words := kind.Words()
	if status != 0 {
		words = fmt.Sprintf("%d - %s", status, words)
	}
	return id + ": " + words
}

func trailEvent(err *bt.Fault) record.EventKind {
	if err.Kind == string(model.Timeout) {
		return record.TimeoutEvent
	}
	return record.ErrorEvent
}

func withFailure(trail []Trail, ref int64, err *bt.Fault) []Trail {
	return append(slices.Clip(trail), newTrail(ref, trailEvent(err), err.Why()))
}

// withTimeouts adds an entry for each time-out after which the same model was asked again.
func withTimeouts(trail []Trail, ref int64, timedOut []model.Try) []Trail {
	trail = slices.Clip(trail)
	for _, t := range timedOut {
		trail = append(trail, newTrail(ref, record.TimeoutEvent, askedAgain.With(attemptFault(t).Why())))
	}
	return trail
}

// withCut adds an entry if a request was cut, so that it fits into the model's window: one, since those after it are.
func withCut(trail []Trail, ref int64, sent model.Sent) []Trail {
	told := slices.ContainsFunc(trail, func(t Trail) bool { return t.Code == agent.SaidCut.Code() })
	if sent.Cut == 0 || told {
		return trail
	}
	return append(slices.Clip(trail), newTrail(ref, record.ErrorEvent, agent.SaidCut.With(sent.Cut)))
}

// attemptFault is the fault of an attempt in a few words.
func attemptFault(t model.Try) *bt.Fault {
	return &bt.Fault{Kind: string(t.Kind), Reason: failureLine(t.Model, t.Status, t.Kind)}
}

// withNotes adds an entry for each note of a witness that is not in the trail yet, and returns these notes: a model
// that fails at each question is told once.
func withNotes(trail []Trail, ref int64, notes []bt.Why) (_ []Trail, fresh []bt.Why) {
	trail = slices.Clip(trail)
	for _, note := range notes {
		failed := note.Values["model"].Text
		isTold := func(t Trail) bool {
			same := t.Code == note.Code && t.Values["model"].Text == failed &&
				t.Values["by"].Text == note.Values["by"].Text && t.Values["why"].Code == note.Values["why"].Code
			return t.Reason == note.Text || note.Values["why"].Code != "" && (same || failed != "" && t.From == failed)
		}
		if slices.ContainsFunc(trail, isTold) {
			continue
		}
		event := record.ErrorEvent
		if note.Values["why"].Code == (&bt.Fault{Kind: string(model.Timeout)}).Why().Code {
			event = record.TimeoutEvent
		}
		trail, fresh = append(trail, newTrail(ref, event, note)), append(fresh, note)
	}
	return trail, fresh
}

// withSwitch adds an entry and an event if another model answered than before: once for each switch, not for each
// answer of the new model. A time-out that caused the switch has an entry of its own.
func withSwitch(trail []Trail, ref int64, detective string, tries []model.Try, by string) ([]Trail, []bt.Typed) {
	last := detective
	for _, t := range trail {
		if t.Event == string(record.ProviderSwitch) {
			last = t.To
		}
	}
	if by == last || by == model.OfflineRules {
		return trail, nil
	}
	var events []bt.Typed
	trail = slices.Clip(trail)
	add := func(from, to string, why bt.Why) {
		entry := newTrail(ref, record.ProviderSwitch, why)
		entry.From, entry.To = from, to
		trail = append(trail, entry)
		events = append(events, DetectiveSwitched{from, to, why.Text, why.Coded})
	}
	if len(tries) == 0 {
		add(last, by, answersAgain.With(by))
	}
	for n, t := range tries {
		to := by
		if n+1 < len(tries) {
			to = tries[n+1].Model
		}
		why := attemptFault(t)
		switch {
		case t.Cooling:
			why.Reason = t.String()
		case t.Kind == model.Timeout:
			trail = append(trail, newTrail(ref, record.TimeoutEvent, why.Why()))
		}
		add(t.Model, to, why.Why())
	}
	return trail, events
}
