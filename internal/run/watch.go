package run

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"sibyl/internal/journal"
)

// Update is what a watcher sees: a record that was appended, what a step decided, or a provisional piece of text. A step's trace
// record comes later, with the next input.
type Update struct {
	Record *journal.Record
	Step   *TraceStep
	Piece  *Piece
}

// before says that an update belongs to a record before number from.
func (u Update) before(from int64) bool {
	return u.Record != nil && u.Record.Seq < from || u.Step != nil && u.Step.Record < from
}

// hub hands updates to watchers. It keeps all records, and of each operation the provisional text: while it is under way
// piece by piece, then as one.
type hub struct {
	mu      sync.Mutex
	updates []posted
	next    int            // the place of the next update
	pieces  map[uint64]int // of operations under way: how many of their pieces are kept
	changed chan struct{}  // nil while nobody waits
	closed  bool
}

// posted is an update with its place, which it keeps when others go. Places grow; updates posted as one share theirs.
type posted struct {
	Update
	at int
}

func newHub(recs []journal.Record) *hub {
	h := &hub{pieces: map[uint64]int{}}
	h.records(recs)
	return h
}

// post adds updates; h.mu is held.
func (h *hub) post(us ...Update) {
	for _, u := range us {
		h.updates = append(h.updates, posted{Update: u, at: h.next})
		h.next++
	}
	h.wake()
}

func (h *hub) wake() {
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

func (h *hub) step(t TraceStep) {
	h.mu.Lock()
	h.post(Update{Step: &t})
	h.mu.Unlock()
}

func (h *hub) records(recs []journal.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range recs {
		h.post(Update{Record: &recs[i]})
	}
}

// open lets the pieces of an operation in.
func (h *hub) open(op uint64) {
	h.mu.Lock()
	h.pieces[op] = 0
	h.mu.Unlock()
}

// piece posts a piece; one of an operation that is not under way any more is dropped.
func (h *hub) piece(p Piece) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, open := h.pieces[p.Op]; !open || h.closed {
		return
	}
	h.pieces[p.Op]++
	h.post(Update{Piece: &p})
}

// settle joins the pieces of an operation whose receipt has been posted. They stand where the last of them stood, after a
// retraction, so that a watcher that had read some of them is not wrong.
func (h *hub) settle(op uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pieces[op] > 1 {
		text, last := h.text(op)
		h.replace(op, posted{Update{Piece: &Piece{Op: op, Retract: true}}, last}, posted{Update{Piece: &Piece{Op: op, Text: text}}, last})
	}
	delete(h.pieces, op)
}

// withdraw takes back the pieces of an operation that will have no receipt.
func (h *hub) withdraw(op uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pieces[op] > 0 {
		h.replace(op)
		h.post(Update{Piece: &Piece{Op: op, Retract: true}})
	}
	delete(h.pieces, op)
}

// text is what the pieces of an operation come to, and the place of the last.
func (h *hub) text(op uint64) (text string, last int) {
	var b strings.Builder
	for _, u := range h.updates {
		if u.Piece != nil && u.Piece.Op == op {
			last = u.at
			if u.Piece.Retract {
				b.Reset()
			}
			b.WriteString(u.Piece.Text)
		}
	}
	return b.String(), last
}

// replace puts others where the last piece of an operation was, and drops its pieces. Watchers may still be reading the
// slice they got, so what stays moves to another.
func (h *hub) replace(op uint64, others ...posted) {
	kept := make([]posted, 0, len(h.updates))
	for left, rest := h.pieces[op], h.updates; len(rest) > 0; rest = rest[1:] {
		if u := rest[0]; u.Piece == nil || u.Piece.Op != op {
			kept = append(kept, u)
		} else if left--; left == 0 {
			kept = append(kept, others...)
		}
	}
	h.updates = kept
}

func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	h.wake()
	h.mu.Unlock()
}

// since gives the updates from place at on, and the place that follows them. changed is closed once there are more; it is
// nil when there will be none.
func (h *hub) since(at int) (fresh []posted, next int, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first, _ := slices.BinarySearchFunc(h.updates, at, func(u posted, at int) int { return u.at - at })
	fresh = h.updates[first:len(h.updates):len(h.updates)]
	if h.closed {
		return fresh, h.next, nil
	}
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return fresh, h.next, h.changed
}

// Watch gives the updates of the run from record number from on, then live ones until the run ends, this process stops
// driving it, or ctx is done. Whoever comes late gets all records, and the pieces of what is under way.
func (l *Live) Watch(ctx context.Context, from int64) iter.Seq[Update] {
	return func(yield func(Update) bool) {
		for at := 0; ; {
			fresh, next, changed := l.hub.since(at)
			at = next
			for _, u := range fresh {
				if u.before(from) {
					continue
				}
				if ctx.Err() != nil || !yield(u.Update) {
					return
				}
			}
			if changed == nil {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// pollEvery is how often a run that another process drives is looked at.
const pollEvery = 200 * time.Millisecond

// Watch gives the updates of any run of the owner: live ones with provisional text while this process drives it, else its
// records as they appear in the store, until it has ended or ctx is done.
func (e *Engine) Watch(ctx context.Context, owner journal.Owner, id string, from int64) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		if live := e.Live(id); live != nil && live.owner == owner {
			for u := range live.Watch(ctx, from) {
				if !yield(u, nil) {
					return
				}
				if u.Record != nil {
					from = u.Record.Seq + 1
				}
			}
		}
		for ctx.Err() == nil {
			recs, over, err := e.look(ctx, owner, id, from)
			if err != nil {
				if ctx.Err() == nil {
					yield(Update{}, err)
				}
				return
			}
			for i := range recs {
				if !yield(Update{Record: &recs[i]}, nil) {
					return
				}
			}
			if over {
				return
			}
			from += int64(len(recs))
			tick, stop := e.Clock.After(pollEvery)
			select {
			case <-tick:
			case <-ctx.Done():
				stop()
			}
		}
	}
}

// look gives the records of a run from number from on, and whether they are its last.
func (e *Engine) look(ctx context.Context, owner journal.Owner, id string, from int64) ([]journal.Record, bool, error) {
	r, err := e.Store.Run(ctx, owner, id)
	if err != nil {
		return nil, false, err
	}
	recs, err := e.Store.Records(ctx, owner, id, from)
	return recs, r.Status != journal.Running, err
}
