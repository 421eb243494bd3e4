-- +goose Up

-- What sessions and runs are found by: derived from title and records when somebody looks for words. NULL: not yet.
ALTER TABLE session ADD COLUMN words text COLLATE "C";
ALTER TABLE run ADD COLUMN words text COLLATE "C";
