package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sibyl/internal/behaviour/assert"
)

// console is a terminal of the system, seen from the side of the person.
type console struct {
	t         *testing.T
	host, tty *os.File
	arrived   chan []byte
	shown     bytes.Buffer
}

func newConsole(t *testing.T) *console {
	t.Helper()
	host, tty := newTerminal(t)
	c := &console{t: t, host: host, tty: tty, arrived: make(chan []byte, 1000)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for {
			p := make([]byte, 4096)
			n, err := host.Read(p)
			if err != nil {
				return
			}
			c.arrived <- p[:n]
		}
	}()
	t.Cleanup(func() {
		_ = errors.Join(tty.Close(), host.Close()) // which ends the reading
		<-read
	})
	return c
}

// until waits until the terminal was sent a text, and forgets what was before it.
func (c *console) until(text string) {
	c.t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		if i := bytes.Index(c.shown.Bytes(), []byte(text)); i >= 0 {
			c.shown.Next(i + len(text))
			return
		}
		select {
		case p := <-c.arrived:
			c.shown.Write(p)
		case <-deadline:
			c.t.Fatalf("waited for %q; the terminal was sent %q", text, c.shown.String())
		}
	}
}

func (c *console) press(keys string) {
	c.t.Helper()
	assert.Must(c.host.WriteString(keys))(c.t)
}

func (c *console) mode() unix.Termios {
	c.t.Helper()
	mode := assert.Must(unix.IoctlGetTermios(int(c.tty.Fd()), unix.TCGETS))(c.t)
	return *mode
}

// converse holds a conversation about the code of a new folder dir, with these and other variables. ended gets its exit
// code.
func (c *console) converse(variables ...string) (dir string, environ []string, ended chan int) {
	c.t.Helper()
	dir = c.t.TempDir()
	code := filepath.Join(dir, "code")
	write(c.t, filepath.Join(code, "lease.go"),
		"package lease\n\n// Take takes over the lease of a process that is dead.\nfunc Take() {}\n")
	environ = append(variables, "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir, "TERM=xterm-256color",
		"NO_COLOR=1")
	ended = make(chan int, 1)
	go func() {
		ended <- Main(context.Background(), Program{Build: "test"}, []string{"ask", "--in", code, "-m",
			"offline:rules"}, environ,
			Streams{In: c.tty, Out: c.tty, Err: c.tty, InTTY: true, OutTTY: true, ErrTTY: true, Width: 80, Height: 24})
	}()
	return dir, environ, ended
}

func TestConversationIsASessionAndLeavesTheTerminalAsItWas(t *testing.T) {
	c := newConsole(t)
	before := c.mode()
	dir, environ, ended := c.converse()
	c.until("❯")
	assert.That(t, c.mode().Lflag&(unix.ECHO|unix.ICANON) == 0, "the prompt is there before the terminal is in raw mode")
	c.press("Who takes over the lease of a dead process?\r")
	c.until("lease.go:")
	c.until("found 1 place;")
	c.press("/sources 1\r")
	c.until("func Take() {}")
	c.press("/quit\r")
	c.until("continues this session")
	got := <-ended
	assert.That(t, got == ExitAnswered, "it ended with %d", got)
	assert.Equalf(t, c.mode(), before, "the terminal is in another mode")
	var out, told bytes.Buffer
	got = Main(context.Background(), Program{Build: "test"}, []string{"session", "show", "last"}, environ,
		Streams{In: strings.NewReader(""), Out: &out, Err: &told})
	assert.That(t, got == ExitAnswered && strings.Contains(out.String(), "Who takes over the lease") &&
		strings.Contains(out.String(), "func Take"), "%d: %s%s", got, out.String(), told.String())
	typed, err := filepath.Glob(filepath.Join(dir, "sibyl", "typed", "*.jsonl"))
	assert.Require(t, err == nil && len(typed) == 1, "the history is in %q, %v", typed, err)
	info, err := os.Stat(typed[0])
	assert.That(t, err == nil && info.Mode().Perm() == 0o600, "%v, %v", info.Mode(), err)
}

func TestWhatIsTypedBeforeTheConversationIsThereIsItsInput(t *testing.T) {
	c := newConsole(t)
	c.press("Who takes over the lease of a dead process?\r")
	c.until("dead process?\r\n") // the terminal has shown it, and holds it
	_, _, ended := c.converse()
	c.until("lease.go:")
	c.until("found 1 place;")
	c.press("/quit\r")
	c.until("continues this session")
	got := <-ended
	assert.That(t, got == ExitAnswered, "it ended with %d", got)
}

func TestWhatIsPastedBeforeTheConversationIsThereIsNotSentInPieces(t *testing.T) {
	c := newConsole(t)
	c.press("Who takes over the lease\rof a dead process?\r")
	c.until("dead process?\r\n")
	_, _, ended := c.converse()
	c.until("❯ Who takes over the lease")
	c.until("of a dead process?")
	c.press("\r")
	c.until("lease.go:")
	c.until("found 1 place;")
	c.press("/quit\r")
	c.until("continues this session")
	got := <-ended
	assert.That(t, got == ExitAnswered, "it ended with %d", got)
}

func TestEditorIsOnTheTerminal(t *testing.T) {
	editor := filepath.Join(t.TempDir(), "editor")
	assert.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\ntest -t 0 && test -t 1 && printf ' of a dead process?' >>\"$1\"\n"),
		0o700))
	c := newConsole(t)
	_, _, ended := c.converse("EDITOR=" + editor)
	c.until("❯")
	c.press("/edit Who takes over the lease\r")
	c.until("❯ Who takes over the lease of a dead process?")
	c.press("\r")
	c.until("found 1 place;")
	c.press("/quit\r")
	c.until("continues this session")
	got := <-ended
	assert.That(t, got == ExitAnswered, "it ended with %d", got)
}

func TestTerminalIsQuietWhileAConversationIsOpened(t *testing.T) {
	for name, end := range map[string]func(cancel, ready func()){
		"opened":      func(_, ready func()) { ready() },
		"interrupted": func(cancel, _ func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			c := newConsole(t)
			before := c.mode()
			ctx, cancel := context.WithCancel(t.Context())
			ready := (&command{Streams: Streams{In: c.tty}}).awaitConversation(ctx)
			assert.That(t, c.mode().Lflag&(unix.ECHO|unix.ICANON) == 0 && c.mode().Lflag&unix.ISIG != 0,
				"the mode is %b", c.mode().Lflag)
			end(cancel, ready)
			for deadline := time.Now().Add(time.Minute); c.mode() != before; runtime.Gosched() {
				assert.Require(t, time.Now().Before(deadline), "the terminal is left in another mode")
			}
			cancel()
		})
	}
}

func TestChatIsTheConversationWhoseWordsGoToTasks(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	environ := []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_DATA_HOME=" + dir, "TERM=xterm-256color",
		"NO_COLOR=1", "OLLAMA_HOST=127.0.0.1:1"}
	c := newConsole(t)
	hold := func(args ...string) chan int {
		ended := make(chan int, 1)
		go func() {
			ended <- Main(context.Background(), Program{Build: "test"}, args, environ,
				Streams{In: c.tty, Out: c.tty, Err: c.tty, InTTY: true, OutTTY: true, ErrTTY: true, Width: 80,
					Height: 24})
		}()
		return ended
	}
	ended := hold("chat")
	c.until("Your words go to Tasks")
	c.until("tasks ❯")
	c.press("remind me to buy milk\r")
	c.until("I've added 'buy milk'")
	c.press("\x04")
	got := <-ended
	assert.That(t, got == ExitAnswered, "it ended with %d", got)
	ended = hold() // the same list behind the other door, and a wish
	c.until("Ask a question.")
	c.until("❯") // from where on the terminal is the conversation's
	c.press("remind me to call Bob\r")
	c.until("Add the task 'call Bob'?")
	c.press("y")
	c.until("I've added 'call Bob'")
	c.press("/task\r")
	c.until("2. call Bob")
	c.press("/task delete it\r")
	c.until("your words answer Tasks")
	c.press("yes\r")
	c.until("I've deleted")
	c.press("hi\r")
	c.until("I'm Sibyl.")
	c.press("/why\r")
	c.until("offline:rules")
	c.press("/quit\r")
	got = <-ended
	assert.That(t, got == ExitAnswered, "it ended with %d", got)
}
