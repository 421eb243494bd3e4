package store

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/journal"
)

var _ journal.Announcer = (*DB)(nil)

const (
	channel = "sibyl_run"

	// longestPayload is the limit for a notification, in bytes. NOTIFY allows a little more.
	longestPayload = 7900

	// gatherPause is the pause after an announcement. Runs queued meanwhile are announced together.
	gatherPause = 5 * time.Millisecond

	// failurePause is the pause after an announcement that failed.
	failurePause = time.Second

	// pingAfter is how long a listener waits for a notification before it pings the server.
	pingAfter = 10 * time.Second
)

// announcer notifies listeners of runs that got records or were released. NOTIFY takes a lock that makes all notifying
// commits wait for each other, so it is not part of a write: runs are queued, and announced together. A failed
// announcement is dropped, since watchers also poll.
type announcer struct {
	server  *server
	mu      sync.Mutex
	queued  map[string]struct{} // by payload
	running bool
	closed  bool
	all     sync.WaitGroup
}

// announceSoon queues a run and returns at once. It drops a run whose payload is too long, and all runs after stop.
func (c *announcer) announceSoon(run journal.Key) {
	payload, err := json.Marshal([2]string{string(run.Owner), run.Run})
	if err != nil || len(payload) > longestPayload {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.queued[string(payload)] = struct{}{}
	if !c.running {
		c.running = true
		c.all.Go(c.announceQueued)
	}
}

// stop makes announceSoon drop further runs, and returns when the queued ones were announced or dropped.
func (c *announcer) stop() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.all.Wait()
}

// announceQueued announces queued runs until the queue is empty, with a pause after each announcement.
func (c *announcer) announceQueued() {
	for {
		c.mu.Lock()
		payloads := slices.Collect(maps.Keys(c.queued))
		clear(c.queued)
		c.running = len(payloads) > 0
		c.mu.Unlock()
		if len(payloads) == 0 {
			return
		}
		pause := gatherPause
		if err := c.notify(payloads); err != nil {
			pause = failurePause
		}
		time.Sleep(pause)
	}
}

// notify sends notifications in one transaction. They are not stored, so its commit does not wait for the disk.
func (c *announcer) notify(payloads []string) error {
	all, err := json.Marshal(payloads)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	return c.server.withConn(ctx, func(t *tx) error {
		t.run(`SELECT set_config('synchronous_commit', 'off', true), pg_notify('`+channel+`', payload)
			FROM json_array_elements_text(CAST($1 AS json)) AS payload`, string(all))
		return nil
	})
}

// Announced implements journal.Announcer. It returns errClosed when the database is closed.
func (db *DB) Announced(ctx context.Context, began func(all bool), heard func(journal.Key)) error {
	db.use.RLock() // Close locks it before it waits for those that listen
	if db.isClosed() {
		db.use.RUnlock()
		return errClosed
	}
	db.listening.Add(1)
	db.use.RUnlock()
	defer db.listening.Done()
	open, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-db.closed:
			cancel(errClosed)
		case <-open.Done():
		}
	}()
	err := db.listen(open, began, heard)
	if over := context.Cause(open); over != nil {
		return over
	}
	return err
}

// listen implements dialect. An announcement that fails is dropped. Behind a pooler there are none: sessions that it
// shares hear nothing.
func (s *server) listen(ctx context.Context, began func(all bool), heard func(journal.Key)) error {
	if s.shared {
		return journal.ErrUnannounced
	}
	err := s.receive(ctx, began, heard)
	if ctx.Err() != nil {
		return err
	}
	return s.explain(ctx, &failure{err: err, lost: true})
}

func (s *server) receive(ctx context.Context, began func(all bool), heard func(journal.Key)) error {
	conn, err := pgx.ConnectConfig(ctx, s.config.Copy())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing was written on it
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	began(false)
	for {
		payload, err := nextNotification(ctx, conn)
		if err != nil {
			return err
		}
		var run [2]string
		if json.Unmarshal([]byte(payload), &run) == nil { // else another program sent it
			heard(journal.Key{Owner: journal.Owner(run[0]), Run: run[1]})
		}
	}
}

// nextNotification returns the payload of the next notification. While it waits, it pings the server periodically.
func nextNotification(ctx context.Context, conn *pgx.Conn) (payload string, err error) {
	for {
		quiet, cancel := context.WithTimeout(ctx, pingAfter)
		n, err := conn.WaitForNotification(quiet)
		cancel()
		if err == nil {
			return n.Payload, nil
		}
		if ctx.Err() != nil || quiet.Err() == nil || conn.IsClosed() {
			return "", err
		}
		ping, cancel := context.WithTimeout(ctx, connectTimeout)
		err = conn.Ping(ping)
		cancel()
		if err != nil {
			return "", err
		}
	}
}
