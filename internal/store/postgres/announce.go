package postgres

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/journal"
)

var _ journal.Announcer = (*DB)(nil)

const (
	channel = "sibyl_run"

	// longestPayload is a little less than NOTIFY takes.
	longestPayload = 7900

	// tellPause is how long runs are gathered before they are told together, after others were.
	tellPause = 5 * time.Millisecond

	// deafPause is how long nothing is told after the server could not be told.
	deafPause = time.Second

	// farewell is how long Close waits for what is still to be told.
	farewell = time.Second

	// quietest is how long nothing may be heard before it is asked whether the connection still stands.
	quietest = 10 * time.Second
)

// crier tells whoever listens which runs took records or were freed. NOTIFY takes a lock that makes all commits that notify wait for each
// other, so it is no part of a write: runs are gathered while others are told, and told together on a connection of its own. What can't be
// told is dropped, since whoever watches looks by itself as well.
type crier struct {
	config *pgx.ConnConfig
	start  sync.Once
	mu     sync.Mutex
	untold map[journal.Key]struct{}
	wake   chan struct{}
	leave  chan struct{}
	left   chan struct{}
}

func newCrier(db *DB) *crier {
	config := db.config.Copy()
	config.RuntimeParams["synchronous_commit"] = "off" // nothing that is told is kept
	return &crier{config: config, untold: make(map[journal.Key]struct{}), wake: make(chan struct{}, 1),
		leave: make(chan struct{}), left: make(chan struct{})}
}

// tell has a run told soon. It does not wait.
func (c *crier) tell(run journal.Key) {
	c.start.Do(func() { go c.run() })
	c.mu.Lock()
	c.untold[run] = struct{}{}
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// stop tells what is still to be told, and returns when nothing is left to do.
func (c *crier) stop() {
	close(c.leave)
	c.start.Do(func() { close(c.left) })
	<-c.left
}

func (c *crier) run() {
	defer close(c.left)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-c.leave
		select {
		case <-time.After(farewell):
			cancel()
		case <-c.left:
		}
	}()
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close(ctx)
		}
	}()
	for {
		pause := tellPause
		select {
		case <-c.wake:
		case <-c.leave:
			_ = c.say(ctx, &conn)
			return
		}
		if err := c.say(ctx, &conn); err != nil {
			pause = deafPause
		}
		select {
		case <-time.After(pause):
		case <-c.leave:
		}
	}
}

// say tells all that is to be told. After an error there is no connection.
func (c *crier) say(ctx context.Context, conn **pgx.Conn) (err error) {
	c.mu.Lock()
	runs := c.untold
	c.untold = make(map[journal.Key]struct{})
	c.mu.Unlock()
	if len(runs) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, defaultPatience)
	defer cancel()
	if *conn == nil {
		if *conn, err = pgx.ConnectConfig(ctx, c.config.Copy()); err != nil {
			*conn = nil
			return err
		}
	}
	if _, err = (*conn).Exec(ctx, `SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload`, channel, payloads(runs)); err != nil {
		_ = (*conn).Close(ctx)
		*conn = nil
	}
	return err
}

// payloads are JSON arrays of pairs of an owner and a run. A pair that is too long for one is left out.
func payloads(runs map[journal.Key]struct{}) (all []string) {
	chunk := []byte{'['}
	for run := range runs {
		pair, err := json.Marshal([2]string{string(run.Owner), run.Run})
		if err != nil || len(pair)+len("[]") > longestPayload {
			continue
		}
		if len(chunk)+len(pair)+len("]") > longestPayload {
			all, chunk = append(all, string(append(chunk[:len(chunk)-1], ']'))), []byte{'['}
		}
		chunk = append(append(chunk, pair...), ',')
	}
	if len(chunk) > 1 {
		all = append(all, string(append(chunk[:len(chunk)-1], ']')))
	}
	return all
}

// Announced implements journal.Announcer.
func (db *DB) Announced(ctx context.Context, heard func(journal.Key)) error {
	open, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-db.closed:
			cancel(errClosed)
		case <-open.Done():
		}
	}()
	err := db.listen(open, heard)
	if over := context.Cause(open); over != nil {
		return over
	}
	return db.explain(ctx, &failure{err: err, lost: true})
}

func (db *DB) listen(ctx context.Context, heard func(journal.Key)) error {
	conn, err := pgx.ConnectConfig(ctx, db.config.Copy())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing was written on it
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for {
		payload, err := next(ctx, conn)
		if err != nil {
			return err
		}
		var runs [][2]string
		if json.Unmarshal([]byte(payload), &runs) != nil {
			continue // it is not from here
		}
		for _, run := range runs {
			heard(journal.Key{Owner: journal.Owner(run[0]), Run: run[1]})
		}
	}
}

// next waits for a notification. While there is none it asks from time to time whether the connection still stands.
func next(ctx context.Context, conn *pgx.Conn) (payload string, err error) {
	for {
		quiet, cancel := context.WithTimeout(ctx, quietest)
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
