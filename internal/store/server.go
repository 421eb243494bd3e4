package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sibyl/internal/journal"
)

const (
	defaultLockTimeout = 5 * time.Second
	statementTimeout   = 15 * time.Second
	connectTimeout     = 5 * time.Second
	defaultConnections = 10

	// defaultPatience is how long an answer may take that the server should have cut off before.
	defaultPatience = statementTimeout + 5*time.Second

	// serverVersions is the table of the migrations that were done.
	serverVersions = "sibyl_version"

	// schema is where the tables are, unless the address names another: a database may be shared with other programs.
	schema = "sibyl"

	// migrationLock is the advisory lock of the process that migrates the tables: "SIBL".
	migrationLock = 0x5349424C

	// migrationTimeout bounds the migration, and the wait for another process that migrates.
	migrationTimeout = 5 * time.Minute

	oldestServer = 130000 // the first that tells of transactions by number

	// unbounded lets a transaction take as long as it has to.
	unbounded = `SELECT set_config(name, '0', true)
		FROM unnest(array['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout']) AS name`
)

// Server is a database on a PostgreSQL server.
type Server struct {
	*DB
	server *server
}

// server is a database on a PostgreSQL server.
//
//   - A decision that rests on a row is taken with the row locked. Waiting for another's lock is bounded by
//     WithLockTimeout, and a statement by 15 s.
//   - If the connection is lost while a write is committed, the server is asked whether it was; where it can't be
//     asked, the error says that it is not known. A connection that is lost while nothing is written is replaced once,
//     without a word.
//   - It needs connections of its own: a pooler between it and the server must keep a session for each.
//   - The tables are in a schema of their own, sibyl, unless the address names another by search_path.
//   - What is removed is overwritten by a later vacuum of PostgreSQL's, and stays in its WAL and backups as long as
//     those are kept.
type server struct {
	name        string // of the database and its server
	ownSchema   bool   // the address names no schema
	lockTimeout time.Duration
	patience    time.Duration   // with an answer of the server's
	config      *pgx.ConnConfig // of connections beside the pool; it is copied before it is used
	pool        *pgxpool.Pool
	announcer   *announcer
}

// ServerOption changes how OpenServer opens a database.
type ServerOption func(*server)

// WithLockTimeout sets how long a write waits for another's lock before it fails with journal.ErrLocked. The default is
// 5 s.
func WithLockTimeout(d time.Duration) ServerOption { return func(s *server) { s.lockTimeout = d } }

// OpenServer opens the database that dsn names, as "postgres://USER:PASSWORD@HOST:PORT/DATABASE" or "host=HOST
// user=USER ...", and makes the tables that are missing. The database must be there, and be in UTF-8. pool_max_conns in
// dsn is how many connections are used at most: 10 unless it is given, and up to two more. The error matches
// journal.ErrLocked, ErrFull, ErrReadOnly or ErrCorrupt where it is one of these, ErrNewer, ErrOlder, or ErrForeign.
func OpenServer(ctx context.Context, dsn string, opts ...ServerOption) (*Server, error) {
	s := &server{lockTimeout: defaultLockTimeout, patience: defaultPatience}
	for _, opt := range opts {
		opt(s)
	}
	config, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	s.configure(config.ConnConfig)
	s.config = config.ConnConfig.Copy()
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("database %s: %w", s.name, err)
	}
	if err := s.migrateIfBehind(ctx); err != nil {
		s.pool.Close()
		return nil, s.explain(ctx, err)
	}
	s.announcer = &announcer{server: s, queued: map[string]struct{}{}}
	return &Server{&DB{dialect: s, closed: make(chan struct{})}, s}, nil
}

// parseDSN reads a DSN. The driver's own error may repeat a password.
func parseDSN(dsn string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the address of the PostgreSQL database cannot be read: " +
			"it should be like postgres://USER:PASSWORD@HOST:PORT/DATABASE, " +
			"where a special character in the password is written as % and two hex " +
			"digits; the files that it names must be there")
	}
	explicit, err := pgx.ParseConfig(dsn)
	if err == nil && explicit.RuntimeParams["pool_max_conns"] == "" {
		config.MaxConns = defaultConnections
	}
	return config, nil
}

// configure sets what every connection has, unless the DSN says otherwise.
func (s *server) configure(c *pgx.ConnConfig) {
	address := net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	if c.Host != "" && (c.Host[0] == '/' || c.Host[0] == '@') {
		address = c.Host
	}
	s.name = fmt.Sprintf("%q at %s", c.Database, address)
	if c.ConnectTimeout == 0 || c.ConnectTimeout > connectTimeout {
		c.ConnectTimeout = connectTimeout
	}
	if c.RuntimeParams["search_path"] == "" {
		c.RuntimeParams["search_path"], s.ownSchema = schema, true
	}
	for name, value := range map[string]string{
		"application_name":   "sibyl",
		"client_encoding":    "UTF8",
		"synchronous_commit": "on",
		"plan_cache_mode":    "force_generic_plan", // planning takes longer than most statements, which go by keys
		"lock_timeout":       milliseconds(s.lockTimeout),
		"statement_timeout":  milliseconds(statementTimeout),
		// A process that stops in a transaction holds its locks for less than others wait for them.
		"idle_in_transaction_session_timeout": milliseconds(s.lockTimeout * 3 / 5),
	} {
		if c.RuntimeParams[name] == "" {
			c.RuntimeParams[name] = value
		}
	}
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// migrateIfBehind runs the migrations that are missing, or waits for another process that does so.
func (s *server) migrateIfBehind(ctx context.Context) error {
	all, err := migrationsOf("postgres")
	if err != nil {
		return err
	}
	var isBehind bool
	checkBehind := func(t *tx) error {
		version, err := s.version(t, all)
		if err == nil {
			isBehind, err = behind(all, version, s.name)
		}
		return err
	}
	if err := s.withConn(ctx, checkBehind); err != nil || !isBehind {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, migrationTimeout)
	defer cancel()
	err = s.tryTransaction(bounded, func(t *tx) error {
		t.patience = 0
		t.run(unbounded)
		// One process migrates; the others wait and then find it done.
		t.run(`SELECT pg_advisory_xact_lock($1)`, int64(migrationLock))
		if err := t.send(); err != nil {
			return err
		}
		if err := checkBehind(t); err != nil || !isBehind {
			return err
		}
		if s.ownSchema {
			t.run("CREATE SCHEMA IF NOT EXISTS " + schema)
			if err := t.send(); err != nil {
				return fmt.Errorf("make the schema %s: %w", schema, err)
			}
		}
		version, err := s.version(t, all)
		if err != nil {
			return err
		}
		return t.runMigrations(all, version, serverVersions)
	})
	if ctx.Err() == nil && bounded.Err() != nil {
		return fmt.Errorf("database %s: bringing the tables up to date took longer than %s (another process may be "+
			"doing it: let it finish, or end it)", s.name, migrationTimeout)
	}
	return err
}

// version returns the last migration that was done in the database. The error says why the database can't be used.
func (s *server) version(t *tx, all []migration) (version int64, err error) {
	type state struct {
		server           int
		encoding, tables string
		schema           *string
		noted            bool
	}
	var made string // by all migrations together
	for _, m := range all {
		made += m.statements
	}
	scan := func(r row, at *state) error {
		return r.Scan(&at.server, &at.encoding, &at.schema, &at.noted, &at.tables)
	}
	found, err := queryRows(t, scan, `
		SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), current_schema(),
		       EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1),
		       coalesce((SELECT string_agg(tablename::text, ', ' ORDER BY tablename) FROM pg_tables
		           WHERE schemaname = current_schema() AND CAST($2 AS text) LIKE '%CREATE TABLE ' || tablename || ' (%'), '')`,
		serverVersions, made)
	if err != nil {
		return 0, err
	}
	at := found[0]
	switch {
	case at.server < oldestServer:
		return 0, fmt.Errorf("database %s: PostgreSQL %d is too old (it must be 13 or later)", s.name, at.server/10000)
	case at.encoding != "UTF8":
		return 0, fmt.Errorf("database %s: its encoding is %s, which cannot keep every text "+
			"(make one with: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0)", s.name, at.encoding)
	case at.schema == nil && !s.ownSchema:
		return 0, fmt.Errorf("database %s: no schema of its search_path is there "+
			"(make one, or name another with search_path in the address)", s.name)
	}
	if version = unversioned; at.noted {
		versions, err := queryRows(t, scanValue[int64], `SELECT coalesce(max(version_id), -1) FROM `+serverVersions)
		if version, err = onlyRow(versions, err, nil); err != nil {
			return 0, err
		}
	}
	if version <= 0 && at.tables != "" {
		return 0, fmt.Errorf("database %s: %w: %s (choose another database, or another schema with search_path in "+
			"its address)", s.name, ErrForeign, at.tables)
	}
	return version, nil
}

// close implements dialect.
func (s *server) close() error {
	s.announcer.stop()
	s.pool.Close()
	return nil
}

func (s *server) databaseName() string { return s.name }

// copyStatements implements dialect. Numbers go on after those that were given.
func (s *server) copyStatements() copySQL {
	c := copySQL{moment: []string{"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", unbounded}}
	var tables []string
	for _, t := range Tables() {
		tables = append(tables, t.Name)
	}
	c.alone = []string{unbounded, "LOCK TABLE " + strings.Join(tables, ", ") + " IN EXCLUSIVE MODE"}
	for table, column := range map[string]string{"run": "no", "blob": "no", "task": "id", "task_change": "id"} {
		c.numbered = append(c.numbered,
			"SELECT setval(pg_get_serial_sequence('"+table+"', '"+column+"'), max("+column+")) FROM "+table+
				" HAVING count(*) > 0")
	}
	return c
}

func (s *server) announce(run journal.Key) { s.announcer.announceSoon(run) }

// now implements dialect.
func (s *server) now(ctx context.Context) (now time.Time, err error) {
	err = s.runRead(ctx, func(t *tx) error {
		scan := func(r row, at *time.Time) error { return r.Scan(millis{at}) }
		found, err := queryRows(t, scan, `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint`)
		now, err = onlyRow(found, err, nil)
		return err
	})
	return now, err
}
