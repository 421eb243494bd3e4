package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/taskchat"
)

// Ask is a question to the Oracle.
type Ask struct {
	Question string          `json:"question" minLength:"1"`
	Session  string          `json:"session,omitempty" maxLength:"64" doc:"The id of the session that it goes on with. Left out: a session begins with it."`
	Options  json.RawMessage `json:"options,omitempty" doc:"Left out: as the server is set to."`
}

func (s *Server) askRoutes() {
	register(s, route{id: "ask", at: "POST /api/ask", tag: "events",
		summary: "Ask the Oracle, and have the answer as it comes, or whole (Accept: application/json)",
		content: []mediaType{{eventStream, "StreamEvent", ""}, {jsonType, "RunWithResult", ""}}, takesTexts: true,
		also: []success{{http.StatusAccepted, "Begun", "The run waits; Location has its address."}}}, s.ask)
}

// ask begins a run, and answers with what happens in it. The run continues when the client goes away: its events are at
// the run's address.
func (s *Server) ask(ctx context.Context, in *Keyed[Ask]) (*huma.StreamResponse, error) {
	r := service.Request{Assistant: oracle.Name, Session: in.Body.Session, Words: in.Body.Question, Key: in.Key}
	said := assistant.GivenOptions{JSON: in.Body.Options}
	return s.beginAndStream(ctx, func() (service.Submitted, error) {
		return s.submitWords(ctx, r, said)
	})
}

// beginAndStream begins a run, and streams its events or, to a client that wants JSON, answers with its result.
func (s *Server) beginAndStream(
	ctx context.Context, begin func() (service.Submitted, error),
) (*huma.StreamResponse, error) {
	if infoOf(ctx).wantsJSON {
		return s.beginAndAwait(ctx, begin, func(ctx context.Context, r service.Row) (any, error) {
			return s.withResult(ctx, r, false)
		})
	}
	return s.beginAndAnswer(ctx, s.openStream, begin, func(t *stream, r service.Row) {
		t.endName = "answer"
		t.streamRun(r, service.Place{})
	})
}

// beginAndAwait begins a run, and answers with its result in the form that whole makes. It takes no place of a
// stream.
func (s *Server) beginAndAwait(
	ctx context.Context, begin func() (service.Submitted, error), whole func(context.Context, service.Row) (any, error),
) (*huma.StreamResponse, error) {
	return s.beginAndAnswer(ctx, s.startLasting, begin, func(t *stream, r service.Row) { t.awaitAndAnswer(r, whole) })
}

// beginAndAnswer takes a place, begins a run, and lets answer write the response.
func (s *Server) beginAndAnswer(
	ctx context.Context, takePlace func(journal.Owner) (release func(), refused *Problem),
	begin func() (service.Submitted, error), answer func(*stream, service.Row),
) (*huma.StreamResponse, error) {
	release, p := takePlace(ownerOf(ctx))
	if p != nil {
		return nil, p
	}
	handedOver := false
	defer func() {
		if !handedOver { // also of a panic
			release()
		}
	}()
	begun, err := begin()
	if err != nil {
		return nil, err
	}
	r, err := s.findRun(ctx, begun.Run)
	if err != nil {
		return nil, err
	}
	handedOver = true
	return s.streamResponse(release, func(t *stream) {
		t.w.Header().Set("Location", runPath(r.ID))
		answer(t, r)
	}), nil
}

// awaitAndAnswer waits for the end of a run, and answers with its result in the form that whole makes. It stops waiting
// if nobody drives the run for a while, if this process stops, or if the user's token has ended.
func (t *stream) awaitAndAnswer(r service.Row, whole func(context.Context, service.Row) (any, error)) {
	ctx, leave := context.WithCancel(t.r.Context())
	over := t.s.watchAccess(t.r.WithContext(ctx), leave)
	now, err := t.s.config.Service.Await(ctx, r.Owner, r.ID, t.s.config.Limits.Undriven, func(*service.Update) {})
	left := ctx.Err() != nil
	leave()
	<-over
	switch {
	case t.r.Context().Err() != nil:
		return
	case left:
		now, err = t.s.findRun(t.r.Context(), r.ID)
	}
	t.answerRun(now, err, whole)
}

// answerRun answers with the state of a run or, once it has ended, with its result. It refuses if the user may not read
// it any more.
func (t *stream) answerRun(r service.Row, err error, whole func(context.Context, service.Row) (any, error)) {
	if p := t.lostAccess(); p != nil {
		refuse(t.w, p)
		return
	}
	var body any = Begun{Run: r.ID, Session: r.Session, Standing: r.Standing}
	status := http.StatusAccepted
	if err == nil && r.Status != journal.Running {
		status = http.StatusOK
		body, err = whole(t.r.Context(), r)
	}
	t.s.writeAnswer(t.w, t.r, status, body, err)
}

// wantsJSON says that the client wants the whole answer as JSON, and no stream.
func wantsJSON(h http.Header) bool {
	accept := strings.Join(h["Accept"], ",")
	return strings.Contains(accept, jsonType) && !strings.Contains(accept, eventStream)
}

// Chat is a message to the task assistant.
type Chat struct {
	Message      string `json:"message" minLength:"1" doc:"What is said, 4000 characters at most."`
	Conversation string `json:"conversation_id,omitempty" maxLength:"64" doc:"The conversation that it goes on with. Left out: one begins with it."`
	Model        string `json:"model,omitempty" maxLength:"200" doc:"provider:model; offline:rules for none. Left out: as the server is set to."`
}

func (s *Server) chatRoutes() {
	all := s.config.Service.Assistants()
	at := slices.IndexFunc(all, func(a *assistant.Assistant) bool { return a.Name == taskchat.Name })
	if at < 0 {
		return
	}
	s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(all[at].Form), true, "")
	register(s, route{id: "chat", at: "POST /api/chat", tag: "tasks",
		summary: "Say something to the task assistant, and have its response",
		content: []mediaType{{jsonType, "ChatResponse", ""}},
		also: []success{{http.StatusAccepted, "Begun",
			"The message waits; Location has the address of its run, whose outcome is the response."}}}, s.chat)
}

// chat begins a run, and answers with its response. The run continues when the client goes away.
func (s *Server) chat(ctx context.Context, in *Keyed[Chat]) (*huma.StreamResponse, error) {
	r := service.Request{Assistant: taskchat.Name, Session: in.Body.Conversation, Words: in.Body.Message, Key: in.Key}
	said := assistant.GivenOptions{Base: taskchat.Options{Model: in.Body.Model}}
	return s.beginAndAwait(ctx, func() (service.Submitted, error) {
		return s.submitWords(ctx, r, said)
	}, func(ctx context.Context, r service.Row) (any, error) {
		res, err := s.config.Service.Result(ctx, r.Owner, r.ID)
		return res.Outcome, err
	})
}
