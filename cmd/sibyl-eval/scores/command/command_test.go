package command

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	eval "sibyl/cmd/sibyl-eval/scores"
	evaldata "sibyl/eval"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
)

var update = flag.Bool("update", false, "rewrite eval/oracle/golden.txt; eval/README.md must say why")

// own is an environment with settings and data of the test. Go's cache is found by the rest.
func own(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yaml")
	assert.NoError(t, os.WriteFile(config, nil, 0o600))
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SIBYL_") })
	return append(environ, "SIBYL_CONFIG="+config, "SIBYL_DATA="+filepath.Join(dir, "data"))
}

func TestClassifierIsRightNineTimesInTenOnTheFrozenHalf(t *testing.T) {
	scores := assert.Must(Classified())(t)
	right, offered, all := 0, 0, 0
	for _, s := range scores {
		least := 0.90
		if strings.HasPrefix(s.Set, evaldata.EverydayQueries) { // the hard set
			least = 0.85
		}
		assert.That(t, s.Right.Part >= least && s.Offered.Part >= 0.96 && s.Sources <= 1.5,
			"%s: right %s, offered %s, %.2f sources a question; wanted are %.0f %%, 96 %% and at most 1.5", s.Set, s.Right,
			s.Offered, s.Sources, 100*least)
		if off := s.Right.Part - s.Confidence; off < -0.02 || off > 0.09 {
			t.Errorf("%s: the confidence is %.3f where %.3f are right", s.Set, s.Confidence, s.Right.Part)
		}
		right, offered, all = right+s.Right.Hits, offered+s.Offered.Hits, all+s.Right.Of
	}
	assert.That(t, len(scores) == 7 && float64(offered) >= 0.98*float64(all),
		"of %d sets a source that answers is offered for %d of %d questions; 98 %% are wanted", len(scores), offered, all)
}

func TestOfflineFiguresAreTheGoldenOnes(t *testing.T) {
	needs.All(t, "a minute")
	var out, complaints bytes.Buffer
	code := Main(t.Context(), []string{"oracle", "--transcripts", "--baseline", "--json"}, own(t), &out,
		&complaints)
	assert.Require(t, code == 0, "exit %d: %s", code, complaints.String())
	var r eval.OracleReport
	assert.NoError(t, json.Unmarshal(out.Bytes(), &r))
	got := golden(t, r)
	file := filepath.Join("..", "..", "..", "..", "eval", filepath.FromSlash(evaldata.OracleGolden))
	if *update {
		assert.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want := assert.Must(os.ReadFile(file))(t)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s\nif this is meant: go test ./cmd/sibyl-eval/scores/command -run OfflineFigures -update, and say "+
			"why in eval/README.md", diff)
	}
	for _, c := range r.Criteria {
		assert.That(t, c.Met != nil && *c.Met, "%s is not met: %s: %s", c.ID, c.Asks, c.Figure)
	}
}

// golden are the figures that are the same on every machine, in a line each: no tokens, which change with every word of
// a prompt, and of the test half sums only, so that a change of it tells that something moved but not what.
func golden(t *testing.T, r eval.OracleReport) string {
	t.Helper()
	var b strings.Builder
	half := func(scores []eval.OracleScore, h eval.Half) (of []eval.OracleScore) {
		for _, s := range scores {
			if s.Half == h {
				of = append(of, s)
			}
		}
		return of
	}
	for name, scores := range map[string][]eval.OracleScore{"ours": r.Ours, "baseline": r.Baseline} {
		for _, h := range []eval.Half{eval.Dev, eval.Test} {
			s := eval.Totals(half(scores, h))
			fmt.Fprintf(&b, "%s %s: %d questions, kind %d, signal fits %d, replies fit %d, within budget %d, found "+
				"%d, whole %d, honest %d, calls %d, unnecessary %d\n",
				name, h, s.Questions, s.Class.Hits, s.SignalFits.Hits, s.RepliesFit.Hits, s.WithinBudget.Hits,
				s.Found.Hits, s.Whole.Hits, s.Honest.Hits, s.Calls, s.Unnecessary)
		}
	}
	for _, s := range half(r.Ours, eval.Dev) {
		fmt.Fprintf(&b, "%s: %s, %s, turns %d, calls %d, unnecessary %d, signal %s fits %t, found %t, whole %t, "+
			"cited %d, labelled %d, honest %t\n",
			s.ID, s.Got, s.StopReason, s.Turns, s.Calls, s.Unnecessary, s.Signal, s.SignalFits, s.Found, s.Whole,
			s.Cited, s.CitedLabelled, s.Honest)
	}
	for _, s := range r.Transcripts {
		fmt.Fprintf(&b, "%s: %s, turns %d, met %t\n", s.ID, s.StopReason, s.Turns, s.Met)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

func TestAnotherFolderThanTheModulesIsRefused(t *testing.T) {
	var out, complaints bytes.Buffer
	code := Main(t.Context(), []string{"oracle", "--in", t.TempDir()}, own(t), &out, &complaints)
	assert.That(t, code == 1 && out.Len() == 0 && strings.Contains(complaints.String(), "the labels do not fit"),
		"exit %d, out %q, complaints %.300q", code, out.String(), complaints.String())
}

func TestAnEvaluationLeavesThePersonsDatabaseAlone(t *testing.T) {
	set := filepath.Join(t.TempDir(), "set.jsonl")
	text := assert.Must(evaldata.Files.ReadFile(evaldata.TasksOfAnother))(t)
	first, _, _ := bytes.Cut(text, []byte("\n"))
	assert.NoError(t, os.WriteFile(set, first, 0o600))
	database := filepath.Join(t.TempDir(), "own.db")
	environ := append(own(t), "SIBYL_DATABASE=sqlite:"+database)
	var out, complaints bytes.Buffer
	code := Main(t.Context(), []string{"tasks", "--set", set}, environ, &out, &complaints)
	assert.That(t, strings.Contains(out.String(), "dialogues"), "exit %d: %s%s", code, out.String(), complaints.String())
	_, err := os.Stat(database)
	assert.That(t, err != nil, "the database of the settings was opened")
}
