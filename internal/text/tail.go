package text

import "sync"

// maxTail is how much a Tail keeps, in bytes.
const maxTail = 4 << 10

// Tail is a writer that takes everything and keeps the last 4 KiB, such as what a program said before it failed. Its
// zero value is ready; it is safe for concurrent use.
type Tail struct {
	mu  sync.Mutex
	end []byte
}

// Write takes everything.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p...)
	if over := len(t.end) - maxTail; over > 0 {
		t.end = append(t.end[:0], t.end[over:]...)
	}
	return len(p), nil
}

// String is the end, byte for byte: it may begin within a letter, and holds whatever the program wrote.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.end)
}
