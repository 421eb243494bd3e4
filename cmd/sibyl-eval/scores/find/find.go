// Package find scores how well a question finds the place that answers it, in real modules and in a folder of notes.
//
// It knows no search: whatever names passages for a question can be scored. Equal questions, sources and finders give
// equal reports.
package find

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sibyl/cmd/sibyl-eval/scores"
)

// Question is one line of a set. Its places were fixed before anything searched for them.
type Question struct {
	ID     string  `json:"id"`
	Corpus string  `json:"corpus"` // a module with its version, or the name of a folder of notes
	Text   string  `json:"question"`
	Places []Place `json:"places"`
	Sure   bool    `json:"sure"` // the one who wrote it has no doubt about the places
	Kind   string  `json:"kind"` // how, where, what, value, why, who, path, project, error
}

// Place is where an answer stands: the lines of a declaration or a section, from 1, inclusive. Name is what the source
// calls it.
type Place struct {
	Path  string `json:"path"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	Name  string `json:"name"`
}

// Frozen says whether nobody tunes on a question: its figures are read, its text and its misses are not. The hash of
// the id decides.
func (q Question) Frozen() bool {
	sum := sha256.Sum256([]byte(q.ID))
	return sum[0]&1 == 1
}

// IsModule says whether a corpus is a module of Go, else it is a folder of notes.
func IsModule(corpus string) bool { return strings.Contains(corpus, "@") }

// Load reads sets in JSON lines, and gives their questions in one list. An error names the line that is wrong and what
// it lacks.
func Load(files fs.FS, names ...string) ([]Question, error) {
	check := eval.WithID(func(q Question) string { return q.ID }, Question.check)
	var all []Question
	for _, name := range names {
		some, err := eval.LoadSet(files, name, check)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (q Question) check() error {
	if strings.TrimSpace(q.Text) == "" || q.Corpus == "" || len(q.Places) == 0 {
		return errors.New(`it needs a "question", a "corpus" and "places"`)
	}
	return nil
}

// nameLine is the line of a place that holds its name, the first if none does.
func (p Place) nameLine(lines []string) int {
	name := p.Name[strings.LastIndexByte(p.Name, '.')+1:]
	if strings.ContainsAny(p.Name, " `") { // a heading
		name = p.Name
	}
	for n := p.Start; n <= min(p.End, len(lines)); n++ {
		line := lines[n-1]
		if strings.Contains(line, name) && !strings.HasPrefix(strings.TrimSpace(line), "//") {
			return n
		}
	}
	return p.Start
}

// Prove checks that the places of questions lie within the files of their corpus. The error lists all that do not.
func Prove(questions []Question, source fs.FS) error {
	var wrong []error
	for _, q := range questions {
		for _, p := range q.Places {
			if n := len(linesOf(source, p.Path)); p.End > n {
				wrong = append(wrong, fmt.Errorf("%s: %s:%d-%d: the file has %d lines",
					q.ID, p.Path, p.Start, p.End, n))
			}
		}
	}
	return errors.Join(wrong...)
}

// linesOf gives the lines of a file; none if it can't be read.
func linesOf(source fs.FS, name string) []string {
	text, err := fs.ReadFile(source, name)
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
