package anthropic_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

func complaint(kind, message string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_1"}`
}

func TestRejectedStatusHasItsKind(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		kind   model.Kind
		says   string
	}{
		{"auth", 401, complaint("authentication_error", "invalid x-api-key"), model.Auth, "invalid x-api-key"},
		{"permission", 403, complaint("permission_error", "no access to this model"), model.Auth, "no access"},
		{"billing", 402, complaint("billing_error", "pay first"), model.Payment, "pay first"},
		{"no credit", 400, complaint("invalid_request_error", "Your credit balance is too low"), model.Payment, "credit"},
		{"rate", 429, complaint("rate_limit_error", "slow down"), model.RateLimit, "slow down"},
		{"model", 404, complaint("not_found_error", "model: claude-0"), model.Invalid, "model: claude-0"},
		{"path", 404, "404 page not found", model.Invalid, "/v1/messages"},
		{"argument", 400, complaint("invalid_request_error", "max_tokens: 9 > 8"), model.Invalid, "max_tokens"},
		{"another status with the general type", 409, complaint("invalid_request_error", "in use"), model.Invalid, "in use"},
		{"auth with the general type", 401, complaint("invalid_request_error", "who are you"), model.Auth, "who are you"},
		{"overlong prompt", 400, complaint("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), model.ContextLength, "210000"},
		{"overlong with the answer", 400, complaint("invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
			model.ContextLength, "190000"},
		{"overlong for a local server", 400, complaint("invalid_request_error", "the request exceeds the available context size"), model.ContextLength, "size"},
		{"too many bytes", 413, complaint("request_too_large", "Request exceeds the maximum size"), model.ContextLength, "maximum size"},
		{"too many bytes for a proxy", 413, "<html>nginx</html>", model.ContextLength, "Too Large"},
		{"policy", 400, complaint("invalid_request_error", "Output blocked by content filtering policy"), model.Refused, "policy"},
		{"failure", 500, complaint("api_error", "Internal server error"), model.Server, "Internal"},
		{"bare failure", 500, "", model.Server, "Internal Server Error"},
		{"gateway", 502, "<html><body>nginx</body></html>", model.Server, "Bad Gateway"},
		{"time-out", 504, complaint("timeout_error", "too slow"), model.Timeout, "too slow"},
		{"time-out of a proxy", 504, "", model.Timeout, "Timeout"},
		{"overloaded", 529, complaint("overloaded_error", "Overloaded"), model.Overloaded, "Overloaded"},
		{"overloaded without words", 529, "", model.Server, ""},
		{"unknown type", 503, complaint("meteor_error", "impact"), model.Server, "impact"},
		{"error as text", 400, `{"error":"odd argument"}`, model.Invalid, "odd argument"},
		{"flat", 400, `{"message":"odd argument","error":null}`, model.Invalid, "odd argument"},
		{"detail", 422, `{"detail":[{"msg":"field required"}]}`, model.Invalid, "field required"},
		{"JSON that is no object", 401, `["nobody","knows"]`, model.Auth, "nobody"},
		{"redirect", 302, "", model.Invalid, "redirects"},
		{"control characters", 500, complaint("api_error", `a\u001b[31m\nb`), model.Server, "a [31m b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := modeltest.Answer{Raw: &modeltest.Raw{
				Status: c.status, Body: c.body, Header: http.Header{"Location": {"http://127.0.0.1:1/elsewhere"}},
			}}
			resp, err := connect(t, modeltest.NewAnthropicServer(t, answer)).Chat(t.Context(), hello(), nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Status != c.status || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %v; want kind %s, status %d, saying %q", err, c.kind, c.status, c.says)
			}
			if strings.Contains(err.Error(), "nginx") {
				t.Errorf("a page's markup is in the error: %v", err)
			}
			if resp.Attempts != 1 {
				t.Errorf("%d attempts; want 1", resp.Attempts)
			}
		})
	}
}
