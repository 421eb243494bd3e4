package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"sibyl/internal/model"
)

// Dialect is how much of JSON Schema a kind of server takes: the keywords that it refuses in the form of an answer, and
// in the arguments of tools. Answers and arguments are checked here against the whole schema in any case.
type Dialect struct {
	Format, Tools []string
	Unions        bool // arguments may be a union
}

// Keywords of JSON Schema.
var (
	lengths  = []string{"minLength", "maxLength"}
	counts   = []string{"minItems", "maxItems", "minProperties", "maxProperties"}
	edges    = []string{"exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
	ranges   = []string{"minimum", "maximum"}
	patterns = []string{"pattern", "format", "patternProperties", "propertyNames"}
	rare     = []string{"uniqueItems", "contains", "minContains", "maxContains", "not", "if", "then", "else",
		"dependentRequired", "dependentSchemas", "dependencies", "unevaluatedItems", "unevaluatedProperties",
		"contentEncoding", "contentMediaType"}
	notes = []string{"$schema", "$id", "$comment", "examples", "default", "deprecated", "readOnly", "writeOnly"}
)

// bounds are all keywords but those that say which parts a value has.
func bounds() []string {
	return slices.Concat(lengths, counts, edges, ranges, patterns, rare, notes)
}

// Compatible is the dialect of OpenAI's strict schemas, and of the grammars of llama.cpp, vLLM and others behind the
// same API, where a length becomes as many repetitions.
func Compatible() Dialect {
	return Dialect{Format: slices.Concat(lengths, rare, notes, []string{"patternProperties", "propertyNames",
		"minProperties", "maxProperties", "multipleOf", "format"}), Tools: []string{"$schema", "$id"}, Unions: true}
}

// Claude is the dialect of Claude's structured output, which takes no bounds at all.
func Claude() Dialect { return Dialect{Format: bounds(), Tools: []string{"$schema", "$id"}} }

// OpenAPI is the dialect of Gemini.
func OpenAPI() Dialect {
	refused := slices.Concat(lengths, rare, notes, patterns, edges)
	return Dialect{Format: refused, Tools: refused, Unions: true}
}

// Grammar is the dialect of Ollama, which makes a grammar of the form alone.
func Grammar() Dialect {
	return Dialect{Format: slices.Concat(lengths, edges, ranges, patterns, rare, notes), Unions: true}
}

// maxBound is the largest length or count in a schema that is sent: some servers write each repetition out, and refuse
// what gets too long.
const maxBound = 1000

// reduction writes a schema without some keywords.
type reduction struct {
	drop    []string
	unions  bool
	changed bool
}

// reduced returns a schema without keywords, and without bounds above maxBound. The order of what stays is kept. unions
// says that it may be a union.
func reduced(schema json.RawMessage, drop []string, unions bool) json.RawMessage {
	r := reduction{drop: drop, unions: unions}
	if !r.mayChange(schema) {
		return schema
	}
	var out bytes.Buffer
	d, e := jsontext.NewDecoder(bytes.NewReader(schema), jsontext.AllowDuplicateNames(true)), jsontext.NewEncoder(&out,
		jsontext.AllowDuplicateNames(true))
	if r.copySchema(d, e, true) != nil || !r.changed {
		return schema
	}
	return bytes.TrimSpace(out.Bytes())
}

// mayChange says whether a schema has any of the words for which it is read.
func (r *reduction) mayChange(schema json.RawMessage) bool {
	has := func(word string) bool { return bytes.Contains(schema, []byte(`"`+word+`"`)) }
	return slices.ContainsFunc(r.drop, has) || slices.ContainsFunc(lengths, has) || slices.ContainsFunc(counts, has) ||
		!r.unions && slices.ContainsFunc([]string{"anyOf", "oneOf", "allOf"}, has)
}

// copySchema copies the next value, which is a schema; top says that it is the whole.
func (r *reduction) copySchema(d *jsontext.Decoder, e *jsontext.Encoder, top bool) error {
	return copyObject(d, e, func(name string) (bool, error) {
		switch {
		case slices.Contains(r.drop, name), top && !r.unions && (name == "anyOf" || name == "oneOf" || name == "allOf"):
			return false, nil
		case slices.Contains(lengths, name), slices.Contains(counts, name):
			value, err := d.ReadValue()
			if n, parseErr := strconv.ParseFloat(string(value), 64); err != nil || parseErr == nil && n > maxBound {
				r.changed = true
				return true, err
			}
			return true, writeAll(e, jsontext.String(name), value)
		}
		if err := e.WriteToken(jsontext.String(name)); err != nil {
			return true, err
		}
		switch name {
		case "properties", "$defs", "definitions", "patternProperties", "dependentSchemas":
			return true, copyObject(d, e, func(property string) (bool, error) {
				if err := e.WriteToken(jsontext.String(property)); err != nil {
					return true, err
				}
				return true, r.copySchema(d, e, false)
			}, &r.changed)
		case "items", "additionalProperties", "anyOf", "oneOf", "allOf", "prefixItems", "not", "contains":
			return true, r.copySchemas(d, e)
		}
		value, err := d.ReadValue()
		if err != nil {
			return true, err
		}
		return true, e.WriteValue(value)
	}, &r.changed)
}

// copySchemas copies a schema, or a list of them.
func (r *reduction) copySchemas(d *jsontext.Decoder, e *jsontext.Encoder) error {
	if d.PeekKind() != '[' {
		return r.copySchema(d, e, false)
	}
	for {
		if d.PeekKind() == '[' || d.PeekKind() == ']' {
			token, err := d.ReadToken()
			if err == nil {
				err = e.WriteToken(token)
			}
			if err != nil || token.Kind() == ']' {
				return err
			}
			continue
		}
		if err := r.copySchema(d, e, false); err != nil {
			return err
		}
	}
}

// copyObject copies the next value. Of an object, member is called for each name: it copies name and value, or returns
// false to have the value left out.
func copyObject(
	d *jsontext.Decoder, e *jsontext.Encoder, member func(name string) (copied bool, err error), changed *bool,
) error {
	if d.PeekKind() != '{' {
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		return e.WriteValue(value)
	}
	for {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		if token.Kind() != '"' {
			kind := token.Kind() // a token is valid only until the next one
			if err := e.WriteToken(token); err != nil || kind == '}' {
				return err
			}
			continue
		}
		copied, err := member(token.String())
		if err == nil && !copied {
			*changed = true
			err = d.SkipValue()
		}
		if err != nil {
			return err
		}
	}
}

func writeAll(e *jsontext.Encoder, name jsontext.Token, value jsontext.Value) error {
	if err := e.WriteToken(name); err != nil {
		return err
	}
	return e.WriteValue(value)
}

// refusals are those that a Client knows.
type refusals struct {
	mu sync.Mutex
	model.Refusals
}

// tellRefused passes on what the endpoint has refused, once it took a request without that.
func (m *Client) tellRefused() {
	if m.config.OnRefused == nil {
		return
	}
	m.refused.mu.Lock()
	told := m.refused.Refusals
	told.Tools, told.Formats = slices.Clone(told.Tools), slices.Clone(told.Formats)
	m.refused.mu.Unlock()
	m.config.OnRefused(told)
}

// fit returns a request as the endpoint takes it, as far as that is known.
func (m *Client) fit(req Request) Request {
	m.refused.mu.Lock()
	defer m.refused.mu.Unlock()
	dialect := m.protocol.Dialect
	if m.refused.Bounds {
		dialect.Format, dialect.Tools = bounds(), bounds()
	}
	all := req.Tools
	req.Tools, req.LeftOut = make([]model.Tool, 0, len(all)), nil
	for _, t := range all {
		if m.refused.NoTools || slices.Contains(m.refused.Tools, t.Name) {
			req.LeftOut = append(req.LeftOut, t.Name)
			continue
		}
		t.Schema = reduced(t.Schema, dialect.Tools, dialect.Unions)
		req.Tools = append(req.Tools, t)
	}
	switch {
	case req.Schema == nil:
	case slices.Contains(m.refused.Formats, req.Schema.Name):
		req.Schema, req.Strict = nil, false
	default:
		req.Schema = &model.Schema{Name: req.Schema.Name, JSON: reduced(req.Schema.JSON, dialect.Format, true)}
	}
	return req
}

// stepDown notes what the endpoint has refused of a request's schemas, step by step: its bounds, the tools that it
// names, the form of the answer; or tools as such. It returns false if the failure is not about these, or nothing is
// left to leave out.
func (m *Client) stepDown(failed *model.Error, whole, sent Request) bool {
	text := strings.ToLower(failed.Message)
	if len(sent.Tools) > 0 && takesNoTools(failed, text) {
		m.refused.mu.Lock()
		defer m.refused.mu.Unlock()
		m.refused.NoTools = true
		return true
	}
	named := namedTools(text, sent.Tools)
	if !isAboutSchemas(failed, text) && (len(named) == 0 || failed.Kind != model.Invalid) {
		return false
	}
	m.refused.mu.Lock()
	hadBounds := m.refused.Bounds
	m.refused.Bounds = true
	m.refused.mu.Unlock()
	if fewer := m.fit(whole); !hadBounds && !sameSchemas(fewer, sent) {
		return true
	}
	m.refused.mu.Lock()
	defer m.refused.mu.Unlock()
	switch {
	case len(named) > 0:
		m.refused.Tools = append(m.refused.Tools, named...)
	case sent.Schema != nil:
		m.refused.Formats = append(m.refused.Formats, sent.Schema.Name)
	default:
		return false
	}
	return true
}

func sameSchemas(a, b Request) bool {
	return slices.EqualFunc(a.Tools, b.Tools, func(x, y model.Tool) bool { return bytes.Equal(x.Schema, y.Schema) }) &&
		(a.Schema == nil) == (b.Schema == nil) && (a.Schema == nil || bytes.Equal(a.Schema.JSON, b.Schema.JSON))
}

// takesNoTools says whether a failure is about tools as such, as servers say that serve the model without a way to call
// them: Ollama, OpenRouter, vLLM without a parser of calls, llama.cpp without templates.
func takesNoTools(failed *model.Error, text string) bool {
	switch failed.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusInternalServerError,
		http.StatusNotImplemented:
	default:
		return false
	}
	return (failed.Kind == model.Invalid || failed.Kind == model.Server) &&
		ContainsAny(text, "support tool", "supports tool", "support function call", "tools are not supported",
			"tools is not supported", "tool use is not supported", "tool calling is not supported",
			"function calling is not supported", "function calling is not enabled", "tools param requires",
			"tool choice requires", "tool calling is not enabled")
}

// isAboutSchemas says whether a failure is about a schema, or what a server makes of one.
func isAboutSchemas(failed *model.Error, text string) bool {
	switch failed.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError,
		http.StatusNotImplemented:
	default:
		return false
	}
	if failed.Kind != model.Invalid && failed.Kind != model.Server {
		return false
	}
	isKeyword := func(word string) bool { // which is no word of a language
		plain := strings.ToLower(word)
		return plain != word && strings.Contains(text, plain)
	}
	return slices.ContainsFunc(append(bounds(), "additionalProperties", "anyOf", "oneOf", "allOf"), isKeyword) ||
		ContainsAny(text, "schema", "grammar",
			"regex", "response_format", "responseformat", "text.format", "json_object", "structured output",
			"structured_output", "guided", "constrained", "function_declaration", "functiondeclaration", "invalid format",
			"format is not", "format not", "in format", "number of repetitions")
}

// toolPlace matches the place of a tool in a request, in the words of providers.
var toolPlace = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(declarations|tools|functions)[.\[](\d+)`)
})

// namedTools are the tools that a failure names, by their names or their places.
func namedTools(text string, tools []model.Tool) (named []string) {
	if !ContainsAny(text, "tool", "function") {
		return nil
	}
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
	})
	var places []string
	for _, m := range toolPlace().FindAllStringSubmatch(text, -1) {
		if m[1] == "declarations" || !strings.Contains(text, "declarations") { // Gemini's are all in one tool
			places = append(places, m[2])
		}
	}
	for i, t := range tools {
		if slices.Contains(words, strings.ToLower(t.Name)) || slices.Contains(places, strconv.Itoa(i)) {
			named = append(named, t.Name)
		}
	}
	return named
}
