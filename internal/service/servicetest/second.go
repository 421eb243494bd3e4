// Package servicetest holds a second kind of assistant: a panel, whose personas answer at the same time. It knows
// contracts alone.
package servicetest

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
)

// Trees holds panel.xml.
//
//go:embed panel.xml
var Trees embed.FS

// Answered is the event of an answer.
type Answered struct{ Persona, Answer string }

// EventType implements bt.Typed.
func (Answered) EventType() string { return "answered" }

// Story implements bt.Narrated.
func (a Answered) Story() bt.Why { return bt.Because(a.Persona + ": " + a.Answer) }

type question struct {
	Words string `port:"words"` // with the summary of the run before
	Names string `port:"names"` // of personas, with spaces between
}

type answers struct {
	Answers []Answered `port:"answers,optional"`
	Events  []bt.Typed `port:",events" json:"-"`
}

// Asked is the payload of an effect, whose result is a text.
type Asked struct{ Persona, Words string }

// Describe makes a panel. ask performs its effects; store has the earlier runs.
func Describe(store journal.Store, ask run.Performer) (*assistant.Assistant, error) {
	leaves, err := bt.NewLeaves(bt.Task("Ask", "asks personas", func(q question) (all []bt.Request, _ error) {
		for name := range strings.FieldsSeq(q.Names) {
			all = append(all, bt.Request{Kind: "persona", Label: name, Payload: Asked{name, q.Words}})
		}
		return all, nil
	}, func(q question, done []bt.Completion, out *answers) (err error) {
		for i, c := range done {
			answer, resultErr := bt.ResultOf[string](c)
			if err = errors.Join(err, resultErr); c.Err == nil {
				a := Answered{strings.Fields(q.Names)[i], answer}
				out.Answers, out.Events = append(out.Answers, a), append(out.Events, a)
			}
		}
		if len(out.Answers) == 0 {
			return errors.New("nobody answered")
		}
		return err
	}))
	given, givenErr := bt.Ports[question]()
	wanted, wantedErr := bt.Ports[answers]()
	a := &run.Assistant{Name: "panel", Leaves: leaves, Options: bt.Options{Given: given, Wanted: wanted},
		Outcome: outcome,
		Open: func(context.Context, *run.View) (map[string]run.Performer, func(), error) {
			return map[string]run.Performer{"persona": ask}, nil, nil
		}}
	return &assistant.Assistant{Assistant: a, About: "asks several personas", Tree: "panel",
		Events: []bt.Typed{Answered{}}, Show: show,
		Begin: func(ctx context.Context, b assistant.Request) (run.Spec, error) {
			names, ok := b.Options.(string)
			if said, is := b.Options.(options); is {
				if names, ok = strings.Join(said.Personas, " "), true; names == "" {
					return run.Spec{}, &assistant.RequestError{Why: bt.Because("a panel wants personas"),
						Hint: `say {"personas": ["ada"]}`}
				}
			}
			past, err := store.Runs(ctx, b.Owner, journal.Filter{Session: b.Session, Limit: 1, Summaries: true})
			if !ok || b.Words == "" || err != nil {
				return run.Spec{}, errors.Join(errors.New("a panel wants words, and names as its options"), err)
			}
			q := question{b.Words, names}
			if b.Session != "" { // its runs are in past
				q.Words += " after " + string(past[0].Summary)
			}
			return run.Spec{Title: b.Words, Given: q}, nil
		},
		Options: schema.Of[options](),
		Effect:  func(c *run.CompletionRecord) any { return map[string]int{"bytes": len(c.Result)} },
		Audit: func(_ []any, steps []run.TraceStep) assistant.Findings {
			return assistant.Findings{Name: "steps_taken", Items: len(steps),
				Text: []assistant.Finding{{Line: "it took steps"}}}
		}}, errors.Join(err, givenErr, wantedErr)
}

// options are what a panel can be told from elsewhere; in this program, a text of names says the same.
type options struct {
	Personas []string `json:"personas,omitempty" doc:"who is asked"`
}

type minutes struct {
	question
	answers
}

func outcome(v *run.View, e run.Ending) run.Outcome {
	var of minutes
	err := v.Given(&of.question)
	e.Tree.Read(e.State, &of.answers)
	switch {
	case e.Cancelled:
		return run.Outcome{Status: journal.Cancelled, Reason: "stopped", Result: of}
	case err != nil || e.Status != bt.Success:
		return run.Outcome{Status: journal.Failed, Reason: "silent", Result: of}
	}
	return run.Outcome{Status: journal.Done, Reason: "heard", Result: of, Summary: of.Answers}
}

func show(raw json.RawMessage) (s assistant.Shown, err error) {
	var of minutes
	err = json.Unmarshal(raw, &of)
	s = assistant.Shown{Question: of.Words, Partial: len(of.Answers) < len(strings.Fields(of.Names)),
		Ending: []string{"asked " + of.Names}, Footer: "*a panel*"}
	for _, a := range of.Answers {
		s.Answer += "- " + a.Story().Text + "\n"
	}
	if s.Answer == "" {
		s.Failure = &assistant.Failure{Kind: "silent", Message: "nobody answered"}
	}
	return s, err
}
