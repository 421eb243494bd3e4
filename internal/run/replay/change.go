package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sibyl/internal/run"
)

// Change is one place where two JSON values differ: "transcript[2].hint". Was and Would are JSON, shortened around the
// first difference, and empty where the place does not exist.
type Change struct {
	Path  string `json:"path"`
	Was   string `json:"was,omitempty"`
	Would string `json:"would,omitempty"`
}

// changesOf lists where two JSON texts differ: the places of the first in their order, then those that only the second
// has. A list without objects in it is one place.
func changesOf(was, would json.RawMessage) (all []Change) {
	before, after := placesOf(was), placesOf(would)
	for i, path := range slices.Concat(before.paths, after.paths) {
		a, had := before.values[path]
		b := after.values[path]
		if told := had && i >= len(before.paths); a == b || told || !had && isReasonCode(path) {
			continue
		}
		a, b = shorten([]rune(a), []rune(b))
		all = append(all, Change{Path: path, Was: a, Would: b})
	}
	return all
}

// isReasonCode says whether a value belongs to a reason's code, which older builds did not store.
func isReasonCode(path string) bool {
	return strings.Contains(path, "why_code") || strings.Contains(path, "why_values")
}

// jsonPlaces are the values in a JSON text, as JSON, by path.
type jsonPlaces struct {
	paths  []string
	values map[string]string
}

// placesOf reads a JSON text, with numbers as they are written. Other text counts as a string.
func placesOf(raw json.RawMessage) jsonPlaces {
	p := jsonPlaces{values: map[string]string{}}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		v = string(raw)
	}
	p.add("", v)
	return p
}

func (p *jsonPlaces) add(path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if path != "" {
			if len(v) == 0 {
				break
			}
			path += "."
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			p.add(path+key, v[key])
		}
		return
	case []any:
		if !slices.ContainsFunc(v, isNested) {
			break
		}
		for i, element := range v {
			p.add(fmt.Sprintf("%s[%d]", path, i), element)
		}
		return
	}
	value, err := run.Marshal(v)
	if err != nil {
		value = fmt.Append(nil, v)
	}
	p.paths = append(p.paths, path)
	p.values[path] = string(value)
}

func isNested(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// How many characters of a changed value are shown: in all, and before the first difference.
const (
	shownChange = 120
	shownBefore = 30
)

// shorten cuts two texts so that both show their first difference.
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
