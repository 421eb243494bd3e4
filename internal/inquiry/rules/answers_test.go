package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stateOf are the states that a letter of a line of answers stands for.
var stateOf = map[byte]string{'g': "given", 'v': "vague", 'm': "missing"}

// answersTo reads a folder of single questions with several answers each, as lessons of one exchange: “? when who | Who came, and when?”, then lines
// “gm At nine.” with a letter for each aspect. A file is called after its language.
func answersTo(t testing.TB, folder string) (list []lesson) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no answers in %s: %v", folder, err)
	}
	slices.Sort(files)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		hand := strings.TrimSuffix(filepath.Base(file), ".txt")
		var asked []string
		question := ""
		for line := range strings.Lines(string(content)) {
			head, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			if head == "" || head == "#" {
				continue
			}
			if head == "?" {
				var kinds string
				kinds, question, _ = strings.Cut(rest, " | ")
				asked = strings.Fields(strings.ReplaceAll(kinds, "how_much", "how-much"))
				continue
			}
			x := lesson{name: hand, language: hand[:2], hand: "answers", all: []Exchange{{Question: question, Answer: rest}}, labels: make([][]label, 1)}
			if len(head) != len(asked) {
				t.Fatalf("%s: %q has not a letter for each of %q", file, line, asked)
			}
			for i, aspect := range asked {
				if stateOf[head[i]] == "" {
					t.Fatalf("%s: %q", file, line)
				}
				x.labels[0] = append(x.labels[0], label{aspect: strings.ReplaceAll(aspect, "-", " "), state: stateOf[head[i]]})
			}
			list = append(list, x)
		}
	}
	return list
}
