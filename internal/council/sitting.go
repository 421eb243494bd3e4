package council

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sibyl/internal/bt"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/session"
	"sibyl/internal/run"
)

// MemberPayload requests the answer of one oracle of a sitting, in a run of its own.
type MemberPayload struct {
	Oracle Seat   `json:"oracle"`
	Run    string `json:"run"`
}

// Spoken refers to the answer of an oracle by its record.
type Spoken struct {
	Oracle string `json:"oracle"` // its name
	Ref    int64  `json:"ref"`
}

// MemberReceipt is the answer of an oracle in its own run, or why there is none.
type MemberReceipt struct {
	Run    string  `json:"run"`
	Answer *Answer `json:"answer,omitempty"`
	Failed string  `json:"failed,omitempty"`
	bt.Coded
}

func callOracles() bt.Leaf {
	type in struct {
		Sitting string `port:"sitting" doc:"its name, of which the runs of its oracles have theirs"`
		Oracles []Seat `port:"oracles"`
	}
	type out struct {
		Calls  []MemberPayload `port:"calls" doc:"what each oracle is asked"`
		Events []bt.Typed      `port:",events"`
	}
	return bt.Func("CallOracles", "Gives each oracle a run of its own, and says that it is asked.",
		func(i in, o *out) error {
			o.Calls = nil
			for _, seat := range i.Oracles {
				call := MemberPayload{Oracle: seat, Run: run.IDOf(i.Sitting, seat.ID)}
				o.Calls = append(o.Calls, call)
				o.Events = append(o.Events, OracleAsked{Oracle: seat.Name, ID: seat.ID, Run: call.Run})
			}
			return nil
		})
}

// What is left out of a sitting, and why.
const (
	partChair           = "the chair"
	tooFew    bt.Reason = "sitting.too_few: fewer than two oracles have answered"
	poorChair bt.Reason = "sitting.poor: what the model wrote repeats itself, is longer than the answers, or quotes nobody"
)

func whys() []bt.Reason { return append(allReasons(), tooFew, poorChair) }

func hearOracles() bt.Leaf {
	type in struct {
		Calls []MemberPayload `port:"calls"`
	}
	type out struct {
		Heard  []Heard    `port:"heard"`
		Events []bt.Typed `port:",events"`
	}
	plan := func(i in) (all []bt.Request, _ error) {
		for _, c := range i.Calls {
			all = append(all, bt.Request{Kind: EffectMember, Label: c.Oracle.Name, Payload: c})
		}
		return all, nil
	}
	collect := func(i in, done []bt.Completion, o *out) error {
		o.Heard = nil
		for n, c := range done {
			h := Heard{Seat: i.Calls[n].Oracle}
			r, err := bt.ResultOf[MemberReceipt](c)
			switch {
			case c.Err != nil:
				h.Failed, h.Coded = c.Err.Reason, c.Err.Why().Coded
			case err != nil:
				return err
			case r.Answer == nil:
				h.Run, h.Failed, h.Coded = r.Run, r.Failed, r.Coded
			default:
				h.Run, h.Ref = r.Run, c.Ref
			}
			o.Heard = append(o.Heard, h)
			o.Events = append(o.Events, OracleHeard{Oracle: h.Seat.Name, Run: h.Run, Failed: h.Failed, Coded: h.Coded})
		}
		if len(answersGiven(o.Heard)) == 0 {
			return errors.New("no oracle has answered")
		}
		return nil
	}
	const doc = "Has each oracle answer, by a run of its own, side by side. FAILURE if none does."
	return bt.Task("HearOracles", doc, plan, collect)
}

// answersGiven are the answers of all who have answered.
func answersGiven(heard []Heard) (all []Spoken) {
	for _, h := range heard {
		if h.Ref != 0 {
			all = append(all, Spoken{h.Seat.Name, h.Ref})
		}
	}
	return all
}

// answerAt is the answer of an oracle in the record of its effect.
func answerAt(v *run.View, ref int64) (Answer, error) {
	r, err := run.ResultAt[MemberReceipt](v, ref)
	if err == nil && r.Answer == nil {
		err = fmt.Errorf("record %d holds no answer", ref)
	}
	if err != nil {
		return Answer{}, err
	}
	return *r.Answer, nil
}

// askMember has one oracle answer in its own run. If that run fails, the receipt says why, and there is no error.
func (p *performer) askMember(ctx context.Context, job run.Job, asked MemberPayload) (any, error) {
	if err := p.notDeleted(ctx); err != nil {
		return nil, err
	}
	m, err := p.memberStartOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	r := MemberReceipt{Run: asked.Run}
	outcome, err := p.Within(ctx, p.view.Owner, asked.Run, Options{Session: p.given.Session,
		Oracles: []string{asked.Oracle.ID}, Model: p.env.Model, member: m})
	if errors.Is(err, session.ErrAway) {
		err = folderError(err)
	}
	if err != nil {
		return r, err
	}
	var out Outcome
	if err := json.Unmarshal(outcome, &out); err != nil {
		return nil, err
	}
	if out.Failure != nil { // what had arrived stays in the outcome of that run: half an answer is none
		why := (&bt.Fault{Kind: out.Failure.Kind, Reason: out.Failure.Message}).Why()
		r.Failed, r.Coded = why.Text, why.Coded
		return r, nil
	}
	r.Answer = out.Answer
	return r, nil
}

// stopMember asks the run of an oracle to stop, for a sitting that is to stop.
func (p *performer) stopMember(ctx context.Context, job run.Job) error {
	asked, err := run.PayloadOf[MemberPayload](job)
	if err != nil {
		return err
	}
	return p.Withdraw(ctx, p.view.Owner, asked.Run)
}

// memberStart is what the run of one oracle of a sitting begins with.
type memberStart struct {
	sitting  string
	oracle   persona.Persona
	context  string
	entries  run.Text // of the context
	snapshot session.ContextSnapshot
	language string
}

func (p *performer) memberStartOf(ctx context.Context, asked MemberPayload) (*memberStart, error) {
	m := &memberStart{sitting: p.view.ID, snapshot: p.given.Snapshot, language: p.env.Language}
	oracle, err := p.view.Text(ctx, textOracle+"."+asked.Oracle.ID)
	if err == nil {
		err = json.Unmarshal(oracle, &m.oracle)
	}
	if err != nil {
		return nil, err
	}
	said, err := p.view.Text(ctx, textContext)
	if err != nil {
		return nil, err
	}
	entries, err := p.view.Text(ctx, textEntries)
	m.context, m.entries = string(said), run.Text{Name: textEntries, Content: entries}
	return m, err
}

// readAnswers reads the answers that of refers to.
func (p *performer) readAnswers(of []Spoken) (all []Answer, err error) {
	for _, s := range of {
		a, err := answerAt(p.view, s.Ref)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}
