package text

import "sync"

// maxTail is how much a Tail keeps, in bytes.
const maxTail = 4 << 10

// Tail is a writer that accepts everything and keeps the last 4 KiB, such as the last output of a program that failed.
// Its zero value is ready; it is safe for concurrent use.
type Tail struct {
	mu  sync.Mutex
	end []byte
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p...)
	if over := len(t.end) - maxTail; over > 0 {
		t.end = append(t.end[:0], t.end[over:]...)
	}
	return len(p), nil
}

// String is what was kept, byte for byte: it may begin within a character, and have anything that the program wrote.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.end)
}
