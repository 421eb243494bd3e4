package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Change is one place where two JSON values differ: "transcript[2].hint". Was and Would are JSON, shortened around the
// first difference, and empty where the place does not exist.
type Change struct {
	Path  string `json:"path"`
	Was   string `json:"was,omitempty"`
	Would string `json:"would,omitempty"`
}

// changesOf lists where two JSON texts differ, in the order of their places. A list without objects in it is one place.
func changesOf(was, would json.RawMessage) []Change {
	var c changes
	c.compare("", valueOf(was), valueOf(would))
	return c
}

// absent is the value of a place that does not exist.
type absent struct{}

// valueOf reads a JSON text with its numbers as they are written; what is none is taken as a string.
func valueOf(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return string(raw)
	}
	return v
}

type changes []Change

func (c *changes) compare(path string, was, would any) {
	switch a := was.(type) {
	case map[string]any:
		if b, ok := would.(map[string]any); ok {
			c.objects(path, a, b)
			return
		}
	case []any:
		if b, ok := would.([]any); ok && (nested(a) || nested(b)) {
			for i := range max(len(a), len(b)) {
				c.compare(fmt.Sprintf("%s[%d]", path, i), element(a, i), element(b, i))
			}
			return
		}
	}
	if !reflect.DeepEqual(was, would) {
		a, b := shorten([]rune(textOf(was)), []rune(textOf(would)))
		*c = append(*c, Change{Path: path, Was: a, Would: b})
	}
}

func (c *changes) objects(path string, a, b map[string]any) {
	if path != "" {
		path += "."
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		c.compare(path+key, member(a, key), member(b, key))
	}
}

func member(object map[string]any, key string) any {
	if v, ok := object[key]; ok {
		return v
	}
	return absent{}
}

func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return absent{}
}

func nested(list []any) bool {
	return slices.ContainsFunc(list, func(v any) bool {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	})
}

func textOf(v any) string {
	if _, none := v.(absent); none {
		return ""
	}
	b := &bytes.Buffer{}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// How much of a changed value is shown: characters in all, and of them how many before the first difference.
const (
	shownChange = 120
	shownBefore = 30
)

// shorten cuts two texts so that their first difference is to be seen in both.
func shorten(was, would []rune) (string, string) {
	same := 0
	for same < min(len(was), len(would)) && was[same] == would[same] {
		same++
	}
	cut := func(s []rune) string {
		before, after := "", ""
		if same > shownBefore && len(s) > shownChange {
			s, before = s[same-shownBefore:], "…"
		}
		if len(s) > shownChange {
			s, after = s[:shownChange-1], "…"
		}
		return before + string(s) + after
	}
	return cut(was), cut(would)
}
