-- +goose Up

-- What the models of a run used, a row for each; runs is 1 in the first row of a run, else 0, so that its sum counts runs. It is derived from
-- the records, when a run ends or when somebody asks for it, and removed with the run. run is the run's number.
CREATE TABLE used (
    owner      TEXT    NOT NULL,
    started_at INTEGER NOT NULL,
    run        INTEGER NOT NULL,
    model      TEXT    NOT NULL,
    runs       INTEGER NOT NULL,
    input      INTEGER NOT NULL,
    cached     INTEGER NOT NULL,
    output     INTEGER NOT NULL,
    PRIMARY KEY (owner, started_at, run, model)
) STRICT, WITHOUT ROWID;

-- 1: what the run used is kept. Only runs that ended without that are in the index, so most writes leave it alone.
ALTER TABLE run ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;

CREATE INDEX run_uncounted ON run (owner, started_at) WHERE status <> 'running' AND counted = 0;

-- By owner, so that an owner's running runs are found at once; and without the lease, so that renewing it leaves the index alone.
DROP INDEX run_running;

CREATE INDEX run_running ON run (owner, started_at DESC, id DESC) WHERE status = 'running';
