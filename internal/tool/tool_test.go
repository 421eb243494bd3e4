package tool

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"sibyl/internal/behaviour/assert"
)

func TestHintsFollowTheEffect(t *testing.T) {
	for want, spec := range map[Hints]Spec{
		{ReadOnly: true, Idempotent: true}:                  {Effect: Repeatable, Destructive: true},
		{ReadOnly: true, Idempotent: true, OpenWorld: true}: {Effect: Repeatable, Foreign: true},
		{Destructive: true}:                                 {Effect: Once, Destructive: true},
		{Idempotent: true}:                                  {Effect: Once, Idempotent: true},
	} {
		assert.Equalf(t, spec.MCPHints(), want, "%+v", spec)
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
		assert.Equalf(t, r.String(), want, "%+v is cited as", r)
	}
}

func TestClipKeepsWholeCharacters(t *testing.T) {
	for limit, want := range map[int]string{-1: "", 0: "", 1: "", 2: "ö", 3: "öl", 9: "öl"} {
		assert.Equalf(t, Clip("öl", limit), want, "%d bytes", limit)
	}
}

func TestCountWritesPlurals(t *testing.T) {
	for want, got := range map[string]string{"1 note": Count(1, "note"), "0 notes": Count(0, "note"),
		"2 entries": Count(2, "entry")} {
		assert.That(t, got == want, "%q, want %q", got, want)
	}
}

func TestResultIsCutOffAtItsBoundAndSaysSo(t *testing.T) {
	r := Result{Text: strings.Repeat("ü", MaxResult), Data: json.RawMessage(`"` + strings.Repeat("x", MaxResult) + `"`),
		Refs: make([]Ref, 20_000), Items: 3}.Bounded()
	assert.That(t, utf8.ValidString(r.Text) && len(r.Text) <= MaxResult+100 &&
		strings.HasSuffix(r.Text, "\n[cut off: the result has 2097152 bytes, and at most 1048576 are kept]"),
		"%d bytes that end with %q", len(r.Text), r.Text[len(r.Text)-80:])
	assert.That(t, r.Data == nil && len(r.Refs) == 10_000 && r.Truncated && r.Items == 3,
		"%d bytes of data, %d places, truncated %v, %d items", len(r.Data), len(r.Refs), r.Truncated, r.Items)
	whole := Result{Text: strings.Repeat("x", MaxResult), Data: json.RawMessage(`1`)}
	if got := whole.Bounded(); got.Text != whole.Text || got.Truncated || string(got.Data) != "1" {
		t.Errorf("a result within the bounds was changed: %d bytes, truncated %v", len(got.Text), got.Truncated)
	}
}
