package store

import (
	"testing"

	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/node/nodetest"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/task"
	"sibyl/internal/task/tasktest"
	"sibyl/internal/user"
	"sibyl/internal/user/usertest"
)

func TestStoreKeepsTheGuarantees(t *testing.T) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		journaltest.Run(t, func(t *testing.T) journal.Store { return openedAt(t, place(t)) })
	})
}

func TestStoreOutlivesItsHandles(t *testing.T) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		journaltest.RunPersistent(t, func(t *testing.T) func() journal.Store {
			address := place(t)
			return func() journal.Store { return openedAt(t, address) }
		})
	})
}

func TestBothKindsAnswerAlike(t *testing.T) {
	t.Run("journal", func(t *testing.T) { journaltest.Agree(t, serverAt(t, pgtest.New(t)), fresh(t)) })
}

func TestTasksKeepTheGuarantees(t *testing.T) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		tasktest.Run(t, func(t *testing.T) task.Store { return openedAt(t, place(t)) })
		tasktest.RunShared(t, func(t *testing.T) func() task.Store {
			address := place(t)
			return func() task.Store { return openedAt(t, address) }
		})
	})
}

func TestUsersKeepTheGuarantees(t *testing.T) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		usertest.Run(t, func(t *testing.T) user.Store { return openedAt(t, place(t)) })
	})
}

func TestUsersAreSharedByHandlesOnOneFile(t *testing.T) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		usertest.RunShared(t, func(t *testing.T) func() user.Store {
			address := place(t)
			return func() user.Store { return openedAt(t, address) }
		})
	})
}

func TestRegistryKeepsTheGuarantees(t *testing.T) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		nodetest.Run(t, func(t *testing.T) nodetest.Store { return openedAt(t, place(t)) })
	})
}
