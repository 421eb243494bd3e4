package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/task"
)

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
