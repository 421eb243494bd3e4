package run

import (
	"context"
	"iter"
	"sync"

	"sibyl/internal/journal"
)

// Update is what a watcher sees: a record that was appended, what a step decided, a provisional piece of text, or that
// this process drives the run no longer, so that no text will come and what is provisional is void. Watchers share what
// it points to: it is not to be changed.
type Update struct {
	Record  *journal.Record
	Step    *TraceStep
	Piece   *Piece
	Draft   []byte // of a piece: all that its operation says by then
	Settled int64  // of a piece: the number of its operation's receipt, 0 while that is under way
	Left    bool
}

// feed hands updates of a run to watchers. It keeps them all, so that whoever comes late sees what the others saw.
type feed struct {
	mu      sync.Mutex
	log     []entry
	drafts  map[uint64]*draft // of operations under way
	changed chan struct{}     // nil while nobody waits
	closed  bool
	ended   bool // with the run
}

// entry is an update, and the record that one of a record or a step belongs to, or the draft that a piece does.
type entry struct {
	Update
	at    int64
	draft *draft
}

// draft is what an operation has said since it last retracted.
type draft struct {
	op      uint64
	text    []byte
	settled int64 // the number of the receipt
}

func newFeed() *feed { return &feed{drafts: map[uint64]*draft{}} }

// change does what changes the feed, and wakes the watchers.
func (f *feed) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

func (f *feed) record(r journal.Record) {
	f.change(func() { f.log = append(f.log, entry{Update: Update{Record: &r}, at: r.Seq}) })
}

// step posts the step that took in the last record.
func (f *feed) step(s TraceStep) {
	f.change(func() { f.log = append(f.log, entry{Update: Update{Step: &s}, at: s.Record}) })
}

// open lets the pieces of an operation in.
func (f *feed) open(op uint64) {
	f.mu.Lock()
	f.drafts[op] = &draft{op: op}
	f.mu.Unlock()
}

// piece posts a piece; one of an operation that is not under way any more is dropped.
func (f *feed) piece(p Piece) {
	f.change(func() {
		d := f.drafts[p.Op]
		if d == nil || f.closed {
			return
		}
		if p.Retract {
			f.retract(d)
		}
		if p.Text != "" {
			d.text = append(d.text, p.Text...)
			said := Update{Piece: &Piece{Op: p.Op, Text: p.Text}, Draft: d.text[:len(d.text):len(d.text)]}
			f.log = append(f.log, entry{Update: said, draft: d})
		}
		if p.Wait != nil {
			f.log = append(f.log, entry{Update: Update{Piece: &Piece{Op: p.Op, Wait: p.Wait}}, draft: d})
		}
	})
}

func (f *feed) retract(d *draft) {
	if len(d.text) > 0 {
		d.text = nil
		f.log = append(f.log, entry{Update: Update{Piece: &Piece{Op: d.op, Retract: true}}, draft: d})
	}
}

// settle ends the draft of an operation whose receipt has been posted as record seq.
func (f *feed) settle(op uint64, seq int64) {
	f.change(func() {
		if d := f.drafts[op]; d != nil {
			d.settled = seq
		}
		delete(f.drafts, op)
	})
}

// withdraw takes back what an operation said that will have no receipt.
func (f *feed) withdraw(op uint64) {
	f.change(func() {
		if d := f.drafts[op]; d != nil {
			f.retract(d)
		}
		delete(f.drafts, op)
	})
}

// close ends the feed: with its run, or before, because the run is to be watched elsewhere.
func (f *feed) close(ended bool) {
	f.change(func() { f.closed, f.ended = true, ended })
}

// over says that the feed ended with its run.
func (f *feed) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// since gives the updates from place next on in the log, those of records and steps from record number from on, and the
// place behind them. changed is closed once there are more; it is nil when there will be none.
func (f *feed) since(next int, from int64) (fresh []Update, behind int, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.log[next:] {
		if e.draft != nil {
			e.Settled = e.draft.settled
		}
		if e.draft != nil || e.at >= from {
			fresh = append(fresh, e.Update)
		}
	}
	if f.closed {
		return fresh, len(f.log), nil
	}
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return fresh, len(f.log), f.changed
}

// Watch gives the updates of the run from record number from on, then live ones until the run ends, this process stops
// driving it, or ctx is done. Whoever comes late gets all that there was.
func (l *Live) Watch(ctx context.Context, from int64) iter.Seq[Update] {
	return func(yield func(Update) bool) { l.feed.watch(ctx, from, yield) }
}

// watch shows the updates until there will be no more; false if ctx was done or show had enough before.
func (f *feed) watch(ctx context.Context, from int64, show func(Update) bool) bool {
	for next := 0; ; {
		fresh, behind, changed := f.since(next, from)
		next = behind
		for _, u := range fresh {
			if ctx.Err() != nil || !show(u) {
				return false
			}
		}
		if changed == nil {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}
