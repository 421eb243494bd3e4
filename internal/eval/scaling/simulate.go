package scaling

import (
	"container/heap"
	"math/rand/v2"
)

// clock is a time that jumps from one event to the next, in seconds.
type clock struct {
	now    float64
	events events
	made   int
}

// event is something that happens at a time; of two at one time the one that was planned first comes first.
type event struct {
	at   float64
	turn int
	do   func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].turn < e[j].turn
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// after has something happen in so many seconds.
func (c *clock) after(seconds float64, do func()) {
	c.made++
	heap.Push(&c.events, event{c.now + seconds, c.made, do})
}

// until lets all happen that happens before a moment.
func (c *clock) until(end float64) {
	for len(c.events) > 0 && c.events[0].at < end {
		e := heap.Pop(&c.events).(event)
		c.now = e.at
		e.do()
	}
	c.now = end
}

// place is where something is had by so many at once; others wait in a line.
type place struct {
	*clock
	most, taken int
	line        []func()
	used        float64 // seconds that were taken, of all together
	since       float64 // when taken changed last
}

// note adds up what was taken until now.
func (p *place) note() {
	p.used += float64(p.taken) * (p.now - p.since)
	p.since = p.now
}

// enter calls in when there is room, with how long that took.
func (p *place) enter(in func(waited float64)) {
	came := p.now
	if p.taken < p.most {
		p.note()
		p.taken++
		in(0)
		return
	}
	p.line = append(p.line, func() { in(p.now - came) })
}

// leave gives the room to the first in the line.
func (p *place) leave() {
	if len(p.line) > 0 {
		next := p.line[0]
		p.line = p.line[1:]
		next()
		return
	}
	p.note()
	p.taken--
}

// serve takes room for so many seconds, and then calls done with how long it waited before.
func (p *place) serve(seconds float64, done func(waited float64)) {
	p.enter(func(waited float64) {
		p.after(seconds, func() {
			p.leave()
			done(waited)
		})
	})
}

// disk writes for all who wait at once, in the same time.
type disk struct {
	*clock
	takes float64
	line  []func()
	busy  bool
}

// flush calls done when what was there by now is written, with how long that took.
func (d *disk) flush(done func(took float64)) {
	came := d.now
	d.line = append(d.line, func() { done(d.now - came) })
	if !d.busy {
		d.write()
	}
}

func (d *disk) write() {
	group := d.line
	d.line, d.busy = nil, len(group) > 0
	if !d.busy {
		return
	}
	d.after(d.takes, func() {
		for _, done := range group {
			done()
		}
		d.write()
	})
}

// waits are the seconds that a run waited: for room to be driven, for a processor of a node, for one of the database, for its disk.
type waits struct{ room, node, database, disk, whole float64 }

// system is what runs go through.
type system struct {
	clock
	plan                 plan
	random               *rand.Rand
	room, node, database place
	disk                 disk
	counted              bool // what ends, from here on
	runs                 []waits
}

// plan is a system in seconds and numbers.
type plan struct {
	arrivals                    float64 // a second
	room, processors, databases int
	writes, turns               int
	node, database, disk, think float64 // of one write, and of one turn of the model
	upkeep                      float64 // of the database's processors, in each second
	seed                        uint64
}

func newSystem(p plan) *system {
	s := &system{plan: p, random: rand.New(rand.NewPCG(p.seed, 42))} //nolint:gosec // the same seed must give the same figures
	s.room = place{clock: &s.clock, most: p.room}
	s.node = place{clock: &s.clock, most: p.processors}
	s.database = place{clock: &s.clock, most: p.databases}
	s.disk = disk{clock: &s.clock, takes: p.disk}
	return s
}

// about is a random time with this mean, as short as it is likely to be (an exponential distribution).
func (s *system) about(mean float64) float64 { return s.random.ExpFloat64() * mean }

// simulate lets runs come for so many seconds, and counts what ends after the warmup.
func simulate(p plan, seconds float64) *system {
	s := newSystem(p)
	s.arrive()
	s.look()
	s.until(seconds * warmup)
	places := []*place{&s.room, &s.node, &s.database}
	for _, p := range places {
		p.note()
		p.used = 0
	}
	s.counted = true
	s.until(seconds)
	for _, p := range places {
		p.note()
	}
	return s
}

func (s *system) arrive() {
	s.after(s.about(1/s.plan.arrivals), func() {
		s.arrive()
		w, came := &waits{}, s.now
		s.room.enter(func(waited float64) {
			w.room = waited
			s.step(w, 0, func() {
				s.room.leave()
				w.whole = s.now - came
				if s.counted {
					s.runs = append(s.runs, *w)
				}
			})
		})
	})
}

// look is what nodes ask the database besides.
func (s *system) look() {
	s.after(1, func() {
		s.look()
		s.database.serve(s.plan.upkeep, func(float64) {})
	})
}

// step is a write of a run with all before it: the first few of them wait for the model.
func (s *system) step(w *waits, n int, done func()) {
	if n == s.plan.writes {
		done()
		return
	}
	think := 0.0
	if 0 < n && n <= s.plan.turns {
		think = s.about(s.plan.think)
	}
	s.after(think, func() {
		s.node.serve(s.about(s.plan.node), func(waited float64) {
			w.node += waited
			s.database.serve(s.about(s.plan.database), func(waited float64) {
				w.database += waited
				s.disk.flush(func(took float64) {
					w.disk += took
					s.step(w, n+1, done)
				})
			})
		})
	})
}
