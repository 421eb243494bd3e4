-- +goose Up

-- Who may use Sibyl over HTTP. What somebody owns bears their name, and stays when they are revoked.
CREATE TABLE person (
    name       TEXT    PRIMARY KEY NOT NULL,
    scope      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- Secrets that stand for a person, by their SHA-256 alone.
CREATE TABLE token (
    hash       BLOB    PRIMARY KEY NOT NULL,
    id         TEXT    NOT NULL,
    person     TEXT    NOT NULL REFERENCES person (name),
    kind       TEXT    NOT NULL,
    scope      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX token_by_person ON token (person);
