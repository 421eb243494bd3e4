package service_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/service"
)

// announcing is a store that tells at once what is written.
type announcing struct {
	journal.Store
	mu    sync.Mutex
	heard func(journal.Key)
}

func (a *announcing) Announced(ctx context.Context, heard func(journal.Key)) error {
	a.mu.Lock()
	a.heard = heard
	a.mu.Unlock()
	<-ctx.Done()
	a.mu.Lock()
	a.heard = nil
	a.mu.Unlock()
	return ctx.Err()
}

func (a *announcing) announce(k journal.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.heard != nil {
		a.heard(k)
	}
}

func (a *announcing) Begin(ctx context.Context, b journal.Beginning) error {
	defer a.announce(journal.Key{Owner: b.Run.Owner, Run: b.Run.ID})
	return a.Store.Begin(ctx, b)
}

func (a *announcing) Append(
	ctx context.Context, o journal.Owner, id string, recs []journal.Record, end *journal.End,
) error {
	defer a.announce(journal.Key{Owner: o, Run: id})
	return a.Store.Append(ctx, o, id, recs, end)
}

func TestAnnouncedRunOfAnotherProcessIsToldAtOnceAndLookedForSeldom(t *testing.T) {
	inHouse(t, func(h *house) {
		asked := &counting{Store: h.store}
		store := &announcing{Store: asked}
		s := node(h.T, store, "one", 0)
		stop := h.follow([]*service.Service{s}, never)
		<-time.After(30*time.Second + 3*time.Millisecond)
		before := asked.asked()
		<-time.After(10 * time.Second)
		looks := asked.asked() - before
		assert.That(h, looks <= 12, "within 10 s it was asked %d times for runs", looks)
		w := newScene(h.T, store)
		w.begin(0, 0)
		w.record("r0", nil)
		synctest.Wait()
		same(h, "what was told at once", stop().runs["r0"], []string{"begun", "0", "1"})
	})
}

func TestAnnouncementsOfRunsThatAreNotFoundAreLookedForAFewTimesASecond(t *testing.T) {
	inHouse(t, func(h *house) {
		asked := &counting{Store: h.store}
		store := &announcing{Store: asked}
		stop := h.follow([]*service.Service{node(h.T, store, "one", 0)}, never)
		defer stop()
		<-time.After(30*time.Second + 3*time.Millisecond)
		before := asked.asked()
		for range 1000 {
			store.announce(journal.Key{Owner: ada, Run: "unseen"})
			<-time.After(10 * time.Millisecond)
		}
		looks := asked.asked() - before
		assert.That(h, looks >= 40 && looks <= 60, "within 10 s it was asked %d times for runs", looks)
	})
}

func TestAnnouncementsOfRunsThatWaitForAPlaceAreNotLookedFor(t *testing.T) {
	inHouse(t, func(h *house) {
		asked := &counting{Store: h.store}
		store := &announcing{Store: asked}
		stop := h.follow([]*service.Service{node(h.T, store, "one", 0)}, never)
		defer stop()
		w := newScene(h.T, store)
		for range 150 {
			w.begin(0, 0)
		}
		<-time.After(30*time.Second + 3*time.Millisecond)
		before := asked.asked()
		for range 100 {
			w.record("r149", nil)
			<-time.After(10 * time.Millisecond)
		}
		looks := asked.asked() - before
		assert.That(h, looks <= 4, "within 1 s it was asked %d times for runs", looks)
	})
}
