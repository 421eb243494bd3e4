package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"
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
	if len(raw) == 0 {
		return absent{}
	}
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
			c.lists(path, a, b)
			return
		}
	}
	if !reflect.DeepEqual(was, would) {
		a, b := shorten(textOf(was), textOf(would))
		*c = append(*c, Change{Path: path, Was: a, Would: b})
	}
}

func (c *changes) objects(path string, a, b map[string]any) {
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	at := func(m map[string]any, key string) any {
		if v, ok := m[key]; ok {
			return v
		}
		return absent{}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		below := key
		if path != "" {
			below = path + "." + key
		}
		c.compare(below, at(a, key), at(b, key))
	}
}

func (c *changes) lists(path string, a, b []any) {
	at := func(l []any, i int) any {
		if i < len(l) {
			return l[i]
		}
		return absent{}
	}
	for i := range max(len(a), len(b)) {
		c.compare(fmt.Sprintf("%s[%d]", path, i), at(a, i), at(b, i))
	}
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
func shorten(was, would string) (string, string) {
	same := 0
	for same < len(was) && same < len(would) && was[same] == would[same] {
		same++
	}
	cut := func(s string) string {
		from := 0
		if utf8.RuneCountInString(s[:min(same, len(s))]) > shownBefore && utf8.RuneCountInString(s) > shownChange {
			from = same
			for back := 0; back < shownBefore; back++ {
				_, size := utf8.DecodeLastRuneInString(s[:from])
				from -= size
			}
		}
		runes := []rune(s[from:])
		if len(runes) > shownChange {
			runes = append(runes[:shownChange-1:shownChange-1], '…')
		}
		if from > 0 {
			return "…" + string(runes)
		}
		return string(runes)
	}
	return cut(was), cut(would)
}
