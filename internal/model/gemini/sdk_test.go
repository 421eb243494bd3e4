package gemini_test

import (
	"bytes"
	"encoding/json"
	"testing"

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
	server := modeltest.NewServer(t, modeltest.Stream("ok"))
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
