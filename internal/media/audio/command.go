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

// aftermath is how long output is waited for that something holds open when its program has ended.
const aftermath = time.Second

// command is a program that ends, with all that it started, when ctx does. What it complains of goes to the tail.
func command(ctx context.Context, program string, args ...string) (*exec.Cmd, *text.Tail) {
	cmd := exec.CommandContext(ctx, program, args...)
	complaint := &text.Tail{}
	cmd.Stderr, cmd.WaitDelay = complaint, aftermath
	alone(cmd)
	return cmd, complaint
}

var errSlow = errors.New("did not end in time")

// run runs a program for at most so long, and gives what it prints to out, until that takes no more. said is what it
// complained of, without the folders of this machine; an error says the end of it too.
func run(
	ctx context.Context, most time.Duration, out io.Writer, program string, args ...string,
) (said string, err error) {
	timed, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	cmd, complaint := command(timed, program, args...)
	taker := &taker{to: out, stop: cancel}
	if out != nil {
		cmd.Stdout = taker
	}
	err = cmd.Run()
	said = complaint.String()
	for _, arg := range args {
		if path, is := strings.CutPrefix(arg, "file:"); is {
			said = strings.ReplaceAll(said, arg, filepath.Base(path))
		}
	}
	name := filepath.Base(program)
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case taker.err != nil:
		err = taker.err
	case err == nil:
	case timed.Err() != nil:
		err = fmt.Errorf("%s %w (%v)", name, errSlow, most)
	default:
		err = fmt.Errorf("%s: %w%s", name, err, why(said))
	}
	return said, err
}

// taker passes on what a program prints, and ends the program when that is taken no more.
type taker struct {
	to   io.Writer
	stop func()
	err  error
}

func (t *taker) Write(p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	n, err := t.to.Write(p)
	if t.err = err; err != nil {
		t.stop()
	}
	return n, err
}

// why is the last line or two of a complaint, behind a colon; "" if there is nothing.
func why(complaint string) string {
	lines := strings.Split(strings.TrimSpace(complaint), "\n")
	words := text.Brief(strings.Join(lines[max(len(lines)-2, 0):], "; "), 300)
	if words == "" {
		return ""
	}
	return ": " + words
}
