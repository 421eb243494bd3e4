package eval

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/oracle"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

func sampleQuestions() []OracleQuestion {
	place := []Place{{Source: tool.Code, Path: "a.go", Start: 1, End: 9, Need: All}}
	return []OracleQuestion{
		{ID: "one", Half: Dev, Type: classify.Code, Places: place},
		{ID: "two", Half: Dev, Type: classify.Code, Places: place},
		{ID: "nothing", Half: Dev, Type: classify.Documentation, MustBePartial: true},
		{ID: "secret", Half: Test, Type: classify.Code, Places: place},
	}
}

// sampleScores are of an asker that finds the place of question one only, and takes n calls for each.
func sampleScores(t *testing.T, n int) []OracleScore {
	t.Helper()
	scores := assert.Must(RunOracle(t.Context(), sampleQuestions(), 2,
		func(_ context.Context, q OracleQuestion) (oracle.Answer, error) {
			cite, source := "b.go:1", ref(tool.Code, "b.go", 1, 9)
			if q.ID == "one" {
				cite, source = "a.go:1", ref(tool.Code, "a.go", 1, 9)
			}
			a := answered(signal.ContextSufficient, oracle.StopSatisfied, cite, source)
			a.Class.QueryType = classify.Code
			a.ToolCalls = make([]agent.ToolUse, n)
			a.ToolCalls[0].Used = true
			return a, nil
		}))(t)
	return scores
}

func TestTotalsCountWhatTheScoresSay(t *testing.T) {
	got := Totals(sampleScores(t, 2))
	for name, c := range map[string]struct {
		got      Share
		hits, of int
	}{
		"class":   {got.Class, 3, 4},
		"signals": {got.SignalPresent, 4, 4},
		"fits":    {got.SignalFits, 3, 4},
		"true":    {got.SignalTrue, 1, 4},
		"budget":  {got.WithinBudget, 4, 4},
		"found":   {got.Found, 1, 3},
		"whole":   {got.Whole, 1, 3},
		"exact":   {got.Precision, 1, 3},
		"honest":  {got.Honest, 0, 1},
		"none":    {Totals([]OracleScore{{ID: "a tree that does not classify"}}).Class, 0, 0},
	} {
		assert.That(t, c.got.Hits == c.hits && c.got.Of == c.of, "%s: %v, want %d of %d", name, c.got, c.hits, c.of)
	}
	assert.That(t, got.Calls == 8 && got.Unnecessary == 4, "calls %d, unnecessary %d", got.Calls, got.Unnecessary)
}

func TestErrorOfTheProgramEndsTheEvaluationAndNamesTheQuestion(t *testing.T) {
	broken := errors.New("disk full")
	var asked atomic.Int32
	_, err := RunOracle(t.Context(), make([]OracleQuestion, 50), 2,
		func(context.Context, OracleQuestion) (oracle.Answer, error) {
			asked.Add(1)
			return oracle.Answer{}, broken
		})
	assert.That(t, errors.Is(err, broken) && strings.Contains(err.Error(), "question ") && asked.Load() <= 4,
		"after %d questions: %v", asked.Load(), err)
}

// verdicts are what a report says of each criterion.
func verdicts(r OracleReport) string {
	r.Judge()
	var all []string
	for _, c := range r.Criteria {
		v := "open"
		if c.Met != nil {
			v = fmt.Sprint(*c.Met)
		}
		all = append(all, c.ID+" "+v)
	}
	return strings.Join(all, ", ")
}

func TestCriteriaAreJudgedByTheRequirementsThresholds(t *testing.T) {
	r := OracleReport{Ours: sampleScores(t, 2)}
	got, want := verdicts(r), "SC-001 false, SC-002 false, SC-003 open, SC-004 true, SC-005 open, SC-006 true"
	assert.That(t, got == want, "%s\nwant %s", got, want)
	r.Transcripts = []TranscriptScore{{ID: "runs-on"}}
	got = verdicts(r)
	assert.That(t, strings.Contains(got, "SC-004 false"), "SC-004 counts questions and transcripts together: %s", got)
}

func TestBaselineIsComparedCallByCallAndPlaceByPlace(t *testing.T) {
	r := OracleReport{Ours: sampleScores(t, 2)} // 4 unnecessary calls
	for calls, halved := range map[int]string{2: "SC-003 false", 3: "SC-003 true"} {
		if r.Baseline = sampleScores(t, calls); !strings.Contains(verdicts(r), halved) {
			t.Errorf("4 unnecessary calls against %d: %s", 4*(calls-1), verdicts(r))
		}
	}
	r.Baseline[0].Found, r.Baseline[1].Found, r.Baseline[3].Found = false, true, true
	r.Judge()
	c := r.Criteria[4]
	assert.That(t, !*c.Met && strings.Contains(c.Figure, "1 only by ours, 2 only by the baseline"), "%+v", c)
}

func TestTextReportListsFaultsOfTheDevelopmentHalfOnly(t *testing.T) {
	r := OracleReport{Model: "offline:rules", Ours: sampleScores(t, 2),
		Transcripts: []TranscriptScore{{ID: "runs-on", Kind: "loop", Why: []string{"30 turns, at most 5 expected"}}}}
	r.Judge()
	var out strings.Builder
	assert.NoError(t, r.WriteText(&out))
	for _, want := range []string{"3 of 4, 75.0 % (30 to 95)", "no place that answers is cited", "runs-on",
		"30 turns, at most 5 expected", "NOT met", "not measured",
		"documentation taken for code; claims an answer that is not there; the signal context_sufficient does not fit"} {
		assert.That(t, strings.Contains(out.String(), want), "the report lacks %q:\n%s", want, out.String())
	}
	assert.That(t, !strings.Contains(out.String(), "secret"), "a question of the test half is shown")
}
