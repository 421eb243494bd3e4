package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

// About says to which run an event belongs.
type About struct {
	Run       string `json:"run" doc:"The id of the run."`
	Session   string `json:"session" doc:"The id of its session."`
	Assistant string `json:"assistant"`
}

// Synced is the data of the event sync: what is provisional is void. It is the first event of each stream; of the run
// that is named, or of all. What has been said and still stands comes after it, as one draft for each operation.
type Synced struct {
	Run       string `json:"run,omitempty" doc:"Left out: all runs of the stream."`
	Session   string `json:"session,omitempty"`
	Assistant string `json:"assistant,omitempty"`
	State     string `json:"state,omitempty" enum:"running,waiting,paused,ended" doc:"How the run stands when the stream begins."`
}

// RunBegun is the data of the event begin: a run appears for the first time on this stream.
type RunBegun struct {
	About
	Row service.Row `json:"row"`
}

// RecordAdded is the data of the event record.
type RecordAdded struct {
	About
	Seq  int64           `json:"seq" doc:"Its number, from 0."`
	At   time.Time       `json:"at"`
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data,omitempty" doc:"What the record holds, in the form of its kind. Left out of the first, which has the paths of the server's folders, and of one that is damaged."`
	bt.Why
}

// StepMade is the data of the event step: what the tree did with a record.
type StepMade struct {
	About
	Seq       int64                 `json:"seq" doc:"The number of the record that it took in."`
	Status    string                `json:"status" enum:"RUNNING,SUCCESS,FAILURE,SKIPPED" doc:"Of the tree after it."`
	Events    []service.Event       `json:"events"`
	Started   []run.RequestedEffect `json:"started" doc:"What it asked for."`
	Withdrawn []uint64              `json:"withdrawn" doc:"The operations that it withdrew."`
}

// Decided is the data of the event event: a typed event that a leaf reported in the step before.
type Decided struct {
	About
	Seq  int64           `json:"seq" doc:"The number of the record that the step took in."`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data" doc:"Its fields."`
	Rule string          `json:"rule" doc:"Where in the tree."`
	bt.Why
}

// Draft is the data of the event text: the whole text of an operation so far. It replaces the draft before, and is
// provisional until the operation's receipt.
type Draft struct {
	About
	Op   uint64 `json:"op" doc:"The number of the operation in its run."`
	Text string `json:"text" doc:"Markdown."`
	HTML string `json:"html,omitempty" doc:"The same as HTML in which nothing runs, if it was asked for."`
}

// Retracted is the data of the event retract: what the operation has said is void.
type Retracted struct {
	About
	Op uint64 `json:"op"`
}

// Paused is the data of the event wait: an operation pauses.
type Paused struct {
	About
	Op    uint64    `json:"op"`
	Until time.Time `json:"until"`
	Why   string    `json:"why" doc:"In English."`
	Model string    `json:"model,omitempty" doc:"That is asked again then. Left out: it is no model that is waited for."`
	Kind  string    `json:"kind,omitempty" doc:"Of the model's failure."`
}

// BeingRead is the data of the event reading: a model reads what an operation has sent it.
type BeingRead struct {
	About
	Op     uint64 `json:"op"`
	Tokens int    `json:"tokens" doc:"That it reads, by estimate where its server does not tell. 0: it reads no more."`
	Read   int    `json:"read" doc:"Of them; 0 where its server does not tell."`
}

// Thought is the data of the event thinking: what a model thinks, which is no part of its answer, and is kept by
// nobody.
type Thought struct {
	About
	Op   uint64 `json:"op"`
	Text string `json:"text" doc:"The last of it by now. It replaces what was told before."`
}

// RunEnded is the data of the events end and answer.
type RunEnded struct {
	About
	Row    service.Row     `json:"row" doc:"Its state is “removed” if it is not there any more."`
	Result *service.Result `json:"result,omitempty" doc:"What came of it; left out if it was removed, or this server lacks its assistant."`
}

// streamEvent is an event of a stream with the form of its data.
type streamEvent struct {
	name string
	form reflect.Type
}

func streamEvents() []streamEvent {
	return []streamEvent{{"sync", reflect.TypeFor[Synced]()}, {"begin", reflect.TypeFor[RunBegun]()},
		{"record", reflect.TypeFor[RecordAdded]()}, {"step", reflect.TypeFor[StepMade]()},
		{"event", reflect.TypeFor[Decided]()}, {"text", reflect.TypeFor[Draft]()},
		{"retract", reflect.TypeFor[Retracted]()}, {"wait", reflect.TypeFor[Paused]()},
		{"reading", reflect.TypeFor[BeingRead]()}, {"thinking", reflect.TypeFor[Thought]()},
		{"end", reflect.TypeFor[RunEnded]()}, {"answer", reflect.TypeFor[RunEnded]()}}
}

// eventOf is the name and the data of the event that reports a record, a step or a leaf's typed event.
func eventOf(who About, u service.Update) (name string, data any) {
	switch {
	case u.Record != nil:
		return "record", recordForm(who, u)
	case u.Step != nil:
		return "step", StepMade{who, u.Seq, u.Step.Status, u.Step.Events, u.Step.Started, u.Step.Withdrawn}
	}
	return "event", Decided{who, u.Seq, u.Event.Type, u.Event.Data, u.Event.Rule, u.Told}
}

func recordForm(who About, u service.Update) RecordAdded {
	f := RecordAdded{About: who, Seq: u.Seq, At: u.Record.At, Kind: u.Record.Kind, Why: u.Told}
	if f.Kind != run.KindStart && json.Valid(u.Record.Data) && bytes.HasPrefix(bytes.TrimSpace(u.Record.Data),
		[]byte("{")) {
		f.Data = u.Record.Data
	}
	return f
}

// Resumption says where a stream continues. A browser that reconnects says it by the header, whatever the address has.
type Resumption struct {
	LastEventID string `header:"Last-Event-ID" doc:"The id of the last event that was seen; the stream goes on after it."`
	After       string `query:"after" doc:"The same, for who can't set a header."`
	Markup
}

// Markup says how texts are wanted. Like Paging it has a capital letter because huma looks for no parameters in
// embedded types that have none.
type Markup struct {
	HTML bool `query:"html" doc:"Also as HTML, which a page can show as it is: nothing in it runs, or is fetched."`
}

func (r Resumption) id() string { return cmp.Or(r.LastEventID, r.After) }

// RunResumption says where the stream of one run continues.
type RunResumption struct {
	RunPath
	Resumption
}

func (s *Server) streamRoutes() {
	schemas := s.api.OpenAPI().Components.Schemas
	one := &huma.Schema{Description: "The events of a stream, by their names."}
	for _, e := range streamEvents() {
		one.OneOf = append(one.OneOf, &huma.Schema{Type: huma.TypeObject, Title: e.name,
			Required: []string{"event", "data"}, Properties: map[string]*huma.Schema{
				"event": {Type: huma.TypeString, Enum: []any{e.name}}, "id": {Type: huma.TypeString},
				"data": schemas.Schema(e.form, true, "")}})
	}
	schemas.Map()["StreamEvent"] = one
	const tag = "events"
	register(s, route{id: "watchRun", at: "GET /api/runs/{run}/events", tag: tag,
		summary: "What happens in a run, as it happens, until it ends",
		content: []mediaType{{eventStream, "StreamEvent", ""}},
		also:    []success{{http.StatusNoContent, "", "All was seen, and the run has ended."}}}, s.watchRun)
	register(s, route{id: "watchRuns", at: "GET /api/events", tag: tag,
		summary: "What happens in all runs, as it happens",
		content: []mediaType{{eventStream, "StreamEvent", ""}}}, s.watchRuns)
}

// streamResponse is a response that write writes as a stream; then it releases the stream's slot.
func (s *Server) streamResponse(release func(), write func(*stream)) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(c huma.Context) {
		defer release()
		r, w := humago.Unwrap(c)
		if r.Method == http.MethodHead {
			w.Header().Set("Content-Type", eventStream)
			w.WriteHeader(http.StatusOK)
			return
		}
		write(&stream{s: s, r: r, w: w})
	}}
}

func (s *Server) watchRun(ctx context.Context, in *RunResumption) (*huma.StreamResponse, error) {
	r, err := s.findRun(ctx, in.Run)
	if err != nil {
		return nil, err
	}
	from, err := service.ParsePlace(in.id())
	if err != nil {
		return nil, unknownEventID()
	}
	if r.Status != journal.Running && from.Record >= r.Records {
		return &huma.StreamResponse{Body: func(c huma.Context) { c.SetStatus(http.StatusNoContent) }}, nil
	}
	closed, p := s.openStream(r.Owner)
	if p != nil {
		return nil, p
	}
	return s.streamResponse(closed, func(t *stream) {
		t.wantsHTML = in.HTML
		t.streamRun(r, from)
	}), nil
}

// unknownEventID is the problem of an event id that this stream never had.
func unknownEventID() *Problem {
	return badRequest("The id of the last event is not one of this stream.",
		"Send the id of an event as it came, or none.")
}

// streamRun streams the events of a run from a place on, until its end.
func (t *stream) streamRun(r service.Row, from service.Place) {
	t.endsWithRun = true
	t.eventID = func(h service.LiveEvent) string {
		switch {
		case h.Ended != nil:
			return service.Place{Record: h.Ended.Records}.String()
		case h.After == service.Place{}: // the beginning
			return ""
		}
		return h.After.String()
	}
	t.run(Synced{r.ID, r.Session, r.Assistant, r.State}, t.s.runHappenings(r, from))
}

// runHappenings gives the first event of the stream of one run, the updates of the run, and its end.
func (s *Server) runHappenings(r service.Row, from service.Place) source {
	return func(ctx context.Context) iter.Seq2[service.LiveEvent, error] {
		return func(yield func(service.LiveEvent, error) bool) {
			h := service.LiveEvent{Run: r.ID, Session: r.Session, Assistant: r.Assistant}
			if !yield(h, nil) {
				return
			}
			for u, err := range s.config.Service.Watch(ctx, r.Owner, r.ID, from) {
				if h.Update = u; !yield(h, err) || err != nil {
					return
				}
			}
			if ctx.Err() != nil {
				return
			}
			ended, err := s.config.Service.Run(ctx, r.Owner, r.ID)
			h.Update, h.Ended = service.Update{}, &ended
			yield(h, err)
		}
	}
}

func (s *Server) watchRuns(ctx context.Context, in *Resumption) (*huma.StreamResponse, error) {
	from, err := service.ParsePosition(in.id())
	if err != nil {
		return nil, unknownEventID()
	}
	owner := ownerOf(ctx)
	closed, p := s.openStream(owner)
	if p != nil {
		return nil, p
	}
	return s.streamResponse(closed, func(t *stream) {
		t.wantsHTML, t.eventID = in.HTML, func(h service.LiveEvent) string { return h.Position.String() }
		t.run(Synced{}, func(ctx context.Context) iter.Seq2[service.LiveEvent, error] {
			return s.config.Service.WatchAll(ctx, owner, from)
		})
	}), nil
}
