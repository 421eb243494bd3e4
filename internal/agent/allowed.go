package agent

import (
	"fmt"

	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// RunAllowed performs the calls that the person has said yes to, to the letter and once, before the model says anything. They stand in the
// transcript before its first turn.
func RunAllowed() bt.Leaf {
	type in struct {
		Said   Said       `port:"said,optional" doc:"how the words were said, with the calls that they say yes to"`
		Tools  []ToolFact `port:"tools"`
		Ledger Ledger     `port:"ledger,optional"`
	}
	type out struct {
		Used       []string   `port:"used" doc:"the calls that were let through by it"`
		Ledger     Ledger     `port:"ledger"`
		Transcript []Entry    `port:"transcript"`
		Events     []bt.Typed `port:",events"`
	}
	calls := func(i in) callsOf { return allowedCalls(i.Said.Yes, i.Tools, i.Ledger.Labels) }
	enter := func(i in, o *out, do func(of *callsOf, made *callsMade) error) error {
		of := calls(i)
		if len(of.Reply.Calls) == 0 {
			return nil
		}
		made := callsMade{Ledger: o.Ledger.Clone(), Transcript: o.Transcript}
		if len(made.Transcript) == 0 {
			made.Transcript = []Entry{{}}
			made.Ledger.Rounds = append(made.Ledger.Rounds, Round{})
			for _, c := range of.Reply.Calls {
				o.Used = append(o.Used, c.Digest)
			}
		}
		err := do(&of, &made)
		o.Ledger, o.Transcript, o.Events = made.Ledger, made.Transcript, made.Events
		return err
	}
	return bt.Each("RunAllowed", "Makes the calls that the user approved, each once, before the first turn.",
		func(i in) ([]bt.Request, error) {
			of := calls(i)
			return of.requests(), nil
		},
		func(i in, n int, c bt.Completion, o *out) error {
			return enter(i, o, func(of *callsOf, made *callsMade) error { return of.settle(n, c, made) })
		},
		func(i in, o *out) error {
			return enter(i, o, func(of *callsOf, made *callsMade) error {
				of.entry(made)
				return nil
			})
		})
}

// allowedCalls are calls that a yes lets through, as a reply that no model gave.
func allowedCalls(yes []Waiting, tools []ToolFact, labels Labels) callsOf {
	of := callsOf{Tools: tools}
	for k, w := range yes {
		c := proposed(w.call(k), tools)
		v := Verdict{Rule: RuleAllowed, Labels: labels}
		switch t := factOf(tools, w.Tool); {
		case t.Name == "":
			v = Verdict{Refused: notThere.With()}
		case c.Twice != "" || c.Digest != w.Digest():
			v = Verdict{Refused: notSeen.With()}
		}
		of.Reply.Calls, of.Admitted = append(of.Reply.Calls, c), append(of.Admitted, v)
	}
	return of
}

// call is the k-th call that a yes lets through, as a model would have made it.
func (w Waiting) call(k int) model.ToolCall {
	return model.ToolCall{ID: fmt.Sprintf("allowed_%d", k+1), Name: w.Tool, Arguments: w.Arguments}
}

// allowedIn are the calls that a run's words let through.
func allowedIn(v *run.View) (calls []model.ToolCall, err error) {
	var given struct {
		Said Said `port:"said,optional"`
	}
	if err := v.Given(&given); err != nil {
		return nil, err
	}
	for k, w := range given.Said.Yes {
		calls = append(calls, w.call(k))
	}
	return calls, nil
}
