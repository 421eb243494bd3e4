package postgres

import (
	"testing"

	"sibyl/internal/store/postgres/pgtest"
	"sibyl/internal/task"
	"sibyl/internal/task/tasktest"
)

func TestTasksKeepTheGuarantees(t *testing.T) {
	p := places{dsn: pgtest.New(t)}
	tasktest.Run(t, func(t *testing.T) task.Store { return p.open(t) })
}

func TestTasksAreSharedByHandlesOnOneDatabase(t *testing.T) {
	dsn := pgtest.New(t)
	tasktest.RunShared(t, func(t *testing.T) func() task.Store {
		place := newSchema(t, dsn)
		return func() task.Store { return openAt(t, place) }
	})
}

func TestTasksAreAnsweredForAsInMemory(t *testing.T) {
	tasktest.Agree(t, openAt(t, pgtest.New(t)))
}

func BenchmarkTenThousandTasks(b *testing.B) {
	tasktest.BenchmarkLists(b, openAt(b, pgtest.New(b)))
}
