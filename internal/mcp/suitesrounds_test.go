package mcp_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// sealed is a state with what shows that it is unchanged.
func sealed(state string) string {
	mac := hmac.New(sha256.New, []byte("of this test"))
	mac.Write([]byte(state))
	return state + "." + hex.EncodeToString(mac.Sum(nil))
}

// unsealed is the state that was sealed; the error is what a client hears that changed it.
func unsealed(given string) (string, error) {
	if at := strings.LastIndexByte(given, '.'); at >= 0 && hmac.Equal([]byte(sealed(given[:at])), []byte(given)) {
		return given[:at], nil
	}
	return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the state is none of this server"}
}

// form asks for one field.
func form(message, field, kind string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Mode: "form", Message: message,
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{"` + field + `":{"type":"` + kind +
			`"}},"required":["` + field + `"]}`)}
}

// filled is what was put into a form; nil if it was not sent off.
func filled(all sdk.InputResponseMap, id string) map[string]any {
	if res, ok := all[id].(*sdk.ElicitResult); ok && res != nil && res.Action == "accept" {
		return res.Content
	}
	return nil
}

// completed is what a model of the client said.
func completed(all sdk.InputResponseMap, id string) (string, bool) {
	res, ok := all[id].(*sdk.CreateMessageWithToolsResult) //nolint:staticcheck // it is what the suite asks for
	if !ok {
		return "", false
	}
	for _, c := range res.Content {
		if said, ok := c.(*sdk.TextContent); ok {
			return said.Text, true
		}
	}
	return "", true
}

func roots(all sdk.InputResponseMap, id string) (int, bool) {
	res, ok := all[id].(*sdk.ListRootsResult) //nolint:staticcheck // it is what the suite asks for
	if !ok {
		return 0, false
	}
	return len(res.Roots), true
}

func asks(state string, all sdk.InputRequestMap) *sdk.CallToolResult {
	return &sdk.CallToolResult{InputRequests: all, RequestState: state}
}

// rounds are the tools that need something of their client before they answer.
func rounds() map[string]reply {
	return map[string]reply{
		"test_input_required_result_elicitation": func(_ context.Context,
			req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if name, ok := filled(req.Params.InputResponses, "user_name")["name"].(string); ok && name != "" {
				return text("Hello, %s!", name), nil
			}
			return asks("", sdk.InputRequestMap{"user_name": form("Your name?", "name", "string")}), nil
		},
		"test_input_required_result_sampling": func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult,
			error) {
			if said, ok := completed(req.Params.InputResponses, "capital_question"); ok {
				return text("The model says: %s", said), nil
			}
			return asks("", sdk.InputRequestMap{"capital_question": completion("What is the capital of France?")}), nil
		},
		"test_input_required_result_list_roots": func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult,
			error) {
			if n, ok := roots(req.Params.InputResponses, "client_roots"); ok {
				return text("%d roots", n), nil
			}
			return asks("", sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}}), nil //nolint:staticcheck // it is what the suite asks for
		},
		"test_input_required_result_request_state":   stateful,
		"test_input_required_result_tampered_state":  stateful,
		"test_input_required_result_multiple_inputs": several,
		"test_input_required_result_multi_round":     twice,
		"test_input_required_result_capabilities":    capable,
	}
}

// stateful asks once, and wants its state back as it was.
func stateful(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if req.Params.RequestState != "" {
		if _, err := unsealed(req.Params.RequestState); err != nil {
			return nil, err
		}
		if filled(req.Params.InputResponses, "confirm") != nil {
			return text("state-ok"), nil
		}
	}
	return asks(sealed("asked"), sdk.InputRequestMap{"confirm": form("Is that so?", "ok", "boolean")}), nil
}

func several(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	given := req.Params.InputResponses
	name, named := filled(given, "user_name")["name"].(string)
	greeting, greeted := completed(given, "greeting")
	n, rooted := roots(given, "client_roots")
	if named && greeted && rooted {
		return text("%s %s, with %d roots", greeting, name, n), nil
	}
	return asks(sealed("several"), sdk.InputRequestMap{"user_name": form("Your name?", "name", "string"),
		"greeting":     completion("Greet."),
		"client_roots": &sdk.ListRootsParams{}}), nil //nolint:staticcheck // it is what the suite asks for
}

// twice asks for a name, and then for a colour.
func twice(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if req.Params.RequestState == "" {
		return asks(sealed("1"), sdk.InputRequestMap{"step1": form("Your name?", "name", "string")}), nil
	}
	state, err := unsealed(req.Params.RequestState)
	if err != nil {
		return nil, err
	}
	if state == "1" {
		name, _ := filled(req.Params.InputResponses, "step1")["name"].(string)
		return asks(sealed("2"+name), sdk.InputRequestMap{"step2": form("Your colour?", "color", "string")}), nil
	}
	return text("%s likes %v", state[1:], filled(req.Params.InputResponses, "step2")["color"]), nil
}

// capable asks for what its client says it can give.
func capable(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	all, caps := sdk.InputRequestMap{}, req.ClientCapabilities()
	if caps.Elicitation != nil {
		all["user_name"] = form("Your name?", "name", "string")
	}
	if caps.Sampling != nil { //nolint:staticcheck // it is what the suite asks for
		all["greeting"] = completion("Greet.")
	}
	if len(req.Params.InputResponses) > 0 || len(all) == 0 {
		return text("That is all."), nil
	}
	return asks("", all), nil
}
