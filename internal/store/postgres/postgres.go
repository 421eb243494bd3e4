// Package postgres keeps everything that Sibyl keeps in a PostgreSQL database. It implements what every room keeps, and journal.Announcer.
//
//   - Any number of processes may use the database. A decision that rests on a row is taken with the row locked, in the order session,
//     blobs, run, pending rows, claims, so that writes wait for each other and never for themselves.
//   - A write is on the server's disk when it returns (synchronous_commit=on), and atomic. If the connection is lost while it is committed, the
//     server is asked whether it was; where it can't be asked, the error says that it is not known.
//   - Waiting for another's lock is bounded by WithLockTimeout, and a statement by 15 s. Both end with the context, with nothing written. A
//     commit that was sent runs to its end.
//   - It needs connections of its own: a pooler between it and the server must keep a session for each.
//   - A connection that is lost while nothing is written is replaced once, without a word.
//   - Errors name the database and its server and what would fix it, and match journal's errors. None has the password.
//   - The tables are in a schema of their own, sibyl, unless the address names another by search_path.
//   - Open brings the tables up to date, under a lock, so that processes that start together all come up. It refuses tables that another
//     program or a later build of this one made.
//   - Where the server only reads, as a standby does, every write fails with journal.ErrReadOnly.
//   - What is removed is overwritten by a later vacuum of PostgreSQL's, and stays in its WAL and backups as long as those are kept.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	defaultLockTimeout = 5 * time.Second
	statementTimeout   = 15 * time.Second
	connectTimeout     = 5 * time.Second
	defaultConnections = 10

	// defaultPatience is how long an answer may take that the server should have cut off before.
	defaultPatience = statementTimeout + 5*time.Second
)

var errClosed = errors.New("the database is closed")

// DB is an open database. Open makes one; it is safe for concurrent use.
type DB struct {
	name        string // of the database and its server
	ownSchema   bool   // the address names no schema
	lockTimeout time.Duration
	patience    time.Duration   // with an answer of the server's
	config      *pgx.ConnConfig // of connections beside the pool; it is copied before it is used
	pool        *pgxpool.Pool
	known       known
	crier       *crier
	closing     sync.Once
	closed      chan struct{}
}

// Option changes how Open opens a database.
type Option func(*DB)

// WithLockTimeout sets how long a write waits for another's lock before it fails with journal.ErrLocked. The default is 5 s.
func WithLockTimeout(d time.Duration) Option {
	return func(db *DB) { db.lockTimeout = d }
}

// Open opens the database that dsn names, as "postgres://USER:PASSWORD@HOST:PORT/DATABASE" or "host=HOST user=USER ...", and makes the tables
// that are missing. The database must be there, and be in UTF-8. pool_max_conns in dsn is how many connections are used at most: 10 unless it
// is given, and up to three more. The error matches journal.ErrLocked, ErrFull, ErrReadOnly or ErrCorrupt where it is one of these, ErrNewer,
// or ErrForeign.
func Open(ctx context.Context, dsn string, opts ...Option) (*DB, error) {
	db := &DB{lockTimeout: defaultLockTimeout, patience: defaultPatience, closed: make(chan struct{})}
	for _, opt := range opts {
		opt(db)
	}
	config, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	db.configure(config.ConnConfig)
	db.config = config.ConnConfig.Copy()
	if db.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("database %s: %w", db.name, err)
	}
	if err := db.bringUpToDate(ctx); err != nil {
		db.pool.Close()
		return nil, err
	}
	db.crier = newCrier(db)
	return db, nil
}

// parse reads a DSN. The driver's own error may repeat a password.
func parse(dsn string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the address of the PostgreSQL database cannot be read: it should be like postgres://USER:PASSWORD@HOST:PORT/DATABASE, " +
			"where a special character in the password is written as % and two hex digits; the files that it names must be there")
	}
	explicit, err := pgx.ParseConfig(dsn)
	if err == nil && explicit.RuntimeParams["pool_max_conns"] == "" {
		config.MaxConns = defaultConnections
	}
	return config, nil
}

// configure sets what every connection has, unless the DSN says otherwise.
func (db *DB) configure(c *pgx.ConnConfig) {
	server := net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	if c.Host != "" && (c.Host[0] == '/' || c.Host[0] == '@') {
		server = c.Host
	}
	db.name = fmt.Sprintf("%q at %s", c.Database, server)
	if c.ConnectTimeout == 0 || c.ConnectTimeout > connectTimeout {
		c.ConnectTimeout = connectTimeout
	}
	if c.RuntimeParams["search_path"] == "" {
		c.RuntimeParams["search_path"], db.ownSchema = schema, true
	}
	for name, value := range map[string]string{
		"application_name":   "sibyl",
		"client_encoding":    "UTF8",
		"synchronous_commit": "on",
		"plan_cache_mode":    "force_generic_plan", // planning takes longer than most statements, which go by keys
		"lock_timeout":       milliseconds(db.lockTimeout),
		"statement_timeout":  milliseconds(statementTimeout),
		// A process that stops in a transaction holds its locks for less than others wait for them.
		"idle_in_transaction_session_timeout": milliseconds(db.lockTimeout * 3 / 5),
	} {
		if c.RuntimeParams[name] == "" {
			c.RuntimeParams[name] = value
		}
	}
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// Close waits for what is under way and closes the connections. Every later call but Close fails.
func (db *DB) Close() error {
	db.closing.Do(func() {
		close(db.closed)
		db.pool.Close()
		db.crier.stop()
	})
	return nil
}
