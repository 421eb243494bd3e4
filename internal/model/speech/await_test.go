//go:build unix

package speech_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long is waited for what must happen.
const patience = 10 * time.Second

// until looks again and again until what was waited for is there.
func until(t *testing.T, what string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// awaitFile waits for a file, and returns the number in it.
func awaitFile(t *testing.T, path string) (number int) {
	t.Helper()
	until(t, "the command to begin", func() bool {
		text, err := os.ReadFile(path)
		number, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil && number > 0
	})
	return number
}

// awaitEnd waits for a process to end.
func awaitEnd(t *testing.T, process int) {
	t.Helper()
	until(t, "a child of the command to end", func() bool {
		if errors.Is(syscall.Kill(process, 0), syscall.ESRCH) {
			return true
		}
		status, err := os.ReadFile("/proc/" + strconv.Itoa(process) + "/stat")
		return err == nil && strings.Contains(string(status), ") Z ") // ended, and nobody has looked yet
	})
}
