package council_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/run"
)

// filling is a journal whose disk is full from a write on: for some writes, or until room.
type filling struct {
	journal.Store
	at, writesLong int // 0 is until room

	mu     sync.Mutex
	writes int
	freed  bool
}

func (f *filling) write(do func() error) error {
	f.mu.Lock()
	f.writes++
	full := f.writes >= f.at && !f.freed && (f.writesLong == 0 || f.writes < f.at+f.writesLong)
	f.mu.Unlock()
	if full {
		return fmt.Errorf("the journal: %w", journal.ErrFull)
	}
	return do()
}

// room frees space, and says whether it was missed.
func (f *filling) room() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.freed = true
	return f.writes >= f.at
}

func (f *filling) Begin(ctx context.Context, b journal.Beginning) error {
	return f.write(func() error { return f.Store.Begin(ctx, b) })
}

func (f *filling) Append(ctx context.Context, o journal.Owner, id string, all []journal.Record, end *journal.End) error {
	return f.write(func() error { return f.Store.Append(ctx, o, id, all, end) })
}

func (f *filling) Acquire(ctx context.Context, o journal.Owner, id, holder string, now, until time.Time) error {
	return f.write(func() error { return f.Store.Acquire(ctx, o, id, holder, now, until) })
}

func (f *filling) Settle(ctx context.Context, o journal.Owner, id, holder string) error {
	return f.write(func() error { return f.Store.Settle(ctx, o, id, holder) })
}

func (f *filling) Release(ctx context.Context, o journal.Owner, id, holder string, rest time.Time) error {
	return f.write(func() error { return f.Store.Release(ctx, o, id, holder, rest) })
}

// The disk is full from each write of a sitting on: of the journal alone, or of the session's folder as well.
func TestFullDiskInASittingLosesNoAnswerThatTheJournalHas(t *testing.T) {
	type full struct {
		folderToo  bool
		writesLong int
	}
	for name, c := range map[string]full{"both": {true, 0}, "the journal's for a write": {false, 1},
		"both, and the journal's for five": {true, 5}} {
		t.Run(name, func(t *testing.T) {
			for at, missed := 2, true; missed; at++ {
				inHouse(t, func(h *house) {
					h.says("Hm.")
					full := &filling{Store: h.journal, at: at, writesLong: c.writesLong}
					p := h.process("one", full)
					unlock := func() {}
					if c.folderToo {
						unlock = h.locked("llm_responses")
					}
					o := h.ask("ada", "bob")
					o.Chair = "cleo"
					r := p.begin(council.Name, o)
					_, _ = r.Wait(h.Context())
					unlock()
					missed = full.room()
					p.leave()
					time.Sleep(time.Hour) // leases and rests
					p = h.process("two", h.journal)
					if assert.Must(h.journal.Run(h.Context(), ada, r.ID))(h).Status == journal.Running {
						res, _ := p.wait(assert.Must(p.service.Resume(h.Context(), ada, r.ID))(h))
						same(h, fmt.Sprint("status, full from write ", at, " on"), res.Status, journal.Done)
					}
					p.open()
					h.hasAllReplies(at)
					h.whole(3)
				})
			}
		})
	}
}

// hasAllReplies wants the folder to hold every answer that a run has in the journal.
func (h *house) hasAllReplies(at int) {
	h.Helper()
	kept := map[string]bool{}
	for _, e := range h.session().Answers {
		kept[e.Run] = true
	}
	for _, row := range h.runs() {
		recs := assert.Must(h.journal.Records(h.Context(), ada, row.ID, 0))(h)
		for _, rec := range recs {
			c, _ := assert.Must(run.Read(rec))(h).(*run.CompletionRecord)
			answers := c != nil && (c.Kind == council.EffectReply || c.Kind == council.EffectChair) && c.Err == nil
			assert.That(h, !answers || kept[row.ID], "write %d: the answer in run %s (%s, %s) is not in the folder",
				at, row.ID, row.Title, row.Status)
		}
	}
}

// A process dies before each of the writes of a run in turn, and the run is stopped by another, which may be one without
// the folder.
func TestAnswerThatARunHadWhenItWasStoppedIsWrittenWhenTheSessionIsOpened(t *testing.T) {
	one, sitting := []string{"ada"}, []string{"ada", "bob"}
	for name, oracles := range map[string][]string{"one oracle": one, "a sitting": sitting,
		"one oracle, by a node without the folder": one, "a sitting, by a node without the folder": sitting} {
		t.Run(name, func(t *testing.T) {
			had := 0
			for at, dead := 1, true; dead; at++ {
				inHouse(t, func(h *house) {
					h.says("Hm.")
					dying := &journaltest.Mortal{Store: h.journal, At: at, Free: 1}
					p := h.process("dead", dying)
					o := h.ask(oracles...)
					if len(oracles) > 1 {
						o.Chair = "cleo"
					}
					r := p.begin(council.Name, o)
					_, _ = r.Wait(h.Context())
					p.leave()
					dead = dying.Dead()
					p = h.process("two", h.journal)
					if strings.Contains(name, "without") {
						h.shut = fmt.Errorf("%w: it is not mounted", session.ErrAway)
					}
					err := p.service.Cancel(h.Context(), ada, r.ID, "enough")
					h.shut = nil
					assert.That(h, err == nil || errors.Is(err, journal.ErrEnded), "stopping it: %v", err)
					p.open()
					h.hasAllReplies(at)
					had = max(had, len(h.session().Answers))
					h.whole(len(h.session().Answers))
				})
			}
			same(t, "answers at most", had, map[int]int{1: 1, 2: 3}[len(oracles)])
		})
	}
}
