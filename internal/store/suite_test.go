package store

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/behaviour/assert"
)

// suite is what the tests of the guarantees have: a database with nothing in it. Each guarantee that the packages
// journal, task, user and node state is a test named after it, which both kinds of database pass.
type suite struct {
	*testing.T
	db  *DB
	ctx context.Context
}

// keeps passes tests on each kind of database.
func keeps(t *testing.T, groups ...map[string]func(*suite)) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		for _, tests := range groups {
			for name, test := range tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(&suite{t, openedAt(t, place(t)), t.Context()})
				})
			}
		}
	})
}

// keepsShared passes tests of two handles on one database.
func keepsShared(t *testing.T, tests map[string]func(one, two *suite)) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				address := place(t)
				test(&suite{t, openedAt(t, address), t.Context()}, &suite{t, openedAt(t, address), t.Context()})
			})
		}
	})
}

func TestJournalKeepsTheGuarantees(t *testing.T) {
	keeps(t, sessionTests, beginTests, appendTests, contentTests, pendingTests, leaseTests, listTests, callTests,
		removalTests, findTests, usedTests)
}

func TestTasksKeepTheGuarantees(t *testing.T) {
	keeps(t, taskTests, keyTests, taskListTests, undoTests)
}

func TestUsersAndNodesKeepTheGuarantees(t *testing.T) { keeps(t, userTests, tokenTests, nodeTests) }

func TestHandlesOnOneDatabaseKeepTheGuarantees(t *testing.T) { keepsShared(t, sharedTests) }

func after(d time.Duration) time.Time { return noon.Add(d) }

// fails wants errors to match target.
func (s *suite) fails(target error, errs ...error) {
	s.Helper()
	for i, err := range errs {
		assert.That(s, errors.Is(err, target), "error %d is %v, want one that matches %q", i, err, target)
	}
}

func (s *suite) same(what string, got, want any) {
	s.Helper()
	if !reflect.DeepEqual(want, got) { // cmp goes through megabytes byte by byte
		assert.NoDiff(s, cmp.Diff(want, got, cmpopts.EquateEmpty()), "%s (-want +got)", what)
	}
}

// rows are all that is kept, by table.
func (s *suite) rows() map[string][]Row {
	s.Helper()
	return rowsOf(s.T, s.db)
}

func rowsOf(t *testing.T, db *DB) map[string][]Row {
	t.Helper()
	all := map[string][]Row{}
	assert.NoError(t, db.ReadAll(t.Context(), func(rows func(Table) iter.Seq2[Row, error]) error {
		for _, table := range Tables() {
			for row, err := range rows(table) {
				if err != nil {
					return err
				}
				all[table.Name] = append(all[table.Name], slices.Clone(row))
			}
		}
		return nil
	}))
	return all
}

// unchanged wants do to change nothing.
func (s *suite) unchanged(do func()) {
	s.Helper()
	before := s.rows()
	do()
	s.same("changed by a call that was to change nothing", s.rows(), before)
}

// ended makes calls with a context that has ended, which is to be their error, and to change nothing.
func (s *suite) ended(calls func(ctx context.Context) map[string]error) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	s.unchanged(func() {
		for name, err := range calls(ctx) {
			assert.That(s, errors.Is(err, context.Canceled), "%s: %v, want context.Canceled", name, err)
		}
	})
}

// together calls do with each number below n at once, and returns the errors by number.
func together(n int, do func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			errs[i] = do(i)
		})
	}
	close(start)
	all.Wait()
	return errs
}

// oneWins calls do as together does, and wants one call to succeed and the others to fail so. It returns which did.
func (s *suite) oneWins(n int, refused error, do func(i int) error) (winner int) {
	s.Helper()
	errs := together(n, do)
	winner = slices.Index(errs, nil)
	assert.Require(s, winner >= 0, "nobody succeeded: %v", errs)
	s.fails(refused, slices.Delete(slices.Clone(errs), winner, winner+1)...)
	return winner
}

// idsOf are the ids of entries of a list.
func idsOf[E any](list []E, id func(E) string) []string {
	ids := make([]string, len(list))
	for i, e := range list {
		ids[i] = id(e)
	}
	return ids
}
