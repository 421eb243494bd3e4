package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/store/teststore"
)

// sweep calls retire on a journal with so many sessions that were used 40 days ago, one that was used the day before
// yesterday, and one that was used today. What is too old now was marked long enough ago.
func sweep(
	t *testing.T, old int, retention time.Duration, broken func(journal.Store) journal.Store,
) (said string, left int, err error) {
	t.Helper()
	ago := append([]time.Duration{0, 2 * day}, slices.Repeat([]time.Duration{40 * day}, old)...)
	// a time that stands still while the database works
	synctest.Test(t, func(t *testing.T) { said, left, err = sweepNow(t, retention, broken, ago...) })
	return said, left, err
}

func sweepNow(
	t *testing.T, retention time.Duration, broken func(journal.Store) journal.Store, ago ...time.Duration,
) (said string, left int, err error) {
	t.Helper()
	var store journal.Store = teststore.Empty(t)
	for i, d := range ago {
		used := time.Now().Add(-d)
		s := journal.Session{ID: fmt.Sprint(i), Owner: app.Owner, Assistant: "some", CreatedAt: used, UpdatedAt: used}
		first := journal.Run{ID: s.ID, Session: s.ID, Owner: s.Owner, StartedAt: used}
		assert.NoError(t, store.Begin(t.Context(), journal.Beginning{Run: first, Session: &s}))
	}
	whole := store
	if broken != nil {
		store = broken(store)
	}
	var out strings.Builder
	c := &command{Streams: Streams{Out: &out, Err: &out}, user: string(app.Owner)}
	some := &assistant.Assistant{Assistant: &run.Assistant{Name: "some"}, Retention: retention}
	permanent := &assistant.Assistant{Assistant: &run.Assistant{Name: "another"}, Retention: time.Hour, Permanent: true}
	uses, err := service.New(service.Config{Store: store, Assistants: []*assistant.Assistant{some, permanent}})
	assert.NoError(t, err)
	a := &app.App{Store: store, Service: uses}
	a.Config.DataDir = t.TempDir()
	marks := fmt.Appendf(nil, `{"settled":%[1]q,"marked":%[1]q,"looked":%[1]q}`, time.Now().Format(time.RFC3339))
	assert.NoError(t, os.WriteFile(app.MarksFile(a.Config.DataDir), marks, 0o600))
	err = c.retire(t.Context(), a)
	all := assert.Must(whole.Sessions(t.Context(), app.Owner, journal.SessionFilter{Limit: 1000}))(t)
	return out.String(), len(all), err
}

func TestSweepRemovesFewSessionsAtATimeAndSaysHowMany(t *testing.T) {
	for _, c := range []struct {
		old       int
		retention time.Duration
		said      string
		left      int
	}{
		{0, 30 * day, "", 2},
		{1, 30 * day, "· 1 session not used for 30 days was removed\n", 2},
		{3, 36 * time.Hour, "· 4 sessions not used for 36h0m0s were removed\n", 1},
		{3, 41 * day, "", 5},
		{3, 0, "", 5},
		{sweepSessions + 5, 30 * day, fmt.Sprintf("· %d sessions not used for 30 days were removed\n", sweepSessions),
			7},
	} {
		said, left, err := sweep(t, c.old, c.retention, nil)
		assert.That(t, said == c.said && left == c.left && err == nil,
			"%d old sessions, kept for %v: says %q, leaves %d, error %v; want %q and %d", c.old, c.retention, said, left, err,
			c.said, c.left)
	}
}

// failing is a journal that can't remove.
type failing struct {
	journal.Store
	retire func(context.Context) error
}

func (f failing) Retire(ctx context.Context, _ journal.Owner, _ journal.IdleFilter) ([]journal.Tombstone, error) {
	return nil, f.retire(ctx)
}

func TestSweepThatCannotBeDoneNowIsLeftToTheNext(t *testing.T) {
	for name, c := range map[string]struct {
		retire func(context.Context) error
		silent bool
	}{
		"read-only": {func(context.Context) error { return fmt.Errorf("x: %w", journal.ErrReadOnly) }, true},
		"locked":    {func(context.Context) error { return fmt.Errorf("x: %w", journal.ErrLocked) }, true},
		"full":      {func(context.Context) error { return fmt.Errorf("x: %w", journal.ErrFull) }, true},
		"slow":      {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, true},
		"damaged":   {func(context.Context) error { return fmt.Errorf("x: %w", journal.ErrCorrupt) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			said, left, err := sweep(t, 3, 30*day, func(s journal.Store) journal.Store { return failing{s, c.retire} })
			assert.That(t, said == "" && left == 5 && (err == nil) == c.silent, "says %q, leaves %d, error %v", said, left, err)
			assert.That(t, c.silent || errors.Is(err, journal.ErrCorrupt), "error is %v, want ErrCorrupt", err)
		})
	}
}
