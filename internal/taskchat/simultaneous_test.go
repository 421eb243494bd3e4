package taskchat_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/taskchat"
)

func TestTwoSimultaneousYesDeleteOnce(t *testing.T) {
	for range 10 {
		h := newHouse(t)
		h.has(ada, "Buy groceries", "Call John")
		one, two := h.process("one"), h.process("two")
		c := one.talk(ada)
		c.say("show my tasks", taskchat.StatusSuccess)
		c.say("delete task 1", taskchat.StatusConfirmation)
		var calls []string
		var mu sync.Mutex
		var both sync.WaitGroup
		for _, p := range []*process{one, two} {
			both.Go(func() {
				r, err := (&talk{process: p, owner: ada, id: c.id}).send("yes")
				assert.Nil(t, err)
				mu.Lock()
				defer mu.Unlock()
				calls = append(calls, called(r)...)
			})
		}
		both.Wait()
		slices.Sort(calls)
		same(t, "calls of both", calls, []string{"delete_task", "list_tasks"})
		h.wants(ada, "Call John")
	}
}

func TestMessagesOfAConversationThatComeAtOnceGoOnFromEachOther(t *testing.T) {
	h := newHouse(t)
	ps := []*process{h.process("one"), h.process("two"), h.process("three")}
	c := ps[0].talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	const each = 4
	var all sync.WaitGroup
	for n, p := range ps {
		all.Go(func() {
			for k := range each {
				_, err := (&talk{process: p, owner: ada, id: c.id}).send(fmt.Sprintf("add number %d of %d",
					k, n))
				assert.Nil(t, err)
			}
		})
	}
	all.Wait()
	got := len(h.list(ada))
	assert.That(t, got == len(ps)*each, "%d tasks, want %d", got, len(ps)*each)
	runs := assert.Must(h.journal.Runs(t.Context(), ada, journal.Filter{Session: c.id, Limit: 100}))(h)
	slices.Reverse(runs)
	for n := range runs[1:] {
		recs := assert.Must(h.journal.Records(t.Context(), ada, runs[n+1].ID, 0))(h)
		start := assert.Must(run.Read(recs[0]))(h)
		same(t, "what a message uses up", start.(*run.StartRecord).Consumed, []string{runs[n].ID})
	}
}

func TestConfirmationOutlivesTheProcessThatAskedForIt(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Buy groceries", "Call John")
	c := h.process("dead").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("delete task 2", taskchat.StatusConfirmation)
	next := &talk{process: h.process("next"), owner: ada, id: c.id}
	next.say("yes", taskchat.StatusSuccess)
	h.wants(ada, "Buy groceries")
}

// held is a list of tasks whose next listing waits.
func (h *house) held() (arrived <-chan struct{}, release func()) {
	came, gate := make(chan struct{}), make(chan struct{})
	var waited atomic.Bool
	h.served.(*faulty).listed = func() error {
		if waited.CompareAndSwap(false, true) {
			close(came)
			<-gate
		}
		return nil
	}
	return came, func() { close(gate) }
}

// together sends a message while another one is being answered.
func (c *talk) together(first, second string) (one, two taskchat.AgentResponse) {
	c.Helper()
	arrived, release := c.held()
	var both sync.WaitGroup
	say := func(r *taskchat.AgentResponse, words string) {
		both.Go(func() {
			var err error
			*r, err = (&talk{process: c.process, owner: c.owner, id: c.id}).send(words)
			assert.Nil(c, err)
		})
	}
	say(&one, first)
	<-arrived
	begun := make(chan struct{})
	c.remembered = func() { close(begun) }
	say(&two, second)
	<-begun
	release()
	both.Wait()
	return one, two
}

func TestYesThatWasSaidBeforeTheQuestionIsNone(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples", "Bread")
	h.served = &faulty{Service: h.tasks}
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("delete task 1 and delete task 2", taskchat.StatusConfirmation)
	one, two := c.together("yes", "yes")
	same(t, "status of the first", one.Status, taskchat.StatusConfirmation)
	contains(t, one.Response, "I've deleted 'Apples'", "Delete 'Bread'?")
	contains(t, two.Response, "My question about 'Bread' has lapsed")
	h.wants(ada, "Bread")
}

func TestPositionsThatWereSaidBeforeTheListWasShownAreAskedAbout(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples ✓", "Bread", "Cheese")
	h.served = &faulty{Service: h.tasks}
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	_, two := c.together("show pending tasks", "complete task 2")
	same(t, "status", two.Status, taskchat.StatusClarification)
	c.say("show pending tasks", taskchat.StatusSuccess)
	_, two = c.together("show pending tasks", "complete task 2")
	same(t, "status", two.Status, taskchat.StatusSuccess)
	h.wants(ada, "Apples ✓", "Bread", "Cheese ✓")
}

func TestItThatWasSaidBeforeAnotherTaskWasSpokenOfIsAskedAbout(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples", "Bread")
	h.served = &faulty{Service: h.tasks}
	c := h.process("p").talk(ada)
	c.say("rename apples to Pears", taskchat.StatusSuccess)
	_, two := c.together("rename bread to Rolls", "complete it")
	same(t, "status", two.Status, taskchat.StatusClarification)
	h.wants(ada, "Pears", "Rolls")
}
