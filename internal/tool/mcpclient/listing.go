package mcpclient

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/files"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// Bounds of what a server may list.
const (
	maxTools       = 256
	maxDescription = 2 << 10  // bytes of a description that is shown to a model
	maxSchema      = 32 << 10 // bytes of the schema of one tool; a tool with more is left out
)

// Offer is a tool as its server lists it. Hints left out have MCP's defaults: destructive and open world.
type Offer struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input"`            // JSON Schema of the arguments
	Output      json.RawMessage `json:"output,omitempty"` // JSON Schema of the structured result
	Hints       tool.Hints      `json:"hints"`
	Left        string          `json:"left,omitempty"` // it is no tool that can be called: why
}

// Listing is all that a server lists, sorted by name.
type Listing []Offer

// Hash returns the hash of everything in the listing: "sha256:" and hex.
func (l Listing) Hash() string {
	text, err := json.Marshal(l)
	if err != nil { // schemas are valid JSON
		panic(fmt.Sprintf("encode a listing: %v", err))
	}
	return files.Hash(text)
}

// offerOf makes an Offer of a tool of the SDK.
func offerOf(t *mcp.Tool) (Offer, error) {
	o := Offer{Name: t.Name, Title: t.Title, Description: t.Description, Hints: tool.Hints{Destructive: true,
		OpenWorld: true}}
	if a := t.Annotations; a != nil {
		o.Title = cmp.Or(o.Title, a.Title)
		o.Hints.ReadOnly, o.Hints.Idempotent = a.ReadOnlyHint, a.IdempotentHint
		if a.DestructiveHint != nil {
			o.Hints.Destructive = *a.DestructiveHint
		}
		if a.OpenWorldHint != nil {
			o.Hints.OpenWorld = *a.OpenWorldHint
		}
	}
	o.Left, _ = t.Meta[leftOutKey].(string)
	var err error
	if o.Input, err = json.Marshal(t.InputSchema); err != nil {
		return o, fmt.Errorf("input schema of %s: %w", t.Name, err)
	}
	if t.OutputSchema != nil {
		if o.Output, err = json.Marshal(t.OutputSchema); err != nil {
			return o, fmt.Errorf("output schema of %s: %w", t.Name, err)
		}
	}
	return o, nil
}

// specOf makes our Spec of an offer. An error says why the tool can't be used.
func (s *Session) specOf(o Offer) (tool.Spec, error) {
	if o.Left != "" {
		return tool.Spec{}, errors.New(o.Left)
	}
	if len(o.Input)+len(o.Output) > maxSchema {
		return tool.Spec{}, fmt.Errorf("its schemas have more than %d bytes", maxSchema)
	}
	input := o.Input
	if !s.cfg.Own {
		var err error
		if input, err = mendSchema(o.Input); err != nil {
			return tool.Spec{}, err
		}
	}
	spec := tool.Spec{Name: safeName(s.cfg.Prefix + o.Name), Title: o.Title, Description: tool.Clip(o.Description,
		maxDescription), Schema: input,
		OutputSchema: o.Output, Source: s.cfg.Source, Foreign: s.cfg.Foreign, Effect: tool.Once}
	if s.cfg.Foreign {
		var err error
		if spec.Schema, err = neutraliseSchema(input); err != nil {
			return tool.Spec{}, err
		}
		spec.Out = tool.Out{To: tool.ToServer, Trusted: s.cfg.Private}
		spec.Title, spec.OutputSchema = signal.Neutralise(o.Title), nil
	}
	if o.Hints.ReadOnly {
		spec.Effect = tool.Repeatable
		return spec, nil
	}
	spec.Destructive, spec.Idempotent = o.Hints.Destructive, o.Hints.Idempotent
	return spec, nil
}

// neutraliseSchema neutralises the texts for people in a schema, so that they can't steer a model. A schema that holds
// such words elsewhere is refused.
func neutraliseSchema(schema json.RawMessage) (json.RawMessage, error) {
	var tree any
	if err := json.Unmarshal(schema, &tree); err != nil {
		return nil, err
	}
	var neutralise func(any)
	neutralise = func(node any) {
		switch node := node.(type) {
		case map[string]any:
			for name, part := range node {
				if words, ok := part.(string); ok && slices.Contains([]string{"description", "title", "$comment"},
					name) {
					node[name] = signal.Neutralise(words)
				}
				neutralise(part)
			}
		case []any:
			for _, part := range node {
				neutralise(part)
			}
		}
	}
	neutralise(tree)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree); err != nil {
		return nil, err
	}
	if text := b.String(); signal.Neutralise(text) != text {
		return nil, errors.New("its arguments are called like words that steer a model")
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// maxName is the longest name that all providers of models accept.
const maxName = 64

// safeName returns a name that all providers of models accept: letters, digits, _ and -, and no digit or - first. A
// changed name ends with a hash, so that different names stay different.
func safeName(name string) string {
	safe := []byte(name)
	if len(safe) == 0 || safe[0] == '-' || '0' <= safe[0] && safe[0] <= '9' {
		safe = append([]byte("_"), safe...)
	}
	for i, c := range safe {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			safe[i] = '_'
		}
	}
	if string(safe) == name && len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	end := "_" + hex.EncodeToString(sum[:4])
	return string(safe[:min(len(safe), maxName-len(end))]) + end
}
