package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	evaldata "sibyl/eval"
	"sibyl/internal/eval"
	"sibyl/trees"
)

// evalOracleCommand runs ‘sibyl eval oracle’ with settings and data of its own. Go's cache is found by the real environment.
func evalOracleCommand(t *testing.T, environ []string, args ...string) (code int, out, complaints string) {
	t.Helper()
	inherited := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SIBYL_") })
	environ = append(inherited, environ...)
	var stdout, stderr bytes.Buffer
	args = append([]string{"--config", filepath.Join(t.TempDir(), "none.yaml"), "--data", filepath.Join(t.TempDir(), "data"), "eval", "oracle"}, args...)
	if err := os.WriteFile(args[1], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code = Main(t.Context(), Program{Build: "test"}, args, environ, Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	if _, err := os.Stat(args[3]); err == nil {
		t.Error("the evaluation made the person's own data folder")
	}
	return code, stdout.String(), stderr.String()
}

func evalOracleReport(t *testing.T, environ []string, args ...string) eval.OracleReport {
	t.Helper()
	code, out, complaints := evalOracleCommand(t, environ, append(args, "--json")...)
	if code != ExitAnswered {
		t.Fatalf("exit %d: %s", code, complaints)
	}
	var r eval.OracleReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryLabelFitsTheModuleAndTheNotes(t *testing.T) {
	set, err := openOracleSet(t.Context(), os.Environ(), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(set.questions) < 60 || len(set.transcripts) < 36 {
		t.Errorf("%d questions and %d transcripts", len(set.questions), len(set.transcripts))
	}
}

func TestAnotherFolderThanTheModulesIsRefused(t *testing.T) {
	code, out, complaints := evalOracleCommand(t, nil, "--in", t.TempDir())
	if code != ExitUsage || out != "" || !strings.Contains(complaints, "the labels do not fit") || !strings.Contains(complaints, evaldata.OracleVersion) {
		t.Errorf("exit %d, out %q, complaints %.300q", code, out, complaints)
	}
}

func TestAModuleThatGoDoesNotHaveIsAskedForWithIn(t *testing.T) {
	code, _, complaints := evalOracleCommand(t, []string{"GOMODCACHE=" + t.TempDir(), "GOFLAGS=-modcacherw"})
	if code != ExitUsage || !strings.Contains(complaints, "--in") || !strings.Contains(complaints, "go mod download") {
		t.Errorf("exit %d, complaints %q", code, complaints)
	}
}

func TestUnknownHalfIsRefused(t *testing.T) {
	if code, _, complaints := evalOracleCommand(t, nil, "--half", "train"); code != ExitUsage || !strings.Contains(complaints, "train") {
		t.Errorf("exit %d, complaints %q", code, complaints)
	}
}

// The baseline here is our own tree under another name, so that both sides must come out the same.
func TestABaselineTreeIsAskedTheSameQuestionsAndCompared(t *testing.T) {
	folder := t.TempDir()
	ours, err := (trees.Set{}).Get("oracle")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, baselineTree+".xml"), ours.Text, 0o600); err != nil {
		t.Fatal(err)
	}
	r := evalOracleReport(t, []string{"SIBYL_TREES=" + folder}, "--half", "dev", "--baseline")
	if r.Baseline == nil || len(r.Baseline.Scores) != len(r.Ours.Scores) {
		t.Fatal("no baseline, or another number of questions")
	}
	if r.Baseline.Totals.Found != r.Ours.Totals.Found || r.Baseline.Totals.Unnecessary != r.Ours.Totals.Unnecessary {
		t.Errorf("the same tree gave other figures: %+v, %+v", r.Baseline.Totals, r.Ours.Totals)
	}
	for _, c := range r.Criteria {
		if c.ID == "SC-003" || c.ID == "SC-005" {
			if c.Met == nil || *c.Met != (c.ID == "SC-005") {
				t.Errorf("%s against itself: %+v; a tree makes no fewer calls than itself, and finds as much", c.ID, c)
			}
		}
	}
}

func TestTextReportSaysThatTheOfflineRulesAreNoLanguageModel(t *testing.T) {
	code, out, complaints := evalOracleCommand(t, nil, "--half", "dev")
	if code != ExitAnswered {
		t.Fatalf("exit %d: %s", code, complaints)
	}
	for _, want := range []string{"No language model took part", "SC-001", "SC-006", "by kind", "not measured"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}
