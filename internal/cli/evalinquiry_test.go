package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/eval/inquiry"
)

// credulous is a detective that believes everything after one question.
func credulous() inquiry.Detective {
	return inquiry.Detective{
		Analyse: func(context.Context, string, string, []inquiry.Pair) (inquiry.Found, error) {
			return inquiry.Found{Satisfied: true}, nil
		},
		Interrogate: func(_ context.Context, hypothesis, _ string, w inquiry.Witness, _ int) (inquiry.Outcome, error) {
			w.Answer(hypothesis)
			return inquiry.Outcome{Found: inquiry.Found{Satisfied: true}, End: "satisfied"}, nil
		},
	}
}

// examine scores a detective with the command's own code, as ‘sibyl eval inquiry’ does.
func examine(t *testing.T, f evalInquiryFlags, asJSON bool) (string, error) {
	t.Helper()
	f.limit = inquiry.DefaultLimit
	set, err := openInquirySet(f)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := &command{Streams: Streams{Out: &out, Err: &bytes.Buffer{}}}
	c.asJSON = asJSON
	err = c.scoreInquiry(t.Context(), set, credulous(), f.failures)
	return out.String(), err
}

func TestADetectiveUnderTheBoundsFailsWithAReport(t *testing.T) {
	out, err := examine(t, evalInquiryFlags{labelled: labelled{failures: true}}, false)
	c := &command{Streams: Streams{Err: &bytes.Buffer{}}}
	if err == nil || c.fail(err) != ExitFailed || !strings.Contains(err.Error(), "gaps found: 0 of") {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(out, "interview: missed:") || !strings.Contains(out, "which --frozen shows") {
		t.Errorf("no line for a failure:\n%s", out)
	}
	if quiet, _ := examine(t, evalInquiryFlags{}, false); strings.Contains(quiet, "missed:") {
		t.Errorf("failures are listed though nobody asked:\n%s", quiet)
	}
}

func TestTheReportOfTheDetectiveAsJSONHoldsFiguresAndFailures(t *testing.T) {
	out, err := examine(t, evalInquiryFlags{labelled: labelled{frozen: true}}, true)
	var r inquiry.Report
	if jsonErr := json.Unmarshal([]byte(out), &r); jsonErr != nil || err == nil {
		t.Fatalf("error %v, %v:\n%s", err, jsonErr, out)
	}
	if len(r.Failures) == 0 || !r.Failures[0].Frozen || r.Open.Interviews.Cases != 0 || r.All.Interviews.Hasty == 0 || r.All.Witnesses.Questions != 1 {
		t.Errorf("%s", out)
	}
}

func TestABadSetOfInterviewsOrLimitIsBadInput(t *testing.T) {
	dir := t.TempDir()
	config, bad := filepath.Join(dir, "none.yaml"), filepath.Join(dir, "bad.jsonl")
	for file, text := range map[string]string{config: "", bad: `{"id":"a","lang":"xx"}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ flag, value, want string }{
		{"--set", bad, `line 1: a: "lang" is "xx"`},
		{"--set", filepath.Join(dir, "none.jsonl"), "none.jsonl"},
		{"--limit", "4", "--limit is 4; it must be 5 to 20"},
	} {
		var stdout, stderr bytes.Buffer
		args := []string{"--config", config, "eval", "inquiry", c.flag, c.value}
		code := Main(t.Context(), Program{Build: "test"}, args, []string{"SIBYL_DATA=" + filepath.Join(dir, "data")}, Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
		if code != ExitUsage || stdout.Len() > 0 || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("exit %d, out %q, complaints %q lack %q", code, stdout.String(), stderr.String(), c.want)
		}
	}
}
