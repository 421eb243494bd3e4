package eval

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"

	"sibyl/cmd/sibyl-eval/scores/train"
	"sibyl/internal/oracle"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

// Query is one line of a labelled set of questions. History holds the earlier questions of its session, oldest first.
type Query struct {
	Text    string        `json:"query"`
	Label   classify.Type `json:"label"`
	Half    Half          `json:"half"`
	History []string      `json:"history,omitempty"`
	Note    string        `json:"note,omitempty"`
}

func (q Query) check() error {
	switch {
	case strings.TrimSpace(q.Text) == "":
		return errors.New(`"query" is empty`)
	case !q.Label.Valid():
		return fmt.Errorf(`"label" is %q; it must be one of %v`, q.Label, classify.Types())
	case q.Half != Dev && q.Half != Test:
		return fmt.Errorf(`"half" is %q; it must be %q or %q`, q.Half, Dev, Test)
	}
	return nil
}

// Questions are labelled questions that are scored together.
type Questions struct {
	Name    string
	Open    bool // misses may be looked at
	Lessons []train.Lesson
}

// LoadQueries reads a set in JSON lines, its halves apart.
func LoadQueries(files fs.FS, name string) ([]Questions, error) {
	all, err := LoadSet(files, name, Query.check)
	if err != nil {
		return nil, err
	}
	halves := []Questions{{Name: name + " " + string(Dev), Open: true}, {Name: name + " " + string(Test)}}
	for _, q := range all {
		h := &halves[one(q.Half == Test)]
		h.Lessons = append(h.Lessons, train.Lesson{Labels: []classify.Type{q.Label}, Query: classify.Query{Text: q.Text,
			Previous: q.History}})
	}
	return slices.DeleteFunc(halves, func(h Questions) bool { return h.Lessons == nil }), nil
}

// ClassScore is how a set of questions was classified.
type ClassScore struct {
	Set   string `json:"set"`
	Right Share  `json:"right"` // of the questions: the type
	// of the questions: a source that answers, as is nothing where nothing is asked
	Offered Share   `json:"offered"`
	Sources float64 `json:"sources"` // offered, on the average
	// on the average; equal to the share of right ones where it is neither too sure nor too shy
	Confidence float64  `json:"confidence"`
	Misses     []string `json:"misses,omitempty"`
}

// Classify scores the classifier on a set. What the earlier questions of a session were is found out first, in their
// order.
func Classify(set Questions) ClassScore {
	s := ClassScore{Set: set.Name}
	right, found, sources := 0, 0, 0
	for _, l := range set.Lessons {
		q := l.Query
		for i, earlier := range q.Previous {
			before := classify.Classify(classify.Query{Text: earlier, Previous: q.Previous[:i],
				PreviousType: q.PreviousType})
			if before.QueryType != classify.Conversational {
				q.PreviousType = before.QueryType
			}
		}
		c := classify.Classify(q)
		offered := oracle.Sources(c)
		sources += len(offered)
		found += one(slices.ContainsFunc(l.Labels, func(t classify.Type) bool {
			code, vault, web := t.Needs()
			return !code && !vault && !web ||
				code && slices.Contains(offered, tool.Code) ||
				vault && slices.Contains(offered, tool.Vault) ||
				web && slices.Contains(offered, tool.Web)
		}))
		s.Confidence += c.Confidence / float64(len(set.Lessons))
		if slices.Contains(l.Labels, c.QueryType) {
			right++
		} else if set.Open {
			s.Misses = append(s.Misses, fmt.Sprintf("%s taken for %s (%.2f): %s", l.Labels[0], c.QueryType,
				c.Confidence, strings.Join(strings.Fields(q.Text), " ")))
		}
	}
	s.Right, s.Offered = ShareOf(right, len(set.Lessons)), ShareOf(found, len(set.Lessons))
	s.Sources = float64(sources) / float64(max(1, len(set.Lessons)))
	return s
}

// ClassReport are the scores of some sets.
type ClassReport []ClassScore

// WriteText writes a line for each set, and the misses of the half that is tuned on.
func (r ClassReport) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "set\ttype\tsource offered\tsources\tconfidence\n")
	for _, s := range r {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%.2f\t%.3f\n", s.Set, s.Right, s.Offered, s.Sources, s.Confidence)
	}
	for _, s := range r {
		for _, m := range s.Misses {
			fmt.Fprintln(tw, m)
		}
	}
	return tw.Flush()
}
