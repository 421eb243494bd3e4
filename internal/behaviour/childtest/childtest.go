//go:build unix

// Package childtest tells a test when processes that a program has started have begun, and when the last of them has
// ended, without looking again and again: they hold a named pipe open.
package childtest

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait.
const patience = time.Minute

// Tether is a pipe that a script opens with Open; everything that it starts from then on holds the pipe open too.
type Tether struct {
	// Open is a line of a shell script that opens the tether; it waits until the test has opened it as well.
	Open string
	// Tell is a line of such a script that reports that it was reached.
	Tell string

	opened, told, ended chan struct{}
}

// New makes a tether for a test. Its script may run once.
func New(t *testing.T) *Tether {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tether")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	c := &Tether{Open: "exec 9> '" + file + "'\n", Tell: "echo >&9\n", opened: make(chan struct{}),
		told: make(chan struct{}), ended: make(chan struct{})}
	go c.listen(file)
	t.Cleanup(func() { // if the script did not reach its Open, listen still waits for the other end, or is about to
		if end, err := os.OpenFile(file, os.O_RDWR, 0); err == nil {
			<-c.opened
			_ = end.Close()
		}
	})
	return c
}

// listen reads the pipe up to its end.
func (c *Tether) listen(file string) {
	end, err := os.Open(file)
	close(c.opened)
	if err != nil {
		return // Told and Ended will time out
	}
	defer func() { _ = end.Close() }() // only read
	lines := bufio.NewReader(end)
	if _, err := lines.ReadString('\n'); err == nil {
		close(c.told)
	}
	if _, err := io.Copy(io.Discard, lines); err == nil {
		close(c.ended)
	}
}

// Told waits until the script reaches its first Tell.
func (c *Tether) Told(t *testing.T) {
	t.Helper()
	await(t, "the script to come to where it tells", c.told)
}

// Ended waits until no process holds the tether any more.
func (c *Tether) Ended(t *testing.T) {
	t.Helper()
	await(t, "all that the script started to end", c.ended)
}

func await(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		t.Fatalf("waited in vain for %s", what)
	}
}
