-- +goose Up

-- What the processes over this database sign with. Whoever reads it can sign as they do.
CREATE TABLE secret (
    name  TEXT PRIMARY KEY NOT NULL,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
