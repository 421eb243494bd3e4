package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"sibyl/internal/oracle"
	"sibyl/internal/oracle/classify"
)

// OracleReport is the score of the Oracle on a set: ours, and beside it the baseline and the transcripts where these were run.
type OracleReport struct {
	Model       string            `json:"model"`
	Half        Half              `json:"half,omitempty"` // empty: both
	Ours        OracleRun         `json:"ours"`
	Baseline    *OracleRun        `json:"baseline,omitempty"`
	Transcripts *TranscriptReport `json:"transcripts,omitempty"`
	Criteria    []Criterion       `json:"criteria"`
}

// OracleRun is the score of one asker.
type OracleRun struct {
	Tree   string        `json:"tree"`
	Scores []OracleScore `json:"scores"`
	Totals OracleTotals  `json:"totals"`
}

// Share is a proportion with its Wilson 95 % interval.
type Share struct {
	Hits int     `json:"hits"`
	Of   int     `json:"of"`
	Part float64 `json:"part"` // 0 where there is nothing to count
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// ShareOf is a share with its interval.
func ShareOf(hits, of int) Share {
	low, high := wilson(hits, of)
	return Share{Hits: hits, Of: of, Part: ratio(hits, of), Low: low, High: high}
}

func (s Share) String() string {
	if s.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d, %.1f %% (%.0f to %.0f)", s.Hits, s.Of, 100*s.Part, 100*s.Low, 100*s.High)
}

// OracleTotals sums scores up. Medians are of the lower middle. Precision is of citations, which within one answer hang together:
// its interval is too narrow.
type OracleTotals struct {
	Questions     int           `json:"questions"`
	Class         Share         `json:"class_right"`
	SignalPresent Share         `json:"signal_present"`
	SignalFits    Share         `json:"signal_fits"`
	RepliesFit    Share         `json:"replies_fit"` // of all replies of the model
	SignalTrue    Share         `json:"signal_true"`
	WithinBudget  Share         `json:"within_budget"`
	Found         Share         `json:"found"`
	Whole         Share         `json:"whole"`
	Precision     Share         `json:"precision"`
	Honest        Share         `json:"honest"`
	Failed        int           `json:"failed"`
	Calls         int           `json:"calls"`
	Unnecessary   int           `json:"unnecessary"`
	MedianTurns   int           `json:"median_turns"`
	MedianCalls   int           `json:"median_calls"`
	MedianTokens  int           `json:"median_tokens"`
	MedianMS      int64         `json:"median_ms"`
	Types         []OracleTotal `json:"types,omitempty"`
}

// OracleTotal is the sum over the questions of one type.
type OracleTotal struct {
	Type classify.Type `json:"type"`
	OracleTotals
}

// totals sums up the scores, with those of each type below.
func totals(scores []OracleScore) OracleTotals {
	sum := sumOf(scores)
	for _, t := range classify.Types() {
		of := selected(scores, func(s OracleScore) bool { return s.Type == t })
		sum.Types = append(sum.Types, OracleTotal{t, sumOf(of)})
	}
	return sum
}

func sumOf(scores []OracleScore) OracleTotals {
	count := func(is func(OracleScore) bool) int { return len(selected(scores, is)) }
	total := func(of func(OracleScore) int) (sum int) {
		for _, s := range scores {
			sum += of(s)
		}
		return sum
	}
	n := len(scores)
	t := OracleTotals{Questions: n,
		Class:         ShareOf(count(func(s OracleScore) bool { return s.ClassRight }), n),
		SignalPresent: ShareOf(count(func(s OracleScore) bool { return s.SignalPresent }), n),
		SignalFits:    ShareOf(count(func(s OracleScore) bool { return s.SignalFits }), n),
		RepliesFit:    ShareOf(total(func(s OracleScore) int { return s.RepliesFit }), total(func(s OracleScore) int { return s.Turns })),
		SignalTrue:    ShareOf(count(func(s OracleScore) bool { return s.SignalTrue }), n),
		WithinBudget:  ShareOf(count(func(s OracleScore) bool { return s.WithinBudget }), n),
		Failed:        count(func(s OracleScore) bool { return s.Failure != "" }),
		MedianTurns:   median(scores, func(s OracleScore) int { return s.Turns }),
		MedianCalls:   median(scores, func(s OracleScore) int { return s.Calls }),
		MedianTokens:  median(scores, func(s OracleScore) int { return s.Tokens }),
		MedianMS:      median(scores, func(s OracleScore) int64 { return s.TookMS }),
	}
	if count(func(s OracleScore) bool { return s.Got != "" }) == 0 {
		t.Class = Share{} // a tree that does not classify
	}
	placed := selected(scores, func(s OracleScore) bool { return s.HasPlaces })
	found, whole, cited, labelled := 0, 0, 0, 0
	for _, s := range placed {
		found, whole = found+one(s.Found), whole+one(s.Whole)
		cited, labelled = cited+s.Cited, labelled+s.CitedLabelled
	}
	t.Found, t.Whole, t.Precision = ShareOf(found, len(placed)), ShareOf(whole, len(placed)), ShareOf(labelled, cited)
	nothing := selected(scores, func(s OracleScore) bool { return s.MustBePartial })
	t.Honest = ShareOf(len(selected(nothing, func(s OracleScore) bool { return s.Honest })), len(nothing))
	for _, s := range scores {
		t.Calls, t.Unnecessary = t.Calls+s.Calls, t.Unnecessary+s.Unnecessary
	}
	return t
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

func selected(scores []OracleScore, is func(OracleScore) bool) []OracleScore {
	var some []OracleScore
	for _, s := range scores {
		if is(s) {
			some = append(some, s)
		}
	}
	return some
}

func median[T int | int64](scores []OracleScore, of func(OracleScore) T) T {
	if len(scores) == 0 {
		return 0
	}
	values := make([]T, len(scores))
	for i, s := range scores {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// RunOracle asks the questions of one half, at most parallel at a time, and scores the outcomes in the order of the set. done is
// told of each, one at a time; it may be nil. The first error of the program ends it.
func RunOracle(ctx context.Context, questions []OracleQuestion, half Half, parallel int, tree string, ask Asker, done func(OracleScore)) (OracleRun, error) {
	var chosen []OracleQuestion
	for _, q := range questions {
		if half == Both || q.Half == half {
			chosen = append(chosen, q)
		}
	}
	var mu sync.Mutex
	scores := make([]OracleScore, len(chosen))
	err := Each(ctx, len(chosen), parallel, func(ctx context.Context, i int) error {
		a, err := ask(ctx, chosen[i])
		if err != nil {
			return fmt.Errorf("question %s: %w", chosen[i].ID, err)
		}
		mu.Lock()
		defer mu.Unlock()
		scores[i] = ScoreOracle(chosen[i], a)
		if done != nil {
			done(scores[i])
		}
		return nil
	})
	if err != nil {
		return OracleRun{}, err
	}
	return OracleRun{Tree: tree, Scores: scores, Totals: totals(scores)}, nil
}

// Each calls do for 0 to n-1, at most parallel at a time. After the first error no further call begins; that error is returned.
func Each(ctx context.Context, n, parallel int, do func(context.Context, int) error) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(max(parallel, 1))
	for i := range n {
		all.Go(func() error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			return do(ctx, i)
		})
	}
	return all.Wait()
}

// TranscriptReport is how the runs coped with misbehaving models.
type TranscriptReport struct {
	Scores       []TranscriptScore `json:"scores"`
	Met          Share             `json:"met"`
	WithinBudget Share             `json:"within_budget"`
}

// TranscriptAsker asks a transcript's question of the model that plays it.
type TranscriptAsker func(ctx context.Context, t Transcript) (oracle.Answer, error)

// RunTranscripts runs every transcript, at most parallel at a time, and scores them in the order of the set.
func RunTranscripts(ctx context.Context, transcripts []Transcript, parallel int, ask TranscriptAsker) (*TranscriptReport, error) {
	scores := make([]TranscriptScore, len(transcripts))
	err := Each(ctx, len(transcripts), parallel, func(ctx context.Context, i int) error {
		a, err := ask(ctx, transcripts[i])
		if err != nil {
			return fmt.Errorf("transcript %s: %w", transcripts[i].ID, err)
		}
		scores[i] = ScoreTranscript(transcripts[i], a)
		return nil
	})
	if err != nil {
		return nil, err
	}
	met, within := 0, 0
	for _, s := range scores {
		met, within = met+one(s.Met), within+one(s.WithinBudget)
	}
	return &TranscriptReport{Scores: scores, Met: ShareOf(met, len(scores)), WithinBudget: ShareOf(within, len(scores))}, nil
}

// errNoQuestions keeps a comparison from being made of nothing.
var errNoQuestions = errors.New("no question was asked")

// Criterion is one of the success criteria (SC-… in docs/requirements.md), as far as a set can measure it. Met is nil where the figure is lacking.
type Criterion struct {
	ID     string `json:"id"`
	Asks   string `json:"asks"`
	Figure string `json:"figure"`
	Met    *bool  `json:"met,omitempty"`
}

// Judge fills in the criteria SC-001 to SC-006.
func (r *OracleReport) Judge() error {
	t := r.Ours.Totals
	if t.Questions == 0 {
		return errNoQuestions
	}
	within := t.WithinBudget
	if r.Transcripts != nil {
		w := r.Transcripts.WithinBudget
		within = ShareOf(within.Hits+w.Hits, within.Of+w.Of)
	}
	r.Criteria = []Criterion{
		judged("SC-001", "the kind of question is found for 90 %", t.Class.String(), t.Class.Part >= 0.90),
		judged("SC-002", "95 % of the replies carry exactly one well-formed signal that fits", t.RepliesFit.String()+"; of the answers alone "+t.SignalFits.String(),
			t.RepliesFit.Part >= 0.95),
		{ID: "SC-003", Asks: "unnecessary calls are halved against the baseline", Figure: perQuestion(t)},
		judged("SC-004", "99 % end within the budget of turns, transcripts included", within.String(), within.Part >= 0.99),
		{ID: "SC-005", Asks: "places that answer are cited at least as often as by the baseline", Figure: t.Found.String()},
		judged("SC-006", "it works on rules alone, without a classifier model", fmt.Sprintf("%d of %d ended without a failure", t.Questions-t.Failed, t.Questions), t.Failed == 0),
	}
	if r.Baseline != nil {
		r.compare()
	}
	return nil
}

func judged(id, asks, figure string, met bool) Criterion {
	return Criterion{ID: id, Asks: asks, Figure: figure, Met: &met}
}

func perQuestion(t OracleTotals) string {
	n := float64(max(t.Questions, 1))
	return fmt.Sprintf("%.2f unnecessary of %.2f calls a question", float64(t.Unnecessary)/n, float64(t.Calls)/n)
}

// compare judges the criteria that need the baseline. Both were asked the same questions.
func (r *OracleReport) compare() {
	ours, base := r.Ours.Totals, r.Baseline.Totals
	won, lost := 0, 0
	for i, s := range r.Ours.Scores {
		b := r.Baseline.Scores[i]
		won, lost = won+one(s.Found && !b.Found), lost+one(b.Found && !s.Found)
	}
	halved := 2*ours.Unnecessary <= base.Unnecessary
	atLeast := ours.Found.Hits >= base.Found.Hits
	for i := range r.Criteria {
		switch c := &r.Criteria[i]; c.ID {
		case "SC-003":
			c.Met = &halved
			c.Figure = fmt.Sprintf("%s; baseline: %s", perQuestion(ours), perQuestion(base))
		case "SC-005":
			c.Met = &atLeast
			c.Figure = fmt.Sprintf("%s; baseline: %s; %d only by ours, %d only by the baseline", ours.Found, base.Found, won, lost)
		}
	}
}
