package api_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// lines is a log in memory, and tells of what happens in its house.
type lines struct {
	mu   sync.Mutex
	all  bytes.Buffer
	next chan struct{} // is closed when something happens; nil: nobody waits
}

func (l *lines) Write(b []byte) (int, error) {
	defer l.tell()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

// tell wakes who waits for something to happen.
func (l *lines) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next != nil {
		close(l.next)
		l.next = nil
	}
}

// news is closed when something happens after this: a line, a step in a folder of the Council, whatever else tells of itself.
func (l *lines) news() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil {
		l.next = make(chan struct{})
	}
	return l.next
}

// until waits until something is so. Whatever makes it so tells of itself.
func (l *lines) until(t testing.TB, what string, is func() bool) {
	t.Helper()
	late := time.NewTimer(deadline)
	defer late.Stop()
	for {
		news := l.news()
		if is() {
			return
		}
		select {
		case <-news:
		case <-late.C:
			t.Fatalf("it was waited for in vain that %s; the log:\n%s", what, l.text())
		}
	}
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// waitFor waits until the log has a text; the line of a request is written after its answer.
func (l *lines) waitFor(t testing.TB, text string) (found string) {
	t.Helper()
	l.until(t, "a line has "+text, func() bool {
		for line := range strings.Lines(l.text()) {
			if strings.Contains(line, text) {
				found = line
				return true
			}
		}
		return false
	})
	return found
}
