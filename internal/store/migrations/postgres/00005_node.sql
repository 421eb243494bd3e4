-- +goose Up

-- Processes that serve. They say that they live every few seconds, so pages have room for the new row beside the old one.
CREATE TABLE node (
    holder     text COLLATE "C" PRIMARY KEY,
    name       text COLLATE "C" NOT NULL,
    build      text COLLATE "C" NOT NULL,
    address    text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    seen_at    bigint NOT NULL,
    most       bigint NOT NULL,
    draining   bigint NOT NULL
) WITH (fillfactor = 50);

-- What one of them does from time to time.
CREATE TABLE duty (
    name   text COLLATE "C" PRIMARY KEY,
    due_at bigint NOT NULL
);
