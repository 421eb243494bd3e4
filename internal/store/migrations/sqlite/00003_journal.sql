-- +goose Up

-- Says whose file this is, so that no other program's database is ever migrated: "SIBL".
PRAGMA application_id = 0x5349424C;

-- Times are milliseconds since 1970 in UTC. NULL is a time that is not set. A commit costs two writes for each page that it
-- changes, so tables and indexes are as few as the queries allow.

CREATE TABLE session (
    id         TEXT    PRIMARY KEY NOT NULL,
    owner      TEXT    NOT NULL,
    assistant  TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX session_by_owner ON session (owner, updated_at DESC, id DESC);

-- no stands for the run in record, being shorter than its id. blobs is a JSON array of numbers of blobs.
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
    blobs        TEXT    NOT NULL,
    summary      BLOB    NOT NULL DEFAULT x''
) STRICT;

CREATE INDEX run_by_owner   ON run (owner, started_at DESC, id DESC);
CREATE INDEX run_by_session ON run (session, started_at DESC, id DESC);
CREATE INDEX run_running    ON run (lease_until) WHERE status = 'running';

-- The key is the number of the run and the sequence number of the record, run.no << 24 | seq. So it is the fence, and the
-- records of a run lie together. How many there are is not kept beside them: it is the last sequence number and one.
CREATE TABLE record (
    key  INTEGER PRIMARY KEY,
    at   INTEGER NOT NULL,
    kind TEXT    NOT NULL,
    data BLOB    NOT NULL
) STRICT;

-- A content that many runs of an owner name is kept once. runs counts them; it stands apart from the content because it
-- changes with each.
CREATE TABLE blob (
    no    INTEGER PRIMARY KEY,
    owner TEXT    NOT NULL,
    hash  TEXT    NOT NULL,
    runs  INTEGER NOT NULL,
    UNIQUE (owner, hash)
) STRICT;

CREATE TABLE blob_content (
    blob    INTEGER PRIMARY KEY REFERENCES blob (no) ON DELETE CASCADE,
    content BLOB    NOT NULL
) STRICT;

-- Questions that runs left to their person.
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
    owner TEXT NOT NULL,
    key   TEXT NOT NULL,
    run   TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
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
