package signal

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Parse parses one whole signal: an element, one with escaped brackets, or a JSON object. The error says what is wrong.
func Parse(raw string) (Signal, error) {
	e, err := readAnyForm(raw)
	if err != nil {
		return Signal{}, err
	}
	spec, ok := specOf(e.signalType())
	if !ok {
		if e.kind == "" {
			return Signal{}, errors.New("the signal has no type")
		}
		return Signal{}, fmt.Errorf("there is no signal type %q", e.kind)
	}
	s := Signal{Type: spec.Type, RawXML: raw, Fields: map[string]Value{}}
	if s.Confidence, err = parseConfidence(e.confidence); err != nil {
		return Signal{}, err
	}
	for _, f := range e.fields {
		v, err := f.value(spec.field(f.name))
		if err == nil {
			s.Fields[f.name] = v
		} else if spec.field(f.name).Required {
			return Signal{}, err
		}
	}
	for _, f := range spec.Fields {
		if _, there := s.Fields[f.Name]; f.Required && !there {
			return Signal{}, fmt.Errorf("%s wants the field %s", spec.Type, f.Name)
		}
	}
	return s, nil
}

// element is a signal as it was written.
type element struct {
	kind       string
	confidence string
	fields     []field
}

func (e element) signalType() Type { return Type(strings.ToLower(strings.TrimSpace(e.kind))) }

func readAnyForm(raw string) (element, error) {
	if strings.HasPrefix(raw, "{") {
		return elementFromObject(raw)
	}
	if strings.HasPrefix(raw, escaped) {
		raw = html.UnescapeString(raw)
	}
	return readElement(toXML(raw))
}

var (
	// tagNames matches the names of tags with the blanks before them, and comments and CDATA.
	tagNames = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\s*/?\s*[A-Za-z][\w.:-]*`)
	})
	// valueRE matches the values of attributes.
	valueRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"]*"|'[^']*'|=\s*[^\s"'>]+`) })
)

// toXML makes XML of a careless element: names in lower case, no blanks before them, all values in quotes.
func toXML(raw string) string {
	tag, _ := readTag(raw)
	raw = valueRE().ReplaceAllStringFunc(raw[:tag.n], func(m string) string {
		if value, bare := strings.CutPrefix(m, "="); bare {
			return `="` + strings.TrimSpace(value) + `"`
		}
		return m
	}) + raw[tag.n:]
	return tagNames().ReplaceAllStringFunc(raw, func(m string) string {
		if strings.HasPrefix(m, "<!") {
			return m
		}
		return strings.ToLower(strings.Join(strings.Fields(m), ""))
	})
}

// elementFromObject reads a signal that is written as JSON: {"type": ...} or {"signal": ...}, or one of these within
// {"signal": ...}.
func elementFromObject(raw string) (e element, err error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &object); err != nil {
		return e, fmt.Errorf("not well-formed: %w", err)
	}
	kind := "type"
	if inner, there := object[tagName]; there && len(object) == 1 && inner[0] == '{' {
		return elementFromObject(string(inner))
	} else if there {
		kind = tagName
	}
	if err := json.Unmarshal(object[kind], &e.kind); err != nil {
		return e, errors.New("the signal has no type")
	}
	delete(object, kind)
	spec, _ := specOf(e.signalType())
	for _, f := range append(spec.Fields, FieldSpec{Name: "confidence"}) {
		value, there := object[f.Name]
		if !there {
			continue
		}
		delete(object, f.Name)
		text := string(value)
		if value[0] == '{' || value[0] == '"' && json.Unmarshal(value, &text) != nil {
			return e, fmt.Errorf("the field %s holds an object", f.Name)
		}
		if err := e.add(field{name: f.Name, text: text}); err != nil {
			return e, err
		}
	}
	if len(object) > 0 {
		return e, fmt.Errorf("%s has no such fields as it is written with", spec.Type)
	}
	return e, nil
}

// field is one child element; items are its <item> children, or the texts of repeated elements of that name.
type field struct {
	name  string
	text  string
	items []string
}

// bareAmp matches ampersands. Models write "a && b", with ampersands that begin no entity.
var bareAmp = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`&(?:#[0-9]+;|#x[0-9a-fA-F]+;|[a-zA-Z]+;)?`)
})

func escapeBareAmps(raw string) string {
	if !strings.Contains(raw, "&") || strings.Contains(raw, "<![CDATA[") {
		return raw
	}
	return bareAmp().ReplaceAllStringFunc(raw, func(m string) string {
		if m == "&" {
			return "&amp;"
		}
		return m
	})
}

// node is an element within a signal.
type node struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
	Nodes   []node `xml:",any"`
}

func (n node) name() string { return strings.ToLower(n.XMLName.Local) }

func readElement(raw string) (e element, err error) {
	var read struct {
		Attrs []xml.Attr `xml:",any,attr"`
		Nodes []node     `xml:",any"`
	}
	if err := xml.Unmarshal([]byte(escapeBareAmps(raw)), &read); err != nil {
		return e, fmt.Errorf("not well-formed: %w", err)
	}
	for _, a := range read.Attrs {
		switch strings.ToLower(a.Name.Local) {
		case "type":
			e.kind = a.Value
		case "confidence":
			e.confidence = a.Value
		}
	}
	for _, n := range read.Nodes {
		f := field{name: n.name(), text: n.Text}
		for _, item := range n.Nodes {
			switch {
			case item.name() != "item":
				return e, fmt.Errorf("the field %s holds an element %s", f.name, item.name())
			case len(item.Nodes) > 0:
				return e, fmt.Errorf("the field %s is nested too deep", f.name)
			}
			f.items = append(f.items, item.Text)
		}
		if err := e.add(f); err != nil {
			return e, err
		}
	}
	return e, nil
}

// add adds a child element; a list may also be written as a repeated element.
func (e *element) add(f field) error {
	if f.name == "confidence" {
		e.confidence = f.text
		return nil
	}
	for i := range e.fields {
		if e.fields[i].name != f.name {
			continue
		}
		if spec, ok := specOf(e.signalType()); !ok || spec.field(f.name).Kind != List {
			return fmt.Errorf("the field %s stands twice", f.name)
		}
		first := &e.fields[i]
		if first.items == nil {
			first.items = []string{first.text}
		}
		first.items = append(first.items, f.text)
		return nil
	}
	e.fields = append(e.fields, f)
	return nil
}

func parseConfidence(text string) (float64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, errors.New("the signal has no confidence")
	}
	f, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64) // many languages write 0,8
	if err != nil || strings.Trim(text, "0123456789.,eE+-") != "" {
		return 0, fmt.Errorf("confidence %q is not a number", text)
	}
	if f < 0 || f > 1 {
		return 0, fmt.Errorf("confidence %s is not between 0 and 1", text)
	}
	return f, nil
}

// value parses a field as the kind that its spec requires.
func (f field) value(spec FieldSpec) (Value, error) {
	text := strings.TrimSpace(f.text)
	switch spec.Kind {
	case List:
		items := f.list(text)
		if len(items) == 0 {
			return Value{}, fmt.Errorf("the field %s is empty", f.name)
		}
		return Value{Kind: List, Items: items}, nil
	case Int:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return Value{}, fmt.Errorf("the field %s wants a whole number, not %q", f.name, text)
		}
		return Value{Kind: Int, Text: strconv.FormatInt(n, 10)}, nil
	}
	if f.items != nil {
		text = strings.Join(trimItems(f.items), "; ")
	}
	if text == "" {
		return Value{}, fmt.Errorf("the field %s is empty", f.name)
	}
	return Value{Kind: Text, Text: text}, nil
}

// list reads items, a JSON array, or plain text with one item on each line or between commas.
func (f field) list(text string) []string {
	if f.items != nil {
		return trimItems(f.items)
	}
	if strings.HasPrefix(text, "[") {
		var array []any
		if json.Unmarshal([]byte(text), &array) == nil {
			items := make([]string, len(array))
			for i, v := range array {
				items[i] = fmt.Sprint(v)
			}
			return trimItems(items)
		}
	}
	separator := ","
	if strings.Contains(text, "\n") {
		separator = "\n"
	}
	return trimItems(strings.Split(text, separator))
}

func trimItems(items []string) []string {
	var kept []string
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" {
			kept = append(kept, item)
		}
	}
	return kept
}
