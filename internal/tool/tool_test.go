package tool

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

type sampleArgs struct {
	Query string   `json:"query"`
	Limit int      `json:"limit,omitempty"`
	Terms []string `json:"terms,omitempty"`
}

func TestArgumentsAreReadStrictly(t *testing.T) {
	for _, c := range []struct{ raw, err, hint string }{
		{``, "", ""},
		{`{"query":"x","limit":3,"terms":["a"]}`, "", ""},
		{`{"querry":"x"}`, `there is no argument "querry"`, "query, limit, terms"},
		{`{"Query":"x"}`, `there is no argument "Query"`, "query, limit, terms"},
		{`{"limit":"3"}`, "limit must be a whole number, not a string", "query"},
		{`{"limit":1.5}`, "limit must be a whole number, not a number 1.5", "query"},
		{`{"terms":"a"}`, "terms must be a list of strings, not a string", "query"},
		{`["x"]`, "must be one JSON object, not array", "query"},
		{`{"query":`, "not valid JSON", "query"},
		{`{"query":"x"} {"query":"y"}`, "there is more after the arguments", "one JSON object"},
	} {
		_, err := DecodeArgs[sampleArgs](json.RawMessage(c.raw))
		if c.err == "" {
			if err != nil {
				t.Errorf("%s: %v", c.raw, err)
			}
			continue
		}
		var known *Error
		if !errors.As(err, &known) || known.Kind != InvalidArgs || !strings.Contains(known.Message, c.err) || !strings.Contains(known.Hint, c.hint) {
			t.Errorf("%s: %v, want %q with the hint %q", c.raw, err, c.err, c.hint)
		}
	}
}

func TestRefIsWhatAnswersCite(t *testing.T) {
	for want, r := range map[string]Ref{
		"a/b.go:3-9":        {Path: "a/b.go", Start: 3, End: 9},
		"a/b.go:3":          {Path: "a/b.go", Start: 3, End: 3},
		"a/b.go":            {Path: "a/b.go"},
		"https://x.test/y":  {URL: "https://x.test/y"},
		"notes/today.md:12": {Source: Vault, Path: "notes/today.md", Start: 12},
	} {
		if got := r.String(); got != want {
			t.Errorf("%+v is cited as %q, want %q", r, got, want)
		}
	}
}
