package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"sibyl/internal/journal"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

func TestAnswerOfARunThatThePersonStoppedExitsSo(t *testing.T) {
	for status, want := range map[journal.Status]int{journal.Cancelled: ExitStopped, journal.Failed: ExitFailed} {
		cmd := &command{Streams: Streams{Out: io.Discard, Err: io.Discard}}
		res := service.Result{Status: status, Shown: assistant.Shown{Answer: "I've stopped.",
			Failure: &assistant.Failure{Message: "I've stopped."}}}
		err := cmd.answer(cmd.newProgress(), &service.Run{}, res)
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

func TestSessionsThatCanNotBeWrittenAreTheTroubleOfTheDataFolderAndOtherFilesAreNot(t *testing.T) {
	full := &fs.PathError{Op: "openat", Path: ".locks/one", Err: syscall.EROFS}
	cmd := &command{}
	err := cmd.councilError(fmt.Errorf("adding words: %w", full))
	if cmd.codeOf(err) != ExitJournal || !strings.Contains(err.Error(), "name another folder with --data") {
		t.Errorf("a session: exit code %d, %v", cmd.codeOf(err), err)
	}
	err = cmd.councilError(withCode(ExitUsage, full))
	if cmd.codeOf(err) != ExitUsage || strings.Contains(err.Error(), "--data") {
		t.Errorf("a file that is exported: exit code %d, %v", cmd.codeOf(err), err)
	}
}
