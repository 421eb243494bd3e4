package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

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
