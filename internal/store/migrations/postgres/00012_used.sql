-- +goose Up

-- What the models of a run used, a row for each; runs is 1 in the first row of a run, else 0, so that its sum counts runs. It is derived from
-- the records, when a run ends or when somebody asks for it, and removed with the run. run is the run's number.
CREATE TABLE used (
    owner      text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    run        bigint NOT NULL,
    model      text COLLATE "C" NOT NULL,
    runs       bigint NOT NULL,
    input      bigint NOT NULL,
    cached     bigint NOT NULL,
    output     bigint NOT NULL,
    PRIMARY KEY (owner, started_at, run, model)
);

-- 1: what the run used is kept. Only runs that ended without that are in the index, so most writes leave it alone.
ALTER TABLE run ADD COLUMN counted bigint NOT NULL DEFAULT 0;

CREATE INDEX run_uncounted ON run (owner, started_at) WHERE status <> 'running' AND counted = 0;
