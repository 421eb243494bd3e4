package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// arguments are those of a call by their names, none of which the schema lacks. What is null is as if it were left out: models send it so.
type arguments struct {
	given map[string]json.RawMessage
	err   error // what is wrong with the first of them that was read and is wrong; what was read is not to be used then
}

// readArguments reads one JSON object. Names are known letter by letter.
func readArguments(raw json.RawMessage, known []string) (*arguments, error) {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil, invalid("arguments", "must be a JSON object")
	}
	if !utf8.Valid(raw) {
		return nil, invalid("arguments", "must be valid UTF-8")
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(known, name) {
			f := invalid("arguments", "have a name that this tool does not know; it knows "+strings.Join(known, ", "))
			f.Details["known"] = known
			return nil, f
		}
		if string(all[name]) == "null" {
			delete(all, name)
		}
	}
	return &arguments{given: all}, nil
}

// wrong notes what is wrong with an argument, unless another was before.
func (a *arguments) wrong(name, problem string) {
	if a.err == nil {
		a.err = invalid(name, problem)
	}
}

// text gives a text; nil if it is left out.
func (a *arguments) text(name string) *string {
	raw, ok := a.given[name]
	if !ok {
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		a.wrong(name, "must be a text")
	}
	return &text
}

// required gives a text that can't be left out.
func (a *arguments) required(name string) string {
	text := a.text(name)
	if text == nil {
		a.wrong(name, "is missing")
		return ""
	}
	return *text
}

// oneOf gives one of some texts, the first of them if it is left out.
func (a *arguments) oneOf(name string, texts ...string) string {
	text := a.text(name)
	if text == nil {
		return texts[0]
	}
	if !slices.Contains(texts, *text) {
		a.wrong(name, "must be "+strings.Join(texts[:len(texts)-1], ", ")+" or "+texts[len(texts)-1])
	}
	return *text
}

// whole gives a whole number within bounds, and otherwise if it is left out.
func (a *arguments) whole(name string, least, most, otherwise int64) int64 {
	raw, ok := a.given[name]
	if !ok {
		return otherwise
	}
	n, ok := wholeOf(raw)
	if !ok || n < least || n > most {
		a.wrong(name, wholeBetween(least, most))
	}
	return n
}

// id gives the id of a task.
func (a *arguments) id(name string) int64 {
	if _, ok := a.given[name]; !ok {
		a.wrong(name, "is missing")
	}
	return a.whole(name, 1, math.MaxInt64, 0)
}

// ids gives ids of tasks, most at most.
func (a *arguments) ids(name string, most int) (ids []int64) {
	raw, ok := a.given[name]
	if !ok {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 || len(list) > most {
		a.wrong(name, fmt.Sprintf("must be a list of 1 to %d ids", most))
		return nil
	}
	for _, one := range list {
		n, ok := wholeOf(one)
		if !ok || n < 1 {
			a.wrong(name, "must hold ids, which are whole numbers from 1 on")
		}
		ids = append(ids, n)
	}
	return ids
}

// wholeOf reads a whole number, which JSON may write with a fraction of zero.
func wholeOf(raw json.RawMessage) (int64, bool) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	const exact = 1 << 53
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
		return 0, false
	}
	return int64(f), true
}

func wholeBetween(least, most int64) string {
	if most == math.MaxInt64 {
		return fmt.Sprintf("must be a whole number from %d on", least)
	}
	return fmt.Sprintf("must be a whole number from %d to %d", least, most)
}
