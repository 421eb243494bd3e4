package bt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Problem is one thing wrong with a tree file. Line and Col count from 1, in characters.
type Problem struct {
	File    string `json:"file,omitempty" hidden:"true"`
	Line    int    `json:"line"`
	Col     int    `json:"column"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty" doc:"What would fix it."`
	Warning bool   `json:"warning,omitempty" doc:"The tree loads all the same."`
}

func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Col)
	if p.Warning {
		s += "warning: "
	}
	s += p.Message
	if p.Hint != "" {
		s += "\n    " + p.Hint
	}
	return s
}

// LoadError has all problems of a tree file, in their order in the file.
type LoadError struct{ Problems []Problem }

func (e *LoadError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// source is a tree file with the problems found in it so far.
type source struct {
	file     string
	text     string
	marks    []position  // position of every markEvery-th byte, computed as far as needed
	attrs    []attribute // of the plain tags
	problems []Problem
	hints    int // names for which a similar one was searched

	connectsByName bool // a port of a leaf that a node does not name is the key of its name
}

type position struct{ line, col int }

// after is the position behind a text that begins at p.
func (p position) after(text string) position {
	if lines := strings.Count(text, "\n"); lines > 0 {
		p = position{p.line + lines, 1}
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	for i := range len(text) {
		if utf8.RuneStart(text[i]) {
			p.col++
		}
	}
	return p
}

// markEvery is the most bytes that positionOf reads, however long the file and its lines are.
const markEvery = 1 << 8

func (s *source) positionOf(offset int) position {
	offset = min(offset, len(s.text))
	if s.marks == nil {
		s.marks = []position{{1, 1}}
	}
	at := offset / markEvery
	for k := len(s.marks); k <= at; k++ {
		s.marks = append(s.marks, s.marks[k-1].after(s.text[(k-1)*markEvery:k*markEvery]))
	}
	return s.marks[at].after(s.text[at*markEvery : offset])
}

func (s *source) problem(at int, hint, format string, args ...any) {
	s.addProblem(at, Problem{Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (s *source) warn(at int, hint, format string, args ...any) {
	s.addProblem(at, Problem{Message: fmt.Sprintf(format, args...), Hint: hint, Warning: true})
}

func (s *source) addProblem(at int, p Problem) {
	place := s.positionOf(at)
	p.File, p.Line, p.Col = s.file, place.line, place.col
	p.Message, p.Hint = clippedTo(p.Message, maxMessage), clippedTo(p.Hint, maxMessage)
	s.problems = append(s.problems, p)
}

// splitProblems returns the warnings, and the errors as one error. Equal problems are listed once: a subtree that is
// used several times has the same problems each time.
func (s *source) splitProblems() (warnings []Problem, err error) {
	slices.SortStableFunc(s.problems, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	type problemKey struct {
		line, col int
		message   string
	}
	seen := make(map[problemKey]bool, len(s.problems))
	var bad []Problem
	for _, p := range s.problems {
		key := problemKey{p.Line, p.Col, p.Message}
		switch {
		case seen[key]:
		case p.Warning:
			warnings = append(warnings, p)
		default:
			bad = append(bad, p)
		}
		seen[key] = true
	}
	if bad != nil {
		return warnings, &LoadError{Problems: bad}
	}
	return warnings, nil
}

// hintPrefix begins a hint that suggests a name.
const hintPrefix = "did you mean "

// maxMessage bounds a message and a hint, in bytes.
const maxMessage = 1000

// didYouMean suggests the nearest of the known names, or all if none is near and they are few. In a file with very many
// problems it suggests nothing.
func (s *source) didYouMean(name string, known func() []string) string {
	if s.hints++; s.hints > maxHints {
		return ""
	}
	return nameHint(name, known())
}

func nameHint(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return hintPrefix + near + "?"
	}
	if len(known) == 0 || len(known) > 12 {
		return ""
	}
	return "there is: " + strings.Join(known, ", ")
}

// nearest is the known name that is most similar; "" if none is. Very long names and lists are not compared.
func nearest(name string, known []string) string {
	if len(name) > 100 || len(known) > 1000 {
		return ""
	}
	best, bestDist := "", len(name)/2+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < bestDist {
			best, bestDist = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
