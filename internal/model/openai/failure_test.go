package openai_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

func TestRejectedStatusHasItsKind(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		kind   model.Kind
		says   string
	}{
		{"auth", 401, `{"error":{"message":"bad key","code":"invalid_api_key"}}`, model.Auth, "bad key"},
		{"forbidden", 403, `{"error":{"message":"no access to this model"}}`, model.Auth, "no access"},
		{"forbidden by moderation", 403, `{"error":{"message":"input was flagged"}}`, model.Refused, "flagged"},
		{"no credit", 402, `{"error":{"message":"buy more","code":402}}`, model.Payment, "buy more"},
		{"quota", 429, `{"error":{"message":"quota","code":"insufficient_quota"}}`, model.Payment, "quota"},
		{"Groq: the model wrote a call that is none", 400, `{"error":{"message":"Failed to call a function. Please adjust your prompt. ` +
			`See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=f>{}"}}`,
			model.Server, "Failed to call a function"},
		{"OpenRouter: nobody serves the model with tools", 404, `{"error":{"message":"No endpoints found that support tool use. ` +
			`To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing","code":404}}`,
			model.Invalid, "provider-routing (choose a model that takes tools"},
		{"model", 404, `{"error":{"message":"no such model"}}`, model.Invalid, "no such model"},
		{"path", 404, `404 page not found`, model.Invalid, "/v1"},
		{"array", 400, `[{"error":{"code":400,"message":"odd argument","status":"INVALID_ARGUMENT"}}]`, model.Invalid, "odd argument"},
		{"detail", 422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, model.Invalid, "field required"},
		{"string", 400, `{"error":"odd argument"}`, model.Invalid, "odd argument"},
		{"flat", 400, `{"object":"error","message":"odd argument","code":400}`, model.Invalid, "odd argument"},
		{"context by code", 400, `{"error":{"message":"too long","code":"context_length_exceeded"}}`, model.ContextLength, "too long"},
		{"context by words", 400, `{"error":{"message":"the maximum context length is 8192"}}`, model.ContextLength, "8192"},
		{"context as a failure", 500, `{"error":{"message":"the request exceeds the available context size"}}`, model.ContextLength, "size"},
		{"entity", 413, ``, model.ContextLength, "Too Large"},
		{"policy", 400, `{"error":{"message":"no","code":"content_filter"}}`, model.Refused, "no"},
		{"policy by words", 400, `{"error":{"message":"violates our usage policies"}}`, model.Refused, "policies"},
		{"server", 500, ``, model.Server, "Internal Server Error"},
		{"gateway", 502, `<html><body>nginx</body></html>`, model.Server, "Bad Gateway"},
		{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, model.Overloaded, "Overloaded"},
		{"request timeout", 408, ``, model.Timeout, "Timeout"},
		{"gateway time-out", 504, ``, model.Timeout, "Timeout"},
		{"redirect", 302, ``, model.Invalid, "redirects"},
		{"control characters", 500, "{\"error\":\"a\\u001b[31m\\nb\"}", model.Server, "a [31m b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := modeltest.Answer{Raw: &modeltest.Raw{
				Status: c.status, Body: c.body, Header: http.Header{"Location": {"http://127.0.0.1:1/elsewhere"}},
			}}
			_, err := connect(t, modeltest.NewOpenAIServer(t, answer)).Chat(t.Context(), hello(), nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Status != c.status || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %v; want kind %s, status %d, saying %q", err, c.kind, c.status, c.says)
			}
			if strings.Contains(err.Error(), "nginx") {
				t.Errorf("a page's markup is in the error: %v", err)
			}
		})
	}
}
