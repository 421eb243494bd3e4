package telemetry

import (
	"sync"
	"time"

	"sibyl/internal/model"
)

// Minute is what this process did in one minute.
type Minute struct {
	At            time.Time `json:"at" doc:"Its beginning."` // in UTC
	Effects       int       `json:"effects" doc:"That were performed: searches, reads, requests to models, writes."`
	Failed        int       `json:"failed" doc:"Of them."`
	EffectMS      int64     `json:"effect_ms" doc:"How long one took, on average."`
	SlowestEffect int64     `json:"slowest_effect_ms"`
	Requests      int       `json:"requests" doc:"To models."` // each attempt by itself
	Unanswered    int       `json:"unanswered" doc:"Of them."`
	ModelMS       int64     `json:"model_ms" doc:"How long one that was answered took, on average."`
	SlowestModel  int64     `json:"slowest_model_ms"`
	Input         int       `json:"input_tokens" doc:"That models read."`
	Output        int       `json:"output_tokens" doc:"That models wrote."`
	Cached        int       `json:"cached_tokens" doc:"Of those read, the ones that a provider had cached."`

	effectTime, modelTime time.Duration // of all effects, and of all requests that were answered
}

// mean is how long one of so many took, in milliseconds.
func mean(all time.Duration, many int) int64 {
	return (all / time.Duration(max(many, 1))).Milliseconds()
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
		m.effectTime += took
		m.EffectMS = mean(m.effectTime, m.Effects)
		m.SlowestEffect = max(m.SlowestEffect, took.Milliseconds())
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
			m.modelTime += took
			m.ModelMS = mean(m.modelTime, m.Requests-m.Unanswered)
			m.SlowestModel = max(m.SlowestModel, took.Milliseconds())
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
