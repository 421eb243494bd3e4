package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"

	"sibyl/internal/behaviour/assert"
)

// newTerminal opens a pseudo-terminal: what is written to the person's side is typed into the program's.
func newTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no terminal can be had: %v", err)
	}
	n := 0
	raw, err := person.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			unlock := unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
			var numbered error
			n, numbered = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
			sized := unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
			err = errors.Join(unlock, numbered, sized)
		})
	}
	assert.NoError(t, err)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	assert.NoError(t, err)
	t.Cleanup(func() { _ = errors.Join(program.Close(), person.Close()) })
	return person, program
}

// echoes says whether the terminal shows what is typed.
func echoes(t *testing.T, terminal *os.File) bool {
	t.Helper()
	state := assert.Must(unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS))(t)
	return state.Lflag&unix.ECHO != 0
}

// onPrompt is a standard error that calls a function once the key is asked for.
type onPrompt struct {
	bytes.Buffer
	once sync.Once
	do   func()
}

func (p *onPrompt) Write(text []byte) (int, error) {
	n, err := p.Buffer.Write(text)
	if bytes.Contains(text, []byte("will not be shown")) {
		p.once.Do(p.do)
	}
	return n, err
}

func TestKeyTypedAtATerminalIsNotShown(t *testing.T) {
	person, program := newTerminal(t)
	assert.Require(t, term.IsTerminal(program.Fd()) && echoes(t, program), "the terminal is none")
	home := t.TempDir()
	var stdout bytes.Buffer
	stderr := &onPrompt{do: func() {
		assert.That(t, !echoes(t, program), "the key is asked for while the terminal shows what is typed")
		fmt.Fprint(person, "canary-key-123456\n")
	}}
	code := Main(t.Context(), Program{Build: "test"}, []string{"config", "set-key", "openai"},
		[]string{"HOME=" + home, "SIBYL_KEYS=file"}, Streams{In: program, Out: &stdout, Err: stderr, InTTY: true})
	assert.That(t, code == ExitAnswered && strings.HasPrefix(stderr.String(), "Key of openai (it will not be shown): \n"),
		"exit %d: %s%s", code, stdout.String(), stderr.String())
	assert.That(t, echoes(t, program), "the terminal was left without echo")
	text := stdout.String() + stderr.String()
	assert.That(t, !strings.Contains(text, "canary"), "the key is shown: %s", text)
	_, err := os.Stat(filepath.Join(home, ".config", "sibyl", "keys.age"))
	assert.Nil(t, err)
}

func TestStoppingWhileAKeyIsTypedLeavesTheTerminalAsItWas(t *testing.T) {
	person, program := newTerminal(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stderr := &onPrompt{do: func() { cancel(errors.New("stopped by the user")) }}
	code := Main(ctx, Program{Build: "test"}, []string{"config", "set-key", "openai"},
		[]string{"HOME=" + t.TempDir(), "SIBYL_KEYS=file"}, Streams{In: program, Out: &bytes.Buffer{}, Err: stderr,
			InTTY: true})
	assert.That(t, code == ExitStopped && strings.Contains(stderr.String(), "stopped by the user"),
		"exit %d: %s", code, stderr.String())
	assert.That(t, echoes(t, program), "the terminal was left without echo")
	// The read that is left over changes nothing: what is typed next is shown.
	fmt.Fprint(person, "seen\n")
	shown := make([]byte, 4)
	_, err := io.ReadFull(person, shown)
	assert.That(t, err == nil && string(shown) == "seen" && echoes(t, program), "%q, %v", shown, err)
}
