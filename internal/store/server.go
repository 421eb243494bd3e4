package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"sibyl/internal/journal"
)

const (
	defaultLockTimeout = 5 * time.Second
	statementTimeout   = 15 * time.Second
	connectTimeout     = 5 * time.Second
	defaultConnections = 10

	// defaultPatience is how long an answer of the server may take. The server's own timeout should come first.
	defaultPatience = statementTimeout + 5*time.Second

	// closePatience is how long a COMMIT may take to be answered once the database is to be closed.
	closePatience = 2 * time.Second

	// serverVersions is the table that lists the migrations done.
	serverVersions = "sibyl_version"

	// schema has the tables, unless the DSN sets search_path. Other programs may have their own in the same database.
	schema = "sibyl"

	// migrationLock is the key of the advisory lock for migrating the tables: "SIBL".
	migrationLock = 0x5349424C

	// migrationTimeout bounds the migration, including the wait for another process that migrates.
	migrationTimeout = 5 * time.Minute

	oldestServer = 130000 // the first with pg_current_xact_id

	// unbounded lifts the server's timeouts for the current transaction.
	unbounded = `SELECT set_config(name, '0', true)
		FROM unnest(array['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout']) AS name`
)

// Server is an open database on a PostgreSQL server, which also announces runs.
type Server struct {
	*DB
	server *server
}

// server is the dialect for PostgreSQL.
//
//   - Each row that a decision depends on is locked. WithLockTimeout bounds the wait for a lock; 15 s bound a
//     statement.
//   - A commit is never cancelled. If it is not confirmed, it asks the server whether the write was committed and
//     whether that is durable, also on synchronous standbys, and returns journal.ErrUnsure if it can't find out. A
//     write that was not committed, or a read, is repeated once after a lost connection.
//   - Behind a pooler, whose sessions may be shared, nothing depends on the session: every transaction makes its own
//     settings, no statement is prepared by name, runs are not announced, and nothing is cancelled. If the DSN sets a
//     default_query_exec_mode that prepares statements, the pooler must keep a session for each connection.
//   - The tables are in the schema sibyl, unless the DSN sets search_path.
//   - Removed content is overwritten by a later vacuum of PostgreSQL, and stays in its WAL and backups as long as those
//     are kept.
type server struct {
	name           string // of the database and its servers
	ownSchema      bool   // the DSN sets no search_path
	lockTimeout    time.Duration
	patience       time.Duration     // the limit for an answer of the server
	commitPatience time.Duration     // the limit for an answer to COMMIT, and then for finding out what came of it
	settings       map[string]string // of each session, or transaction if sessions are shared
	local          string            // a statement that makes them for a transaction
	prepares       bool              // the DSN asks for prepared statements, and so for a session for each connection
	shared         bool              // a pooler may share sessions between connections
	config         *pgx.ConnConfig   // for connections outside the pool; copied for each
	pool           *pgxpool.Pool
	writing        chan struct{} // holds a token for each connection that writes
	unanswered     unanswered
	life           context.Context // ends when the database is to be closed: no COMMIT is waited for for long
	end            context.CancelFunc
	announcer      *announcer
}

// ServerOption changes how OpenServer opens a database.
type ServerOption func(*server)

// WithLockTimeout sets how long a write waits for a lock before it fails with journal.ErrLocked. The default is 5 s. It
// also limits how long a transaction may be idle, to three fifths of that.
func WithLockTimeout(d time.Duration) ServerOption { return func(s *server) { s.lockTimeout = d } }

// OpenServer opens the database of dsn, "postgres://USER:PASSWORD@HOST:PORT/DATABASE" or "host=HOST user=USER ...", and
// creates or migrates its tables. The database must exist, in UTF-8. pool_max_conns in dsn limits the connections (10
// if it is missing), except for up to two more. An error may match journal.ErrLocked, ErrFull, ErrReadOnly or
// ErrCorrupt, or ErrNewer, ErrOlder or ErrForeign.
func OpenServer(ctx context.Context, dsn string, opts ...ServerOption) (*Server, error) {
	s := &server{lockTimeout: defaultLockTimeout, patience: defaultPatience, commitPatience: defaultPatience,
		unanswered: unanswered{kept: map[*openCommit]struct{}{}}}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	for _, opt := range opts {
		opt(s)
	}
	config, mode, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	s.configure(config.ConnConfig)
	s.prepares = mode != "" && mode != "exec" && mode != "simple_protocol"
	err = s.open(ctx, config)
	if errors.Is(err, errPooler) {
		s.shared = true
		if mode == "" {
			config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
		}
		err = s.open(ctx, config)
	}
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	s.announcer = &announcer{server: s, queued: map[string]struct{}{}}
	return &Server{&DB{dialect: s, closed: make(chan struct{})}, s}, nil
}

// Hurry has COMMITs that are not answered within 2 s be unsure from now on, since the process is about to end.
func (s *Server) Hurry() { s.server.end() }

// Close waits for running calls, and closes the database. It hurries.
func (s *Server) Close() error {
	s.Hurry()
	return s.DB.Close()
}

// open opens the pool, and creates or migrates the tables.
func (s *server) open(ctx context.Context, config *pgxpool.Config) (err error) {
	s.config = config.ConnConfig.Copy()
	config = config.Copy()
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		s.prepareConnection(&c.Config)
		return nil
	}
	s.writing = make(chan struct{}, mostWriting(config.MaxConns))
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return fmt.Errorf("database %s: %w", s.name, err)
	}
	if err = s.migrateIfBehind(ctx); err != nil {
		s.pool.Close()
	}
	return err
}

// parseDSN parses a DSN, and returns its default_query_exec_mode, or "". It replaces the driver's error, which may
// contain a password.
func parseDSN(dsn string) (config *pgxpool.Config, mode string, err error) {
	config, err = pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, "", errors.New("the address of the PostgreSQL database cannot be read: " +
			"it should be like postgres://USER:PASSWORD@HOST:PORT/DATABASE, " +
			"where a special character in the password is written as % and two hex " +
			"digits; the files that it names must be there")
	}
	if explicit, err := pgconn.ParseConfig(dsn); err == nil {
		mode = explicit.RuntimeParams["default_query_exec_mode"]
		if explicit.RuntimeParams["pool_max_conns"] == "" {
			config.MaxConns = defaultConnections
		}
	}
	return config, mode, nil
}

// configure sets s.name and s.settings, and the parameters of every connection. Poolers such as PgBouncer refuse most
// parameters, so s.settings are made after connecting.
func (s *server) configure(c *pgx.ConnConfig) {
	s.name = fmt.Sprintf("%q at %s", c.Database, addressesOf(&c.Config))
	if c.ConnectTimeout == 0 || c.ConnectTimeout > connectTimeout {
		c.ConnectTimeout = connectTimeout
	}
	for name, value := range map[string]string{"application_name": "sibyl", "client_encoding": "UTF8"} {
		if c.RuntimeParams[name] == "" {
			c.RuntimeParams[name] = value
		}
	}
	s.ownSchema = c.RuntimeParams["search_path"] == ""
	s.settings = map[string]string{
		"search_path":        schema,
		"synchronous_commit": "on",
		"plan_cache_mode":    "force_generic_plan", // planning would take longer than most statements
		"lock_timeout":       milliseconds(s.lockTimeout),
		"statement_timeout":  milliseconds(statementTimeout),
		// The locks of a process that stops in a transaction are released before others stop waiting for them.
		"idle_in_transaction_session_timeout": milliseconds(s.lockTimeout * 3 / 5),
	}
	for name := range s.settings {
		if value := c.RuntimeParams[name]; value != "" {
			s.settings[name] = value
		}
		delete(c.RuntimeParams, name)
	}
	delete(c.RuntimeParams, "client_min_messages")
	s.settings["client_min_messages"] = "warning" // commit depends on warnings
	s.local = s.settingsOf(true)
}

// addressesOf lists the servers of a configuration, each once.
func addressesOf(c *pgconn.Config) string {
	var all []string
	for _, one := range append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port}}, c.Fallbacks...) {
		address := net.JoinHostPort(one.Host, strconv.Itoa(int(one.Port)))
		if one.Host != "" && (one.Host[0] == '/' || one.Host[0] == '@') {
			address = one.Host
		}
		if !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	return strings.Join(all, ", ")
}

// settingsOf returns a statement that makes s.settings, for the transaction or for the session.
func (s *server) settingsOf(transaction bool) string {
	var rows []string
	for _, name := range slices.Sorted(maps.Keys(s.settings)) {
		rows = append(rows, "('"+name+"', '"+strings.ReplaceAll(s.settings[name], "'", "''")+"')")
	}
	return fmt.Sprintf("SELECT set_config(name, value, %t) FROM (VALUES %s) AS setting (name, value)", transaction,
		strings.Join(rows, ", "))
}

// errPooler means that a pooler stands before the server, which may share sessions between connections.
var errPooler = errors.New("a pooler stands before the server by now (start sibyl again)")

// setUp makes the settings of a session. It returns errPooler if that is not this connection's own, and settings would
// be made for others: a pooler gives its clients other process numbers than the server's.
func (s *server) setUp(ctx context.Context, conn *pgconn.PgConn) error {
	if s.shared {
		return nil
	}
	query := s.settingsOf(false)
	if !s.prepares {
		query += fmt.Sprintf(" WHERE pg_backend_pid() = %d", conn.PID())
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	made := conn.ExecParams(ctx, query, nil, nil, nil, nil).Read()
	if made.Err == nil && len(made.Rows) == 0 {
		return errPooler
	}
	return made.Err
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// migrateIfBehind runs missing migrations, or waits until another process has. It fails if the database is unusable.
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
		// One process migrates; the others wait here, and then find it done.
		t.run(`SELECT pg_advisory_xact_lock($1)`, int64(migrationLock))
		if err := t.send(); err != nil {
			return err
		}
		if err := checkBehind(t); err != nil || !isBehind {
			return err
		}
		if err := s.createSchema(t); err != nil {
			return err
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

// createSchema makes the schema of the tables, if it is Sibyl's own and missing.
func (s *server) createSchema(t *tx) error {
	if !s.ownSchema {
		return nil
	}
	there, err := queryRows(t, scanValue[bool], `SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)`, schema)
	if err != nil || there[0] {
		return err
	}
	t.run("CREATE SCHEMA " + schema)
	if err := t.send(); err != nil {
		return fmt.Errorf("make the schema %s: %w", schema, err)
	}
	return nil
}

// version returns the last migration of the database, or unversioned. It fails if Sibyl can't use the server, its
// encoding or its schema, and with ErrForeign if another program has tables of the same names.
func (s *server) version(t *tx, all []migration) (version int64, err error) {
	type state struct {
		server           int
		encoding, tables string
		schema           *string
		path             string
		noted            bool
	}
	var made string // the statements of all migrations
	for _, m := range all {
		made += m.statements
	}
	scan := func(r row, at *state) error {
		return r.Scan(&at.server, &at.encoding, &at.schema, &at.path, &at.noted, &at.tables)
	}
	found, err := queryRows(t, scan, `
		SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), current_schema(),
		       current_setting('search_path'),
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
	case at.path != s.settings["search_path"]: // the tables would be somewhere else
		return 0, fmt.Errorf("database %s: %w", s.name, errNotOwn)
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

// close implements dialect. It announces the queued runs before it closes the connections.
func (s *server) close() error {
	s.end()
	s.announcer.stop()
	s.unanswered.close()
	s.pool.Close()
	return nil
}

func (s *server) databaseName() string { return s.name }

// copyStatements implements dialect. Sequences continue after the highest copied number.
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

func (s *server) sharedPlace() string { return "" }

func (s *server) announce(run journal.Key) { s.announcer.announceSoon(run) }

// now implements dialect. It is the server's clock.
func (s *server) now(ctx context.Context) (now time.Time, err error) {
	err = s.runRead(ctx, func(t *tx) error {
		scan := func(r row, at *time.Time) error { return r.Scan(millis{at}) }
		found, err := queryRows(t, scan, `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint`)
		now, err = onlyRow(found, err, nil)
		return err
	})
	return now, err
}
