package assistant

import (
	"bytes"
	"encoding/json"
	"strings"

	"sibyl/internal/model"
)

// Prompt is a request to a model together with the parts that it is made of: what is told of it is what was sent.
type Prompt struct {
	Request model.Request

	system, said []Part
}

// AddSegment adds a segment to the system prompt, unchanged.
func (p *Prompt) AddSegment(name, text string) {
	p.Request.System += text
	p.system = appendPart(p.system, PartSegment, name, text)
}

// BeginMessage begins a message, to which AddPart adds its text.
func (p *Prompt) BeginMessage(by model.Role) {
	p.Request.Messages = append(p.Request.Messages, model.Message{Role: by})
}

// AddPart adds a part, unchanged, to the message that was begun last.
func (p *Prompt) AddPart(kind PartKind, name, text string) {
	p.Request.Messages[len(p.Request.Messages)-1].Text += text
	p.said = appendPart(p.said, kind, name, text)
}

// appendPart adds a part to others, unless nothing is in it.
func appendPart(parts []Part, kind PartKind, name, text string) []Part {
	if text = strings.TrimSpace(text); text == "" {
		return parts
	}
	return append(parts, Part{Kind: kind, Name: name, Text: text})
}

// ShowEffect shows the request and what came back. schema is the form that was asked for, zero for none. kept is what
// the receipt has of the request; an old receipt without a hash counts as the same request.
func (p *Prompt) ShowEffect(to string, schema model.Schema, kept model.Sent, got ...Part) ShownEffect {
	x := ShownEffect{To: to, Got: got, Changed: kept.Hash != "" && kept.Hash != p.Request.Digest().Hash}
	x.Sent = append(x.Sent, p.system...)
	if schema.Name != "" {
		x.Sent = appendPart(x.Sent, PartSegment, "form", schema.Instruction())
	}
	x.Sent = append(x.Sent, p.said...)
	return x
}

// AnswerParts is the text of a model as a part; none if it is empty.
func AnswerParts(text string) []Part { return appendPart(nil, PartModel, "", text) }

// AnswerPartsJSON is a value of a model as a part, indented for people.
func AnswerPartsJSON(value any) []Part {
	b := &bytes.Buffer{}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(value) != nil {
		return nil
	}
	return appendPart(nil, PartModel, "", b.String())
}
