package loops

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/oracle"
	"sibyl/internal/oracle/prompt"
	"sibyl/prompts"
	"sibyl/trees"
)

var update = flag.Bool("update", false, "write the golden file anew")

const golden = "testdata/golden.json"

func scoreboard(t *testing.T, seeds int) Report {
	t.Helper()
	registry, err := prompt.Load(prompts.FS)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := trees.Set{}.Get(oracle.Name)
	if err != nil {
		t.Fatal(err)
	}
	contestants, err := Baselines()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), seeds, registry, append([]Contestant{{Name: oracle.Name, Tree: tree.Text}}, contestants...))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A model can't tell waiting from a loop either, so one honest shape is ended early by ours at times.
const undecidable = "polling while nothing happens"

func TestScoreboardHoldsItsGoldenFigures(t *testing.T) {
	r := scoreboard(t, 4)
	got, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var want Report
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("figures changed (-golden +got); if that is meant, run with -update and say why in eval/README.md:\n%s", diff)
	}
	for _, row := range r.Rows {
		ours := row.Scores[0]
		for _, plain := range row.Scores[1:] {
			if !row.Honest && ours.Wasted >= plain.Wasted {
				t.Errorf("%s: ours wastes %.1f turns, %s %.1f", row.Shape, ours.Wasted, plain.Contestant, plain.Wasted)
			}
		}
		if !row.Honest && ours.MostWasted > 10 {
			t.Errorf("%s: a loop wastes %d turns", row.Shape, ours.MostWasted)
		}
		if row.Honest && ours.FalseStops > 0 && row.Shape != undecidable {
			t.Errorf("%s: %d honest runs were ended", row.Shape, ours.FalseStops)
		}
	}
}

func TestScoreboardHasTheShapesThatWereAskedFor(t *testing.T) {
	loops, honest := 0, 0
	for _, s := range Shapes() {
		if s.Honest {
			honest++
		} else {
			loops++
		}
	}
	if loops < 6 || honest < 6 {
		t.Errorf("%d loops and %d honest repetitions", loops, honest)
	}
}

func TestTextReportNamesEveryShapeAndContestant(t *testing.T) {
	var out strings.Builder
	if err := scoreboard(t, 1).WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, s := range Shapes() {
		if !strings.Contains(out.String(), s.Name) {
			t.Errorf("%q is not in the report:\n%s", s.Name, out.String())
		}
	}
	for _, name := range []string{"oracle", "limit", "window"} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("%q is not in the report", name)
		}
	}
}

func TestTextReportGivesTheFiguresOfLoopsAndOfHonestRuns(t *testing.T) {
	r := Report{Seeds: 4, Turns: 30, Rows: []Row{
		{Shape: "round", Scores: []Score{{Contestant: "ours", Wasted: 2.5, MostWasted: 6, Nudged: 4}}},
		{Shape: "on", Honest: true, Scores: []Score{{Contestant: "ours", FalseStops: 1, Nudged: 3}}},
	}}
	var out strings.Builder
	if err := r.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, line := range []string{"mean (most) ours round 2.5 (6)", "runs ended too early (nudged) ours on 1 of 4 (3)"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in the report:\n%s", line, out.String())
		}
	}
}
