package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

// OracleQuestion is one line of the set of questions: what a person asks, and the places that answer it. Previous holds
// the earlier questions of its session, oldest first.
type OracleQuestion struct {
	ID       string        `json:"id"`
	Text     string        `json:"question"`
	Previous []string      `json:"previous,omitempty"`
	Type     classify.Type `json:"type"`
	Half     Half          `json:"half"`
	Lang     string        `json:"lang"`
	Places   []Place       `json:"places"`

	// MustBePartial says that no source holds the answer, so that an honest assistant gives a partial one.
	MustBePartial bool   `json:"must_be_partial,omitempty"`
	Note          string `json:"note,omitempty"`
}

// Place is where the answer stands: lines of a file, from 1, inclusive. Needle is a text within these lines, by which a
// test proves that the label fits the version it was made for.
type Place struct {
	Source tool.Source `json:"source"`
	Path   string      `json:"path"`
	Start  int         `json:"start"`
	End    int         `json:"end"`
	Need   Need        `json:"need"`
	Needle string      `json:"needle"`
}

// Need says how a place counts.
type Need string

// A whole answer cites every place marked All and, if there are places marked Any, at least one of them.
const (
	All Need = "all"
	Any Need = "any"
)

func (p Place) String() string { return fmt.Sprintf("%s %s:%d-%d", p.Source, p.Path, p.Start, p.End) }

// LoadOracleQuestions reads a set in JSON lines; an error names the line that is wrong and what it lacks.
func LoadOracleQuestions(files fs.FS, name string) ([]OracleQuestion, error) {
	return LoadSet(files, name, WithID(func(q OracleQuestion) string { return q.ID }, OracleQuestion.check))
}

func (q OracleQuestion) check() error {
	switch {
	case strings.TrimSpace(q.Text) == "" || !q.Type.Valid():
		return fmt.Errorf(`"question" is %q and "type" %q; it must be a text and one of %v`, q.Text, q.Type,
			classify.Types())
	case q.Half != HalfOf(q.Text):
		return fmt.Errorf(`"half" is %q, the hash of the question says %q`, q.Half, HalfOf(q.Text))
	case q.MustBePartial == (len(q.Places) > 0) && (q.MustBePartial || q.Type == classify.Code ||
		q.Type == classify.Documentation):
		return errors.New(`either "places" say where the answer stands, or "must_be_partial" says that no source holds it`)
	}
	for _, p := range q.Places {
		if p.Start < 1 || p.End < p.Start || p.Need != All && p.Need != Any || p.Needle == "" {
			return fmt.Errorf(`place %s: lines count from 1, "need" is %q or %q, and "needle" is a text within the lines`, p, All, Any)
		}
	}
	return nil
}

// CheckPlaces proves the labels: every place exists in its source, and its lines hold the needle. The error lists all
// that do not.
func CheckPlaces(questions []OracleQuestion, sources map[tool.Source]fs.FS) error {
	var wrong []error
	for _, q := range questions {
		for _, p := range q.Places {
			if err := p.prove(sources[p.Source]); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: place %s: %w", q.ID, p, err))
			}
		}
	}
	return errors.Join(wrong...)
}

func (p Place) prove(source fs.FS) error {
	if source == nil {
		return errors.New("that source is not there")
	}
	text, err := fs.ReadFile(source, p.Path)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if p.End > len(lines) {
		return fmt.Errorf("the file has %d lines", len(lines))
	}
	if !strings.Contains(strings.Join(lines[p.Start-1:p.End], "\n"), p.Needle) {
		return fmt.Errorf("these lines do not hold %q", p.Needle)
	}
	return nil
}
