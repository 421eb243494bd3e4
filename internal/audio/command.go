package audio

import (
	"bytes"
	"context"
	"errors"
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

// run runs a program for at most so long, and gives what it prints to out, until that takes no more.
func run(ctx context.Context, most time.Duration, out io.Writer, program string, args ...string) error {
	timed, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	cmd, complaint := command(timed, program, args...)
	taker := &taker{to: out, stop: cancel}
	if out != nil {
		cmd.Stdout = taker
	}
	err := cmd.Run()
	name := filepath.Base(program)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case taker.err != nil:
		return taker.err
	case err == nil:
		return nil
	case timed.Err() != nil:
		return refuse(TimedOut, "%s did not end within %v", name, most)
	}
	return refuse(Failed, "%s: %w%s", name, err, why(complaint))
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

// errEnough is what a writer says that wants no more of what a program prints.
var errEnough = errors.New("enough")

// why is the last line or two of a complaint, behind a colon, without control characters; "" if there is nothing.
func why(complaint *text.Tail) string {
	lines := strings.Split(strings.ToValidUTF8(strings.TrimSpace(complaint.String()), "?"), "\n")
	words := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.Join(lines[max(len(lines)-2, 0):], "; "))
	if words = strings.Join(strings.Fields(words), " "); words == "" {
		return ""
	}
	const most = 300
	if letters := []rune(words); len(letters) > most {
		words = "…" + string(letters[len(letters)-most:])
	}
	return ": " + words
}

// bounded keeps the beginning of what is written to it, and then wants no more.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, errEnough
	}
	return b.Buffer.Write(p)
}
