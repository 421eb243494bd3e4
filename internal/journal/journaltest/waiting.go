package journaltest

import (
	"context"
	"sync"

	"sibyl/internal/journal"
)

// Waiting is a Store with sessions that wait for their first run: Begin makes a session with the first run in it. It is
// for tests of other rooms, whose runs begin in a session that is there.
type Waiting struct {
	journal.Store

	mu       sync.Mutex
	sessions map[string]journal.Session
}

// Await returns store with sessions that wait.
func Await(store journal.Store, sessions ...journal.Session) *Waiting {
	w := &Waiting{Store: store, sessions: make(map[string]journal.Session)}
	for _, s := range sessions {
		w.Open(s)
	}
	return w
}

// Open adds a session that waits.
func (w *Waiting) Open(s journal.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions[s.ID] = s
}

func (w *Waiting) Begin(ctx context.Context, b journal.Beginning) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s, waits := w.sessions[b.Run.Session]; waits && b.Session == nil && s.Owner == b.Run.Owner {
		b.Session = &s
	}
	err := w.Store.Begin(ctx, b)
	if err == nil {
		delete(w.sessions, b.Run.Session)
	}
	return err
}
