// Package inquiries scores the Inquiry on labelled documents: how the hypothesis stands by what was quoted, and which
// contradictions were recorded.
package inquiries

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"

	eval "sibyl/cmd/sibyl-eval/scores"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/text"
)

// How a hypothesis stands by the quotations that bear on it.
const (
	For     = "for"
	Against = "against"
	Mixed   = "mixed" // some speak for it, some against
	Open    = "open"  // none bears on it
)

// Inquiry is a hypothesis, with documents and what they hold.
type Inquiry struct {
	ID         string            `json:"id"`
	Language   string            `json:"language"`
	Hypothesis string            `json:"hypothesis"`
	Documents  map[string]string `json:"documents"` // texts by file name
	Expect     struct {
		Stands         []string    `json:"stands"`         // what the documents allow
		Evidence       []string    `json:"evidence"`       // words of quotations that bear on the hypothesis
		Contradictions [][2]string `json:"contradictions"` // words of the two statements
	} `json:"expect"`
}

// Load reads a set.
func Load(files fs.FS, name string) ([]Inquiry, error) {
	return eval.LoadSet(files, name, eval.WithID(func(q Inquiry) string { return q.ID }, Inquiry.check))
}

func (q Inquiry) check() error {
	holds := func(words string) bool {
		for _, content := range q.Documents {
			if strings.Contains(content, words) {
				return true
			}
		}
		return false
	}
	switch {
	case q.Hypothesis == "" || len(q.Documents) == 0 || len(q.Expect.Stands) == 0:
		return errors.New(`"hypothesis", "documents" and "stands" must not be empty`)
	case slices.ContainsFunc(q.Expect.Stands, func(s string) bool {
		return !slices.Contains([]string{For, Against, Mixed, Open}, s)
	}):
		return fmt.Errorf(`"stands" is %q; each is for, against, mixed or open`, q.Expect.Stands)
	}
	for _, words := range slices.Concat(q.Expect.Evidence, flat(q.Expect.Contradictions)) {
		if !holds(words) {
			return fmt.Errorf("no document holds “%s”", words)
		}
	}
	return nil
}

func flat(pairs [][2]string) (all []string) {
	for _, p := range pairs {
		all = append(all, p[0], p[1])
	}
	return all
}

// Score is how an inquiry did.
type Score struct {
	ID         string           `json:"id"`
	Ended      record.EndReason `json:"ended"`
	Questions  int              `json:"questions"`
	Stands     string           `json:"stands"`
	Right      bool             `json:"right"`    // it stands as the documents allow
	Evidence   eval.Share       `json:"evidence"` // of the labels
	Found      eval.Share       `json:"found"`    // of the contradictions
	Others     int              `json:"others"`   // contradictions that no label names
	Consistent *int             `json:"consistency,omitempty"`
	Baseless   bool             `json:"baseless"` // a score, though nothing was said for or against
	Seconds    float64          `json:"seconds"`
	Tokens     int              `json:"tokens"`
}

// ScoreOf scores a session against its labels.
func ScoreOf(q Inquiry, s record.Session) Score {
	r := Score{ID: q.ID, Ended: s.EndReason, Questions: len(s.Pairs), Stands: Open}
	var audit record.Audit
	if a := s.Audit(); a != nil {
		audit = *a
	}
	says := map[string]int{}
	for _, e := range audit.Evidence {
		says[e.Says]++
	}
	switch {
	case says[For] > 0 && says[Against] > 0:
		r.Stands = Mixed
	case says[For] > 0:
		r.Stands = For
	case says[Against] > 0:
		r.Stands = Against
	}
	r.Right = slices.Contains(q.Expect.Stands, r.Stands)
	quoted := 0
	for _, words := range q.Expect.Evidence {
		if slices.ContainsFunc(audit.Evidence, func(e record.Bearing) bool { return holds(e.Words, words) }) {
			quoted++
		}
	}
	r.Evidence = eval.ShareOf(quoted, len(q.Expect.Evidence))
	isLabelled := func(c record.Contradiction) bool { return q.names(c) >= 0 }
	found := map[int]bool{}
	for _, c := range audit.Contradictions {
		if label := q.names(c); label >= 0 {
			found[label] = true
		}
	}
	r.Found = eval.ShareOf(len(found), len(q.Expect.Contradictions))
	r.Others = len(slices.DeleteFunc(slices.Clone(audit.Contradictions), isLabelled))
	r.Consistent = audit.ConsistencyScore
	r.Baseless = audit.ConsistencyScore != nil && len(audit.Evidence)+len(audit.Contradictions) == 0
	return r
}

// names is the label of a contradiction; -1 for none.
func (q Inquiry) names(c record.Contradiction) int {
	return slices.IndexFunc(q.Expect.Contradictions, func(label [2]string) bool {
		return holds(c.Words[0], label[0]) && holds(c.Words[1], label[1]) ||
			holds(c.Words[0], label[1]) && holds(c.Words[1], label[0])
	})
}

func holds(quotation, words string) bool {
	_, found := text.Find(quotation, words)
	return found
}

// Report is the score of a set.
type Report struct {
	Model  string  `json:"model"`
	Scores []Score `json:"scores"`
}

// Broken are the bounds that do not hold, in words.
func (r Report) Broken() (broken []string) {
	for _, s := range r.Scores {
		if s.Baseless {
			broken = append(broken, s.ID+" has a score, though nothing was said for or against")
		}
	}
	return broken
}

// WriteText writes a table, and its sums.
func (r Report) WriteText(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s\tquestions\tended\tstands\tevidence\tcontradictions\tothers\tscore\tseconds\ttokens\n", r.Model)
	var right, quoted, quotes, found, all, others int
	for _, s := range r.Scores {
		stands, score := s.Stands, "-"
		if !s.Right {
			stands += " (wrong)"
		} else {
			right++
		}
		if s.Consistent != nil {
			score = fmt.Sprint(*s.Consistent)
		}
		quoted, quotes, found, all = quoted+s.Evidence.Hits, quotes+s.Evidence.Of, found+s.Found.Hits, all+s.Found.Of
		others += s.Others
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%d of %d\t%d of %d\t%d\t%s\t%.0f\t%d\n", s.ID, s.Questions, s.Ended, stands,
			s.Evidence.Hits, s.Evidence.Of, s.Found.Hits, s.Found.Of, s.Others, score, s.Seconds, s.Tokens)
	}
	fmt.Fprintf(table, "all\t\t\t%d of %d\t%d of %d\t%d of %d\t%d\t\t\t\n", right, len(r.Scores), quoted, quotes,
		found, all, others)
	return table.Flush()
}
