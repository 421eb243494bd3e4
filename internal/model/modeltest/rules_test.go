package modeltest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sibyl/internal/model"
)

// said is one message of a conversation, as the rules of the protocols look at it.
type said struct {
	role           string
	calls, results []string // their ids, or names where a protocol goes by them
}

// checkRules says which of its protocol's rules a conversation breaks: the real providers reject all of it then. In
// all of them each call has its result in what follows, and no text is empty.
func checkRules(r Request) error {
	if r.Form == nil && !utf8.ValidString(r.Body) {
		return errors.New("the body is not valid UTF-8")
	}
	var all []said
	var err error
	switch way, _ := routeOf(r.Path); way.name {
	case "chat":
		all, err = chatTurns(r)
	case "responses":
		all, err = responseTurns(r)
	case "messages":
		all, err = messagesTurns(r)
	case "gemini":
		all, err = geminiTurns(r)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	var open []string
	for i, s := range all {
		if !slices.Equal(s.results, open) {
			return fmt.Errorf("message %d has the results %q of the calls %q", i, s.results, open)
		}
		open = s.calls
	}
	if len(open) > 0 {
		return fmt.Errorf("the calls %q have no results", open)
	}
	return nil
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}

func text(v any, name string) string {
	fields, _ := v.(map[string]any)
	value, _ := fields[name].(string)
	return value
}

// appendTurn puts results in a row into one message.
func appendTurn(all []said, s said) []said {
	if n := len(all); len(s.results) > 0 && n > 0 && len(all[n-1].results) > 0 {
		all[n-1].results = append(all[n-1].results, s.results...)
		return all
	}
	return append(all, s)
}

func chatTurns(r Request) (all []said, err error) {
	for i, m := range list(r.At("messages")) {
		s := said{role: text(m, "role")}
		calls := list(m.(map[string]any)["tool_calls"])
		for _, c := range calls {
			s.calls = append(s.calls, text(c, "id"))
		}
		if s.role == "tool" {
			s.results = []string{text(m, "tool_call_id")}
		}
		if len(calls) == 0 && text(m, "content") == "" && len(list(m.(map[string]any)["content"])) == 0 {
			return nil, fmt.Errorf("message %d has no content", i)
		}
		all = appendTurn(all, s)
	}
	return all, nil
}

// responseTurns puts the items of a turn together.
func responseTurns(r Request) (all []said, err error) {
	for i, item := range list(r.At("input")) {
		switch kind, n := text(item, "type"), len(all); {
		case kind == "function_call" && n > 0 && len(all[n-1].calls) > 0:
			all[n-1].calls = append(all[n-1].calls, text(item, "call_id"))
		case kind == "function_call":
			all = append(all, said{calls: []string{text(item, "call_id")}})
		case kind == "function_call_output":
			all = appendTurn(all, said{results: []string{text(item, "call_id")}})
		case kind == "reasoning" && text(item, "encrypted_content") == "":
			return nil, fmt.Errorf("item %d is not found: it is not persisted", i)
		default:
			all = append(all, said{})
		}
	}
	return all, nil
}

var anthropicID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func messagesTurns(r Request) (all []said, err error) {
	messages := list(r.At("messages"))
	if limit, _ := r.At("max_tokens").(float64); limit < 1 || len(messages) == 0 {
		return nil, errors.New("a limit and a message are required")
	}
	for i, m := range messages {
		s, last := said{role: text(m, "role")}, ""
		for _, b := range list(m.(map[string]any)["content"]) {
			kind := text(b, "type")
			switch kind {
			case "text":
				if strings.TrimSpace(text(b, "text")) == "" {
					return nil, fmt.Errorf("message %d: text content blocks must contain non-whitespace text", i)
				}
			case "tool_use":
				if s.calls = append(s.calls, text(b, "id")); !anthropicID.MatchString(text(b, "id")) {
					return nil, fmt.Errorf("message %d: an id of letters, digits, _ and - is required", i)
				}
			case "tool_result":
				if s.results = append(s.results, text(b, "tool_use_id")); last != "" && last != kind {
					return nil, fmt.Errorf("message %d: a result comes after another block", i)
				}
			}
			last = kind
		}
		if last == "" || strings.HasSuffix(last, "thinking") || len(s.calls) > 0 && r.At("tools") == nil {
			return nil, fmt.Errorf("message %d is empty, ends in thinking, or has calls without tools", i)
		}
		if i%2 == 0 != (s.role == "user") || i == len(messages)-1 && s.role != "user" {
			return nil, fmt.Errorf("message %d is the %s's: roles alternate, and the user has the first and the last word", i, s.role)
		}
		all = append(all, s)
	}
	return all, nil
}

func geminiTurns(r Request) (all []said, err error) {
	for i, c := range list(r.At("contents")) {
		s := said{role: text(c, "role")}
		for _, p := range list(c.(map[string]any)["parts"]) {
			part := p.(map[string]any)
			call, result := part["functionCall"], part["functionResponse"]
			switch {
			case call != nil && len(s.calls) == 0 && part["thoughtSignature"] == nil:
				return nil, fmt.Errorf("content %d: the function call is missing a thought_signature", i)
			case call != nil:
				s.calls = append(s.calls, text(call, "id")+text(call, "name"))
			case result != nil:
				s.results = append(s.results, text(result, "id")+text(result, "name"))
			case part["text"] == "" && part["thoughtSignature"] == nil:
				return nil, fmt.Errorf("content %d says nothing", i)
			}
		}
		all = append(all, s)
	}
	return all, nil
}

func TestEveryAnsweredConversationKeepsTheRulesOfItsProtocol(t *testing.T) {
	for name, build := range adapters() {
		t.Run(name, func(t *testing.T) {
			m, _ := startSetup(t, build, Setup{}, Answer{Chunks: []string{"ok"}, Repeat: true})
			rapid.Check(t, func(t *rapid.T) {
				anyText := rapid.OneOf(rapid.Just(""), rapid.Just(" \n"), rapid.StringN(0, 20, -1), rapid.Just("\xff"))
				req := model.Request{System: anyText.Draw(t, "system"),
					Messages: []model.Message{{Role: model.User, Text: anyText.Draw(t, "question")}}}
				calls := 0
				for range rapid.IntRange(0, 8).Draw(t, "messages") {
					turn := model.Message{Role: rapid.SampledFrom([]model.Role{model.User, model.Assistant}).
						Draw(t, "role"), Text: anyText.Draw(t, "text")}
					var results []model.Message
					for range rapid.IntRange(0, 3).Draw(t, "calls") {
						if turn.Role == model.User {
							break
						}
						calls++
						id := rapid.SampledFrom([]string{"call_", "functions.f:", "", "ü"}).Draw(t, "id") +
							string(rune('a'+calls))
						turn.ToolCalls = append(turn.ToolCalls, model.ToolCall{ID: id, Name: "f",
							Arguments: anyText.Draw(t, "arguments")})
						results = append(results, model.Message{Role: model.ToolRole, ToolCallID: id, ToolName: "f",
							Text: anyText.Draw(t, "result")})
					}
					req.Messages = append(append(req.Messages, turn), results...)
				}
				if rapid.Bool().Draw(t, "tools") {
					req.Tools = []model.Tool{{Name: "f"}}
				}
				if _, err := m.Chat(t.Context(), req, nil); err != nil {
					t.Fatalf("%v\nof %+v", err, req)
				}
			})
		})
	}
}
