-- +goose Up

-- Says whose file this is, so that no other program's database is ever migrated: "SIBL".
PRAGMA application_id = 0x5349424C;

-- Times are milliseconds since 1970 in UTC. NULL is a time that is not set.

CREATE TABLE session (
    id         TEXT    PRIMARY KEY NOT NULL,
    owner      TEXT    NOT NULL,
    assistant  TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX session_by_owner ON session (owner, updated_at DESC, id DESC);

-- no stands for the run in the tables below, being shorter than its id.
CREATE TABLE run (
    no           INTEGER PRIMARY KEY,
    id           TEXT    NOT NULL UNIQUE,
    session      TEXT    NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    owner        TEXT    NOT NULL,
    assistant    TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    status       TEXT    NOT NULL,
    started_at   INTEGER NOT NULL,
    ended_at     INTEGER,
    lease_holder TEXT    NOT NULL,
    lease_until  INTEGER,
    reason       TEXT    NOT NULL DEFAULT '',
    summary      BLOB    NOT NULL DEFAULT x''
) STRICT;

CREATE INDEX run_by_owner   ON run (owner, started_at DESC, id DESC);
CREATE INDEX run_by_session ON run (session, started_at DESC, id DESC);
CREATE INDEX run_running    ON run (lease_until) WHERE status = 'running';

-- How many records a run has is not kept beside them: it is the last seq and one.
CREATE TABLE record (
    run  INTEGER NOT NULL REFERENCES run (no) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    at   INTEGER NOT NULL,
    kind TEXT    NOT NULL,
    data BLOB    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;

-- A content that many runs name is kept once.
CREATE TABLE blob (
    no      INTEGER PRIMARY KEY,
    hash    TEXT    NOT NULL UNIQUE,
    content BLOB    NOT NULL
) STRICT;

-- Deferred, because a session's blobs are looked up through its runs and so are deleted before them.
CREATE TABLE run_blob (
    run  INTEGER NOT NULL REFERENCES run (no) ON DELETE CASCADE,
    blob INTEGER NOT NULL REFERENCES blob (no) DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (run, blob)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_blob_by_blob ON run_blob (blob);

-- Questions that runs left to their person. run is the id of one, which may be anything by then.
CREATE TABLE pending (
    session    TEXT    NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    id         TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    run        TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    data       BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

-- What running runs hold, each key of an owner at most once.
CREATE TABLE claim (
    owner TEXT    NOT NULL,
    key   TEXT    NOT NULL,
    run   INTEGER NOT NULL REFERENCES run (no) ON DELETE CASCADE,
    PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX claim_by_run ON claim (run);

-- What a removed session leaves: counts, and none of its words.
CREATE TABLE tombstone (
    id         TEXT    PRIMARY KEY NOT NULL,
    owner      TEXT    NOT NULL,
    assistant  TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER NOT NULL,
    runs       INTEGER NOT NULL,
    reason     TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX tombstone_by_owner ON tombstone (owner, deleted_at DESC, id DESC);
