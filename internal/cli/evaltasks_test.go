package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/eval/tasks"
)

// thanker is a world in which everybody is told the same, and in which nothing ever changes.
type thanker struct{ status string }

func (t thanker) Say(context.Context, string, string, string) (tasks.Response, error) {
	return tasks.Response{ConversationID: "1", Text: "You're welcome.", Status: t.status}, nil
}
func (thanker) Tasks(context.Context, string) ([]tasks.Task, error) { return nil, nil }
func (thanker) Add(context.Context, string, string) error           { return nil }
func (thanker) Rename(context.Context, string, int64, string) error { return nil }
func (thanker) Complete(context.Context, string, int64) error       { return nil }
func (thanker) Delete(context.Context, string, int64) error         { return nil }

// thanks writes a set of dialogues of one turn each, some frozen and some not.
func thanks(t *testing.T, says ...string) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	for _, say := range says {
		turn := tasks.Turn{Say: say, Kind: tasks.ChitChat, Expect: tasks.Alternatives{{Status: tasks.OneOf{"success"}}}}
		d := tasks.Dialogue{ID: say, Lang: "en", About: "thanks", Turns: []tasks.Turn{turn}}
		d.Frozen = d.FrozenBy()
		if err := enc.Encode(d); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "set.jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// score scores a world with the command's own code, as ‘sibyl eval tasks’ does.
func score(t *testing.T, f labelled, asJSON bool, world tasks.World) (string, error) {
	t.Helper()
	set, err := openTaskSet(f)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := &command{Streams: Streams{Out: &out, Err: &bytes.Buffer{}}}
	c.asJSON = asJSON
	err = c.scoreTasks(t.Context(), set, world, f.failures)
	return out.String(), err
}

func TestAnAssistantWithinTheBoundsPasses(t *testing.T) {
	out, err := score(t, labelled{set: thanks(t, "thanks", "cheers")}, false, thanker{"success"})
	if err != nil || !strings.Contains(out, "2 of 2, 100.0 %") || !strings.Contains(out, "all bounds hold") {
		t.Errorf("error %v, report:\n%s", err, out)
	}
}

func TestAnAssistantUnderTheBoundsFailsWithAReport(t *testing.T) {
	file := thanks(t, "thanks", "cheers", "ta", "bye", "hello", "hi")
	out, err := score(t, labelled{set: file, failures: true}, false, thanker{"error"})
	c := &command{Streams: Streams{Err: &bytes.Buffer{}}}
	if err == nil || c.fail(err) != ExitFailed || !strings.Contains(err.Error(), "0.0 % of the turns are right") {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(out, `status "error", not success`) || !strings.Contains(out, "which --frozen shows") {
		t.Errorf("no line for a failure:\n%s", out)
	}
	if quiet, _ := score(t, labelled{set: file}, false, thanker{"error"}); strings.Contains(quiet, `status "error"`) {
		t.Errorf("failures are listed though nobody asked:\n%s", quiet)
	}
}

func TestTheReportAsJSONHoldsFiguresAndFailures(t *testing.T) {
	out, err := score(t, labelled{set: thanks(t, "thanks", "cheers", "ta", "bye", "hello", "hi"), frozen: true}, true, thanker{"error"})
	var r tasks.Report
	if jsonErr := json.Unmarshal([]byte(out), &r); jsonErr != nil || err == nil {
		t.Fatalf("error %v, %v:\n%s", err, jsonErr, out)
	}
	open := slices.ContainsFunc(r.Failures, func(f tasks.Failure) bool { return !f.Frozen })
	if r.All.Right.Of == 0 || r.All != r.Frozen || len(r.Failures) != r.All.Right.Of || open {
		t.Errorf("%s", out)
	}
}

// evalTasksCommand runs the command as a person does.
func evalTasksCommand(t *testing.T, environ []string, args ...string) (code int, out, complaints string) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	environ = append([]string{"SIBYL_DATA=" + data}, environ...)
	config := filepath.Join(t.TempDir(), "none.yaml")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	args = append([]string{"--config", config, "eval", "tasks"}, args...)
	code = Main(t.Context(), Program{Build: "test"}, args, environ, Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	if _, err := os.Stat(data); err == nil {
		t.Error("the evaluation made the person's own data folder")
	}
	return code, stdout.String(), stderr.String()
}

func TestABadSetOfDialoguesIsBadInput(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad, []byte(`{"id":"a","lang":"xx"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{bad: `line 1: a: "lang" is "xx"`, filepath.Join(t.TempDir(), "none.jsonl"): "none.jsonl"} {
		if code, out, complaints := evalTasksCommand(t, nil, "--set", file); code != ExitUsage || out != "" || !strings.Contains(complaints, want) {
			t.Errorf("exit %d, out %q, complaints %q lack %q", code, out, complaints, want)
		}
	}
}

func TestAnEvaluationLeavesThePersonsDatabaseAlone(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.db")
	if code, _, complaints := evalTasksCommand(t, []string{"SIBYL_DATABASE=sqlite:" + own}); code != ExitAnswered {
		t.Errorf("exit %d: %s", code, complaints)
	}
	if _, err := os.Stat(own); err == nil {
		t.Error("the database of the settings was opened")
	}
}
