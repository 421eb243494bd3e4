-- +goose Up

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
