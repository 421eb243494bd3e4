package vault

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestPlainFrontMatterIsReadAsYAMLReadsIt(t *testing.T) {
	check := func(t interface{ Errorf(string, ...any) }, lines []string) (isPlain bool) {
		fields, isPlain := plainFields(lines)
		if want, warning := decodeYAML(strings.Join(lines, "\n")); isPlain && (warning != "" || !cmp.Equal(want, fields)) {
			t.Errorf("%q: %v, %s%s", lines, fields, cmp.Diff(want, fields), warning)
		}
		return isPlain
	}
	for block, want := range map[string]bool{
		"title: A plan\ndate: 2025-01-02\ntags: [a, b/c]\naliases:\n  - One\n  - Größe 2": true,
		"done:\nat: 12:30\nlink: https://a.example/x":                                     true,
		"tags:\n- a\n- b\ntitle: Why (not)":                                               true,
		"title: 'A'":                                                                      false, "a: b: c": false, "a: b\n  c": false, "a: null": false, "a: ~": false, "a: [b": false,
		"a:\n  b: c": false, "a: b #c": false, "a: &b c": false, "- a": false, "": false, "a: []": false,
		"a:\n  - b\n    - c": false, "a:\n  - b\n c: d": false,
	} {
		if check(t, strings.Split(block, "\n")) != want {
			t.Errorf("%q is plain: %v", block, !want)
		}
	}
	pieces := []string{"a", "b1", "true", "null", "Null", "-", " ", "  ", ": ", ":", "\n", "\n- ", "\n  - ", ", ", "[",
		"]",
		"é", "'", "#", "12", "_", ".", "/", "+", "(", "<<", "\t", "?", "title: ", "\ntags: ", "\nx:"}
	rapid.Check(t, func(t *rapid.T) {
		block := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "block"), "")
		check(t, strings.Split(block, "\n"))
	})
}
