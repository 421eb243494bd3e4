package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
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

// answers finds the place of question one only, and takes n calls for each.
func answers(n int) Asker {
	return func(_ context.Context, q OracleQuestion) (oracle.Answer, error) {
		cite, source := "b.go:1", ref(tool.Code, "b.go", 1, 9)
		if q.ID == "one" {
			cite, source = "a.go:1", ref(tool.Code, "a.go", 1, 9)
		}
		a := answered(signal.ContextSufficient, oracle.StopSatisfied, cite, source)
		a.Class.QueryType = classify.Code
		a.ToolCalls = make([]agent.ToolUse, n)
		a.ToolCalls[0].Used = true
		return a, nil
	}
}

func sampleReport(t *testing.T) OracleReport {
	t.Helper()
	r := OracleReport{Model: "offline:rules"}
	var err error
	if r.Ours, err = RunOracle(t.Context(), sampleQuestions(), Both, 2, "trees/oracle.xml", answers(2), nil); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTotalsCountWhatTheScoresSay(t *testing.T) {
	got := sampleReport(t).Ours.Totals
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
	} {
		if c.got.Hits != c.hits || c.got.Of != c.of {
			t.Errorf("%s: %v, want %d of %d", name, c.got, c.hits, c.of)
		}
	}
	if got.Calls != 8 || got.Unnecessary != 4 || got.MedianCalls != 2 || got.MedianTurns != 1 {
		t.Errorf("calls %d, unnecessary %d, medians %d and %d", got.Calls, got.Unnecessary, got.MedianCalls, got.MedianTurns)
	}
	if code := got.Types[0]; code.Type != classify.Code || code.Questions != 3 || code.Found.Of != 3 {
		t.Errorf("the questions about code: %+v", code)
	}
}

func TestTreeThatDoesNotClassifyHasNoFigureForIt(t *testing.T) {
	if got := totals([]OracleScore{{ID: "a"}, {ID: "b"}}).Class; got != (Share{}) || got.String() != "–" {
		t.Errorf("got %v", got)
	}
	if got := totals([]OracleScore{{ID: "a", Got: classify.Code, ClassRight: true}, {ID: "b"}}).Class; got.Hits != 1 || got.Of != 2 {
		t.Errorf("one of two is unclassified: %v", got)
	}
}

func TestOnlyTheChosenHalfIsAskedAndInTheOrderOfTheSet(t *testing.T) {
	told := 0
	r, err := RunOracle(t.Context(), sampleQuestions(), Dev, 3, "", answers(1), func(OracleScore) { told++ })
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range r.Scores {
		ids = append(ids, s.ID)
	}
	if diff := cmp.Diff([]string{"one", "two", "nothing"}, ids); diff != "" || told != 3 {
		t.Error(diff, told)
	}
}

func TestErrorOfTheProgramEndsTheEvaluationAndNamesTheQuestion(t *testing.T) {
	broken := errors.New("disk full")
	var asked atomic.Int32
	questions := make([]OracleQuestion, 50)
	for i := range questions {
		questions[i] = OracleQuestion{ID: fmt.Sprint("q", i)}
	}
	_, err := RunOracle(t.Context(), questions, Both, 2, "", func(context.Context, OracleQuestion) (oracle.Answer, error) {
		asked.Add(1)
		return oracle.Answer{}, broken
	}, nil)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "question q") || asked.Load() > 4 {
		t.Errorf("after %d questions: %v", asked.Load(), err)
	}
}

func TestStopFromOutsideIsAnError(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := RunOracle(ctx, sampleQuestions(), Both, 2, "", answers(1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func criterion(t *testing.T, r OracleReport, id string) Criterion {
	t.Helper()
	for _, c := range r.Criteria {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no criterion %s", id)
	return Criterion{}
}

func verdict(c Criterion) string {
	if c.Met == nil {
		return "open"
	}
	return fmt.Sprint(*c.Met)
}

func TestCriteriaAreJudgedByTheRequirementsThresholds(t *testing.T) {
	r := sampleReport(t)
	if err := r.Judge(); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"SC-001": "false", "SC-002": "false", "SC-003": "open", "SC-004": "true", "SC-005": "open", "SC-006": "true"} {
		if got := verdict(criterion(t, r, id)); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	r.Transcripts = &TranscriptReport{WithinBudget: ShareOf(9, 10)}
	if err := r.Judge(); err != nil {
		t.Fatal(err)
	}
	if c := criterion(t, r, "SC-004"); verdict(c) != "false" || !strings.HasPrefix(c.Figure, "13 of 14") {
		t.Errorf("SC-004 counts questions and transcripts together: %+v", c)
	}
	if (&OracleReport{}).Judge() == nil {
		t.Error("a report on no question is judged")
	}
}

func TestBaselineIsComparedCallByCallAndPlaceByPlace(t *testing.T) {
	r := sampleReport(t) // 4 unnecessary calls
	for calls, halved := range map[int]string{2: "false", 3: "true"} {
		base, err := RunOracle(t.Context(), sampleQuestions(), Both, 2, "baseline", answers(calls), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Baseline = &base
		if err := r.Judge(); err != nil {
			t.Fatal(err)
		}
		if got := verdict(criterion(t, r, "SC-003")); got != halved {
			t.Errorf("4 unnecessary calls against %d: %s", base.Totals.Unnecessary, got)
		}
	}
	found := *r.Baseline
	found.Scores = append([]OracleScore(nil), found.Scores...)
	found.Scores[0].Found, found.Scores[1].Found, found.Scores[3].Found = false, true, true
	found.Totals = totals(found.Scores)
	r.Baseline = &found
	if err := r.Judge(); err != nil {
		t.Fatal(err)
	}
	if c := criterion(t, r, "SC-005"); verdict(c) != "false" || !strings.Contains(c.Figure, "1 only by ours, 2 only by the baseline") {
		t.Errorf("%s: %+v", verdict(c), c)
	}
}

func TestTextReportListsFaultsOfTheDevelopmentHalfOnly(t *testing.T) {
	r := sampleReport(t)
	r.Transcripts = &TranscriptReport{Scores: []TranscriptScore{{ID: "runs-on", Kind: "loop", Why: []string{"30 turns, at most 5 expected"}}}, Met: ShareOf(0, 1), WithinBudget: ShareOf(1, 1)}
	if err := r.Judge(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"No language model took part", "3 of 4, 75.0 % (30 to 95)", "two      no place that answers is cited", "runs-on", "NOT met", "not measured",
		"documentation taken for code; claims an answer that is not there; the signal context_sufficient does not fit"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "secret") {
		t.Error("a question of the test half is shown")
	}
}

func TestHostedModelIsNotCalledRules(t *testing.T) {
	r := sampleReport(t)
	r.Model = "ollama:llama3.1:8b"
	var out strings.Builder
	if err := r.WriteText(&out); err != nil || strings.Contains(out.String(), "No language model") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestOracleReportInJSONCanBeReadBack(t *testing.T) {
	want := sampleReport(t)
	if err := want.Judge(); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got OracleReport
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestGoldenFiguresAreReadBackAndHoldNothingOfSingleTestQuestions(t *testing.T) {
	r := sampleReport(t)
	r.Transcripts = &TranscriptReport{Scores: []TranscriptScore{{ID: "x", StopReason: "loop", Turns: 5, Met: true}}}
	want := r.Golden()
	var out bytes.Buffer
	if err := want.Write(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "secret") || !strings.Contains(out.String(), `"two"`) {
		t.Errorf("the file: %s", out.String())
	}
	got, err := ReadOracleGolden(&out)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := ReadOracleGolden(strings.NewReader(`{"dve":[]}`)); err == nil {
		t.Error("a misspelt file is read")
	}
}

func TestChangedFigureIsNamedWithWhatItWasAndIs(t *testing.T) {
	before := sampleReport(t).Golden()
	if changes := before.Changes(before); len(changes) != 0 {
		t.Errorf("nothing changed, but: %v", changes)
	}
	r := sampleReport(t)
	r.Ours.Scores[0].Turns, r.Ours.Scores[1].ID, r.Ours.Scores[3].Found = 9, "renamed", true
	got := strings.Join(r.Golden().Changes(before), "\n")
	for _, want := range []string{"question one\n   was {ID:one", "Turns:1 ", "Turns:9 ", "question renamed is new", "question two is gone", "sums of the test half"} {
		if !strings.Contains(got, want) {
			t.Errorf("the changes lack %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "secret") {
		t.Error("a change of a single question of the test half is told")
	}
}
