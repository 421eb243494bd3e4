package gemini_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// sdkRequest is a request body in the types of Google's SDK.
type sdkRequest struct {
	SystemInstruction *genai.Content          `json:"systemInstruction"`
	Contents          []*genai.Content        `json:"contents"`
	Tools             []*genai.Tool           `json:"tools"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig"`
}

func readSDK(t *testing.T, body string) sdkRequest {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(body)))
	d.DisallowUnknownFields()
	var got sdkRequest
	if err := d.Decode(&got); err != nil {
		t.Fatalf("the official types do not know the request: %v", err)
	}
	return got
}

func TestRequestIsWhatTheOfficialTypesSay(t *testing.T) {
	server := modeltest.NewGeminiServer(t, modeltest.Stream("ok"))
	req := wholeRequest()
	req.Schema = &model.Schema{Name: "x", JSON: json.RawMessage(`{"type":"object"}`)}
	if _, err := connect(t, server).Chat(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	got := readSDK(t, server.Requests()[0].Body)
	if form := got.GenerationConfig; form.ResponseMIMEType != "application/json" || cmp.Diff(map[string]any{"type": "object"}, form.ResponseJsonSchema) != "" {
		t.Errorf("the form of the answer is %q, %v", form.ResponseMIMEType, form.ResponseJsonSchema)
	}
	if got.SystemInstruction.Parts[0].Text != "be brief" || got.GenerationConfig.MaxOutputTokens != 100 {
		t.Errorf("system %+v, limits %+v", got.SystemInstruction, got.GenerationConfig)
	}
	call := got.Contents[1].Parts[0]
	if got.Contents[1].Role != genai.RoleModel || call.FunctionCall.ID != "1" || call.FunctionCall.Name != "f" || call.FunctionCall.Args["a"] != "<&>" {
		t.Errorf("call %+v", call.FunctionCall)
	}
	if string(call.ThoughtSignature) != "skip_thought_signature_validator" {
		t.Errorf("signature %q", call.ThoughtSignature)
	}
	results := got.Contents[2]
	if results.Role != genai.RoleUser || results.Parts[0].FunctionResponse.Response["output"] != "found" ||
		results.Parts[2].FunctionResponse.Response["error"] != "bad arguments" || results.Parts[2].FunctionResponse.ID != "3" {
		t.Errorf("results %+v", results)
	}
	declared := got.Tools[0].FunctionDeclarations
	if len(declared) != 2 || declared[0].ParametersJsonSchema == nil || declared[0].Parameters != nil {
		t.Errorf("declarations %+v", declared)
	}
}

// official is Google's own client before the fake server, without retries.
func official(t *testing.T, server *modeltest.GeminiServer) *genai.Client {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPClient: &http.Client{Transport: transport},
		HTTPOptions: genai.HTTPOptions{BaseURL: server.BaseURL[:len(server.BaseURL)-len("/v1beta")], APIVersion: "v1beta"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestFakeServerGivesTheOfficialClientTheSameAnswer(t *testing.T) {
	answer := modeltest.Answer{
		Chunks: []string{"Grüße, ", "<you>"},
		Calls:  []model.ToolCall{{ID: "a", Name: "f", Arguments: `{"q":"x"}`}, {Name: "g"}},
		Usage:  model.Usage{InputTokens: 120, OutputTokens: 34, CachedTokens: 64},
	}
	server := modeltest.NewGeminiServer(t, answer, answer)
	own, err := connect(t, server).Chat(t.Context(), hello(), nil)
	if err != nil {
		t.Fatal(err)
	}

	var got model.Response
	for part, err := range official(t, server).Models.GenerateContentStream(t.Context(), "gemini-fake", genai.Text("hello"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range part.Candidates[0].Content.Parts {
			got.Text += p.Text
			if p.FunctionCall != nil {
				args, err := json.Marshal(p.FunctionCall.Args)
				if err != nil {
					t.Fatal(err)
				}
				got.ToolCalls = append(got.ToolCalls, model.ToolCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Arguments: string(args)})
			}
		}
		u := part.UsageMetadata
		got.Usage = model.Usage{
			InputTokens: int(u.PromptTokenCount), OutputTokens: int(u.CandidatesTokenCount + u.ThoughtsTokenCount), CachedTokens: int(u.CachedContentTokenCount),
		}
	}
	want := model.Response{Text: own.Text, ToolCalls: own.ToolCalls, Usage: own.Usage}
	want.ToolCalls[1].ID, want.ToolCalls[1].Arguments = "", "null" // what the official client has for none
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-own +official):\n%s", diff)
	}
}

func TestTurnSentBackIsTheOneThatTheOfficialClientSendsBack(t *testing.T) {
	answer := modeltest.Answer{Chunks: []string{"So: "}, Calls: []model.ToolCall{{ID: "a", Name: "f", Arguments: `{"q":"x"}`}}}
	server := modeltest.NewGeminiServer(t, answer, answer, modeltest.Stream("second"), modeltest.Stream("second"))
	m := connect(t, server)
	resp, err := m.Chat(t.Context(), hello(), nil)
	if err != nil {
		t.Fatal(err)
	}
	client := official(t, server)
	contents := genai.Text("hello")
	turn := &genai.Content{Role: genai.RoleModel}
	for part, err := range client.Models.GenerateContentStream(t.Context(), "gemini-fake", contents, nil) {
		if err != nil {
			t.Fatal(err)
		}
		turn.Parts = append(turn.Parts, part.Candidates[0].Content.Parts...)
	}
	turn.Parts = turn.Parts[:2] // the last part is empty
	result := &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: "a", Name: "f", Response: map[string]any{"output": `of {"q":"x"}`}}}
	contents = append(contents, turn, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{result}})
	for _, err := range client.Models.GenerateContentStream(t.Context(), "gemini-fake", contents, nil) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Chat(t.Context(), followUp(resp), nil); err != nil {
		t.Fatal(err)
	}
	requests := server.Requests()
	if diff := cmp.Diff(readSDK(t, requests[2].Body), readSDK(t, requests[3].Body)); diff != "" {
		t.Errorf("second request (-official +own):\n%s", diff)
	}
}

func TestFakeServerFailsAsTheOfficialClientUnderstands(t *testing.T) {
	server := modeltest.NewGeminiServer(t, modeltest.Answer{Fail: model.RateLimit, RetryAfter: 7 * time.Second})
	for _, err := range official(t, server).Models.GenerateContentStream(t.Context(), "gemini-fake", genai.Text("hello"), nil) {
		var e genai.APIError
		if !errors.As(err, &e) || e.Code != 429 || e.Status != "RESOURCE_EXHAUSTED" || e.Details[0]["retryDelay"] != "7s" {
			t.Errorf("got %#v", err)
		}
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("%d requests were made; want 1", n)
	}
}

func TestFakeServerListsToTheOfficialClientPageByPage(t *testing.T) {
	server := modeltest.NewGeminiServer(t)
	server.PageSize = 1
	server.Models = []modeltest.GeminiModel{{Name: "models/a", Methods: []string{"generateContent"}}, {Name: "models/b", Methods: []string{"embedContent"}}}
	var got []modeltest.GeminiModel
	for m, err := range official(t, server).Models.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, modeltest.GeminiModel{Name: m.Name, Methods: m.SupportedActions})
	}
	if diff := cmp.Diff(server.Models, got); diff != "" || len(server.Requests()) != 2 {
		t.Errorf("after %d pages (-want +got):\n%s", len(server.Requests()), diff)
	}
}
