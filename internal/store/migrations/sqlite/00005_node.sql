-- +goose Up

-- Processes that serve.
CREATE TABLE node (
    holder     TEXT    PRIMARY KEY NOT NULL,
    name       TEXT    NOT NULL,
    build      TEXT    NOT NULL,
    address    TEXT    NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    most       INTEGER NOT NULL,
    draining   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What one of them does from time to time.
CREATE TABLE duty (
    name   TEXT    PRIMARY KEY NOT NULL,
    due_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
