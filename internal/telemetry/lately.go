package telemetry

import (
	"sync"
	"time"

	"sibyl/internal/model"
)

// Minute is what this process did in one minute.
type Minute struct {
	At time.Time // its beginning, in UTC

	Effects, Failed int           // that were performed; Failed of them with a fault
	EffectTime      time.Duration // of all of them
	SlowestEffect   time.Duration

	Requests, Unanswered int           // to models, each attempt by itself; Unanswered of them failed
	ModelTime            time.Duration // of those that were answered
	SlowestModel         time.Duration

	Input, Output, Cached int // tokens that models read and wrote; Cached of those read
}

// remembered is how many minutes are looked back on.
const remembered = 60

// lately are the last minutes. It holds a minute where its time is, modulo how many there are.
type lately struct {
	mu      sync.Mutex
	minutes [remembered]Minute
}

// in changes the minute that goes on.
func (l *lately) in(change func(*Minute)) {
	at := time.Now().UTC().Truncate(time.Minute)
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.place(at)
	if !m.At.Equal(at) {
		*m = Minute{At: at}
	}
	change(m)
}

func (l *lately) place(at time.Time) *Minute {
	return &l.minutes[at.Unix()/60%remembered]
}

func (l *lately) effect(took time.Duration, failed bool) {
	l.in(func(m *Minute) {
		m.Effects++
		m.EffectTime += took
		m.SlowestEffect = max(m.SlowestEffect, took)
		if failed {
			m.Failed++
		}
	})
}

func (l *lately) request(took time.Duration, u model.Usage, err error) {
	l.in(func(m *Minute) {
		m.Requests++
		if err != nil {
			m.Unanswered++
		} else {
			m.ModelTime += took
			m.SlowestModel = max(m.SlowestModel, took)
		}
		m.Input += max(u.InputTokens, 0)
		m.Output += max(u.OutputTokens, 0)
		m.Cached += max(u.CachedTokens, 0)
	})
}

// Lately is what this process did in the last hour, minute by minute, the earliest first; the last one goes on.
func (t *Telemetry) Lately() []Minute {
	l := &t.lately
	now := time.Now().UTC().Truncate(time.Minute)
	all := make([]Minute, remembered)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range all {
		at := now.Add(time.Duration(i-remembered+1) * time.Minute)
		if all[i] = *l.place(at); !all[i].At.Equal(at) {
			all[i] = Minute{At: at}
		}
	}
	return all
}
