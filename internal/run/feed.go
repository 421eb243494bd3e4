package run

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"sync"

	"sibyl/internal/journal"
)

// Update is what a watcher sees: a record that was appended, what a step decided, or a piece of provisional text. Left
// means that this process drives the run no longer: no more text comes, and provisional text is void. Watchers share
// what it points to, so they must not change it.
type Update struct {
	Record  *journal.Record
	Step    *TraceStep
	Piece   *Piece
	Draft   []byte // of a piece: all text of its operation so far
	Thought []byte // of a piece without text: the last of what its operation's model has thought so far
	Settled int64  // of a piece: the number of its operation's receipt, 0 while that is under way
	Left    bool
}

// feed hands updates of a run to watchers. It keeps all records and steps, but of each operation only the text that is
// not retracted, so that streamed text needs little more memory than its bytes, however small the pieces are.
type feed struct {
	mu      sync.Mutex
	log     []entry
	drafts  map[uint64]*draft // of operations under way
	changed chan struct{}     // nil while nobody waits
	closed  bool
	ended   bool // with the run
}

// entry is an update of a record or a step, or a draft, at the place of its first piece.
type entry struct {
	Update
	at    int64 // the record that the update belongs to
	draft *draft
}

// draft is the text of an operation since it was last retracted.
type draft struct {
	op        uint64
	text      []byte
	stands    int   // bytes of text
	retracted int   // how often
	wait      *Wait // the pause that it is in
	reading   *Reading
	thought   []byte // the last of what a model thinks
	thoughts  int    // how often there was more of it
	posted    bool
	settled   int64 // the number of the receipt
}

func newFeed() *feed { return &feed{drafts: map[uint64]*draft{}} }

// change calls do, which changes the feed, and wakes the watchers.
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

// step posts the step that decided on the last record.
func (f *feed) step(s TraceStep) {
	f.change(func() { f.log = append(f.log, entry{Update: Update{Step: &s}, at: s.Record}) })
}

// open allows pieces of an operation.
func (f *feed) open(op uint64) {
	f.mu.Lock()
	f.drafts[op] = &draft{op: op}
	f.mu.Unlock()
}

// piece posts a piece; it drops one whose operation is no longer under way.
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
			d.retract()
		}
		d.text = append(d.text, p.Text...)
		d.stands = max(d.stands, p.Stands)
		d.think(p.Thinking)
		d.wait, d.reading = p.Wait, p.Reading // whatever else comes ends them
	})
}

// mostThought is how much of what a model thinks is kept for watchers, in bytes: the last of it.
const mostThought = 16 << 10

// think adds to what a model thinks. It must not overwrite the bytes: watchers may hold them.
func (d *draft) think(text string) {
	if text == "" {
		return
	}
	d.thoughts++
	if d.thought = append(d.thought, text...); len(d.thought) > 2*mostThought {
		d.thought = bytes.Clone(d.thought[len(d.thought)-mostThought:])
	}
}

// retract removes the text so far. It must not overwrite the bytes: watchers may hold them.
func (d *draft) retract() {
	d.text, d.thought, d.stands = nil, nil, 0
	d.wait, d.reading = nil, nil
	d.retracted++
}

// settleDraft ends the draft of an operation whose receipt has been posted as record seq.
func (f *feed) settleDraft(op uint64, seq int64) {
	f.change(func() {
		if d := f.drafts[op]; d != nil {
			d.settled = seq
			d.wait, d.reading, d.thought = nil, nil, nil
		}
		delete(f.drafts, op)
	})
}

// withdraw retracts the text of an operation that will have no receipt.
func (f *feed) withdraw(op uint64) {
	f.change(func() {
		if d := f.drafts[op]; d != nil {
			d.retract()
		}
		delete(f.drafts, op)
	})
}

// close ends the feed. ended: with its run; else because the run is to be watched elsewhere.
func (f *feed) close(ended bool) {
	f.change(func() { f.closed, f.ended = true, ended })
}

// hasEnded reports whether the feed ended with its run.
func (f *feed) hasEnded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// reader is a watcher's position in a feed.
type reader struct {
	next  int            // of the log
	under []*draftReader // of drafts that may grow
}

// draftReader is how much of a draft a watcher has seen.
type draftReader struct {
	draft     *draft
	bytes     int
	retracted int
	wait      *Wait
	reading   *Reading
	thoughts  int
}

// unseen returns the updates that r has not seen; of records and steps only from record number from on. changed is
// closed once there are more; it is nil if there will be none.
func (f *feed) unseen(r *reader, from int64) (fresh []Update, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range r.under {
		fresh = h.appendUnseen(fresh)
	}
	for _, e := range f.log[r.next:] {
		switch {
		case e.draft != nil:
			h := &draftReader{draft: e.draft}
			fresh = h.appendUnseen(fresh)
			r.under = append(r.under, h)
		case e.at >= from:
			fresh = append(fresh, e.Update)
		}
	}
	r.next = len(f.log)
	r.under = slices.DeleteFunc(r.under, func(h *draftReader) bool { return f.drafts[h.draft.op] != h.draft })
	if f.closed {
		return fresh, nil
	}
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return fresh, f.changed
}

// appendUnseen appends updates for what the watcher has not seen of a draft.
func (h *draftReader) appendUnseen(fresh []Update) []Update {
	d := h.draft
	if h.retracted != d.retracted {
		if h.bytes > 0 || h.thoughts > 0 {
			fresh = append(fresh, Update{Piece: &Piece{Op: d.op, Retract: true}})
		}
		h.retracted = d.retracted
		h.bytes, h.thoughts = 0, 0
	}
	if all := min(len(d.thought), mostThought); all > 0 && d.thoughts != h.thoughts {
		fresh = append(fresh, Update{Piece: &Piece{Op: d.op}, Thought: d.thought[len(d.thought)-all:]})
		h.thoughts = d.thoughts
	}
	if all := len(d.text); all > h.bytes {
		said := &Piece{Op: d.op, Text: string(d.text[h.bytes:]), Stands: d.stands}
		fresh = append(fresh, Update{Piece: said, Draft: d.text[:all:all], Settled: d.settled})
		h.bytes = all
	}
	if d.wait != nil && d.wait != h.wait {
		fresh = append(fresh, Update{Piece: &Piece{Op: d.op, Wait: d.wait}})
	}
	if d.reading != nil && d.reading != h.reading {
		fresh = append(fresh, Update{Piece: &Piece{Op: d.op, Reading: d.reading}})
	}
	h.wait, h.reading = d.wait, d.reading
	return fresh
}

// Watch gives the updates of the run from record number from on, then live ones until the run ends, this process stops
// driving it, or ctx is done. A late watcher gets all records and steps, and of each operation its text so far as one
// piece.
func (l *Live) Watch(ctx context.Context, from int64) iter.Seq[Update] {
	return func(yield func(Update) bool) { l.feed.watch(ctx, from, yield) }
}

// watch shows the updates until there are no more; false if ctx was done or show returned false before.
func (f *feed) watch(ctx context.Context, from int64, show func(Update) bool) bool {
	r := &reader{}
	for {
		fresh, changed := f.unseen(r, from)
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
