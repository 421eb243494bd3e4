-- +goose Up

-- The folder that a session is about.
ALTER TABLE session ADD COLUMN place TEXT NOT NULL DEFAULT '';
