package app

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
)

const day = 24 * time.Hour

// settledAgo is whether what was too old so long ago may go.
func settledAgo(t *testing.T, a *App, ago time.Duration) bool {
	t.Helper()
	at := assert.Must(a.Settled())(t)
	return !at.Before(time.Now().Add(-ago))
}

// onFolder is a process on a data folder.
func onFolder(data string) *App { return &App{Config: config.Config{DataDir: data}} }

// another is a process on the data folder of a.
func (a *App) another() *App { return onFolder(a.Config.DataDir) }

func TestWhatIsTooOldGoesADayOfRunningTimeAfterItWasMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := onFolder(t.TempDir())
		for range 24 {
			assert.That(t, !settledAgo(t, a, 2*day), "it may go before a day has passed")
			<-time.After(time.Hour)
		}
		assert.That(t, settledAgo(t, a, day) && !settledAgo(t, a, day-time.Minute),
			"after a day, not all of what was marked may go, or more than that")
		assert.That(t, settledAgo(t, a.another(), day), "another process does not know of it")
	})
}

func TestTimeOfProcessesThatRunTogetherCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := onFolder(t.TempDir())
		b := a.another()
		for range 23 {
			assert.That(t, !settledAgo(t, a, 2*day) && !settledAgo(t, b, 2*day), "it may go before a day has passed")
			<-time.After(time.Hour)
		}
	})
}

func TestTimeBetweenProcessesCountsForAFewHoursAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := onFolder(t.TempDir())
		for n := range 4 {
			assert.That(t, !settledAgo(t, a.another(), 400*day), "what was marked may go after %d processes", n)
			<-time.After(30 * day) // as far as the clock tells
		}
		assert.That(t, settledAgo(t, a.another(), 120*day),
			"what was marked may not go after four processes that came long after each other")
	})
}

func TestClockThatLeapsForAWhileMakesNothingOld(t *testing.T) {
	now := time.Now()
	var m marks
	m.mark(now, 0)
	for range 23 {
		m.mark(now.Add(365*day), time.Hour)
	}
	m.mark(now.Add(365*day), time.Hour) // what was marked before the leap
	assert.That(t, m.Settled.Equal(now), "%s may go, want %s", m.Settled, now)
	for range 23 {
		m.mark(now.Add(366*day), time.Hour)
	}
	assert.That(t, m.Settled.Equal(now), "with a clock that leapt for less than a day, %s may go", m.Settled)
	m.mark(now.Add(2*day), time.Hour)
	for range 23 {
		m.mark(now.Add(3*day), time.Hour)
	}
	assert.That(t, m.Settled.Equal(now), "with the clock right again, %s may go", m.Settled)
	m.mark(now.Add(-day), 0)
	assert.That(t, m.Settled.IsZero(), "with a clock that went back, %s may go", m.Settled)
}

func TestMarksThatCanNotBeReadMarkNothing(t *testing.T) {
	a := onFolder(t.TempDir())
	write(t, a.Config.DataDir, filepath.Base(MarksFile("")), "{")
	at, err := a.Settled()
	assert.That(t, err == nil && at.IsZero(), "%v, %v", at, err)
}
