package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
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
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(program.Close(), person.Close()) })
	return person, program
}

// echoes says whether the terminal shows what is typed.
func echoes(t *testing.T, terminal *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// onPrompt is a standard error that calls a function when the key is asked for.
type onPrompt struct {
	bytes.Buffer
	once sync.Once
	do   func()
}

func (p *onPrompt) Write(text []byte) (int, error) {
	if bytes.Contains(text, []byte("will not be shown")) {
		p.once.Do(p.do)
	}
	return p.Buffer.Write(text)
}

func TestKeyTypedAtATerminalIsNotShown(t *testing.T) {
	person, program := newTerminal(t)
	if !term.IsTerminal(program.Fd()) || !echoes(t, program) {
		t.Fatal("the terminal is none")
	}
	home := t.TempDir()
	var stdout bytes.Buffer
	hidden := false
	stderr := &onPrompt{}
	typed := make(chan struct{})
	stderr.do = func() {
		go func() {
			defer close(typed)
			for !hidden { // until the program has switched it off
				hidden = !echoes(t, person)
			}
			fmt.Fprint(person, "canary-key-123456\n")
		}()
	}
	code := Main(t.Context(), Program{Build: "test"}, []string{"config", "set-key", "openai"},
		[]string{"HOME=" + home, "SIBYL_KEYS=file"}, Streams{In: program, Out: &stdout, Err: stderr, InTTY: true})
	<-typed
	if code != ExitAnswered || !strings.HasPrefix(stderr.String(), "Key of openai (it will not be shown): \n") {
		t.Errorf("exit %d: %s%s", code, stdout.String(), stderr.String())
	}
	if !echoes(t, program) {
		t.Error("the terminal was left without echo")
	}
	if text := stdout.String() + stderr.String(); strings.Contains(text, "canary") {
		t.Errorf("the key is shown: %s", text)
	}
	if _, err := os.Stat(filepath.Join(home, ".config", "sibyl", "keys.age")); err != nil {
		t.Error(err)
	}
}

func TestStoppingWhileAKeyIsTypedLeavesTheTerminalAsItWas(t *testing.T) {
	person, program := newTerminal(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stderr := &onPrompt{}
	stderr.do = func() {
		go func() {
			for echoes(t, person) { // both sides see the same
			}
			cancel(errors.New("stopped by the user"))
		}()
	}
	code := Main(ctx, Program{Build: "test"}, []string{"config", "set-key", "openai"},
		[]string{"HOME=" + t.TempDir(), "SIBYL_KEYS=file"}, Streams{In: program, Out: &bytes.Buffer{}, Err: stderr,
			InTTY: true})
	if code != ExitStopped || !strings.Contains(stderr.String(), "stopped by the user") {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
	if !echoes(t, program) {
		t.Error("the terminal was left without echo")
	}
	fmt.Fprint(person, "\n") // the read that is left over ends
}
