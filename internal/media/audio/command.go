package audio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sibyl/internal/text"
)

// outputTimeout is how long the output of a program that has ended may stay open: a busy machine reads it late.
const outputTimeout = 10 * time.Second

// newCommand prepares a program that is killed with its group when ctx ends. Its standard error goes to the tail.
func newCommand(ctx context.Context, program string, args ...string) (*exec.Cmd, *text.Tail) {
	cmd := exec.CommandContext(ctx, program, args...)
	complaint := &text.Tail{}
	cmd.Stderr, cmd.WaitDelay = complaint, outputTimeout
	inOwnGroup(cmd)
	return cmd, complaint
}

var errSlow = errors.New("did not end in time")

// runProgram runs a program within a timeout, and passes its output to out until that fails. complaint is the end of
// its standard error, without the folders of this machine; an error holds the end of it too.
func runProgram(
	ctx context.Context, timeout time.Duration, out io.Writer, program string, args ...string,
) (complaint string, err error) {
	timed, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd, tail := newCommand(timed, program, args...)
	writer := &stoppingWriter{out: out, stop: cancel}
	if out != nil {
		cmd.Stdout = writer
	}
	err = cmd.Run()
	complaint = tail.String()
	for _, arg := range args {
		if path, is := strings.CutPrefix(arg, "file:"); is {
			complaint = strings.ReplaceAll(complaint, arg, filepath.Base(path))
		}
	}
	name := filepath.Base(program)
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case writer.err != nil:
		err = writer.err
	case err == nil:
	case timed.Err() != nil:
		err = fmt.Errorf("%s %w (%v)", name, errSlow, timeout)
	default:
		err = fmt.Errorf("%s: %w%s", name, err, complaintSuffix(complaint))
	}
	return complaint, err
}

// stoppingWriter passes output to a writer, and stops the program when that fails.
type stoppingWriter struct {
	out  io.Writer
	stop func()
	err  error
}

func (t *stoppingWriter) Write(p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	n, err := t.out.Write(p)
	if t.err = err; err != nil {
		t.stop()
	}
	return n, err
}

// complaintSuffix returns the last one or two lines of a complaint after a colon; "" if there are none.
func complaintSuffix(complaint string) string {
	lines := strings.Split(strings.TrimSpace(complaint), "\n")
	words := text.Brief(strings.Join(lines[max(len(lines)-2, 0):], "; "), 300)
	if words == "" {
		return ""
	}
	return ": " + words
}
