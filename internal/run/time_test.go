package run_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// takes makes a read last.
func (w *world) takes(name string, d time.Duration) {
	w.do[name] = func(ctx context.Context, _ run.Job) (any, error) {
		select {
		case <-time.After(d):
			return name, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func TestDelayAndTimeoutActAtTheirRunTime(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		took time.Duration
		got  string
	}{
		"a delay": {`<Delay delay_msec="1500"><Do what="r:a" got="{got}"/></Delay>`,
			1500 * time.Millisecond, "A"},
		"a timeout": {
			`<Fallback><Timeout msec="2000"><Do what="r:slow" got="{got}"/></Timeout><Add add="late" got="{got}"/></Fallback>`, 2 * time.Second, "late"},
		"a timeout that is kept": {`<Timeout msec="9000"><Do what="r:slow" got="{got}"/></Timeout>`, 5 * time.Second,
			"slow"},
		"the earlier of two": {
			`<Fallback><Timeout msec="4000"><Delay delay_msec="1000"><Do what="r:slow" got="{got}"/></Delay></Timeout><Add add="late" got="{got}"/></Fallback>`, 4 * time.Second, "late"},
	} {
		bubble(t, name, func(t *testing.T) {
			w := newWorld(t)
			w.takes("slow", 5*time.Second)
			began := time.Now()
			end, r := wait(t, start(t, w.engine(localStore(t), "one"), c.body))
			same(t, "outcome", r, result{Ended: "SUCCESS", Got: c.got})
			same(t, "time taken", time.Since(began), c.took)
			same(t, "run time at the end", end.Now, c.took.Milliseconds())
		})
	}
}

func TestRunTimeStandsStillWhileNobodyDrives(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		w.takes("a", 10*time.Second)
		w.takes("b", 5*time.Second)
		id := crash(t, w, store,
			`<Timeout msec="60000"><Sequence><Do what="r:a" got="{got}"/><Do what="r:b" got="{got}"/></Sequence></Timeout>`, 3, false)
		w.takes("b", time.Hour)
		pass(time.Hour)
		began := time.Now()
		end, r := wait(t, resume(t, w.engine(store, "two"), id))
		same(t, "fault", r.Fault.Kind, "timeout")
		same(t, "what was left of a minute after the last record", time.Since(began), 50*time.Second)
		same(t, "run time at the end", end.Now, int64(60_000))
	})
}

func TestTimerThatIsOverdueActsAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		w.opened = func(context.Context, *run.View) error { pass(time.Hour); return nil }
		began := time.Now()
		e := w.engine(store, "one", func(c *run.Config) { c.Clock = strict{t} })
		live := start(t, e, `<Delay delay_msec="1500"><Add add="done" got="{got}"/></Delay>`)
		_, r := wait(t, live)
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "done"})
		same(t, "time taken", time.Since(began), time.Hour)
		same(t, "time records", all[run.TimeRecord](t, records(t, store, live.ID), run.KindTime),
			[]run.TimeRecord{{Now: time.Hour.Milliseconds()}})
	})
}

// strict is a clock that refuses to wait for less than nothing.
type strict struct{ t *testing.T }

func (strict) Now() time.Time { return time.Now() }

func (s strict) After(d time.Duration) (<-chan time.Time, func()) {
	assert.That(s.t, d >= 0, "a timer of %s was asked for", d)
	timer := time.NewTimer(d)
	return timer.C, func() { timer.Stop() }
}

// hasty is a clock that stands still, and whose timers of less than a second fire at once.
type hasty struct{ at time.Time }

func (h hasty) Now() time.Time { return h.at }

func (h hasty) After(d time.Duration) (<-chan time.Time, func()) {
	if d >= time.Second { // a heartbeat, or a grace
		return nil, func() {}
	}
	c := make(chan time.Time, 1)
	c <- h.at
	return c, func() {}
}

func TestTimerThatFiresEarlyCountsAsDue(t *testing.T) {
	w := newWorld(t)
	store := localStore(t)
	e := w.engine(store, "one", func(c *run.Config) { c.Clock = hasty{time.Now()} })
	live := start(t, e, `<Sequence><Delay delay_msec="500"><AlwaysSuccess/></Delay><Delay delay_msec="300"><AlwaysSuccess/></Delay></Sequence>`)
	wait(t, live)
	same(t, "time records", all[run.TimeRecord](t, records(t, store, live.ID), run.KindTime),
		[]run.TimeRecord{{Now: 500}, {Now: 800}})
}

func TestReceiptSaysHowLongItsEffectTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := localStore(t)
		w.takes("a", 1250*time.Millisecond)
		live := start(t, w.engine(store, "one"), `<Delay delay_msec="1000"><Do what="r:a" got="{got}"/></Delay>`)
		wait(t, live)
		c := all[run.CompletionRecord](t, records(t, store, live.ID), run.KindCompletion)[0]
		same(t, "time taken", c.TookMS, int64(1250))
		same(t, "run time", c.Now, int64(2250))
	})
}
