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

// feed hands updates of a run to watchers. It keeps all records and steps, and of each operation the text that it has
// said: what an operation says costs no more than the text, however small its pieces are.
type feed struct {
	mu      sync.Mutex
	log     []entry
	drafts  map[uint64]*draft // of operations under way
	changed chan struct{}     // nil while nobody waits
	closed  bool
	ended   bool // with the run
}

// entry is one of an update of a record or a step, and a draft, which stands where its first piece came.
type entry struct {
	Update
	at    int64 // the record that the update belongs to
	draft *draft
}

// draft is what an operation has said since it last retracted.
type draft struct {
	op      uint64
	text    []byte
	attempt int
	wait    *Wait // the last pause, which whoever comes late is told too while it lasts
	posted  bool
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
		if !d.posted {
			d.posted = true
			f.log = append(f.log, entry{draft: d})
		}
		if p.Retract {
			d.text, d.attempt = nil, d.attempt+1
		}
		d.text = append(d.text, p.Text...)
		d.wait = p.Wait // text ends a pause
	})
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
			d.text, d.attempt = nil, d.attempt+1
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

// reader is a watcher's place in a feed.
type reader struct {
	next  int // of the log
	heard map[*draft]heard
}

// heard is how much of a draft a watcher has seen.
type heard struct {
	attempt, bytes int
	wait           *Wait
}

// since gives the updates that r has not seen, from record number from on. changed is closed once there are more; it is
// nil when there will be none.
func (f *feed) since(r *reader, from int64) (fresh []Update, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for d, h := range r.heard {
		fresh = r.hear(d, h, fresh)
		if f.drafts[d.op] != d {
			delete(r.heard, d)
		}
	}
	for i := r.next; i < len(f.log); i++ {
		e := &f.log[i]
		switch {
		case e.draft != nil:
			fresh = r.hear(e.draft, heard{}, fresh)
			if f.drafts[e.draft.op] != e.draft {
				delete(r.heard, e.draft)
			}
		case e.at >= from:
			fresh = append(fresh, e.Update)
		}
	}
	r.next = len(f.log)
	if f.closed {
		return fresh, nil
	}
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return fresh, f.changed
}

// hear adds what a draft says beyond what was heard of it.
func (r *reader) hear(d *draft, h heard, fresh []Update) []Update {
	if h.attempt != d.attempt {
		if h.bytes > 0 {
			fresh = append(fresh, Update{Piece: &Piece{Op: d.op, Retract: true}})
		}
		h.bytes = 0
	}
	if len(d.text) > h.bytes {
		fresh = append(fresh, Update{Piece: &Piece{Op: d.op, Text: string(d.text[h.bytes:])}, Draft: d.text[:len(d.text):len(d.text)], Settled: d.settled})
	}
	if d.wait != nil && d.wait != h.wait {
		fresh = append(fresh, Update{Piece: &Piece{Op: d.op, Wait: d.wait}})
	}
	r.heard[d] = heard{d.attempt, len(d.text), d.wait}
	return fresh
}

// Watch gives the updates of the run from record number from on, then live ones until the run ends, this process stops
// driving it, or ctx is done. Whoever comes late gets all records and steps, and what the operations have said, as one
// piece each.
func (l *Live) Watch(ctx context.Context, from int64) iter.Seq[Update] {
	return func(yield func(Update) bool) { l.feed.watch(ctx, from, yield) }
}

// watch shows the updates until there will be no more; false if ctx was done or show had enough before.
func (f *feed) watch(ctx context.Context, from int64, show func(Update) bool) bool {
	r := &reader{heard: map[*draft]heard{}}
	for {
		fresh, changed := f.since(r, from)
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
