-- +goose Up

-- What somebody has to do. One that was deleted stays as it was, with gone set, so that the deletion can be undone and its id is nobody
-- else's. AUTOINCREMENT sees to the same after rows were lost.
CREATE TABLE task (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    owner        TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    description  TEXT,
    status       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    completed_at INTEGER,
    version      INTEGER NOT NULL,
    gone         INTEGER NOT NULL
) STRICT;

CREATE INDEX task_by_owner ON task (owner, created_at, id) WHERE gone = 0;

-- What was changed, by whom, and under which idempotency key. before and after are the task as JSON, NULL where there was none.
CREATE TABLE task_change (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    owner  TEXT    NOT NULL,
    task   INTEGER NOT NULL REFERENCES task (id),
    key    TEXT,
    action TEXT    NOT NULL,
    actor  TEXT    NOT NULL,
    before TEXT,
    after  TEXT,
    undoes INTEGER,
    at     INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX task_change_by_key ON task_change (owner, key) WHERE key IS NOT NULL;
CREATE INDEX task_change_by_owner ON task_change (owner, id);
CREATE INDEX task_change_by_task ON task_change (task, id);
