//go:build sdk

package modeltest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"
	"google.golang.org/genai"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

// The server is worth something only if the providers' own clients read it as it is meant.

func wantedAnswer() Answer {
	return Answer{Chunks: []string{"Grüße, ", "<you>"}, Usage: model.Usage{InputTokens: 30, OutputTokens: 20,
		CachedTokens: 10},
		Calls: []model.ToolCall{{ID: "a", Name: "f", Arguments: `{"q":"ü\n"}`}, {ID: "b", Name: "g", Arguments: `{}`}}}
}

// wantRead compares what a client read with what was meant.
func wantRead(t *testing.T, got model.Response) {
	t.Helper()
	a := wantedAnswer()
	want := model.Response{Text: strings.Join(a.Chunks, ""), ToolCalls: a.Calls, Usage: a.Usage}
	assert.NoDiff(t, gocmp.Diff(want, got), "answer (-meant +read)")
}

func TestAnthropicsClientUnderstandsTheServer(t *testing.T) {
	s := NewServer(t, wantedAnswer())
	messages := anthropic.NewMessageService(option.WithBaseURL(s.BaseURL), option.WithHTTPClient(client(t)))
	stream := messages.NewStreaming(t.Context(), anthropic.MessageNewParams{
		Model: "m", MaxTokens: 9,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hello"))},
	})
	defer func() { _ = stream.Close() }()
	var all anthropic.Message
	for stream.Next() {
		assert.NoError(t, all.Accumulate(stream.Current()))
	}
	err := stream.Err()
	assert.Require(t, err == nil && all.StopReason == anthropic.StopReasonToolUse, "read %s, %v", all.RawJSON(), err)
	got := model.Response{Usage: model.Usage{InputTokens: int(all.Usage.InputTokens + all.Usage.CacheReadInputTokens),
		OutputTokens: int(all.Usage.OutputTokens), CachedTokens: int(all.Usage.CacheReadInputTokens)}}
	for _, b := range all.Content {
		if got.Text += b.Text; b.Type == "tool_use" {
			got.ToolCalls = append(got.ToolCalls, model.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		}
	}
	wantRead(t, got)
}

func TestGooglesClientUnderstandsTheServer(t *testing.T) {
	s := NewServer(t, wantedAnswer())
	c := assert.Must(genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI,
		HTTPClient:  client(t),
		HTTPOptions: genai.HTTPOptions{BaseURL: s.BaseURL, APIVersion: "v1beta"}}))(t)
	var got model.Response
	for part, err := range c.Models.GenerateContentStream(t.Context(), "m", genai.Text("hello"), nil) {
		assert.NoError(t, err)
		for _, p := range part.Candidates[0].Content.Parts {
			if got.Text += p.Text; p.FunctionCall != nil {
				arguments, _ := json.Marshal(p.FunctionCall.Args) // which were JSON
				got.ToolCalls = append(got.ToolCalls, model.ToolCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name,
					Arguments: string(arguments)})
			}
		}
		if u := part.UsageMetadata; u != nil {
			got.Usage = model.Usage{InputTokens: int(u.PromptTokenCount), OutputTokens: int(u.CandidatesTokenCount +
				u.ThoughtsTokenCount),
				CachedTokens: int(u.CachedContentTokenCount)}
		}
	}
	wantRead(t, got)
}

func TestOllamasTypesHoldWhatTheServerSays(t *testing.T) {
	s := NewServer(t, wantedAnswer())
	resp, err := client(t).Post(s.BaseURL+"/api/chat", "application/json", strings.NewReader(`{"model":"m"}`))
	assert.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	lines := json.NewDecoder(resp.Body)
	lines.DisallowUnknownFields()
	// which the protocol does not tell
	got := model.Response{Usage: model.Usage{CachedTokens: wantedAnswer().Usage.CachedTokens}}
	for lines.More() {
		var line api.ChatResponse
		assert.NoError(t, lines.Decode(&line))
		got.Text += line.Message.Content
		for _, c := range line.Message.ToolCalls {
			got.ToolCalls = append(got.ToolCalls, model.ToolCall{ID: c.ID, Name: c.Function.Name,
				Arguments: c.Function.Arguments.String()})
		}
		got.Usage.InputTokens, got.Usage.OutputTokens = line.PromptEvalCount, line.EvalCount
	}
	wantRead(t, got)
}

// readWithOfficialTypes has the providers' own types read a request: what they do not know would be lost.
func readWithOfficialTypes(t *testing.T, adapter, body string) {
	t.Helper()
	own := json.NewDecoder(strings.NewReader(body))
	own.DisallowUnknownFields()
	switch adapter {
	case "gemini":
		err := own.Decode(&struct {
			SystemInstruction *genai.Content          `json:"systemInstruction"`
			Contents          []*genai.Content        `json:"contents"`
			Tools             []*genai.Tool           `json:"tools"`
			GenerationConfig  *genai.GenerationConfig `json:"generationConfig"`
		}{})
		assert.That(t, err == nil, "the official types do not know the request: %v", err)
	case "ollama":
		var got api.ChatRequest
		err := json.Unmarshal([]byte(body), &got)
		assert.That(t, err == nil && len(got.Messages) == 10 && got.Messages[2].ToolCalls[1].Function.Index == 1,
			"the official types read %+v, %v", got, err)
	case "messages":
		var params anthropic.MessageNewParams
		var again, sent map[string]any
		err := json.Unmarshal([]byte(body), &params)
		text, marshalErr := json.Marshal(params)
		assert.Require(t, err == nil && marshalErr == nil && json.Unmarshal(text, &again) == nil &&
			json.Unmarshal([]byte(body), &sent) == nil, "%v %v", err, marshalErr)
		delete(sent, "stream") // which the official client adds by itself
		assert.NoDiff(t, gocmp.Diff(again, sent), "request (-official +own)")
	}
}
