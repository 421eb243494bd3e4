// Package texttest runs tests that are texts: named scenarios, whose lines say what is done and what must be true.
package texttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Line is a line of a scenario.
type Line struct {
	At    int    // its number in the file
	Deep  bool   // it is indented
	Words string // the longest of the known beginnings that it has; empty: none
	Rest  string // what follows those, without spaces around it
	Text  string // the whole line
}

// Check fails a test with what is wrong with the line, unless that is empty.
func (l Line) Check(t testing.TB, wrong string) {
	t.Helper()
	if wrong != "" {
		t.Errorf("line %d, %s: %s", l.At, l.Words, wrong)
	}
}

// Play runs each scenario of testdata/*.txt as a parallel test below that of its file. “# Name” begins a scenario;
// empty lines and those that begin with “//” are ignored.
func Play(t *testing.T, known []string, play func(t *testing.T, lines []Line)) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { PlayFile(t, file, known, play) })
	}
}

// PlayFile runs each scenario of one file as a parallel test.
func PlayFile(t *testing.T, file string, known []string, play func(t *testing.T, lines []Line)) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := parseScenarios(string(text), known)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			play(t, s.lines)
		})
	}
}

type scenario struct {
	name  string
	lines []Line
}

// parseScenarios splits a file into scenarios. No two have the same name, and none is empty.
func parseScenarios(text string, known []string) (all []scenario, err error) {
	names := map[string]bool{}
	at := 0
	for raw := range strings.Lines(text) {
		at++
		trimmed := strings.TrimSpace(raw)
		name, isName := strings.CutPrefix(strings.TrimRight(raw, "\r\n"), "# ")
		switch {
		case isName && names[name]:
			return nil, fmt.Errorf("line %d: there is another scenario %s", at, name)
		case isName:
			names[name] = true
			all = append(all, scenario{name: name})
		case trimmed == "" || strings.HasPrefix(trimmed, "//"):
		case len(all) == 0:
			return nil, fmt.Errorf("line %d stands under no name", at)
		default:
			last := &all[len(all)-1]
			last.lines = append(last.lines, parseLine(at, raw, known))
		}
	}
	for _, s := range all {
		if len(s.lines) == 0 {
			return nil, fmt.Errorf("nothing happens in %s", s.name)
		}
	}
	return all, nil
}

func parseLine(at int, raw string, known []string) Line {
	text := strings.TrimSpace(raw)
	l := Line{At: at, Deep: strings.HasPrefix(raw, " ") || strings.HasPrefix(raw, "\t"),
		Text: strings.TrimRight(raw, "\r\n")}
	for _, words := range known {
		if (text == words || strings.HasPrefix(text, words+" ")) && len(words) > len(l.Words) {
			l.Words = words
		}
	}
	l.Rest = strings.TrimSpace(text[len(l.Words):])
	return l
}

// comparisons are the ways to compare a text with another one.
var comparisons = map[string]struct {
	holds func(text, said string) bool
	not   string
}{
	"is":     {func(text, said string) bool { return text == said }, "is not"},
	"is not": {func(text, said string) bool { return text != said }, "is"},
	"has":    {strings.Contains, "lacks"},
	"lacks":  {func(text, said string) bool { return said != "" && !strings.Contains(text, said) }, "has"},
	"begins": {strings.HasPrefix, "does not begin with"},
	"once":   {func(text, said string) bool { return strings.Count(text, said) == 1 }, "has not once"},
}

// Wrong compares a text with what is expected: that it “is”, “is not”, “has”, “lacks” or “begins” so, or has it “once”.
// It says what is wrong, or nothing.
func Wrong(manner, text, said string) string {
	m, known := comparisons[manner]
	switch {
	case !known:
		return "there is no manner " + manner
	case m.holds(text, said):
		return ""
	}
	return fmt.Sprintf("%q\n%s\n%q", text, m.not, said)
}
