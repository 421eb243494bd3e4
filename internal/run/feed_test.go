package run

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sibyl/internal/journal"
)

// watcher reads when it is told to.
type watcher struct {
	reader
	seqs   []int64
	text   map[uint64]string
	drafts []string // that were not what had been said
}

func (r *watcher) read(f *feed) {
	fresh, _ := f.since(&r.reader, 0)
	for _, u := range fresh {
		switch {
		case u.Record != nil:
			r.seqs = append(r.seqs, u.Record.Seq)
		case u.Piece.Retract:
			delete(r.text, u.Piece.Op)
			fallthrough
		default:
			r.text[u.Piece.Op] += u.Piece.Text
			if u.Piece.Text != "" && string(u.Draft) != r.text[u.Piece.Op] {
				r.drafts = append(r.drafts, string(u.Draft))
			}
		}
		if u.Piece != nil && r.text[u.Piece.Op] == "" {
			delete(r.text, u.Piece.Op)
		}
	}
}

func newWatcher() *watcher {
	return &watcher{reader: reader{heard: map[*draft]heard{}}, text: map[uint64]string{}}
}

func TestWatchersOfAFeedComeToTheSameWheneverTheyRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newFeed()
		readers := []*watcher{newWatcher(), newWatcher(), newWatcher()}
		var seqs []int64
		text := map[uint64]string{}
		under := map[uint64]bool{}
		var opened uint64
		some := func(t *rapid.T) uint64 { return rapid.Uint64Range(max(opened, 4)-3, max(opened, 1)).Draw(t, "op") }
		t.Repeat(map[string]func(*rapid.T){
			"record": func(*rapid.T) {
				n := int64(len(seqs))
				h.record(journal.Record{Seq: n})
				h.record(journal.Record{Seq: n + 1})
				seqs = append(seqs, n, n+1)
			},
			"open": func(*rapid.T) {
				opened++
				h.open(opened)
				under[opened] = true
			},
			"piece": func(t *rapid.T) {
				p := Piece{Op: some(t), Text: fmt.Sprint(rapid.IntRange(0, 99).Draw(t, "word"), " "), Retract: rapid.IntRange(0, 5).Draw(t, "retract") == 0}
				h.piece(p)
				if !under[p.Op] {
					return
				}
				if p.Retract {
					delete(text, p.Op)
				}
				text[p.Op] += p.Text
			},
			"settle": func(t *rapid.T) {
				op := some(t)
				h.settle(op, int64(len(seqs)))
				delete(under, op)
			},
			"withdraw": func(t *rapid.T) {
				if op := some(t); under[op] {
					h.withdraw(op)
					delete(under, op)
					delete(text, op)
				}
			},
			"read": func(t *rapid.T) { readers[rapid.IntRange(0, 2).Draw(t, "reader")].read(h) },
		})
		readers = append(readers, newWatcher())
		for i, r := range readers {
			r.read(h)
			if diff := cmp.Diff(seqs, r.seqs); diff != "" {
				t.Errorf("reader %d: records (-want +got):\n%s", i, diff)
			}
			if diff := cmp.Diff(text, r.text); diff != "" {
				t.Errorf("reader %d: text (-want +got):\n%s", i, diff)
			}
			if len(r.drafts) > 0 {
				t.Errorf("reader %d: drafts that are not the text so far: %q", i, r.drafts)
			}
		}
	})
}
