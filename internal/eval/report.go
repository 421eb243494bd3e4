package eval

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"sibyl/internal/oracle/classify"
)

// Report is the score of a classifier on labelled queries.
type Report struct {
	Half     Half         `json:"half,omitempty"` // empty: both
	Total    int          `json:"total"`
	Correct  int          `json:"correct"`
	Accuracy float64      `json:"accuracy"` // Correct / Total; 0 if there is nothing to score
	Low      float64      `json:"low"`      // Wilson 95 % interval of Accuracy
	High     float64      `json:"high"`
	Classes  []ClassScore `json:"classes"`

	// Confusion counts queries by label and by what they were taken for.
	Confusion map[classify.Type]map[classify.Type]int `json:"confusion"`

	Misses []Miss `json:"misses"`
}

// ClassScore is how well one class is told from the others.
type ClassScore struct {
	Type      classify.Type `json:"type"`
	Support   int           `json:"support"`   // queries with this label
	Precision float64       `json:"precision"` // of those taken for it, the share that are; 0 if none was
	Recall    float64       `json:"recall"`    // of those that are, the share taken for it; 0 if there is none
}

// Miss is a query whose class was not found.
type Miss struct {
	Query
	Got        classify.Type `json:"got"`
	Confidence float64       `json:"confidence"`
	Keywords   []string      `json:"keywords_matched,omitempty"`
}

// Classify scores the query classifier on one half of a set, or on Both.
func Classify(queries []Query, half Half) Report {
	return score(queries, half, classifyWithHistory)
}

// classifyWithHistory classifies a query as a session would: its earlier questions are classified first, in order.
func classifyWithHistory(q Query) classify.Classification {
	var last classify.Type
	for i, earlier := range q.History {
		got := classify.Classify(classify.Query{Text: earlier, Previous: q.History[:i], PreviousType: last}).QueryType
		if got != classify.Conversational {
			last = got
		}
	}
	return classify.Classify(classify.Query{Text: q.Text, Previous: q.History, PreviousType: last})
}

func score(queries []Query, half Half, predict func(Query) classify.Classification) Report {
	r := Report{Half: half, Confusion: map[classify.Type]map[classify.Type]int{}, Misses: []Miss{}}
	for _, t := range classify.Types() {
		r.Confusion[t] = map[classify.Type]int{}
	}
	for _, q := range queries {
		if half != Both && q.Half != half {
			continue
		}
		got := predict(q)
		r.Total++
		r.Confusion[q.Label][got.QueryType]++
		if got.QueryType == q.Label {
			r.Correct++
			continue
		}
		r.Misses = append(r.Misses, Miss{q, got.QueryType, got.Confidence, got.KeywordsMatched})
	}
	r.Accuracy = ratio(r.Correct, r.Total)
	r.Low, r.High = wilson(r.Correct, r.Total)
	for _, t := range classify.Types() {
		r.Classes = append(r.Classes, r.class(t))
	}
	return r
}

func (r Report) class(t classify.Type) ClassScore {
	support, taken := 0, 0
	for _, other := range classify.Types() {
		support += r.Confusion[t][other]
		taken += r.Confusion[other][t]
	}
	hits := r.Confusion[t][t]
	return ClassScore{Type: t, Support: support, Precision: ratio(hits, taken), Recall: ratio(hits, support)}
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// wilson returns the Wilson score interval of a proportion at 95 % (E. B. Wilson, 1927); 0 to 1 for no observations.
func wilson(hits, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959964
	p, size := float64(hits)/float64(n), float64(n)
	centre := p + z*z/(2*size)
	spread := z * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	scale := 1 + z*z/size
	return max(0, (centre-spread)/scale), min(1, (centre+spread)/scale)
}

// WriteText writes the report for people: the score, a line per class, the confusion matrix and the misses.
func (r Report) WriteText(w io.Writer) error {
	name := string(r.Half)
	if r.Half == Both {
		name = "dev and test"
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "%s: %d of %d right, %.1f %% (95 %% interval %.1f to %.1f)\n", name, r.Correct, r.Total, 100*r.Accuracy, 100*r.Low, 100*r.High)
	fmt.Fprint(tw, "\nclass\tqueries\tprecision\trecall\n")
	for _, c := range r.Classes {
		fmt.Fprintf(tw, "%s\t%d\t%.1f %%\t%.1f %%\n", c.Type, c.Support, 100*c.Precision, 100*c.Recall)
	}
	fmt.Fprint(tw, "\nlabel, taken for")
	for _, t := range classify.Types() {
		fmt.Fprintf(tw, "\t%s", t)
	}
	fmt.Fprintln(tw)
	for _, label := range classify.Types() {
		fmt.Fprint(tw, label)
		for _, got := range classify.Types() {
			fmt.Fprintf(tw, "\t%d", r.Confusion[label][got])
		}
		fmt.Fprintln(tw)
	}
	if len(r.Misses) > 0 {
		fmt.Fprint(tw, "\nmissed\n")
	}
	for _, m := range r.Misses {
		fmt.Fprintf(tw, "%s\ttaken for %s (%.2f)\t%s\n", m.Label, m.Got, m.Confidence, strings.Join(strings.Fields(m.Text), " "))
	}
	return tw.Flush()
}

// WriteFailures writes what went wrong, each in a line, and how much of it, in frozen cases of a kind, is hidden.
func WriteFailures[F fmt.Stringer](w io.Writer, failures []F, hidden int, of string) {
	if len(failures) > 0 {
		fmt.Fprintln(w)
	}
	for _, f := range failures {
		fmt.Fprintln(w, f)
	}
	if hidden > 0 {
		fmt.Fprintf(w, "\nand %d in frozen %s, which --frozen shows\n", hidden, of)
	}
}

// WriteBounds says which bounds do not hold, in words, or that all of them do.
func WriteBounds(w io.Writer, broken []string) {
	for _, bound := range broken {
		fmt.Fprintf(w, "\nnot met: %s", bound)
	}
	if len(broken) == 0 {
		fmt.Fprint(w, "\nall bounds hold")
	}
	fmt.Fprintln(w)
}
