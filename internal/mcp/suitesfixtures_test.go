package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A pixel and a moment of silence, as small as their formats allow.
var (
	pixel   = []byte("GIF89a\x01\x00\x01\x00\x80\x01\x00\xff\xff\xff\x00\x00\x00\x21\xf9\x04\x01\x0a\x00\x01\x00\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x4c\x01\x00\x3b")
	silence = []byte("RIFF\x24\x00\x00\x00WAVEfmt " +
		"\x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00")
)

// reply does what a tool of the suites does.
type reply func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error)

func text(format string, args ...any) *sdk.CallToolResult {
	return contents(&sdk.TextContent{Text: fmt.Sprintf(format, args...)})
}

func contents(all ...sdk.Content) *sdk.CallToolResult { return &sdk.CallToolResult{Content: all} }

func always(res *sdk.CallToolResult) reply {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return res, nil }
}

// embedded is a resource within a result.
func embedded(uri, about string) *sdk.EmbeddedResource {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: about}}
}

// schemas of tools that take something in particular. The first one has to come out as it is here.
var schemas = map[string]string{
	"json_schema_2020_12_tool": `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
			"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
		"additionalProperties":false}`,
	"test_x_mcp_header": `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`,
}

// tools are what the suites call, by the names that they give them.
func tools(server *sdk.Server) map[string]reply {
	all := map[string]reply{
		"test_simple_text":       always(text("A simple text.")),
		"test_image_content":     always(contents(&sdk.ImageContent{Data: pixel, MIMEType: "image/png"})),
		"test_audio_content":     always(contents(&sdk.AudioContent{Data: silence, MIMEType: "audio/wav"})),
		"test_embedded_resource": always(contents(embedded("test://embedded-resource", "An embedded resource."))),
		"test_multiple_content_types": always(contents(&sdk.TextContent{Text: "Several:"},
			&sdk.ImageContent{Data: pixel, MIMEType: "image/png"}, embedded("test://mixed", "A resource."))),
		"test_error_handling": always(&sdk.CallToolResult{IsError: true,
			Content: []sdk.Content{&sdk.TextContent{Text: "It fails, as it should."}}}),
		"json_schema_2020_12_tool":   always(text("Taken.")),
		"test_x_mcp_header":          always(text("Taken.")),
		"test_streaming_elicitation": always(text("Nothing but a result.")),
		"test_tool_with_logging":     logging,
		"test_logging_tool":          logging,
		"test_tool_with_progress":    progressing,
		"test_missing_capability":    needsSampling,
		"test_reconnection":          reconnecting,
		"test_sampling":              sampling,
		"test_trigger_tool_change": func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			add(server, "passing_tool", always(text("It passes.")))
			return text("The tools have changed."), nil
		},
		"test_trigger_prompt_change": func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			server.AddPrompt(&sdk.Prompt{Name: "passing_prompt", Description: "It passes"},
				func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
					return said(), nil
				})
			return text("The prompts have changed."), nil
		},
	}
	for name, schema := range elicited {
		all[name] = func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			res, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Tell me.",
				RequestedSchema: json.RawMessage(schema)})
			if err != nil {
				return nil, err
			}
			return text("action=%s, content=%v", res.Action, res.Content), nil
		}
	}
	for name, one := range rounds() {
		all[name] = one
	}
	return all
}

func add(server *sdk.Server, name string, do reply) {
	schema := schemas[name]
	if schema == "" {
		schema = `{"type":"object"}`
	}
	server.AddTool(&sdk.Tool{Name: name, Description: "A tool of the suites: " + name,
		InputSchema: json.RawMessage(schema)}, sdk.ToolHandler(do))
}

// elicited are forms by the tools that ask to fill them in.
var elicited = map[string]string{
	"test_elicitation": `{"type":"object","properties":{"username":{"type":"string","description":"A name"}},"required":["username"]}`,
	"test_elicitation_sep1034_defaults": `{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},
		"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`,
	"test_elicitation_sep1330_enums": `{"type":"object","properties":{
		"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]},
		"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["One","Two","Three"]},
		"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]}}}}`,
}

// A log is deprecated in the newest revision, and part of the one before.
func logging(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	for _, line := range []string{"begun", "under way", "done"} {
		if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: line}); err != nil { //nolint:staticcheck // the older revision has it
			return nil, err
		}
	}
	return text("It was logged."), nil
}

func progressing(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	for _, done := range []float64{0, 50, 100} {
		if err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done,
			Total: 100}); err != nil {
			return nil, err
		}
	}
	return text("%v", token), nil
}

func needsSampling(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if caps := req.ClientCapabilities(); caps != nil && caps.Sampling != nil { //nolint:staticcheck // it is what the suite asks for
		return text("It can."), nil
	}
	return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "sampling is needed",
		Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`)}
}

// reconnecting closes its stream, and answers a bit later.
func reconnecting(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
	select {
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
	}
	return text("Answered after the stream was closed."), nil
}

func sampling(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	res, err := req.Session.CreateMessage(ctx, completion("Say something.")) //nolint:staticcheck // the older revision has it
	if err != nil {
		return nil, err
	}
	said, _ := res.Content.(*sdk.TextContent)
	return text("The model says: %s", said.Text), nil
}

func completion(prompt string) *sdk.CreateMessageParams { //nolint:staticcheck // the older revision has it
	return &sdk.CreateMessageParams{ //nolint:staticcheck // as above
		MaxTokens: 50, Messages: []*sdk.SamplingMessage{{ //nolint:staticcheck // as above
			Role: "user", Content: &sdk.TextContent{Text: prompt}}}}
}
