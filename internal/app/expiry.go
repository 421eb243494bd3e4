package app

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sibyl/internal/files"
)

// What retention or an expiry would remove is marked first, and removed by a look that comes a day of running time
// later. Time that passes between two processes counts for so much at most: only the clock tells it.
const (
	markedFor   = 24 * time.Hour
	mostBetween = 6 * time.Hour
)

// expiry decides what may be removed by age. A temporary clock jump erases nothing: it only causes marks, which are
// void once the clock is right again.
type expiry struct {
	mu   sync.Mutex
	last time.Time // when this process looked, which tells the time that it ran since
}

// marks record the looks at a data folder.
type marks struct {
	Settled time.Time     `json:"settled,omitzero"` // what was too old then may go
	Marked  time.Time     `json:"marked"`           // what was too old then is marked
	Counted time.Duration `json:"counted"`          // running time since
	Looked  time.Time     `json:"looked"`
}

// MarksFile returns the file in a data folder for the marks of its processes.
func MarksFile(dataDir string) string { return filepath.Join(dataDir, "retention.json") }

// Settled is the time by which retention and expiries may go now: whatever was too old at that time, and still is, was
// marked at least a day of running time ago. It is zero while nothing may.
func (a *App) Settled() (time.Time, error) {
	a.expiry.mu.Lock()
	defer a.expiry.mu.Unlock()
	now := time.Now()
	file := MarksFile(a.Config.DataDir)
	var m marks
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m = marks{} // what can't be read marks nothing
	}
	most := mostBetween
	if !a.expiry.last.IsZero() {
		most = now.Sub(a.expiry.last) // by the monotonic clock
	}
	ran := min(now.Sub(m.Looked), most) // another process may have counted a part
	m.mark(now, max(ran, 0))
	a.expiry.last = now
	if raw, err = json.Marshal(m); err != nil {
		return time.Time{}, err
	}
	return m.Settled, files.Replace(file, raw, 0o600)
}

// mark adds the running time since the last look, and marks what is too old once the previous mark has settled.
func (m *marks) mark(now time.Time, ran time.Duration) {
	if now.Before(m.Settled) {
		m.Settled = time.Time{}
	}
	if m.Marked.IsZero() || now.Before(m.Marked) {
		m.Marked, m.Counted = now, 0
	} else if m.Counted += ran; m.Counted >= markedFor {
		m.Settled = m.Marked
		m.Marked, m.Counted = now, 0
	}
	m.Looked = now
}
