package eval

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/tabwriter"
)

// OracleReport is the score of the Oracle on a set: ours, and beside it the baseline and the transcripts where these
// were run.
type OracleReport struct {
	Model       string            `json:"model"`
	Ours        []OracleScore     `json:"ours"`
	Baseline    []OracleScore     `json:"baseline,omitempty"`
	Transcripts []TranscriptScore `json:"transcripts,omitempty"`
	Criteria    []Criterion       `json:"criteria"`
}

// OracleTotals sums scores up. Precision is of citations, which within one answer hang together: its interval is too
// narrow.
type OracleTotals struct {
	Questions     int
	Class         Share
	SignalPresent Share
	SignalFits    Share
	RepliesFit    Share // of all replies of the model
	SignalTrue    Share
	WithinBudget  Share
	Found         Share
	Whole         Share
	Precision     Share
	Honest        Share
	Failed        int
	Calls         int
	Unnecessary   int
	Tokens        int
}

// Totals sums scores up.
func Totals(scores []OracleScore) OracleTotals {
	share := func(of, hit func(OracleScore) int) Share {
		hits, all := 0, 0
		for _, s := range scores {
			hits, all = hits+hit(s), all+of(s)
		}
		return ShareOf(hits, all)
	}
	every := func(OracleScore) int { return 1 }
	placed := func(s OracleScore) int { return one(s.HasPlaces) }
	t := OracleTotals{Questions: len(scores),
		Class: share(func(s OracleScore) int {
			return one(s.Got != "")
		}, func(s OracleScore) int { return one(s.ClassRight) }),
		SignalPresent: share(every, func(s OracleScore) int { return one(s.SignalPresent) }),
		SignalFits:    share(every, func(s OracleScore) int { return one(s.SignalFits) }),
		SignalTrue:    share(every, func(s OracleScore) int { return one(s.SignalTrue) }),
		RepliesFit: share(func(s OracleScore) int {
			return s.Turns
		}, func(s OracleScore) int { return s.RepliesFit }),
		WithinBudget: share(every, func(s OracleScore) int { return one(s.WithinBudget) }),
		Found:        share(placed, func(s OracleScore) int { return one(s.HasPlaces && s.Found) }),
		Whole:        share(placed, func(s OracleScore) int { return one(s.HasPlaces && s.Whole) }),
		Precision: share(func(s OracleScore) int {
			return s.Cited * one(s.HasPlaces)
		}, func(s OracleScore) int { return s.CitedLabelled }),
		Honest: share(func(s OracleScore) int {
			return one(s.MustBePartial)
		}, func(s OracleScore) int { return one(s.Honest) }),
	}
	for _, s := range scores {
		t.Failed += one(s.Failure != "")
		t.Calls, t.Unnecessary, t.Tokens = t.Calls+s.Calls, t.Unnecessary+s.Unnecessary, t.Tokens+s.Tokens
	}
	return t
}

// RunOracle asks the questions, at most parallel at a time, and scores the outcomes in the order of the set. The first
// error of the program ends it.
func RunOracle(ctx context.Context, questions []OracleQuestion, parallel int, ask Asker) ([]OracleScore, error) {
	var mu sync.Mutex
	scores := make([]OracleScore, len(questions))
	err := Each(ctx, len(questions), parallel, func(ctx context.Context, i int) error {
		a, err := ask(ctx, questions[i])
		if err != nil {
			return fmt.Errorf("question %s: %w", questions[i].ID, err)
		}
		mu.Lock()
		defer mu.Unlock()
		scores[i] = ScoreOracle(questions[i], a)
		return nil
	})
	return scores, err
}

// Criterion is one of the success criteria (SC-… in docs/requirements.md), as far as a set can measure it. Met is nil
// where the figure is lacking.
type Criterion struct {
	ID     string `json:"id"`
	Asks   string `json:"asks"`
	Figure string `json:"figure"`
	Met    *bool  `json:"met,omitempty"`
}

// Judge fills in the criteria SC-001 to SC-006. Those that need the baseline are open without it; both were asked the
// same questions.
func (r *OracleReport) Judge() {
	t, within := Totals(r.Ours), Totals(r.Ours).WithinBudget
	for _, s := range r.Transcripts {
		within = ShareOf(within.Hits+one(s.WithinBudget), within.Of+1)
	}
	judged := func(id, asks, figure string, met bool) Criterion { return Criterion{id, asks, figure, &met} }
	r.Criteria = []Criterion{
		judged("SC-001", "the kind of question is found for 90 %", t.Class.String(), t.Class.Part >= 0.90),
		judged("SC-002", "95 % of the replies carry exactly one well-formed signal that fits", t.RepliesFit.String()+
			"; of the answers alone "+t.SignalFits.String(), t.RepliesFit.Part >= 0.95),
		{ID: "SC-003", Asks: "unnecessary calls are halved against the baseline", Figure: perQuestion(t)},
		judged("SC-004", "99 % end within the budget of turns, transcripts included", within.String(),
			within.Part >= 0.99),
		{ID: "SC-005", Asks: "places that answer are cited at least as often as by the baseline",
			Figure: t.Found.String()},
		judged("SC-006", "it works without a classifier model", fmt.Sprintf("%d of %d ended without a failure",
			t.Questions-t.Failed, t.Questions), t.Failed == 0),
	}
	if r.Baseline == nil {
		return
	}
	base, won, lost := Totals(r.Baseline), 0, 0
	for i, s := range r.Ours {
		won, lost = won+one(s.Found && !r.Baseline[i].Found), lost+one(r.Baseline[i].Found && !s.Found)
	}
	calls, places := &r.Criteria[2], &r.Criteria[4]
	*calls = judged(calls.ID, calls.Asks, calls.Figure+"; baseline: "+perQuestion(base),
		2*t.Unnecessary <= base.Unnecessary)
	*places = judged(places.ID, places.Asks, fmt.Sprintf("%s; baseline: %s; %d only by ours, %d only by the baseline",
		t.Found, base.Found, won, lost), t.Found.Hits >= base.Found.Hits)
}

func perQuestion(t OracleTotals) string {
	n := float64(max(t.Questions, 1))
	return fmt.Sprintf("%.2f unnecessary of %.2f calls, and %.0f tokens, a question", float64(t.Unnecessary)/n,
		float64(t.Calls)/n, float64(t.Tokens)/n)
}

// WriteText writes the report for people. Answers that went wrong are only listed for the development half, so that
// nobody tunes on the other.
func (r OracleReport) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "The Oracle on %d labelled questions, answered by %s. 95 %% intervals in brackets.\n",
		len(r.Ours), r.Model)
	for _, c := range r.Criteria {
		verdict := "not measured"
		if c.Met != nil {
			verdict = map[bool]string{true: "met", false: "NOT met"}[*c.Met]
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n\t\t%s\n", c.ID, verdict, c.Asks, c.Figure)
	}
	t := Totals(r.Ours)
	for _, line := range []struct {
		name string
		of   Share
	}{
		{"a place that answers is cited", t.Found}, {"all that a whole answer needs is cited", t.Whole},
		{"citations that lead to such a place", t.Precision},
		{"honest where nothing is to be found", t.Honest}, {"one well-formed signal a turn", t.SignalPresent},
		{"the last one is true by the labels", t.SignalTrue},
	} {
		fmt.Fprintf(tw, "\t\t%s\t%s\n", line.name, line.of)
	}
	for _, s := range r.Ours {
		if faults := s.faults(); s.Half == Dev && len(faults) > 0 {
			fmt.Fprintf(tw, "%s\t%s\n", s.ID, strings.Join(faults, "; "))
		}
	}
	for _, s := range r.Transcripts {
		if !s.Met {
			fmt.Fprintf(tw, "%s\t%s: %s\n", s.ID, s.Kind, strings.Join(s.Why, "; "))
		}
	}
	return tw.Flush()
}

// faults says in words what is wrong with an answer.
func (s OracleScore) faults() (all []string) {
	for _, f := range []struct {
		is   bool
		text string
	}{
		{!s.ClassRight, fmt.Sprintf("%s taken for %s", s.Type, s.Got)},
		{s.Failure != "", "failed: " + s.Failure},
		{s.HasPlaces && !s.Found, "no place that answers is cited"},
		{s.Found && !s.Whole, "a part of the answer is not cited"},
		{s.MustBePartial && !s.Honest, "claims an answer that is not there"},
		{!s.SignalPresent, "not exactly one well-formed signal a turn"},
		{s.SignalPresent && !s.SignalFits, fmt.Sprintf("the signal %s does not fit", s.Signal)},
		{!s.WithinBudget, "ended " + s.StopReason},
	} {
		if f.is {
			all = append(all, f.text)
		}
	}
	return all
}
