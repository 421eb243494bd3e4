package api

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/assistant"
	"sibyl/internal/service"
	"sibyl/internal/taskchat"
)

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
	register(s, route{id: "chat", at: "POST /api/chat", tag: "tasks", summary: "Say something to the task assistant, and have its response",
		content: []mediaType{{jsonType, "ChatResponse", ""}},
		also:    []success{{http.StatusAccepted, "Begun", "The message waits; Location has the address of its run, whose outcome is the response."}}}, s.chat)
}

// chat begins a run, and answers with its response. The run goes on when the client goes away.
func (s *Server) chat(ctx context.Context, in *keyed[Chat]) (*huma.StreamResponse, error) {
	r := service.Request{Assistant: taskchat.Name, Session: in.Body.Conversation, Words: in.Body.Message, Key: in.Key}
	said := assistant.Said{Base: taskchat.Options{Model: in.Body.Model}}
	return s.answered(ctx, func() (service.Submitted, error) { return s.submit(ctx, r, said) }, func(t *stream, r service.Row) {
		t.answer(r, func(ctx context.Context, r service.Row) (any, error) {
			res, err := t.s.config.Service.Result(ctx, r.Owner, r.ID)
			return res.Outcome, err
		})
	})
}
