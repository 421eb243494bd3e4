package eval

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText writes the report for people. Answers that went wrong are only listed for the development half, so that nobody tunes
// on the other.
func (r OracleReport) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	name := string(r.Half)
	if r.Half == Both {
		name = "dev and test"
	}
	fmt.Fprintf(tw, "Sibyl's Oracle on %d labelled questions (%s), answered by %s.\n", r.Ours.Totals.Questions, name, r.Model)
	if strings.HasPrefix(r.Model, "offline:") {
		fmt.Fprintln(tw, "No language model took part: the offline model is a set of rules of our own. Its figures say how good these rules are at\n"+
			"searching and quoting, and that control and signals work; they say nothing about what a language model would do.")
	}
	r.writeCriteria(tw)
	r.writeTotals(tw)
	r.writeTypes(tw)
	r.writeWrong(tw)
	r.writeTranscripts(tw)
	return tw.Flush()
}

func (r OracleReport) writeCriteria(w io.Writer) {
	fmt.Fprint(w, "\nThe requirement's criteria (95 % intervals in brackets)\n")
	for _, c := range r.Criteria {
		verdict := "not measured"
		if c.Met != nil {
			verdict = map[bool]string{true: "met", false: "NOT met"}[*c.Met]
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n\t\t%s\n", c.ID, verdict, c.Asks, c.Figure)
	}
}

func (r OracleReport) writeTotals(w io.Writer) {
	runs := []OracleRun{r.Ours}
	fmt.Fprint(w, "\nfigure\tours")
	if r.Baseline != nil {
		runs = append(runs, *r.Baseline)
		fmt.Fprint(w, "\tbaseline")
	}
	fmt.Fprintln(w)
	for _, line := range []struct {
		name string
		of   func(OracleTotals) string
	}{
		{"kind of question found", func(t OracleTotals) string { return t.Class.String() }},
		{"a place that answers is cited", func(t OracleTotals) string { return t.Found.String() }},
		{"all that a whole answer needs is cited", func(t OracleTotals) string { return t.Whole.String() }},
		{"citations that lead to such a place", func(t OracleTotals) string { return t.Precision.String() }},
		{"honest where nothing is to be found", func(t OracleTotals) string { return t.Honest.String() }},
		{"exactly one well-formed signal a turn", func(t OracleTotals) string { return t.SignalPresent.String() }},
		{"... and it fits, of all replies", func(t OracleTotals) string { return t.RepliesFit.String() }},
		{"... and the last one fits", func(t OracleTotals) string { return t.SignalFits.String() }},
		{"... and is true by the labels", func(t OracleTotals) string { return t.SignalTrue.String() }},
		{"ended within the budget of turns", func(t OracleTotals) string { return t.WithinBudget.String() }},
		{"tool calls", perQuestion},
		{"median turns, calls, tokens, ms", func(t OracleTotals) string {
			return fmt.Sprintf("%d, %d, %d, %d", t.MedianTurns, t.MedianCalls, t.MedianTokens, t.MedianMS)
		}},
	} {
		fmt.Fprint(w, line.name)
		for _, run := range runs {
			fmt.Fprintf(w, "\t%s", line.of(run.Totals))
		}
		fmt.Fprintln(w)
	}
}

func (r OracleReport) writeTypes(w io.Writer) {
	fmt.Fprint(w, "\nby kind\tquestions\tkind found\tplace cited\thonest\tsignal fits\tcalls\n")
	cell := func(s Share) string {
		if s.Of == 0 {
			return "–"
		}
		return fmt.Sprintf("%d/%d", s.Hits, s.Of)
	}
	for _, t := range r.Ours.Totals.Types {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%d\n", t.Type, t.Questions, cell(t.Class), cell(t.Found), cell(t.Honest), cell(t.SignalFits), t.Calls)
	}
}

func (r OracleReport) writeWrong(w io.Writer) {
	wrong := selected(r.Ours.Scores, func(s OracleScore) bool { return s.Half == Dev && len(s.faults()) > 0 })
	if len(wrong) == 0 {
		return
	}
	fmt.Fprint(w, "\nWhat went wrong in the development half (the test half is not shown, so that nobody tunes on it)\n")
	for _, s := range wrong {
		fmt.Fprintf(w, "%s\t%s\n", s.ID, strings.Join(s.faults(), "; "))
	}
}

// faults says in words what is wrong with an answer.
func (s OracleScore) faults() []string {
	var all []string
	add := func(is bool, text string) {
		if is {
			all = append(all, text)
		}
	}
	add(!s.ClassRight, fmt.Sprintf("%s taken for %s", s.Type, s.Got))
	add(s.Failure != "", "failed: "+s.Failure)
	add(s.HasPlaces && !s.Found, "no place that answers is cited")
	add(s.Found && !s.Whole, "a part of the answer is not cited")
	add(s.MustBePartial && !s.Honest, "claims an answer that is not there")
	add(!s.SignalPresent, "not exactly one well-formed signal a turn")
	add(s.SignalPresent && !s.SignalFits, fmt.Sprintf("the signal %s does not fit", s.Signal))
	add(!s.WithinBudget, "ended "+s.StopReason)
	return all
}

func (r OracleReport) writeTranscripts(w io.Writer) {
	if r.Transcripts == nil {
		return
	}
	t := r.Transcripts
	fmt.Fprintf(w, "\nModels that misbehave: as expected %s; within the budget %s\n", t.Met, t.WithinBudget)
	for _, s := range t.Scores {
		if !s.Met {
			fmt.Fprintf(w, "%s\t%s\t%s\n", s.ID, s.Kind, strings.Join(s.Why, "; "))
		}
	}
}
