-- +goose Up

-- The folder that a session is about.
ALTER TABLE session ADD COLUMN place text COLLATE "C" NOT NULL DEFAULT '';
