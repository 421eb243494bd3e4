-- +goose Up

-- How often a running run was taken up in vain since it last settled.
ALTER TABLE run ADD COLUMN tries bigint NOT NULL DEFAULT 0;
