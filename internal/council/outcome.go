package council

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/assistant"
	"sibyl/internal/bt"
	"sibyl/internal/council/digest"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// Outcome is what comes of a run. By its kind there is one Answer, the Answers of a sitting with what was made of them, or Recordings.
type Outcome struct {
	Kind     string   `json:"kind"`
	Run      string   `json:"run_id"`
	Session  string   `json:"session_id"`
	Name     string   `json:"name,omitempty"` // of the session
	Model    string   `json:"model,omitempty"`
	Language string   `json:"language,omitempty"`
	Cut      string   `json:"cut,omitempty"`
	Left     []string `json:"left_out,omitempty"`

	Answer  *Answer  `json:"answer,omitempty"`
	Answers []Answer `json:"answers,omitempty"`
	Silent  []Silent `json:"without_answer,omitempty"`

	Comparison *digest.Comparison  `json:"comparison,omitempty"`
	Ranks      []Rank              `json:"ranks,omitempty"`
	Reviews    map[string][]Review `json:"reviews,omitempty"` // by reviewer
	Seed       int64               `json:"seed,omitempty"`
	Chair      *Answer             `json:"chair,omitempty"`
	Sentences  []Sentence          `json:"sentences,omitempty"` // of the chair
	Skipped    []Skipped           `json:"skipped,omitempty"`

	Recordings []TranscriptReceipt `json:"recordings,omitempty"`
	Failed     []Recording         `json:"failed,omitempty"`

	Failure *Failure `json:"failure,omitempty"`
}

// Answer is one that an oracle, or a chair, has given. File is where it lies in the session's folder; Unsaved says why it does not.
type Answer struct {
	Oracle   Seat                    `json:"oracle"`
	Round    int                     `json:"round,omitempty"`
	Run      string                  `json:"run_id"`
	Sequence int                     `json:"sequence,omitempty"`
	File     string                  `json:"response_filename,omitempty"`
	Unsaved  string                  `json:"unsaved,omitempty"`
	Text     string                  `json:"text"`
	Model    string                  `json:"model"`
	Usage    model.Usage             `json:"usage"`
	At       time.Time               `json:"created_at"`
	Snapshot session.ContextSnapshot `json:"context_snapshot"`
	CutOff   bool                    `json:"cut_off,omitempty"` // the model's limit of output was reached
}

// Silent is an oracle that gave no answer.
type Silent struct {
	Oracle string `json:"oracle"`
	Run    string `json:"run_id,omitempty"`
	Reason string `json:"reason"`
}

// Failure is why a run gave nothing.
type Failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// Turn is what the journal's row keeps of a run.
type Turn struct {
	Kind    string `json:"kind"`
	Session string `json:"session_id"`
	Unsaved bool   `json:"unsaved,omitempty"`
}

// Unsaved is the pending row of an answer that could not be written.
const kindUnsaved = "council.unsaved"

// unsaved is what such a row holds.
type unsaved struct {
	Session string           `json:"session"`
	Entry   session.LlmEntry `json:"entry"`
	Slug    string           `json:"slug"`
	Text    string           `json:"text"`
}

// outcome is what comes of an ended tree.
func outcome(v *run.View, e run.Ending) run.Outcome {
	c := composer{performing: performing{view: v}, receipts: map[int64]*run.CompletionRecord{}}
	_ = c.read() // a run that did not begin as it should has nothing to show
	var w wanted
	if e.Tree != nil && e.State != nil {
		e.Tree.Read(e.State, &w)
	}
	o := Outcome{Kind: c.given.Kind, Run: v.ID, Session: c.given.Session, Name: c.env.Name, Model: c.env.Model, Language: c.env.Language, Cut: c.env.Cut, Left: c.env.Left}
	c.compose(&o, w)
	r := run.Outcome{Status: journal.Done, Reason: "answered"}
	if c.given.Kind == KindTranscription {
		r.Reason = "transcribed"
	}
	switch {
	case e.Cancelled:
		r.Status, r.Reason = journal.Cancelled, "stopped"
		o.Failure = &Failure{run.KindCancelled, "it was stopped"}
	case e.Suspended:
		r.Status, r.Reason = journal.Running, "suspended"
	case e.Status != bt.Success:
		f := cmp.Or(e.Fault, &bt.Fault{Kind: "tree", Reason: "the tree gave up"})
		r.Status, r.Reason = journal.Failed, "failed"
		o.Failure = &Failure{f.Kind, f.Reason}
	}
	r.Result, r.Summary = o, Turn{o.Kind, o.Session, c.unsaved != nil}
	if c.unsaved != nil && !e.Suspended {
		data, _ := json.Marshal(c.unsaved) // texts and times alone
		r.Pending = []journal.Pending{{ID: v.ID, Kind: kindUnsaved, Data: data}}
	}
	return r
}

// composer makes an outcome of receipts.
type composer struct {
	performing
	receipts map[int64]*run.CompletionRecord
	unsaved  *unsaved
}

func (c *composer) compose(o *Outcome, w wanted) {
	at := map[int64]*Answer{}
	kept := map[int64]*run.CompletionRecord{}
	for seq, done := range c.view.Receipts() {
		switch r := done.Value.(type) {
		case ReplyReceipt:
			if done.Err == nil || r.Text != "" {
				at[seq] = &Answer{Oracle: c.seat(), Round: c.given.Round, Run: c.view.ID, Text: r.Text, Model: r.Model, Usage: r.Usage, At: c.at(seq), Snapshot: c.given.Snapshot,
					CutOff: r.Finish == string(model.FinishLength) || done.Err != nil}
				o.Answer = at[seq]
			}
		case ChairReceipt:
			if done.Err == nil {
				at[seq] = &Answer{Oracle: c.given.Chair, Run: c.view.ID, Text: r.Text, Model: r.Model, Usage: r.Usage, At: c.at(seq), Snapshot: c.given.Snapshot}
				o.Chair, o.Sentences = at[seq], r.Sentences
			}
		case CompareReceipt:
			if done.Err == nil {
				o.Comparison = &r.Comparison
			}
		case ReviewReceipt:
			if asked, ok := done.Asked.(ReviewPayload); ok && done.Err == nil {
				if o.Reviews == nil {
					o.Reviews = map[string][]Review{}
				}
				o.Reviews[asked.Reviewer.Name] = r.Reviews
			}
		case TranscriptReceipt:
			if done.Err == nil {
				o.Recordings = append(o.Recordings, r)
			}
		}
		if p, ok := done.Asked.(KeepPayload); ok {
			kept[p.Reply] = done
		}
	}
	for seq, a := range at {
		c.place(a, seq, kept[seq])
	}
	c.seats(o, w)
	if len(o.Reviews) > 0 {
		var names []string
		for _, a := range o.Answers {
			names = append(names, a.Oracle.Name)
		}
		o.Ranks, o.Seed = tally(names, o.Reviews), c.given.Seed
	}
	for _, r := range w.Tried {
		if r.Failed != "" {
			o.Failed = append(o.Failed, r)
		}
	}
}

// place says where an answer lies, or that it has to be written yet.
func (c *composer) place(a *Answer, seq int64, done *run.CompletionRecord) {
	if done == nil {
		return // it was stopped before
	}
	if r, ok := done.Value.(KeepReceipt); ok && done.Err == nil {
		a.Sequence, a.File = r.Sequence, r.File
		return
	}
	a.Unsaved = "it could not be written into the session's folder"
	if done.Err != nil {
		a.Unsaved = done.Err.Reason
	}
	if p, ok := done.Asked.(KeepPayload); ok {
		if r, err := c.response(p); err == nil {
			c.unsaved = &unsaved{p.Session, r.LlmEntry, r.Slug, r.Text}
		}
	}
}

// seats are the oracles of a sitting, in the order in which they were named.
func (c *composer) seats(o *Outcome, w wanted) {
	for _, h := range w.Heard {
		if h.Failed != "" {
			o.Silent = append(o.Silent, Silent{h.Seat.Name, h.Run, h.Failed})
		}
		if h.Ref != 0 {
			if a, err := answerAt(c.view, h.Ref); err == nil {
				o.Answers = append(o.Answers, a)
			}
		}
	}
}

func (c *composer) seat() Seat {
	if len(c.given.Oracles) == 0 {
		return Seat{}
	}
	return c.given.Oracles[0]
}

func (c *composer) at(seq int64) time.Time { return c.view.Records()[seq].At.UTC() }

// show reads an outcome for people.
func show(outcome json.RawMessage) (s assistant.Shown, err error) {
	var o Outcome
	if err := json.Unmarshal(outcome, &o); err != nil {
		return s, err
	}
	s.Question, s.Answer, s.Footer = o.question(), strings.TrimSpace(o.Markdown()), o.footer()
	s.Ending = []string{o.footer()}
	if o.Cut != "" {
		s.Warnings = append(s.Warnings, "not all fits into the model's window: "+o.Cut)
	}
	s.Warnings = append(s.Warnings, o.Left...)
	for _, a := range o.all() {
		if a.Unsaved != "" {
			s.Warnings = append(s.Warnings, fmt.Sprintf("the answer of %s is not in the session's folder (%s): it stays in the journal, and is written as soon as that can be", a.Oracle.Name, a.Unsaved))
		}
		if a.CutOff {
			s.Warnings = append(s.Warnings, "the answer of "+a.Oracle.Name+" is cut off")
		}
		if a.File != "" {
			s.Sources = append(s.Sources, a.File)
		}
	}
	for _, one := range o.Silent {
		s.Warnings = append(s.Warnings, one.Oracle+" gave no answer: "+one.Reason)
	}
	for _, f := range o.Failed {
		s.Warnings = append(s.Warnings, fmt.Sprintf("recording %d could not be transcribed, and is kept: %s", f.Sequence, f.Failed))
	}
	for _, one := range o.Skipped {
		s.Warnings = append(s.Warnings, one.String())
	}
	s.Partial = len(o.Silent) > 0 || len(o.Failed) > 0
	if o.Failure != nil {
		s.Failure = &assistant.Failure{Kind: o.Failure.Kind, Message: o.Failure.Message, Hint: "nothing of the session is changed: ask again"}
	}
	return s, nil
}

// all are the answers of the outcome, of whatever kind.
func (o *Outcome) all() (all []Answer) {
	all = slices.Clone(o.Answers)
	if o.Answer != nil {
		all = append(all, *o.Answer)
	}
	if o.Chair != nil {
		all = append(all, *o.Chair)
	}
	return all
}

func (o *Outcome) question() string {
	name := cmp.Or(o.Name, o.Session)
	switch o.Kind {
	case KindTranscription:
		return "transcribing " + name
	case KindNaming:
		return "a name for " + name
	}
	var oracles []string
	for _, a := range o.Answers {
		oracles = append(oracles, a.Oracle.Name)
	}
	if o.Answer != nil {
		oracles = append(oracles, o.Answer.Oracle.Name)
	}
	if len(oracles) == 0 {
		return name
	}
	return strings.Join(oracles, ", ") + " on " + name
}

func (o *Outcome) footer() string {
	var all []string
	if o.Model != "" {
		all = append(all, o.Model)
	}
	if n := len(o.Recordings); n > 0 {
		all = append(all, agent.Counted(n, "recording"))
	}
	if o.Failure != nil {
		all = append(all, "no answer: "+o.Failure.Message)
	}
	var files []string
	for _, a := range o.all() {
		if a.File != "" {
			files = append(files, a.File)
		}
	}
	if len(files) > 0 {
		all = append(all, "kept as "+strings.Join(files, ", "))
	}
	return fmt.Sprintf("*session %s; %s*", o.Session, strings.Join(all, "; "))
}
