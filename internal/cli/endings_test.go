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
		if err != nil || cmd.code != want {
			t.Errorf("%s: exit code %d, %v, want %d", status, cmd.code, err, want)
		}
	}
}

func TestStopIsSaidInPlainWords(t *testing.T) {
	var told bytes.Buffer
	cmd := &command{Streams: Streams{Err: &told}}
	code := cmd.fail(fmt.Errorf("adding words: %w", context.Canceled))
	if code != ExitStopped || strings.TrimSpace(told.String()) != "sibyl: it was stopped" {
		t.Errorf("exit code %d, %q", code, told.String())
	}
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
	if code != ExitJournal || !strings.Contains(hint, "name another folder with --data") {
		t.Errorf("a session: exit code %d, %s", code, hint)
	}
	code, hint = cmd.exitOf(withCode(ExitUsage, full))
	if code != ExitUsage || hint != "" {
		t.Errorf("a file that is exported: exit code %d, %s", code, hint)
	}
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
		if got := exitOf(&command{began: true}, fmt.Errorf("here: %w", err)); got != want {
			t.Errorf("%v: exit code %d, want %d", err, got, want)
		}
	}
}

func TestJournalThatFailsIsSaidSoWhateverACommandMakesOfIt(t *testing.T) {
	code, hint := new(command).exitOf(withCode(ExitUsage, fmt.Errorf("no such session: %w", journal.ErrUnreachable)))
	if code != ExitJournal || !strings.Contains(hint, "sibyl run resume") {
		t.Errorf("exit code %d, %s", code, hint)
	}
}
