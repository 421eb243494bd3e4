-- +goose Up

-- The run whose place a run takes; empty: it takes none.
ALTER TABLE run ADD COLUMN replaces TEXT NOT NULL DEFAULT '';
