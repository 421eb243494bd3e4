package council

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/prompt"
	"sibyl/internal/council/session"
	"sibyl/internal/run"
)

// MemberPayload asks for the answer of one oracle of a sitting, by a run of its own. From the second round on it is shown what all have answered
// before, by the records of their answers.
type MemberPayload struct {
	Oracle Seat     `json:"oracle"`
	Round  int      `json:"round"`
	Run    string   `json:"run"`
	Own    int64    `json:"own,omitempty"`
	Others []Spoken `json:"others,omitempty"`
}

// Spoken is the answer of an oracle, by its record.
type Spoken struct {
	Oracle string `json:"oracle"` // its name
	Ref    int64  `json:"ref"`
}

// MemberReceipt is how an oracle has answered in its run.
type MemberReceipt struct {
	Run     string  `json:"run"`
	Answer  *Answer `json:"answer,omitempty"`
	Failed  string  `json:"failed,omitempty"`
	Failure string  `json:"failure,omitempty"` // its kind
}

// memberID is the run of an oracle in a round of a sitting, which is named by what it was given as its name.
func memberID(sitting string, round int, oracle string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s", sitting, round, oracle))
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10]))
}

func callOracles() bt.Leaf {
	type in struct {
		Sitting string  `port:"sitting" doc:"its name, of which the runs of its oracles have theirs"`
		Oracles []Seat  `port:"oracles"`
		Heard   []Heard `port:"heard,optional" doc:"how it stands after the round before"`
		Round   int     `port:"round"`
	}
	type out struct {
		Calls  []MemberPayload `port:"calls" doc:"what each oracle is asked in this round"`
		Events []bt.Typed      `port:",events"`
	}
	return bt.Func("CallOracles", "Says what each oracle is asked in this round: the first time the context alone, then with the answers of all. One that has not answered is left out. FAILURE if there is nobody to read of.", func(i in, o *out) error {
		o.Calls = nil
		if len(i.Heard) == 0 {
			for _, seat := range i.Oracles {
				o.Calls = append(o.Calls, MemberPayload{Oracle: seat, Round: i.Round})
			}
		}
		for n, h := range i.Heard {
			if h.Ref == 0 || h.Failed != "" {
				continue
			}
			call := MemberPayload{Oracle: h.Seat, Round: i.Round, Own: h.Ref}
			for m, other := range i.Heard {
				if m != n && other.Ref != 0 {
					call.Others = append(call.Others, Spoken{other.Seat.Name, other.Ref})
				}
			}
			o.Calls = append(o.Calls, call)
		}
		if len(i.Heard) > 0 && len(spoken(i.Heard)) < 2 || len(o.Calls) == 0 {
			o.Calls, o.Events = nil, []bt.Typed{Skipped{partRound.With(i.Round), tooFew.With()}}
			return errors.New(tooFew.With())
		}
		for n := range o.Calls {
			c := &o.Calls[n]
			c.Run = memberID(i.Sitting, c.Round, c.Oracle.ID)
			o.Events = append(o.Events, OracleAsked{Oracle: c.Oracle.Name, ID: c.Oracle.ID, Round: c.Round, Run: c.Run})
		}
		return nil
	})
}

// What is left out of a sitting, and why.
const (
	partRound      bt.Reason = "round %d"
	partComparison bt.Reason = "the comparison by the %s"
	partReview     bt.Reason = "the review"
	partReviewOf   bt.Reason = "the review by %s"
	partChair      bt.Reason = "the chair"
	tooFew         bt.Reason = "fewer than two oracles have answered"
	noReview       bt.Reason = "no oracle gave one: %s"
	leftOut        bt.Reason = "%s: left out, %s"
)

func whys() []bt.Reason {
	return []bt.Reason{partRound, partComparison, partReview, partReviewOf, partChair, tooFew, noReview, leftOut}
}

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
			label := c.Oracle.Name
			if c.Round > 1 {
				label = fmt.Sprintf("%s, round %d", label, c.Round)
			}
			all = append(all, bt.Request{Kind: EffectMember, Label: label, Payload: c})
		}
		return all, nil
	}
	collect := func(i in, done []bt.Completion, o *out) error {
		heard := slices.Clone(o.Heard)
		answered := 0
		for n, c := range done {
			call := i.Calls[n]
			at := slices.IndexFunc(heard, func(h Heard) bool { return h.Seat.ID == call.Oracle.ID })
			if at < 0 {
				at, heard = len(heard), append(heard, Heard{Seat: call.Oracle})
			}
			h := &heard[at]
			h.Round = call.Round
			r, err := bt.ResultOf[MemberReceipt](c)
			switch {
			case c.Err != nil:
				h.Failed = c.Err.Reason
			case err != nil:
				return err
			case r.Answer == nil:
				h.Run, h.Failed = r.Run, r.Failed
			default:
				h.Run, h.Ref, h.Failed = r.Run, c.Ref, ""
				answered++
			}
			o.Events = append(o.Events, OracleHeard{Oracle: call.Oracle.Name, Round: call.Round, Run: h.Run, Failed: h.Failed})
		}
		o.Heard = heard
		if answered == 0 {
			return errors.New("no oracle has answered")
		}
		return nil
	}
	return bt.Task("HearOracles", "Has each oracle answer, by a run of its own, side by side. FAILURE if none does in this round.", plan, collect)
}

func several() bt.Leaf {
	type in struct {
		Heard []Heard `port:"heard"`
		Least int     `port:"least" default:"2" between:"1 100"`
	}
	return bt.Check("Several", "Whether so many oracles have answered.", func(i in) (bool, string) {
		n := len(spoken(i.Heard))
		if n == 0 {
			return i.Least == 0, "no oracle has answered"
		}
		return n >= i.Least, fmt.Sprintf("%d have answered", n)
	})
}

// spoken are the latest answers of all who have answered.
func spoken(heard []Heard) (all []Spoken) {
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

// member has one oracle answer by a run of its own.
func (p *performing) member(ctx context.Context, job run.Job, asked MemberPayload) (any, error) {
	m, err := p.membership(ctx, asked)
	if err != nil {
		return nil, err
	}
	r := MemberReceipt{Run: asked.Run}
	outcome, err := p.Within(ctx, p.view.Owner, asked.Run, Options{Session: p.given.Session, Oracles: []string{asked.Oracle.ID}, Model: p.env.Model, member: m})
	if err != nil {
		return r, err
	}
	var out Outcome
	if err := json.Unmarshal(outcome, &out); err != nil {
		return nil, err
	}
	if out.Failure != nil { // what had arrived stays in the outcome of that run: half an answer is none to be compared
		r.Failed, r.Failure = out.Failure.Message, out.Failure.Kind
		return r, nil
	}
	r.Answer = out.Answer
	return r, nil
}

// withdraw asks the run of an oracle to stop whose answer nobody waits for any more.
func (p *performing) withdraw(ctx context.Context, job run.Job) error {
	asked, err := run.AskedOf[MemberPayload](job)
	if err != nil {
		return err
	}
	return p.Withdraw(ctx, p.view.Owner, asked.Run)
}

// membership is what the run of one oracle begins with, as the sitting has it.
type membership struct {
	sitting  string
	round    int
	oracle   persona.Persona
	entries  []prompt.Entry
	context  string
	snapshot session.ContextSnapshot
	language string
	debate   string
	own      string
	others   string
}

func (p *performing) membership(ctx context.Context, asked MemberPayload) (*membership, error) {
	m := &membership{sitting: p.view.ID, round: asked.Round, snapshot: p.given.Snapshot, language: p.env.Language}
	for name, into := range map[string]any{textOracle + "." + asked.Oracle.ID: &m.oracle, textEntries: &m.entries} {
		content, err := p.view.Text(ctx, name)
		if err == nil {
			err = json.Unmarshal(content, into)
		}
		if err != nil {
			return nil, err
		}
	}
	content, err := p.view.Text(ctx, textContext)
	if err != nil {
		return nil, err
	}
	m.context = string(content)
	if asked.Own != 0 {
		err = p.debating(ctx, m, asked)
	}
	return m, err
}

// debating adds to a membership what an oracle is shown of the answers before.
func (p *performing) debating(ctx context.Context, m *membership, asked MemberPayload) error {
	own, err := answerAt(p.view, asked.Own)
	if err != nil {
		return err
	}
	others, err := p.answers(asked.Others)
	if err != nil {
		return err
	}
	how, err := p.view.Text(ctx, textDebate)
	if err != nil {
		return err
	}
	m.own, m.debate, m.others = own.Text, string(how), prompt.Assemble(asEntries(others), prompt.Options{Language: m.language, History: true}).Text
	c, err := p.contextBeside(ctx, agent.Tokens(m.oracle.Content)+agent.Tokens(m.own)+agent.Tokens(m.debate)+agent.Tokens(m.others))
	if c.Included != nil { // not all of it has room beside the answers
		m.context, m.entries = c.Text, slices.DeleteFunc(m.entries, func(e prompt.Entry) bool { return !slices.Contains(c.Included, e.ID) })
		m.snapshot.Transcripts, m.snapshot.Responses, m.snapshot.TokensEstimate = c.Transcripts, c.Responses, &c.Tokens
		m.snapshot.Entries, m.snapshot.Cut = c.Included, slices.Concat(m.snapshot.Cut, c.Cut)
	}
	return err
}

// asEntries are answers as a context has them.
func asEntries(answers []Answer) (all []prompt.Entry) {
	for _, a := range answers {
		all = append(all, prompt.Entry{ID: fmt.Sprintf("r%d", a.Sequence), Sequence: a.Sequence, Oracle: a.Oracle.Name, At: a.At, Text: a.Text})
	}
	return all
}

// answers reads the answers of records.
func (p *performing) answers(of []Spoken) (all []Answer, err error) {
	for _, s := range of {
		a, err := answerAt(p.view, s.Ref)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}
