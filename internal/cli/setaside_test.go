package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/store"
	"sibyl/internal/task"
)

// What is kept of the run could not even be read; nothing of that is tried.
func TestRunThatIsSetAsideIsListedRefusedAndCancelled(t *testing.T) {
	home := t.TempDir()
	data := filepath.Join(home, "data")
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "SIBYL_MODEL=offline", "SIBYL_DATA=" + data}
	db := assert.Must(store.OpenFile(t.Context(), app.DatabaseFile(data)))(t)
	now := time.Now().Add(-time.Hour)
	s := journal.Session{ID: "s", Owner: app.Owner, Assistant: "oracle", CreatedAt: now, UpdatedAt: now}
	r := journal.Run{ID: "poisoned", Session: "s", Owner: app.Owner, Assistant: "oracle", Title: "Why?", StartedAt: now}
	err := db.Begin(t.Context(), journal.Beginning{Run: r, Session: &s,
		Records: []journal.Record{{At: now, Kind: "start", Data: []byte(`{}`)}}})
	for n := 0; n < journal.MaxTries && err == nil; n++ {
		err = db.Acquire(t.Context(), app.Owner, r.ID, fmt.Sprint("died ", n), now.Add(time.Duration(n)*time.Minute),
			now.Add(time.Duration(n+1)*time.Minute))
	}
	if err == nil {
		err = db.Close()
	}
	assert.NoError(t, err)
	says := func(wantCode int, args []string, parts ...string) {
		t.Helper()
		code, out, errs := sibyl(t, home, Streams{}, env, args...)
		assert.Contains(t, strings.Join(args, " "), out+errs, parts...)
		assert.That(t, code == wantCode, "%v: %d, want %d: %s%s", args, code, wantCode, out, errs)
	}
	says(ExitAnswered, []string{"run", "list"}, "poisoned", "set aside", "Why?", "was taken up 3 times")
	says(ExitAnswered, []string{"run", "list", "--json"}, `"state": "paused"`, `"cause": "set_aside"`,
		`"why": "run poisoned was taken up 3 times`, `"tries": 3`)
	says(ExitAnswered, []string{"run", "resume"}, "there are no paused runs")
	says(ExitFailed, []string{"run", "resume", "poisoned"}, "was taken up 3 times",
		"‘sibyl run resume --force poisoned’", "‘sibyl run stop poisoned’")
	says(ExitUsage, []string{"run", "resume", "--force"}, "--force needs a run")
	says(ExitAnswered, []string{"explain", "poisoned"}, "set aside", "--force poisoned")
	says(ExitAnswered, []string{"run", "stop", "poisoned"}, "poisoned is being stopped")
	says(ExitAnswered, []string{"run", "list"}, "cancelled")
}

func TestInterruptedRunIsToldOfOnceADay(t *testing.T) {
	noon := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	told := interruptedNote{At: noon, Runs: []string{"a", "b"}}
	for _, c := range []struct {
		about  string
		runs   []string
		later  time.Duration
		silent bool
	}{
		{"the same runs an hour later", []string{"b"}, time.Hour, true},
		{"a new one", []string{"b", "c"}, time.Hour, false},
		{"the next day", []string{"a"}, 24 * time.Hour, false},
		{"a clock that was put back", []string{"a"}, -time.Hour, false},
	} {
		got := told.covers(c.runs, noon.Add(c.later))
		assert.That(t, got == c.silent, "%s: silent %t", c.about, got)
	}
}

func TestAnswerOfARunThatThePersonStoppedExitsSo(t *testing.T) {
	for status, want := range map[journal.Status]int{journal.Cancelled: ExitStopped, journal.Failed: ExitFailed} {
		cmd := &command{Streams: Streams{Out: io.Discard, Err: io.Discard}}
		res := service.Result{Status: status, Shown: assistant.Shown{Answer: "I've stopped.",
			Failure: &assistant.Failure{Message: "I've stopped."}}}
		err := cmd.printOutcome(cmd.newProgress(), &service.Run{}, res)
		assert.That(t, err == nil && cmd.code == want, "%s: exit code %d, %v, want %d", status, cmd.code, err, want)
	}
}

func TestStopIsSaidInPlainWords(t *testing.T) {
	var told bytes.Buffer
	cmd := &command{Streams: Streams{Err: &told}}
	code := cmd.fail(fmt.Errorf("adding words: %w", context.Canceled))
	assert.That(t, code == ExitStopped && strings.TrimSpace(told.String()) == "sibyl: it was stopped",
		"exit code %d, %q", code, told.String())
}

// exitOf is the exit code of a command that failed so.
func exitOf(c *command, err error) int {
	code, _ := c.exitOf(err)
	return code
}

func TestSessionsThatCanNotBeWrittenAreTheTroubleOfTheDataFolderAndOtherFilesAreNot(t *testing.T) {
	full := &fs.PathError{Op: "openat", Path: ".locks/one", Err: syscall.EROFS}
	cmd := &command{}
	code, hint := cmd.exitOf(fmt.Errorf("adding words: %w", full))
	assert.That(t, code == ExitJournal && strings.Contains(hint, "name another folder with --data"),
		"a session: exit code %d, %s", code, hint)
	code, hint = cmd.exitOf(withCode(ExitUsage, full))
	assert.That(t, code == ExitUsage && hint == "", "a file that is exported: exit code %d, %s", code, hint)
}

func TestWhatWasAskedForWronglyExitsOtherwiseThanWhatCannotBeDoneAsThingsStand(t *testing.T) {
	for err, want := range map[error]int{
		task.ErrNotFound:          ExitUsage,
		session.ErrNotFound:       ExitUsage,
		journal.ErrEnded:          ExitFailed,
		run.ErrIncompatible:       ExitFailed,
		task.ErrNoChange:          ExitFailed,
		&session.Damaged{ID: "1"}: ExitJournal,
		errors.New("unheard of"):  ExitFailed,
	} {
		assert.Equalf(t, exitOf(&command{began: true}, fmt.Errorf("here: %w", err)), want, "%v: exit code", err)
	}
}

func TestJournalThatFailsIsSaidSoWhateverACommandMakesOfIt(t *testing.T) {
	code, hint := new(command).exitOf(withCode(ExitUsage, fmt.Errorf("no such session: %w", journal.ErrUnreachable)))
	assert.That(t, code == ExitJournal && strings.Contains(hint, "sibyl run resume"), "exit code %d, %s", code, hint)
}

// atTerminal runs a command line over a folder of data, as at a terminal where somebody types.
func atTerminal(ctx context.Context, data string, typed io.Reader, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = Main(ctx, Program{Build: "test"}, args, []string{"HOME=" + data, "SIBYL_DATA=" + data,
		"OLLAMA_HOST=127.0.0.1:1"},
		Streams{In: typed, Out: &stdout, Err: &stderr, InTTY: true})
	return code, stdout.String(), stderr.String()
}

func TestTaskIsDeletedAtATerminalAfterAYesAndNothingElse(t *testing.T) {
	data := t.TempDir()
	for _, typed := range []string{"n\n", "\n", "", "yesterday\n"} {
		code, _, errs := atTerminal(t.Context(), data, nil, "task", "add", "Buy\x1b[31m milk")
		assert.Require(t, code == ExitUsage, "a title that steers a terminal: exit %d: %s", code, errs)
		code, _, errs = atTerminal(t.Context(), data, nil, "task", "add", "Buy milk")
		assert.Require(t, code == ExitAnswered, "exit %d: %s", code, errs)
		code, out, errs := atTerminal(t.Context(), data, strings.NewReader(typed), "task", "delete", "1")
		assert.That(t, code == ExitFailed && out == "" && errs == "Delete “Buy milk”? [y/N] · nothing was deleted\n",
			"%q: exit %d: %s%s", typed, code, out, errs)
	}
	code, out, errs := atTerminal(t.Context(), data, strings.NewReader("Yes\n"), "task", "delete", "1")
	assert.That(t, code == ExitAnswered && strings.HasPrefix(out, "deleted “Buy milk”"), "exit %d: %s%s", code, out, errs)
	code, out, errs = atTerminal(t.Context(), data, nil, "task", "list")
	assert.That(t, code == ExitAnswered && strings.Count(out, "Buy milk") == 3, "exit %d: %s%s", code, out, errs)
}

func TestStoppingAtTheQuestionDeletesNothing(t *testing.T) {
	data := t.TempDir()
	code, _, errs := atTerminal(t.Context(), data, nil, "task", "add", "Buy milk")
	assert.Require(t, code == ExitAnswered, "exit %d: %s", code, errs)
	ctx, cancel := context.WithCancelCause(t.Context())
	typed, person := io.Pipe()
	defer func() { _ = person.Close() }() // the read that is left over ends
	stopping := readerFunc(func(p []byte) (int, error) {
		cancel(errors.New("stopped by the user"))
		return typed.Read(p)
	})
	code, out, errs := atTerminal(ctx, data, stopping, "task", "delete", "1")
	assert.That(t, code == ExitStopped && out == "" && strings.Contains(errs, "· nothing was deleted"),
		"exit %d: %s%s", code, out, errs)
	code, out, errs = atTerminal(t.Context(), data, nil, "task", "list")
	assert.That(t, code == ExitAnswered && strings.Contains(out, "Buy milk"), "exit %d: %s%s", code, out, errs)
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
