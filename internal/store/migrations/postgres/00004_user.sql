-- +goose Up

-- Who may use Sibyl over HTTP. What somebody owns bears their name, and stays when they are revoked.
CREATE TABLE person (
    name       text COLLATE "C" PRIMARY KEY,
    scope      text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint
);

-- Secrets that stand for a person, by their SHA-256 alone.
CREATE TABLE token (
    hash       bytea PRIMARY KEY,
    id         text COLLATE "C" NOT NULL,
    person     text COLLATE "C" NOT NULL REFERENCES person (name),
    kind       text COLLATE "C" NOT NULL,
    scope      text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    revoked_at bigint
);

CREATE INDEX token_by_person ON token (person);
