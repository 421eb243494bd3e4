package gemini

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// request is the body of streamGenerateContent.
type request struct {
	SystemInstruction *content    `json:"systemInstruction,omitempty"`
	Contents          []content   `json:"contents"`
	Tools             []toolGroup `json:"tools,omitempty"`
	ToolConfig        any         `json:"toolConfig,omitempty"`
	GenerationConfig  *generation `json:"generationConfig,omitempty"`
}

// content is one turn. Its parts have the types below, or are json.RawMessage as the provider gave it.
type content struct {
	Role  string `json:"role,omitempty"`
	Parts []any  `json:"parts"`
}

// The roles of a content. Results of tools are the user's.
const (
	roleUser  = "user"
	roleModel = "model"
)

type picturePart struct {
	InlineData inlineData `json:"inlineData"`
}

type inlineData struct {
	Type string `json:"mimeType"`
	Data []byte `json:"data"`
}

func textPart(text string) map[string]string { return map[string]string{"text": text} }

type callPart struct {
	FunctionCall functionCall `json:"functionCall"`
	Signature    string       `json:"thoughtSignature,omitempty"`
}

// functionCall is a call in either direction. Args is a JSON object.
type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type resultPart struct {
	FunctionResponse functionResponse `json:"functionResponse"`
}

// functionResponse holds its text as "output", or as "error" if the tool failed.
type functionResponse struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

type toolGroup struct {
	FunctionDeclarations []declaration `json:"functionDeclarations"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type generation struct {
	MaxOutputTokens int             `json:"maxOutputTokens,omitempty"`
	MIMEType        string          `json:"responseMimeType,omitempty"`
	Schema          json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking        *thinking       `json:"thinkingConfig,omitempty"`
}

// thinking has only one of its fields set.
type thinking struct {
	Budget *int   `json:"thinkingBudget,omitempty"` // tokens; -1: the model decides
	Level  string `json:"thinkingLevel,omitempty"`
}

// optional are the words by which models reject fields that not every model accepts, in the order of the bits below.
var optional = []string{"responseJsonSchema", "thinkingLevel", "thinking level", "thinkingBudget", "thinking mode",
	"thinking is not"}

const (
	withoutSchema = 1 << iota
	withoutLevel
	withoutThatLevel
	withoutBudget
	withoutNone
	withoutThinking
)

// thinkingFor returns the field that asks the model to think as the settings say: newer models by a level, the others
// by a budget. A model that can't stop thinking is asked for as little as possible.
func (p *protocol) thinkingFor(without uint32) *thinking {
	level := func(l string) *thinking {
		if without&(withoutLevel|withoutThatLevel|withoutThinking) != 0 {
			return nil
		}
		return &thinking{Level: l}
	}
	budget := func(n int) *thinking {
		if without&(withoutBudget|withoutNone|withoutThinking) != 0 {
			return nil
		}
		return &thinking{Budget: &n}
	}
	switch set := p.config.Think; set {
	case "":
		return nil
	case "on":
		return budget(-1)
	case "off":
		return cmp.Or(budget(0), level("LOW"))
	default:
		return cmp.Or(level(strings.ToUpper(set)), budget(budgets[set]))
	}
}

// budgets maps an effort to tokens, within what all models with a budget accept.
var budgets = map[string]int{"low": 1024, "medium": 8192, "high": 24_576}

// foreignSignature is the signature that the API documents for calls that it did not make, such as another provider's:
// newer models reject a turn whose first call is not signed.
var foreignSignature = base64.StdEncoding.EncodeToString([]byte("skip_thought_signature_validator"))

// encode makes the body of a streaming request.
func (p *protocol) encode(req wire.Request) (any, error) {
	if p.nameErr != nil {
		return nil, p.nameErr
	}
	body := request{Tools: toolGroups(req.Tools)}
	var err error
	if body.Contents, err = p.encodeContents(req.Messages); err != nil {
		return nil, err
	}
	if req.System != "" {
		body.SystemInstruction = &content{Parts: []any{textPart(req.System)}}
	}
	if req.NoCalls && len(body.Tools) > 0 {
		body.ToolConfig = map[string]any{"functionCallingConfig": map[string]string{"mode": "NONE"}}
	}
	g := generation{MaxOutputTokens: req.MaxOutputTokens, Thinking: p.thinkingFor(req.Without)}
	if req.Schema != nil {
		g.MIMEType = "application/json"
		if req.Without&withoutSchema == 0 {
			g.Schema = req.Schema.JSON
		}
	}
	if g.MaxOutputTokens != 0 || g.Thinking != nil || g.MIMEType != "" {
		body.GenerationConfig = &g
	}
	return body, nil
}

// encodeContents encodes messages. All results that follow one turn are in one content, as the API requires.
func (p *protocol) encodeContents(messages []model.Message) ([]content, error) {
	out := make([]content, 0, len(messages))
	for i, msg := range messages {
		switch msg.Role {
		case model.User:
			turn := content{Role: roleUser}
			for _, picture := range msg.Pictures {
				turn.Parts = append(turn.Parts, picturePart{inlineData(picture)})
			}
			turn.Parts = append(turn.Parts, textPart(orEmpty(msg.Text)))
			out = append(out, turn)
		case model.Assistant:
			parts, own := p.nativeParts(msg)
			if !own {
				parts = rebuildParts(msg)
			}
			out = append(out, content{roleModel, parts})
		case model.ToolRole:
			if msg.ToolName == "" {
				return nil, fmt.Errorf("message %d is a tool's result without the tool's name", i)
			}
			if i == 0 || messages[i-1].Role != model.ToolRole {
				out = append(out, content{Role: roleUser})
			}
			group := &out[len(out)-1]
			group.Parts = append(group.Parts, newResultPart(msg))
		}
	}
	return out, nil
}

// orEmpty replaces an empty text, which the API rejects.
func orEmpty(text string) string { return cmp.Or(text, wire.EmptyText) }

func newResultPart(msg model.Message) resultPart {
	key := "output"
	if msg.IsError {
		key = "error"
	}
	return resultPart{functionResponse{
		ID: providerID(msg.ToolCallID), Name: msg.ToolName, Response: map[string]string{key: msg.Text},
	}}
}

// nativeParts returns the parts of msg as this provider gave them, without the calls that msg does not hold: the API
// requires as many results as calls, and a call that was not performed has none. own is false if another provider gave
// msg, or if it was changed.
func (p *protocol) nativeParts(msg model.Message) (parts []any, own bool) {
	var turn struct {
		Parts []json.RawMessage `json:"parts"`
	}
	if !wire.ReadNative(msg, p.config.Provider, &turn) {
		return nil, false
	}
	remaining := msg.ToolCalls
	for _, raw := range turn.Parts {
		var of part
		if json.Unmarshal(raw, &of) != nil {
			return nil, false
		}
		if of.FunctionCall != nil {
			if len(remaining) == 0 || !of.FunctionCall.matches(remaining[0]) {
				continue
			}
			remaining = remaining[1:]
		}
		parts = append(parts, raw)
	}
	return parts, len(remaining) == 0 && len(parts) > 0
}

// matches says whether call was made from f. A journal may have escaped <, > and & in f since.
func (f functionCall) matches(call model.ToolCall) bool {
	var own, passed bytes.Buffer
	json.HTMLEscape(&own, []byte(f.arguments()))
	json.HTMLEscape(&passed, []byte(call.Arguments))
	return f.ID == providerID(call.ID) && f.Name == call.Name && own.String() == passed.String()
}

// rebuildParts makes the parts of a turn from its text and calls.
func rebuildParts(msg model.Message) []any {
	var parts []any
	if msg.Text != "" || len(msg.ToolCalls) == 0 {
		parts = append(parts, textPart(orEmpty(msg.Text)))
	}
	for i, call := range msg.ToolCalls {
		p := callPart{FunctionCall: functionCall{ID: providerID(call.ID), Name: call.Name,
			Args: wire.ArgumentsObject(call.Arguments)}}
		if i == 0 {
			p.Signature = foreignSignature
		}
		parts = append(parts, p)
	}
	return parts
}

// generatedIDPrefix begins the ids of calls to which the provider gave none. They are never sent, since it does not
// know them.
const generatedIDPrefix = "gemini_call_"

func providerID(id string) string {
	if strings.HasPrefix(id, generatedIDPrefix) {
		return ""
	}
	return id
}

func toolGroups(offered []model.Tool) []toolGroup {
	if len(offered) == 0 {
		return nil
	}
	var group toolGroup
	for _, t := range offered {
		group.FunctionDeclarations = append(group.FunctionDeclarations, declaration{t.Name, t.Description, t.Schema})
	}
	return []toolGroup{group}
}
