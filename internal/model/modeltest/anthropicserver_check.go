package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// anthropicBlock is what the rules look at in a block of content.
type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  *string         `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

// check says which of the protocol's rules r breaks. Anthropic answers each with status 400.
func (r AnthropicRequest) check() error {
	switch {
	case r.Header.Get("Anthropic-Version") == "":
		return errors.New("anthropic-version: header is required")
	case !utf8.ValidString(r.Body):
		return errors.New("the request body is not valid UTF-8")
	case r.Model == "":
		return errors.New("model: Field required")
	case r.MaxTokens <= 0:
		return errors.New("max_tokens: must be greater than or equal to 1")
	case !r.Stream:
		return errors.New("modeltest: only streams are answered")
	case len(r.Messages) == 0:
		return errors.New("messages: at least one message is required")
	case r.Messages[0].Role != "user":
		return errors.New("messages: first message must use the \"user\" role")
	case r.Messages[len(r.Messages)-1].Role != "user":
		return errors.New("this model does not support assistant message prefill")
	}
	if c := r.OutputConfig; c != nil && (c.Format.Type != "json_schema" || !isObject(c.Format.Schema)) {
		return errors.New("output_config.format: a schema is required")
	}
	if err := r.checkTools(); err != nil {
		return err
	}
	var open []string // the calls of the message before
	for i, m := range r.Messages {
		if i > 0 && m.Role == r.Messages[i-1].Role {
			return fmt.Errorf("messages.%d: roles must alternate", i)
		}
		blocks, err := m.blocks()
		if err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		if open, err = m.checkBlocks(blocks, open); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		if len(open) > 0 && len(r.Tools) == 0 {
			return errors.New("requests which include tool_use or tool_result blocks must define tools")
		}
	}
	return nil
}

func (r AnthropicRequest) checkTools() error {
	for i, raw := range r.Tools {
		var tool struct {
			Name   string `json:"name"`
			Schema struct {
				Type string `json:"type"`
			} `json:"input_schema"`
		}
		if err := json.Unmarshal(raw, &tool); err != nil {
			return fmt.Errorf("tools.%d: %w", i, err)
		}
		if tool.Name == "" || tool.Schema.Type != "object" {
			return fmt.Errorf("tools.%d: a name and an input_schema of type object are required", i)
		}
	}
	return nil
}

func (m AnthropicMessage) blocks() ([]anthropicBlock, error) {
	if len(m.Content) == 0 {
		return nil, errors.New("content must be non-empty")
	}
	blocks := make([]anthropicBlock, len(m.Content))
	for i, raw := range m.Content {
		if err := json.Unmarshal(raw, &blocks[i]); err != nil {
			return nil, fmt.Errorf("content.%d: %w", i, err)
		}
	}
	return blocks, nil
}

var anthropicID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// checkBlocks checks the blocks of one message, which follows one that made the open calls, and returns its own calls.
func (m AnthropicMessage) checkBlocks(blocks []anthropicBlock, open []string) (calls []string, err error) {
	others := false
	for i, b := range blocks {
		if err := b.check(m.Role); err != nil {
			return nil, fmt.Errorf("content.%d: %w", i, err)
		}
		switch b.Type {
		case "tool_use":
			calls = append(calls, b.ID)
		case "tool_result":
			at := slices.Index(open, b.ToolUseID)
			if at < 0 || others {
				return nil, fmt.Errorf("content.%d: unexpected tool_use_id in a tool_result block: %s", i, b.ToolUseID)
			}
			open = slices.Delete(slices.Clone(open), at, at+1)
		default:
			others = true
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("tool_use ids were found without tool_result blocks immediately after: %v", open)
	}
	if last := blocks[len(blocks)-1].Type; last == "thinking" || last == "redacted_thinking" {
		return nil, errors.New("the final block in an assistant message cannot be thinking")
	}
	return calls, nil
}

func (b anthropicBlock) check(role string) error {
	switch b.Type {
	case "text":
		if strings.TrimSpace(b.Text) == "" {
			return errors.New("text content blocks must contain non-whitespace text")
		}
		return nil
	case "tool_result":
		var parts []anthropicBlock
		if len(b.Content) > 0 && json.Unmarshal(b.Content, &parts) != nil {
			return errors.New("the content of a tool_result is not a list of blocks")
		}
		for _, part := range parts {
			if err := part.check(role); err != nil {
				return err
			}
		}
		if role != "user" {
			return errors.New("tool_result blocks can only be in user messages")
		}
		return nil
	}
	if role != "assistant" {
		return fmt.Errorf("a block of type %q can only be in assistant messages", b.Type)
	}
	switch b.Type {
	case "tool_use":
		var input map[string]any
		if !anthropicID.MatchString(b.ID) || b.Name == "" || json.Unmarshal(b.Input, &input) != nil || input == nil {
			return errors.New("a tool_use block needs an id of letters, digits, _ and -, a name, and a dictionary as input")
		}
	case "thinking":
		if b.Thinking == nil || b.Signature == "" {
			return errors.New("thinking.signature: Field required")
		}
	case "redacted_thinking":
	default:
		return fmt.Errorf("input tag %q found does not match any of the expected tags", b.Type)
	}
	return nil
}
