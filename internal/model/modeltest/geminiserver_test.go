package modeltest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// postGemini sends body as a request for a stream, without an adapter between.
func postGemini(t *testing.T, s *modeltest.GeminiServer, body string) (int, string) {
	t.Helper()
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	resp, err := http.Post(s.BaseURL+"/models/m:streamGenerateContent?alt=sse", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

const geminiHello = `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`

func TestGeminiServerStreamsWhatTheProtocolSays(t *testing.T) {
	s := modeltest.NewGeminiServer(t)
	s.Add(modeltest.Answer{
		Chunks: []string{"a", "b"},
		Calls:  []model.ToolCall{{ID: "1", Name: "f", Arguments: `{"x":"ü"}`}, {Name: "g"}},
		Usage:  model.Usage{InputTokens: 3, OutputTokens: 2},
		Repeat: true,
	})
	for range 2 {
		status, got := postGemini(t, s, geminiHello)
		if status != http.StatusOK || strings.Count(got, "data: {") != 5 || strings.Count(got, "\r\n\r\n") != 5 {
			t.Errorf("status %d, stream %s", status, got)
		}
		last := 0
		for _, want := range []string{
			`"text":"a"`, `"promptTokenCount":3`, `"text":"b"`, `"name":"f"`, modeltest.GeminiSignature, `"name":"g"`,
			`"text":""`, `"finishReason":"STOP"`, `"candidatesTokenCount":2`,
		} {
			at := strings.Index(got, want)
			if at < last {
				t.Errorf("%s is missing or out of order in\n%s", want, got)
			}
			last = at
		}
		if strings.Count(got, "finishReason") != 1 || strings.Count(got, modeltest.GeminiSignature) != 1 || strings.Count(got, `"id"`) != 1 {
			t.Errorf("a finish, signature or id too many in\n%s", got)
		}
	}
}

func TestGeminiServerRejectsWhatTheAPIRejects(t *testing.T) {
	const (
		call     = `{"role":"model","parts":[{"functionCall":{"id":"1","name":"f"},"thoughtSignature":"QQ=="}]}`
		response = `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}`
	)
	for name, c := range map[string]struct{ contents, says string }{
		"no JSON":             {`{`, "payload"},
		"nothing":             {``, "not specified"},
		"role":                {`{"role":"tool","parts":[{"text":"x"}]}`, "role"},
		"no parts":            {`{"role":"user","parts":[]}`, "empty"},
		"part of no kind":     {`{"role":"user","parts":["x"]}`, "parts[0]"},
		"empty part":          {`{"role":"user","parts":[{"text":""}]}`, "data"},
		"call of the user":    {`{"role":"user","parts":[{"functionCall":{"name":"f"},"thoughtSignature":"QQ=="}]}`, "data"},
		"call not signed":     {`{"role":"model","parts":[{"functionCall":{"id":"1","name":"f"}}]},` + response, "thought_signature"},
		"call not answered":   {call + `,{"role":"user","parts":[{"text":"x"}]}`, "number of function response"},
		"call left open":      {call, "no function responses"},
		"result without call": {response, "number of function response"},
		"result of another":   {call + `,` + strings.Replace(response, `"1"`, `"2"`, 1), "answers"},
	} {
		s := modeltest.NewGeminiServer(t)
		if status, body := postGemini(t, s, `{"contents":[`+c.contents+`]}`); status != http.StatusBadRequest || !strings.Contains(body, c.says) {
			t.Errorf("%s: got %d, %s; want 400, saying %q", name, status, body, c.says)
		}
	}
	s := modeltest.NewGeminiServer(t, modeltest.Stream("ok"))
	if status, body := postGemini(t, s, `{"contents":[`+call+`,`+response+`]}`); status != http.StatusOK {
		t.Errorf("an answered call: got %d, %s", status, body)
	}
}

func TestGeminiServerKnowsNoOtherPathAndNoStreamButSSE(t *testing.T) {
	s := modeltest.NewGeminiServer(t)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	for _, path := range []string{"/models/m:generateContent", "/models/m:streamGenerateContent", "/elsewhere"} {
		resp, err := http.Post(s.BaseURL+path, "application/json", strings.NewReader(geminiHello))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d", path, resp.StatusCode)
		}
	}
	if n := len(s.Requests()); n != 3 {
		t.Errorf("%d requests were recorded; want 3", n)
	}
}

func TestGeminiRequestWithoutAnAnswerFailsTheTest(t *testing.T) {
	var tb recorder
	s := modeltest.NewGeminiServer(&tb)
	if status, _ := postGemini(t, s, geminiHello); status != http.StatusInternalServerError {
		t.Errorf("status %d; want 500", status)
	}
	tb.finish()
	if !strings.Contains(tb.failure, "1 requests") {
		t.Errorf("the test was failed with %q", tb.failure)
	}
}
