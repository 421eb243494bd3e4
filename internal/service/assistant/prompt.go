package assistant

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"sibyl/internal/model"
)

// Prompt builds a request to a model together with its parts, so that what is shown is what was sent.
type Prompt struct {
	Request model.Request

	system, said []Part
}

// AddSegment adds a segment, unchanged, to the system prompt.
func (p *Prompt) AddSegment(name, text string) {
	p.Request.System += text
	p.system = appendPart(p.system, PartSegment, name, text)
}

// BeginMessage begins an empty message; AddPart adds its text.
func (p *Prompt) BeginMessage(by model.Role) {
	p.Request.Messages = append(p.Request.Messages, model.Message{Role: by})
}

// AddPart adds text, unchanged, to the last message; it panics before the first BeginMessage.
func (p *Prompt) AddPart(kind PartKind, name, text string) {
	p.Request.Messages[len(p.Request.Messages)-1].Text += text
	p.said = appendPart(p.said, kind, name, text)
}

// TextsByOrigin gives the texts of the parts by whose words they are: the segments of these names are the assistant's
// own, and what the control layer told is too. All else is the person's, of a source, or of an earlier answer.
func (p *Prompt) TextsByOrigin(segments ...string) (ours, told, theirs []string) {
	for _, part := range append(slices.Clip(p.system), p.said...) {
		switch {
		case part.Kind == PartControl:
			told = append(told, part.Text)
		case part.Kind == PartSegment && slices.Contains(segments, part.Name):
			ours = append(ours, part.Text)
		default:
			theirs = append(theirs, part.Text)
		}
	}
	return ours, told, theirs
}

// appendPart appends a part with the trimmed text, unless that is empty.
func appendPart(parts []Part, kind PartKind, name, text string) []Part {
	if text = strings.TrimSpace(text); text == "" {
		return parts
	}
	return append(parts, Part{Kind: kind, Name: name, Text: text})
}

// ShowEffect shows the request and what came back. schema is the requested form of the answer, zero for none. kept is
// the request's hash in the receipt: Changed says whether it differs; without a hash (an old receipt) it does not.
func (p *Prompt) ShowEffect(to string, schema model.Schema, kept model.Sent, got ...Part) ShownEffect {
	x := ShownEffect{To: to, Got: got, Changed: kept.Hash != "" && kept.Hash != p.Request.Digest().Hash}
	x.Sent = append(x.Sent, p.system...)
	if schema.Name != "" && !schema.IsIn(p.Request) {
		x.Sent = appendPart(x.Sent, PartSegment, "form", schema.Instruction())
	}
	x.Sent = append(x.Sent, p.said...)
	return x
}

// AnswerParts gives the text of a model as one part; none if it is empty.
func AnswerParts(text string) []Part { return appendPart(nil, PartModel, "", text) }

// AnswerPartsJSON gives a value from a model as one part of indented JSON; none if it can't be encoded.
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
