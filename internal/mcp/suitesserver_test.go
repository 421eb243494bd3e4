package mcp_test

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// fixture is a server with what the suites call.
func fixture(_ string, sessionID func() string) *sdk.Server {
	nothing := func(context.Context, *sdk.SubscribeRequest) error { return nil }
	s := sdk.NewServer(&sdk.Implementation{Name: "fixtures", Version: "1"}, &sdk.ServerOptions{
		GetSessionID: sessionID, Capabilities: &sdk.ServerCapabilities{Logging: &sdk.LoggingCapabilities{}}, //nolint:staticcheck // the older revision has it
		SubscribeHandler: nothing, UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error {
			return nil
		},
		CompletionHandler: func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
		},
	})
	for name, do := range tools(s) {
		add(s, name, do)
	}
	mountPrompts(s)
	resources(s)
	return s
}

func said(all ...sdk.Content) *sdk.GetPromptResult {
	res := &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{}}
	for _, c := range all {
		res.Messages = append(res.Messages, &sdk.PromptMessage{Role: "user", Content: c})
	}
	return res
}

func mountPrompts(s *sdk.Server) {
	for name, of := range map[string]func(args map[string]string) []sdk.Content{
		"test_simple_prompt": func(map[string]string) []sdk.Content {
			return []sdk.Content{&sdk.TextContent{Text: "A simple prompt."}}
		},
		"test_prompt_with_arguments": func(args map[string]string) []sdk.Content {
			return []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("arg1='%s', arg2='%s'",
				args["arg1"], args["arg2"])}}
		},
		"test_prompt_with_embedded_resource": func(args map[string]string) []sdk.Content {
			return []sdk.Content{embedded(args["resourceUri"], "A resource."), &sdk.TextContent{Text: "Look at it."}}
		},
		"test_prompt_with_image": func(map[string]string) []sdk.Content {
			return []sdk.Content{&sdk.ImageContent{Data: pixel, MIMEType: "image/png"},
				&sdk.TextContent{Text: "Look at it."}}
		},
	} {
		p := &sdk.Prompt{Name: name, Description: "A prompt of the suites: " + name}
		for _, arg := range map[string][]string{"test_prompt_with_arguments": {"arg1", "arg2"},
			"test_prompt_with_embedded_resource": {"resourceUri"}}[name] {
			p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: arg, Description: "An argument",
				Required: true})
		}
		s.AddPrompt(p, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return said(of(req.Params.Arguments)...), nil
		})
	}
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "Asks for a context"},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			if got := filled(req.Params.InputResponses, "user_context"); got != nil {
				return said(&sdk.TextContent{Text: fmt.Sprintf("In the context of %v.", got["context"])}), nil
			}
			return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": form("Which context?",
				"context",
				"string")}}, nil
		})
}

func resources(s *sdk.Server) {
	read := func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		c := &sdk.ResourceContents{URI: req.Params.URI, MIMEType: "text/plain", Text: "A text."}
		switch id, ok := strings.CutPrefix(c.URI, "test://template/"); {
		case c.URI == "test://static-binary":
			c = &sdk.ResourceContents{URI: c.URI, MIMEType: "image/png", Blob: pixel}
		case ok:
			c.MIMEType, c.Text = "application/json", fmt.Sprintf(`{"id":%q}`, strings.TrimSuffix(id, "/data"))
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}, nil
	}
	for name, kind := range map[string]string{"static-text": "text/plain", "static-binary": "image/png",
		"watched-resource": "text/plain"} {
		s.AddResource(&sdk.Resource{Name: name, Description: "A resource of the suites", MIMEType: kind,
			URI: "test://" + name}, read)
	}
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", MIMEType: "application/json",
		URITemplate: "test://template/{id}/data"}, read)
}
