-- +goose Up

-- The run that a run goes on from. Empty: it takes the place of one, or is the first of its session, or an earlier build kept it.
ALTER TABLE run ADD COLUMN follows TEXT NOT NULL DEFAULT '';
