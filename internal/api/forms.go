package api

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/assistant"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/run/audit"
	"sibyl/internal/service"
)

// Run is a run as lists have it.
type Run struct {
	ID        string         `json:"id"`
	Session   string         `json:"session_id"`
	Assistant string         `json:"assistant"`
	Companion bool           `json:"companion" doc:"It goes along with a run of another assistant, and is nothing that its user asked for."`
	Title     string         `json:"title" doc:"The words that it began with, shortened."`
	Status    journal.Status `json:"status" enum:"running,done,failed,cancelled,needs_user"`
	State     string         `json:"state" doc:"How it stands, in a word: running, queued, suspended, interrupted, set_aside, or why it ended."`
	Why       string         `json:"why,omitempty" doc:"Of a run that is set aside: why only a person may have it gone on with."`
	Reason    string         `json:"reason,omitempty" doc:"Why it ended, in a word of its assistant."`
	StartedAt time.Time      `json:"started_at"`
	EndedAt   time.Time      `json:"ended_at,omitzero"`
	Records   int64          `json:"records" doc:"How many things the journal has of it."`
}

func (s *Server) form(r service.Row) Run {
	companion := false
	for _, a := range s.config.Service.Assistants() {
		companion = companion || a.Name == r.Assistant && a.Companion
	}
	return Run{ID: r.ID, Session: r.Session, Assistant: r.Assistant, Companion: companion, Title: r.Title, Status: r.Status, State: r.State, Why: r.Why, Reason: r.Reason,
		StartedAt: r.StartedAt, EndedAt: r.EndedAt, Records: r.Records}
}

// Runs is a part of the list of runs, the latest first.
type Runs struct {
	Runs []Run  `json:"runs"`
	Next string `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
}

// RunWithResult is a run with what came of it.
type RunWithResult struct {
	Run
	Result *Result `json:"result,omitempty" doc:"Once it has ended."`
}

// Results are runs with what came of them.
type Results struct {
	Runs []RunWithResult `json:"runs" doc:"In the order in which they were asked for."`
}

// Result is what came of a run: in its assistant's own form, and as it reaches people.
type Result struct {
	Outcome  json.RawMessage   `json:"outcome" doc:"In the form of the assistant."`
	Question string            `json:"question"`
	Answer   string            `json:"answer" doc:"Markdown."`
	Partial  bool              `json:"partial" doc:"There is an answer, but not a whole one."`
	Warnings []string          `json:"warnings"`
	Notes    []string          `json:"notes"`
	Ending   []string          `json:"ending" doc:"How it came to its end."`
	Footer   string            `json:"footer" doc:"Markdown: what the answer rests on."`
	Notices  []json.RawMessage `json:"notices" doc:"What happened beside the answer, in the form of the assistant."`
	Failure  *Failure          `json:"failure,omitempty" doc:"Why there is no answer."`
	HTML     *ResultHTML       `json:"html,omitempty" doc:"Answer and footer as HTML in which nothing runs, if it was asked for."`
}

// ResultHTML is what of a result is Markdown, as HTML.
type ResultHTML struct {
	Answer string `json:"answer"`
	Footer string `json:"footer"`
}

// Failure is why there is no answer.
type Failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func resultForm(r service.Result) (*Result, error) {
	f := &Result{Outcome: r.Outcome, Question: r.Question, Answer: r.Answer, Partial: r.Partial, Warnings: list(r.Warnings), Notes: list(r.Notes),
		Ending: list(r.Ending), Footer: r.Footer, Notices: []json.RawMessage{}}
	for _, n := range r.Notices {
		raw, err := json.Marshal(n)
		if err != nil {
			return nil, err
		}
		f.Notices = append(f.Notices, raw)
	}
	if r.Failure != nil {
		f.Failure = &Failure{Kind: r.Failure.Kind, Message: r.Failure.Message, Hint: r.Failure.Hint}
	}
	return f, nil
}

// list is a list that is never null.
func list[T any](all []T) []T { return append([]T{}, all...) }

// forms are the forms of all that is in a list. They are never null either.
func forms[T, F any](all []T, form func(T) F) []F {
	out := make([]F, len(all))
	for i, one := range all {
		out[i] = form(one)
	}
	return out
}

// Session is one, as lists have it.
type Session struct {
	ID        string    `json:"id"`
	Assistant string    `json:"assistant"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Runs      int       `json:"runs" doc:"How many it has."`
}

func sessionForm(s journal.Session) Session {
	return Session{ID: s.ID, Assistant: s.Assistant, Title: s.Title, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, Runs: s.Runs}
}

// Sessions is a part of the list of sessions, the last used first.
type Sessions struct {
	Sessions []Session `json:"sessions"`
	Next     string    `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
}

// Conversation is a session with what came of its runs, oldest first.
type Conversation struct {
	Session
	Exchanges []json.RawMessage `json:"exchanges" doc:"The outcomes of its runs, in the form of the assistant."`
}

// Audit is all that was decided and done in a session.
type Audit struct {
	Session Session    `json:"session"`
	Runs    []RunAudit `json:"runs"`
}

// RunAudit is all that the journal holds on one run. Its JSON is made where it is told.
type RunAudit struct{ service.RunAudit }

// Schema implements huma.SchemaProvider: what is the same for all assistants. Each adds findings of its own.
func (a RunAudit) Schema(r huma.Registry) *huma.Schema {
	const name = "RunAudit"
	of := func(form reflect.Type, property string) *huma.Schema {
		return r.Schema(form, false, "").Properties[property]
	}
	s := huma.SchemaFromType(r, reflect.TypeOf(a.Run))
	s.AdditionalProperties = true
	s.Properties["status"] = of(reflect.TypeFor[Run](), "status")
	of(reflect.TypeFor[audit.End](), "status").Enum = s.Properties["status"].Enum
	of(reflect.TypeFor[audit.Decision](), "status").Enum = of(reflect.TypeFor[Event](), "status").Enum
	of(reflect.TypeFor[audit.Effect](), "state").Enum = []any{audit.OK, audit.Failed, audit.Found, audit.Withdrawn, audit.Unknown, audit.UnderWay}
	*of(reflect.TypeFor[audit.Effect](), "detail") = *r.Schema(reflect.TypeFor[json.RawMessage](), true, "")
	r.Map()[name] = s
	return &huma.Schema{Ref: schemasRef + name}
}

// Explanation is why a run did what it did.
type Explanation struct {
	Run     Run        `json:"run"`
	Steps   []Step     `json:"steps"`
	Ending  []string   `json:"ending" doc:"How it ended, or why it waits; empty while it goes on."`
	Points  []Point    `json:"points" doc:"The run in short."`
	Sources []Source   `json:"sources" doc:"What was read for it, and what it cites."`
	Left    []Left     `json:"left" doc:"What was sent away, in order."`
	Used    []TurnCost `json:"used" doc:"What models took, in order."`
	Tokens  Tokens     `json:"tokens" doc:"All of that."`
}

// Point is one thing that a run is told by in short.
type Point struct {
	What string `json:"what" doc:"What it is of, in a word: searched, opened."`
	Text string `json:"text"`
}

// Source is a place that was read or cited.
type Source struct {
	Cite  string              `json:"cite" doc:"As answers name it."`
	Read  bool                `json:"read"`
	Cited bool                `json:"cited"`
	State service.SourceState `json:"state" enum:"read,unchanged,changed,gone,unread" doc:"What became of it since."`
	Lines []Line              `json:"lines" doc:"Those of the place and some around it, unless it has changed or is no file."`
}

// Line is one line of a place.
type Line struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
	Marked bool   `json:"marked" doc:"It belongs to the place, and does not only stand around it."`
}

// Left is something that was sent away.
type Left struct {
	Kind   string `json:"kind" enum:"model,address,engine,server"`
	To     string `json:"to" doc:"The model, or the call whole."`
	Bytes  int    `json:"bytes,omitempty"`
	Tokens int    `json:"tokens,omitempty" doc:"As the model's provider counted them."`
	Rule   string `json:"rule" doc:"Why it might."`
	Labels string `json:"labels,omitempty" doc:"Of what had been seen: whose words, and whether private."`
}

// Step is what the tree did with one record.
type Step struct {
	Record    int64     `json:"record" doc:"The number of the record that it took in."`
	At        time.Time `json:"at,omitzero" doc:"When that record was written."`
	TookIn    string    `json:"took_in" doc:"What that record is."`
	Took      *Took     `json:"took,omitempty" doc:"The same in parts. Left out where the record stands beside it, in a stream."`
	Op        uint64    `json:"op,omitempty" doc:"The operation whose receipt that record is."`
	Status    string    `json:"status" enum:"RUNNING,SUCCESS,FAILURE,SKIPPED" doc:"Of the tree after it."`
	Events    []Event   `json:"events"`
	Started   []Effect  `json:"started" doc:"What it asked for."`
	Withdrawn []uint64  `json:"withdrawn" doc:"The operations that it withdrew."`
}

// Took is what a record is that a step took in, in parts.
type Took struct {
	Kind    string `json:"kind" doc:"Of the record: start, completion, time and others."`
	Effect  string `json:"effect,omitempty" doc:"Of a receipt: the kind of its effect."`
	Label   string `json:"label,omitempty" doc:"Of that effect."`
	Failure string `json:"failure,omitempty" doc:"Why it failed."`
}

// Event is one thing that happened in a step.
type Event struct {
	Node   int32           `json:"node" doc:"The number of the node in the tree of the run."`
	Rule   string          `json:"rule" doc:"Where in the tree."`
	Words  string          `json:"words" doc:"What happened, for people."`
	Status string          `json:"status,omitempty" enum:"RUNNING,SUCCESS,FAILURE,SKIPPED,HALTED" doc:"Of the node."`
	Reason string          `json:"reason,omitempty"`
	Type   string          `json:"type,omitempty" doc:"Of what the node told."`
	Data   json.RawMessage `json:"data,omitempty" doc:"The fields of what it told."`
	Key    string          `json:"key,omitempty" doc:"That the node wrote."`
	Value  string          `json:"value,omitempty" doc:"The beginning of what it wrote."`
}

// Effect is something that a step asked for: a turn of the model, a call of a tool.
type Effect struct {
	Op     uint64 `json:"op" doc:"The number of the operation in its run."`
	Leaf   string `json:"leaf"`
	Kind   string `json:"kind"`
	Label  string `json:"label,omitempty"`
	Digest string `json:"digest"`
}

func (s *Server) explanationForm(x service.Explanation) Explanation {
	return Explanation{Run: s.form(x.Run), Steps: forms(x.Steps, stepForm), Ending: list(x.Ending), Sources: forms(x.Sources, sourceForm),
		Points: forms(x.Points(), func(p assistant.Point) Point { return Point(p) }),
		Left:   forms(x.Left, func(l assistant.Left) Left { return Left(l) }),
		Used:   s.turnCosts(x.Used), Tokens: s.config.Prices.costOf(usages(x.Used)...)}
}

func sourceForm(p service.Source) Source {
	return Source{p.Cite, p.Read, p.Cited, p.State, forms(p.Lines, func(l service.Line) Line { return Line(l) })}
}

func stepForm(step service.Step) Step {
	f := Step{Record: step.Record, At: step.At, TookIn: step.TookIn, Op: step.Op, Status: step.Status, Events: []Event{}, Started: forms(step.Start, effectForm), Withdrawn: list(step.Cancel)}
	if step.Took.Kind != "" {
		took := Took(step.Took)
		f.Took = &took
	}
	for i, e := range step.Events {
		f.Events = append(f.Events, eventForm(e, step.Words[i]))
	}
	return f
}

func eventForm(e run.TraceEvent, words string) Event {
	return Event{Node: e.Number, Rule: e.Rule, Words: words, Status: e.Status, Reason: e.Reason, Type: e.Type, Data: e.Data, Key: e.Key, Value: e.Value}
}

func effectForm(a run.Asked) Effect {
	return Effect{Op: a.Op, Leaf: a.Leaf, Kind: a.Kind, Label: a.Label, Digest: a.Digest}
}
