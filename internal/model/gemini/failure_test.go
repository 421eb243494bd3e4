package gemini_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/gemini"
	"sibyl/internal/model/modeltest"
)

// status is a google.rpc.Status with these details.
func status(code int, name, message string, details ...string) string {
	return fmt.Sprintf(`{"error": {"code": %d, "message": %q, "status": %q, "details": [%s]}}`, code, message, name, strings.Join(details, ","))
}

func errorInfo(reason string) string {
	return `{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "` + reason + `"}`
}

var invalidKey = errorInfo("API_KEY_INVALID")

func retryDelay(text string) string {
	return `{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "` + text + `"}`
}

func TestRejectedStatusHasItsKind(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		kind   model.Kind
		says   string
	}{
		{"key by reason", 400, status(400, "INVALID_ARGUMENT", "bad", invalidKey), model.Auth, "bad"},
		{"key by words", 400, status(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."), model.Auth, "not valid"},
		{"key that expired", 400, status(400, "INVALID_ARGUMENT", "API key expired."), model.Auth, "expired"},
		{"no key", 401, status(401, "UNAUTHENTICATED", "missing"), model.Auth, "missing"},
		{"forbidden", 403, status(403, "PERMISSION_DENIED", "no access"), model.Auth, "no access"},
		{"plan", 400, status(400, "FAILED_PRECONDITION", "User location is not supported for the API use."), model.Auth, "location"},
		{"quota", 429, status(429, "RESOURCE_EXHAUSTED", "input_token_count exceeds your quota"), model.RateLimit, "quota"},
		{"quota that speaks of billing", 429, status(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."), model.RateLimit, "quota"},
		{"capacity", 429, status(429, "RESOURCE_EXHAUSTED", "No capacity available", errorInfo("MODEL_CAPACITY_EXHAUSTED")), model.Overloaded, "capacity"},
		{"credit", 429, status(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."), model.Payment, "credits"},
		{"spending cap", 429, status(429, "RESOURCE_EXHAUSTED", "Your project has exceeded its monthly spending cap."), model.Payment, "cap"},
		{"no billing", 403, status(403, "PERMISSION_DENIED", "enable billing", errorInfo("BILLING_DISABLED")), model.Payment, "enable"},
		{"context", 400, status(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8)."), model.ContextLength, "(9)"},
		{"payload", 400, status(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."), model.ContextLength, "payload"},
		{"argument", 400, status(400, "INVALID_ARGUMENT", "odd argument"), model.Invalid, "odd argument"},
		{"model", 404, status(404, "NOT_FOUND", "models/x is not found"), model.Invalid, "models/x is not found"},
		{"overloaded", 503, status(503, "UNAVAILABLE", "The model is overloaded."), model.Overloaded, "overloaded"},
		{"internal", 500, status(500, "INTERNAL", "An internal error has occurred."), model.Server, "internal"},
		{"cancelled by the provider", 499, status(499, "CANCELLED", "The operation was cancelled."), model.Server, "cancelled"},
		{"deadline", 504, status(504, "DEADLINE_EXCEEDED", "Deadline expired."), model.Timeout, "expired"},
		{"unknown name", 429, status(429, "ODD", "slow"), model.RateLimit, "slow"},
		{"array", 400, `[` + status(400, "INVALID_ARGUMENT", "bad", invalidKey) + `]`, model.Auth, "bad"},
		{"string", 400, `{"error": "odd argument"}`, model.Invalid, "odd argument"},
		{"list", 400, `{"error": ["odd argument"]}`, model.Invalid, "odd argument"},
		{"text", 404, `404 page not found`, model.Invalid, "/v1beta"},
		{"unauthorised gateway", 401, ``, model.Auth, "Unauthorized"},
		{"gateway", 502, `<html><body>nginx</body></html>`, model.Server, "Bad Gateway"},
		{"gateway time-out", 504, ``, model.Timeout, "Timeout"},
		{"gateway limit", 413, ``, model.ContextLength, "Too Large"},
		{"gateway's bad request", 400, `API key not valid`, model.Auth, "not valid"},
		{"gateway's account", 402, ``, model.Payment, "Payment"},
		{"redirect", 302, ``, model.Invalid, "redirects"},
		{"control characters", 500, `{"error": "a\u001b[31m\nb"}`, model.Server, "a [31m b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := modeltest.Answer{Raw: &modeltest.Raw{
				Status: c.status, Body: c.body, Header: http.Header{"Location": {"http://127.0.0.1:1/elsewhere"}},
			}}
			_, err := connect(t, modeltest.NewGeminiServer(t, answer)).Chat(t.Context(), hello(), nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Status != c.status || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %v; want kind %s, status %d, saying %q", err, c.kind, c.status, c.says)
			}
			if strings.Contains(fmt.Sprint(err), "nginx") {
				t.Errorf("a page's markup is in the error: %v", err)
			}
		})
	}
}

func TestRetryDelayIsReadFromDetailsAndHeader(t *testing.T) {
	inTwoMinutes := time.Now().Add(2 * time.Minute).UTC().Format(http.TimeFormat)
	for _, c := range []struct {
		detail, header string
		min, max       time.Duration
	}{
		{"39s", "", 39 * time.Second, 39 * time.Second},
		{"0.847655010s", "", 847655010, 847655010},
		{"", "7", 7 * time.Second, 7 * time.Second},
		{"", "0.5", 500 * time.Millisecond, 500 * time.Millisecond},
		{"", inTwoMinutes, 100 * time.Second, 2 * time.Minute},
		{"39s", "7", 39 * time.Second, 39 * time.Second},
		{"3s", "7", 7 * time.Second, 7 * time.Second},
		{"-3s", "-3", 0, 0},
		{"soon", "soon", 0, 0},
		{"9000000000s", "1e300", time.Hour, 366 * 24 * time.Hour},
		{"2000000h", "", time.Hour, 366 * 24 * time.Hour},
	} {
		body := status(429, "RESOURCE_EXHAUSTED", "quota", `{"@type": "type.googleapis.com/google.rpc.Help"}`, retryDelay(c.detail))
		answer := modeltest.Answer{Raw: &modeltest.Raw{Status: 429, Body: body, Header: http.Header{"Retry-After": {c.header}}}}
		_, err := connect(t, modeltest.NewGeminiServer(t, answer)).Chat(t.Context(), hello(), nil)
		var e *model.Error
		if !errors.As(err, &e) || e.RetryAfter < c.min || e.RetryAfter > c.max {
			t.Errorf("%q and %q gave %#v; want between %v and %v", c.detail, c.header, err, c.min, c.max)
		}
	}
}

func TestRetryDelayOfAnErrorInsideTheStreamIsPassedOn(t *testing.T) {
	answer := raw(text("half"), "data: "+status(429, "RESOURCE_EXHAUSTED", "quota", retryDelay("39s")))
	_, err := connect(t, modeltest.NewGeminiServer(t, answer)).Chat(t.Context(), hello(), nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.RateLimit || e.RetryAfter != 39*time.Second {
		t.Errorf("got %#v; want a rate limit of 39s", err)
	}
}

func TestQueryOfTheBaseURLIsKept(t *testing.T) {
	server := modeltest.NewGeminiServer(t, modeltest.Stream("ok"))
	m := connect(t, server, func(c *gemini.Config) { c.BaseURL += "?tenant=a" })
	if _, err := m.Chat(t.Context(), hello(), nil); err != nil {
		t.Fatal(err)
	}
	if got := server.Requests()[0].Query.Encode(); got != "alt=sse&tenant=a" {
		t.Errorf("asked with %s", got)
	}
}
