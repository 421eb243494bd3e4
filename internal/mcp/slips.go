package mcp

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// plain is the part of a JSON Schema that tells the type of an argument.
type plain struct {
	Type       string            `json:"type"`
	Types      []string          `json:"-"`
	Enum       []any             `json:"enum"`
	Items      *plain            `json:"items"`
	Properties map[string]*plain `json:"properties"`
	Required   []string          `json:"required"`
}

// UnmarshalJSON reads a type that is one or several.
func (p *plain) UnmarshalJSON(raw []byte) error {
	type known plain
	var k struct {
		known
		Type any `json:"type"`
	}
	if err := json.Unmarshal(raw, &k); err != nil {
		return err
	}
	*p = plain(k.known)
	switch types := k.Type.(type) {
	case string:
		p.Type = types
	case []any:
		for _, one := range types {
			if word, _ := one.(string); word != "null" {
				p.Type = word
			}
		}
	}
	return nil
}

// withoutSlips puts right what clients do to arguments that their model, or their own code, has the right values of: a
// whole number as a text or with a fraction of zero, true as a text, one value for a list, a list or an object as a
// text, null or nothing for what is left out, taskId for task_id. What is no such slip is left for the check to refuse.
func withoutSlips(arguments json.RawMessage, schema []byte) json.RawMessage {
	var s plain
	if json.Unmarshal(schema, &s) != nil {
		return arguments
	}
	given, ok := decoded(arguments).(map[string]any)
	if words, is := decoded(arguments).(string); is {
		given, ok = decoded([]byte(words)).(map[string]any)
	}
	if !ok {
		return arguments
	}
	right, err := json.Marshal(s.object(given))
	if err != nil {
		return arguments
	}
	return right
}

// decoded returns a JSON value with its numbers as they are written; nil if it is none.
func decoded(raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil || d.More() {
		return nil
	}
	return value
}

func (p *plain) object(given map[string]any) map[string]any {
	right := map[string]any{}
	for name, value := range given {
		known := p.Properties[name]
		if known == nil {
			for other, one := range p.Properties {
				if _, said := given[other]; !said && bare(other) == bare(name) {
					name, known = other, one
				}
			}
		}
		if known == nil {
			if value != nil {
				right[name] = value
			}
			continue
		}
		if value = known.value(value); value != nil && (!known.isNothing(value) || slices.Contains(p.Required, name)) {
			right[name] = value
		}
	}
	return right
}

// bare is a name without what spellings differ in.
func bare(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// isNothing says whether a value stands for one that is left out.
func (p *plain) isNothing(value any) bool {
	words, is := value.(string)
	if !is || p.Type == "string" && p.Enum == nil {
		return false
	}
	return slices.Contains([]string{"", "null", "none", "undefined"}, strings.ToLower(strings.TrimSpace(words)))
}

// value returns a value as p describes it, or as it is.
func (p *plain) value(given any) any {
	words, isText := given.(string)
	words = strings.TrimSpace(words)
	switch p.Type {
	case "integer", "number":
		if n, is := given.(json.Number); is {
			words, isText = n.String(), true
		}
		if n, err := strconv.ParseInt(words, 10, 64); isText && err == nil {
			return n
		}
		n, err := strconv.ParseFloat(words, 64)
		whole := math.Trunc(n) == n && math.Abs(n) < 1<<53
		switch {
		case !isText || err != nil || math.IsInf(n, 0) || math.IsNaN(n):
		case whole:
			return int64(n)
		case p.Type == "number":
			return n
		}
	case "boolean":
		switch strings.ToLower(words) {
		case "true":
			return true
		case "false":
			return false
		}
	case "string":
		switch given := given.(type) {
		case json.Number:
			return given.String()
		case bool:
			return strconv.FormatBool(given)
		case string:
			for _, one := range p.Enum {
				if word, _ := one.(string); strings.EqualFold(word, words) && words != "" {
					return word
				}
			}
		}
	case "array":
		return p.list(given, words, isText)
	case "object":
		if inner, is := decoded([]byte(words)).(map[string]any); is && isText {
			given = inner
		}
		if inner, is := given.(map[string]any); is && p.Properties != nil {
			return p.object(inner)
		}
	}
	return given
}

func (p *plain) list(given any, words string, isText bool) any {
	items := p.Items
	if items == nil {
		items = &plain{}
	}
	list, is := given.([]any)
	switch {
	case is || given == nil || p.isNothing(given):
	case isText && strings.HasPrefix(words, "["):
		if list, is = decoded([]byte(words)).([]any); !is {
			return given
		}
	case isText && items.Type == "integer":
		for part := range strings.SplitSeq(words, ",") {
			list = append(list, strings.TrimSpace(part))
		}
	default:
		list = []any{given}
	}
	if list == nil {
		return given
	}
	right := []any{}
	for _, one := range list {
		if one != nil {
			right = append(right, items.value(one))
		}
	}
	return right
}
