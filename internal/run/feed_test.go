package run

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

// watcher reads when it is told to.
type watcher struct {
	reader
	seqs   []int64
	text   map[uint64]string
	drafts []said
	pauses int
}

// said is a draft as a watcher got it, and what had been said by then.
type said struct {
	draft []byte
	want  string
}

func newWatcher() *watcher { return &watcher{text: map[uint64]string{}} }

func (w *watcher) read(f *feed) {
	fresh, _ := f.unseen(&w.reader, 0)
	for _, u := range fresh {
		if u.Record != nil {
			w.seqs = append(w.seqs, u.Record.Seq)
			continue
		}
		op := u.Piece.Op
		if u.Piece.Retract {
			delete(w.text, op)
		}
		if u.Piece.Wait != nil {
			w.pauses++
		}
		if u.Piece.Text == "" {
			continue
		}
		w.text[op] += u.Piece.Text
		w.drafts = append(w.drafts, said{u.Draft, w.text[op]})
	}
}

// script does to a feed what engines do, and keeps what watchers are to come to.
type script struct {
	feed   *feed
	seqs   []int64
	text   map[uint64]string
	under  map[uint64]bool
	opened uint64
}

// op is one of the latest operations, which may be over.
func (s *script) op(t *rapid.T) uint64 {
	return rapid.Uint64Range(max(s.opened, 4)-3, max(s.opened, 1)).Draw(t, "op")
}

func (s *script) record(*rapid.T) {
	n := int64(len(s.seqs))
	s.feed.record(journal.Record{Seq: n})
	s.seqs = append(s.seqs, n)
}

func (s *script) open(*rapid.T) {
	s.opened++
	s.feed.open(s.opened)
	s.under[s.opened] = true
}

func (s *script) piece(t *rapid.T) {
	p := Piece{Op: s.op(t), Retract: rapid.IntRange(0, 5).Draw(t, "retract") == 0}
	if rapid.IntRange(0, 5).Draw(t, "pause") == 0 {
		p.Wait = &Wait{Why: "busy"}
	} else {
		p.Text = fmt.Sprint(rapid.IntRange(0, 99).Draw(t, "word"), " ")
	}
	s.feed.piece(p)
	if !s.under[p.Op] {
		return
	}
	if p.Retract {
		delete(s.text, p.Op)
	}
	if p.Text != "" {
		s.text[p.Op] += p.Text
	}
}

func (s *script) settle(t *rapid.T) {
	op := s.op(t)
	s.feed.settleDraft(op, int64(len(s.seqs)))
	delete(s.under, op)
}

func (s *script) withdraw(t *rapid.T) {
	op := s.op(t)
	s.feed.withdraw(op)
	if s.under[op] {
		delete(s.under, op)
		delete(s.text, op)
	}
}

func TestWatchersOfAFeedComeToTheSameWheneverTheyRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &script{feed: newFeed(), text: map[uint64]string{}, under: map[uint64]bool{}}
		watchers := []*watcher{newWatcher(), newWatcher(), newWatcher()}
		t.Repeat(map[string]func(*rapid.T){
			"record": s.record, "open": s.open, "piece": s.piece, "settle": s.settle, "withdraw": s.withdraw,
			"read": func(t *rapid.T) { watchers[rapid.IntRange(0, 2).Draw(t, "watcher")].read(s.feed) },
		})
		for i, w := range append(watchers, newWatcher()) {
			w.read(s.feed)
			assert.NoDiff(t, cmp.Diff(s.seqs, w.seqs), "watcher %d: records (-want +got)", i)
			assert.NoDiff(t, cmp.Diff(s.text, w.text), "watcher %d: text (-want +got)", i)
			for _, d := range w.drafts { // which what came later has not changed
				assert.That(t, string(d.draft) == d.want, "watcher %d: a draft is %q, and %q had been said", i, d.draft, d.want)
			}
		}
	})
}

func TestPauseIsToldWhileItLastsAndNotAfterwards(t *testing.T) {
	for name, after := range map[string]func(*feed){
		"text":       func(f *feed) { f.piece(Piece{Op: 1, Text: "x"}) },
		"retraction": func(f *feed) { f.piece(Piece{Op: 1, Retract: true}) },
		"receipt":    func(f *feed) { f.settleDraft(1, 2) },
		"withdrawal": func(f *feed) { f.withdraw(1) },
	} {
		f := newFeed()
		f.open(1)
		f.piece(Piece{Op: 1, Wait: &Wait{Until: time.Unix(1, 0), Why: "busy"}})
		during := newWatcher()
		during.read(f)
		during.read(f)
		assert.That(t, during.pauses == 1, "%s: who watched the pause was told of %d", name, during.pauses)
		after(f)
		during.read(f)
		late := newWatcher()
		late.read(f)
		assert.That(t, during.pauses == 1 && late.pauses == 0,
			"%s: of a pause that was over, %d were told, and late %d", name, during.pauses-1, late.pauses)
	}
}

func TestReadingIsToldWhileItLastsAndNotAfterwards(t *testing.T) {
	readings := func(f *feed, r *reader) (all []int) {
		fresh, _ := f.unseen(r, 0)
		for _, u := range fresh {
			if u.Piece != nil && u.Piece.Reading != nil {
				all = append(all, u.Piece.Reading.Read)
			}
		}
		return all
	}
	for name, after := range map[string]func(*feed){
		"text":       func(f *feed) { f.piece(Piece{Op: 1, Text: "x"}) },
		"retraction": func(f *feed) { f.piece(Piece{Op: 1, Retract: true}) },
		"receipt":    func(f *feed) { f.settleDraft(1, 2) },
		"withdrawal": func(f *feed) { f.withdraw(1) },
	} {
		f, during := newFeed(), &reader{}
		f.open(1)
		for _, read := range []int{0, 7, 20} {
			f.piece(Piece{Op: 1, Reading: &Reading{Tokens: 70, Read: read}})
		}
		assert.Same(t, []int{20}, readings(f, during)) // the last share
		assert.That(t, readings(f, during) == nil, "%s: a share is told twice", name)
		after(f)
		assert.That(t, readings(f, during) == nil, "%s: a reading is told that is over", name)
		assert.That(t, readings(f, &reader{}) == nil, "%s: a reading that is over is told to who comes late", name)
	}
}

func TestTextInTinyPiecesTakesLittleMoreMemoryThanTheTextThatStands(t *testing.T) {
	const size, most = 1 << 18, 1 << 20
	before := heap()
	f := newFeed()
	f.open(1)
	w := &reader{}
	for range 4 {
		f.piece(Piece{Op: 1, Retract: true})
		for range size {
			f.piece(Piece{Op: 1, Text: "x"})
			f.unseen(w, 0) // who watches along must not make it cost more
		}
	}
	if took := heap() - before; took > most {
		t.Errorf("%d bytes in pieces of one, after three retractions, take %d; want at most %d", size, took, most)
	}
	runtime.KeepAlive(f)
	runtime.KeepAlive(w)
}

// heap is how many bytes are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestThinkingIsToldWhileItLastsAndItsLastAlone(t *testing.T) {
	f := newFeed()
	f.open(1)
	var r reader
	told := func() (thought string, retracted bool) {
		fresh, _ := f.unseen(&r, 0)
		for _, u := range fresh {
			if u.Piece.Retract {
				retracted, thought = true, ""
			}
			thought += string(u.Thought)
		}
		return thought, retracted
	}
	want := func(thought string, retracted bool) {
		t.Helper()
		got, was := told()
		assert.That(t, got == thought && was == retracted, "told %q, retracted %t", got, was)
	}
	f.piece(Piece{Op: 1, Thinking: "First the lease, "})
	f.piece(Piece{Op: 1, Thinking: "then who holds it."})
	want("First the lease, then who holds it.", false)
	want("", false)
	f.piece(Piece{Op: 1, Retract: true})
	f.piece(Piece{Op: 1, Thinking: "Once more."})
	want("Once more.", true)
	for n := range 4 * mostThought {
		f.piece(Piece{Op: 1, Thinking: fmt.Sprint(n % 10)})
	}
	long, _ := told()
	assert.That(t, len(long) == mostThought && long[len(long)-1] == '0'+byte((4*mostThought-1)%10), "%d bytes are told", len(long))
	f.settleDraft(1, 5)
	var late reader
	fresh, _ := f.unseen(&late, 0)
	assert.That(t, len(fresh) == 0, "what was thought is told once the receipt is there: %+v", fresh)
}
