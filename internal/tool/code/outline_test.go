package code

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
)

func outlined(path, text string) []string {
	var got []string
	for _, d := range outline(newSource(path, padded(text))) {
		got = append(got, fmt.Sprintf("%s %s %d,%d-%d", d.kind, d.symbol(), d.doc, d.line, d.end))
	}
	return got
}

// In the text, what a file defines stands behind it.
func TestOutlineFindsDefinitions(t *testing.T) {
	files := assert.Must(txtar.ParseFile("testdata/outline.txtar"))(t).Files
	assert.That(t, len(files) >= 38, "only %d files", len(files))
	for pair := range slices.Chunk(files, 2) {
		got := strings.Join(append(outlined(pair[0].Name, string(pair[0].Data)), ""), "\n")
		assert.NoDiff(t, cmp.Diff(string(pair[1].Data), got), "%s", pair[1].Name)
	}
}

func TestOutlineOfHostileFilesEnds(t *testing.T) {
	for name, text := range map[string]string{
		"flat.md":    strings.Repeat("# a\n", 200_000),
		"deep.md":    strings.Repeat("###### a\n", 100_000),
		"flat.py":    strings.Repeat("def a():\n", 50_000),
		"comment.py": strings.Repeat("# a\n", 200_000) + "def a():\n",
		"long.js":    "function a" + strings.Repeat("(", 1<<20),
		"nest.go":    "package a\nvar x = " + strings.Repeat("[]", 1<<19),
		"blank.rb":   "def a\n" + strings.Repeat("\n", 500_000),
	} {
		defs := outline(newSource(name, padded(text)))
		assert.That(t, name == "long.js" || name == "nest.go" || len(defs) != 0, "%s: nothing found", name)
	}
}

func TestOutlineStaysWithinAnyFile(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"func ", "type ", "const (", "package a", "class A", "def f(", ") {", "{", "}", "end", "# x", "```", "//line 9",
		"/*", "*/", "`", "\"",
		"\n", "\n", "\n", "\t", "    ", "\r\n", "\xff", "interface { ", "struct { ", "int", "x", "=", "TEXT ·f(SB)",
		"[", "]",
	})
	ending := rapid.SampledFrom([]string{".go", ".py", ".ts", ".rs", ".java", ".c", ".rb", ".sh", ".md", ".s", ".toml"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "text"), "")
		s := newSource("f"+ending.Draw(t, "ending"), padded(text))
		for _, d := range outline(s) {
			assert.Require(t, d.doc >= 1 && d.doc <= d.line && d.line <= d.end && d.end <= len(s.lines),
				"%s in %q: %+v, %d lines", s.path, text, d, len(s.lines))
		}
	})
}

func TestEveryRuleNeedsWhatItSaysItNeeds(t *testing.T) {
	for _, l := range languages().byName {
		for _, r := range l.rules() {
			assert.That(t, r.re.NumSubexp() != 0, "%s: %s names nothing", l.name, r.re)
		}
	}
}
