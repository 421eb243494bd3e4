-- +goose Up

-- What the processes over this database sign with. Whoever reads it can sign as they do.
CREATE TABLE secret (
    name  text COLLATE "C" PRIMARY KEY,
    value bytea NOT NULL
);
