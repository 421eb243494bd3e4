package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/run"
)

func TestRunWithoutRoomIsRecordedAndDrivenByWhoeverHasRoom(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		release := w.holds("a", false)
		one := w.engine(store, "one", func(c *run.Config) { c.MostRuns = 1 })
		first := start(t, one, `<Do what="r:a" got="{got}"/>`)
		k, live, err := one.Submit(t.Context(), spec(`<Do what="r:b" got="{got}"/>`))
		assert.Require(t, err == nil && live == nil, "submitted without room: %v, %v", live, err)
		row := statusOf(t, store, k.Run)
		same(t, "who holds it", row.LeaseHolder, "")
		_, err = one.ResumeFound(t.Context(), k)
		assert.That(t, errors.Is(err, run.ErrNoRoom), "taking it up without room gives %v", err)
		_, err = one.Resume(t.Context(), k.Owner, k.Run, run.AtOnce)
		assert.That(t, errors.Is(err, run.ErrNoRoom), "resuming it without room gives %v", err)
		stranded, err := store.Stranded(t.Context(), journal.LeaseTimes{Now: time.Now()}, 10)
		assert.That(t, err == nil && len(stranded) == 1 && stranded[0].ID == k.Run, "waiting are %v, %v", stranded, err)
		taken := assert.Must(w.engine(store, "two").ResumeFound(t.Context(), k))(t)
		_, r := wait(t, taken)
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "B"})
		same(t, "records", kinds(records(t, store, k.Run)), []string{"start", "resume", "completion", "trace", "end"})
		same(t, "effects performed again",
			len(all[run.ResumeRecord](t, records(t, store, k.Run), run.KindResume)[0].Repeated), 0)
		release()
		wait(t, first)
	})
}

func TestRunThatWasSubmittedOutlivesItsRequestAndOneThatIsNotRecordedByThenIsNone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		release := w.holds("a", false)
		ctx, cancel := context.WithCancel(t.Context())
		k, live, err := w.engine(store, "one").Submit(ctx, spec(`<Do what="r:a" got="{got}"/>`))
		assert.NoError(t, err)
		gone := make(chan error)
		go func() {
			_, _, err := w.engine(hanging(store), "two").Submit(ctx, spec(`<Do what="r:b" got="{got}"/>`))
			gone <- err
		}()
		synctest.Wait()
		cancel()
		assert.ErrorIsf(t, <-gone, context.Canceled, "what was not recorded")
		pass(time.Minute)
		release()
		_, r := wait(t, live)
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
		runs, err := store.Runs(t.Context(), ada, journal.Filter{})
		assert.That(t, err == nil && len(runs) == 1 && runs[0].ID == k.Run, "the runs are %v, %v", runs, err)
	})
}

func TestRunThatRestsIsResumedAtOnceWhereThereIsRoom(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		w.busy("a")
		e := w.engine(store, "one", func(c *run.Config) { c.MostRuns = 1 })
		live := start(t, e, `<Do what="r:a" got="{got}"/>`)
		wait(t, live)
		row := statusOf(t, store, live.ID)
		assert.Require(t, row.Rests(journal.LeaseTimes{Now: time.Now()}), "it does not rest: %v", row)
		again := assert.Must(e.Resume(t.Context(), ada, live.ID, run.AtOnce))(t)
		wait(t, again)
		same(t, "room after it", e.Room(), 1)
		_, err := e.Resume(t.Context(), ada, "nowhere", run.AtOnce)
		assert.That(t, errors.Is(err, journal.ErrNotFound), "resuming no run gives %v", err)
		same(t, "room after an error", e.Room(), 1)
	})
}

func TestRoomThatBecomesFreeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.engine(localStore(t), "one", func(c *run.Config) { c.MostRuns = 2 })
		release := w.holds("a", false)
		live := start(t, e, `<Do what="r:a" got="{got}"/>`)
		same(t, "room while it goes on", e.Room(), 1)
		release()
		wait(t, live)
		select {
		case <-e.Vacancy():
		case <-time.After(time.Minute):
			t.Fatal("nothing was told within a minute")
		}
		same(t, "room", e.Room(), 2)
	})
}

func TestSuspendedRunRestsTheLongerTheOftenerItWasInVain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		w.busy("b")
		e := w.engine(store, "one")
		live := start(t, e, `<Sequence><Do what="r:a" got="{got}"/><Do what="r:b" got="{got}"/></Sequence>`)
		wait(t, live)
		var rests []time.Duration
		for range 8 {
			row := statusOf(t, store, live.ID)
			assert.Require(t, row.Rests(journal.LeaseTimes{Now: time.Now()}), "it does not rest: %v", row)
			rests = append(rests, time.Until(row.LeaseUntil).Round(time.Second))
			pass(time.Until(row.LeaseUntil))
			assert.Require(t, waits(row), "nobody takes it up after its rest")
			again := assert.Must(e.ResumeFound(t.Context(), journal.Key{Owner: ada, Run: live.ID}))(t)
			wait(t, again)
		}
		same(t, "rests", rests, []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute,
			16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour})
	})
}

func TestRunThatProcessesLeaveInOrderIsNeverSetAside(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		release := w.holds("a", false)
		at := w.engine(store, "first")
		live := start(t, at, `<Do what="r:a" got="{got}"/>`)
		for n := range 8 {
			ctx, cut := context.WithTimeout(t.Context(), time.Second)
			at.Drain(ctx)
			cut()
			stopsShort(t, live, run.ErrLeft)
			at = w.engine(store, fmt.Sprint("restarted ", n))
			var err error
			live, err = at.ResumeFound(t.Context(), journal.Key{Owner: ada, Run: live.ID})
			assert.Require(t, err == nil, "take-up %d: %v", n+1, err)
		}
		release()
		_, r := wait(t, live)
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
	})
}

func TestRunThatIsTakenUpInVainAgainAndAgainIsSetAside(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		body := `<Do what="r:a" got="{got}"/>`
		k := journal.Key{Owner: ada, Run: crash(t, w, store, body, 2, false)} // the second write would be the receipt
		for i := range 5 {
			live, err := w.engine(&journaltest.Mortal{Store: store, At: 2}, "dies too").ResumeFound(t.Context(), k)
			assert.NoErrorf(t, err, "take-up %d", i+1)
			stopsShort(t, live, journaltest.ErrDead)
			pass(lease)
		}
		_, err := w.engine(store, "careful").ResumeFound(t.Context(), k)
		assert.Require(t, errors.Is(err, run.ErrResting), "the sixth take-up gives %v", err)
		row := statusOf(t, store, k.Run)
		same(t, "rests", time.Until(row.LeaseUntil).Round(time.Hour), 24*time.Hour)
		_, r := wait(t, resume(t, w.engine(store, "asked"), k.Run))
		same(t, "outcome when a person resumes it", r.Got, "A")
	})
}

func TestRunThatCanNotGoOnIsNotTakenUpAgainAtOnce(t *testing.T) {
	for cause, rests := range map[error]bool{journal.ErrInvalid: true, journal.ErrFull: true, journal.ErrLocked: false,
		journal.ErrUnreachable: false} {
		inWorld(t, func(t *testing.T, w *world, store journal.Store) {
			var log bytes.Buffer
			e := w.engine(endless(store, cause), "one", func(c *run.Config) {
				c.Log = slog.New(slog.NewJSONHandler(&log, nil))
			})
			live := start(t, e, `<Do what="r:a" got="{got}"/>`)
			stopsShort(t, live, cause)
			if text := log.String(); !strings.Contains(text, live.ID) || !strings.Contains(text, cause.Error()) {
				t.Errorf("%v: the log is %s", cause, text)
			}
			for range 2 { // it breaks again
				row := statusOf(t, store, live.ID)
				assert.Equalf(t, !waits(row), rests, "%v: rests", cause)
				pass(time.Minute)
				row = statusOf(t, store, live.ID)
				assert.That(t, waits(row), "%v: after a minute it is left out", cause)
				again := assert.Must(e.ResumeFound(t.Context(), journal.Key{Owner: ada, Run: live.ID}))(t)
				stopsShort(t, again, cause)
			}
			_, r := wait(t, resume(t, w.engine(store, "asked"), live.ID))
			same(t, "outcome when a person resumes it", r.Got, "A")
		})
	}
}

func TestRunForWhichThisProcessLacksSomethingIsLeftToOthers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		release := w.holds("a", false)
		var lack atomic.Pointer[error]
		one := w.engine(store, "one", func(c *run.Config) {
			c.Assistants[0].Lacks = func(context.Context) error {
				if err := lack.Load(); err != nil {
					return *err
				}
				return nil
			}
		})
		live := start(t, one, `<Do what="r:a" got="{got}"/>`)
		k := journal.Key{Owner: ada, Run: live.ID}
		gone, cut := context.WithCancel(t.Context())
		cut()
		one.Drain(gone)
		missing := errors.New("no folder is mounted")
		lack.Store(&missing)
		again := w.engine(store, "again", func(c *run.Config) { c.Assistants[0].Lacks = one.Assistant("tester").Lacks })
		stranded, err := again.Stranded(t.Context(), 10)
		assert.That(t, err == nil && len(stranded) == 0, "it would take up %v, %v", stranded, err)
		_, err = again.ResumeFound(t.Context(), k)
		assert.ErrorIsf(t, err, missing, "taking it up")
		row := statusOf(t, store, k.Run)
		same(t, "the run", []any{row.Status, row.LeaseHolder, row.Tries}, []any{journal.Running, "", 0})
		two := w.engine(store, "two")
		stranded, err = two.Stranded(t.Context(), 10)
		assert.That(t, err == nil && len(stranded) == 1, "another would take up %v, %v", stranded, err)
		lack.Store(nil)
		release()
		_, r := wait(t, assert.Must(again.ResumeFound(t.Context(), k))(t))
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
	})
}
