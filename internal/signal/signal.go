// Package signal has the six signals by which a model reports its own state, and extracts them from a stream of text
// (docs/requirements.md, FR-001 to FR-005). It imports the standard library only; docs/signals.md is its contract for
// readers and other implementations.
//
// Guarantees:
//   - No byte of a signal is shown, whole or malformed, and no other byte is lost.
//   - The result is the same, however the stream is cut into chunks.
//   - Text is held only while it may still be a signal, at most MaxHeld bytes.
//   - The work is in proportion to the text, whatever it is and however small its chunks are.
//   - A Signal is valid: its type is known, its required fields are there, its confidence lies between 0 and 1.
package signal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Type is the category of a signal.
type Type string

const (
	NeedTurn              Type = "need_turn"
	ContextSufficient     Type = "context_sufficient"
	Stuck                 Type = "stuck"
	NeedCapability        Type = "need_capability"
	PartialAnswer         Type = "partial_answer"
	DelegationRecommended Type = "delegation_recommended"
)

// FieldKind is the kind of value that a field has.
type FieldKind string

const (
	Text FieldKind = "string"
	Int  FieldKind = "int"
	List FieldKind = "list"
)

// FieldSpec describes one field of a type.
type FieldSpec struct {
	Name     string
	Kind     FieldKind
	Required bool
	Meaning  string
}

// Spec describes a type: when it is emitted, and its fields besides confidence.
type Spec struct {
	Type   Type
	When   string
	Fields []FieldSpec
}

// Specs is the one table of types and fields, in the order of docs/signals.md. The slice is the caller's.
func Specs() []Spec {
	must := func(name string, k FieldKind, meaning string) FieldSpec { return FieldSpec{name, k, true, meaning} }
	may := func(name string, k FieldKind, meaning string) FieldSpec { return FieldSpec{name, k, false, meaning} }
	return []Spec{
		{NeedTurn, "more turns are needed", []FieldSpec{
			must("reason", Text, "why another turn is needed"),
			may("expected_turns", Int, "estimated turns needed")}},
		{ContextSufficient, "there is information enough for the answer", []FieldSpec{
			must("sources_found", Int, "number of relevant sources"),
			may("source_types", List, "types of sources found")}},
		{Stuck, "no way forward", []FieldSpec{
			must("attempted", List, "tools and approaches tried"),
			must("blocker", Text, "what prevents progress"),
			may("suggestions", List, "what might help")}},
		{NeedCapability, "a tool is needed that is not offered", []FieldSpec{
			must("capability", Text, "what capability is needed"),
			must("reason", Text, "why it is needed"),
			may("workaround", Text, "a partial solution")}},
		{PartialAnswer, "the answer has a gap", []FieldSpec{
			must("missing", Text, "what information is missing"),
			may("caveat", Text, "what the person should know about it")}},
		{DelegationRecommended, "somebody else should do it", []FieldSpec{
			must("reason", Text, "why delegation helps"),
			must("scope", Text, "what to delegate"),
			may("estimated_tokens", Int, "token budget needed"),
			may("subagent_type", Text, "recommended subagent")}},
	}
}

// specs are read by every signal.
var specs = Specs()

func specOf(t Type) (Spec, bool) {
	for _, s := range specs {
		if s.Type == t {
			return s, true
		}
	}
	return Spec{}, false
}

func (s Spec) field(name string) FieldSpec {
	for _, f := range s.Fields {
		if f.Name == name {
			return f
		}
	}
	return FieldSpec{Name: name, Kind: Text}
}

// Signal is a model's report on its own state. It is immutable once parsed. The caller sets At, the time of parsing.
type Signal struct {
	Type       Type             `json:"type"`
	Confidence float64          `json:"confidence"`
	Fields     map[string]Value `json:"fields"`
	RawXML     string           `json:"raw_xml"` // as it was written, in whichever form
	At         time.Time        `json:"timestamp,omitzero"`
}

// UnmarshalJSON reads a signal. It ignores a timestamp that is not a string, such as milliseconds of the run.
func (s *Signal) UnmarshalJSON(raw []byte) error {
	type fields Signal
	read := struct {
		*fields
		At json.RawMessage `json:"timestamp"`
	}{fields: (*fields)(s)}
	if err := json.Unmarshal(raw, &read); err != nil {
		return err
	}
	s.At = time.Time{}
	if len(read.At) == 0 || read.At[0] != '"' {
		return nil
	}
	return json.Unmarshal(read.At, &s.At)
}

// Value is a field: a text, a whole number or a list of texts. In JSON it is a string, a number or an array.
type Value struct {
	Kind  FieldKind
	Text  string // for a number, its digits
	Items []string
}

// MarshalJSON gives a string, a number or an array.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.Kind {
	case List:
		return json.Marshal(v.Items)
	case Int:
		return []byte(v.Text), nil
	}
	return json.Marshal(v.Text)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Value) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case bytes.HasPrefix(data, []byte("[")):
		*v = Value{Kind: List}
		return json.Unmarshal(data, &v.Items)
	case bytes.HasPrefix(data, []byte(`"`)):
		*v = Value{Kind: Text}
		return json.Unmarshal(data, &v.Text)
	}
	n, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return fmt.Errorf("a signal's field is neither text, whole number nor list: %s", data)
	}
	*v = Value{Kind: Int, Text: strconv.FormatInt(n, 10)}
	return nil
}

// Text is a field as text; "" if there is none.
func (s Signal) Text(name string) string { return s.Fields[name].Text }

// List is a field as list; nil if there is none.
func (s Signal) List(name string) []string { return s.Fields[name].Items }

// Problem is markup that was removed without becoming the signal.
type Problem struct {
	Reason string `json:"reason"`
	Raw    string `json:"raw"`    // at most maxRaw bytes of it
	Offset int64  `json:"offset"` // in bytes, in the text as it came in
}

const maxRaw = 500

// maxFound bounds how many signals besides the first, and how many problems, are kept of a stream.
const maxFound = 100

// Result is what a stream contained. Signal is the first valid one; Extra are the others, and Mentions are those that
// the text quotes: both are logged, and nothing follows from them. Of Extra and Problems the first maxFound are kept,
// of Mentions the first maxMentions.
type Result struct {
	Signal   *Signal   `json:"signal,omitempty"`
	Extra    []Signal  `json:"extra,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
	Mentions []Mention `json:"mentions,omitempty"`
}

// Malformed says whether there was markup of a signal, but no valid one.
func (r Result) Malformed() bool { return r.Signal == nil && len(r.Problems) > 0 }

func (r *Result) addSignal(s Signal) {
	if r.Signal == nil {
		r.Signal = &s
		return
	}
	if len(r.Extra) < maxFound {
		r.Extra = append(r.Extra, s)
	}
}

func (r *Result) addProblem(reason, raw string, offset int64) {
	if len(r.Problems) >= maxFound {
		return
	}
	r.Problems = append(r.Problems, Problem{Reason: reason, Raw: clipRaw(raw), Offset: offset})
}

// Form is how a text quotes what it mentions.
type Form string

// The forms of a quotation.
const (
	Blockquote Form = "blockquote"
	Indented   Form = "indented code"
	Code       Form = "code" // a fence or a code span
)

// Mention is a signal that the text quotes: it is logged, and nothing follows from it.
type Mention struct {
	Type   Type   `json:"type,omitempty"` // "": it is not valid
	Form   Form   `json:"form"`
	Raw    string `json:"raw"`    // at most maxRaw bytes of it
	Offset int64  `json:"offset"` // in bytes, in the text as it came in
}

// maxMentions bounds how many mentions of a text are kept.
const maxMentions = 32

func (r *Result) addMention(form Form, raw string, offset int64) {
	if len(r.Mentions) == maxMentions {
		return
	}
	m := Mention{Form: form, Raw: clipRaw(raw), Offset: offset}
	if s, err := Parse(raw); err == nil {
		m.Type = s.Type
	}
	r.Mentions = append(r.Mentions, m)
}

// addMentionsIn adds the signals in code as mentions.
func (r *Result) addMentionsIn(code string, offset int64) {
	for i := 0; i < len(code) && len(r.Mentions) < maxMentions; {
		at := strings.IndexByte(code[i:], '<')
		if at < 0 {
			return
		}
		i += at
		n := 1
		if tag, v := readTag(code[i:]); v == yes && tag.typed {
			d := readMarkup(window{text: code[i:], final: true})
			r.addMention(Code, d.raw, offset+int64(i))
			n = d.n
		}
		i += n
	}
}

// clipRaw is the part of markup that is kept.
func clipRaw(raw string) string {
	if len(raw) > maxRaw {
		return strings.ToValidUTF8(raw[:maxRaw], "")
	}
	return raw
}
