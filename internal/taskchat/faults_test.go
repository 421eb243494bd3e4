package taskchat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"

	"sibyl/internal/task"
	"sibyl/internal/taskchat"
)

// faulty is a task list to which something happens.
type faulty struct {
	*task.Service
	added, listed func() error
	completing    func(ctx context.Context, id int64) error
}

func (f *faulty) Add(
	ctx context.Context, by task.By, title string, description *string,
) (t task.Task, again bool, err error) {
	t, again, err = f.Service.Add(ctx, by, title, description)
	if f.added != nil {
		err = errors.Join(err, f.added())
	}
	return t, again, err
}

func (f *faulty) List(ctx context.Context, owner string, q task.Query) (task.Page, error) {
	if f.listed != nil {
		if err := f.listed(); err != nil {
			return task.Page{}, err
		}
	}
	return f.Service.List(ctx, owner, q)
}

func (f *faulty) Complete(ctx context.Context, by task.By, id, version int64) (t task.Task, already bool, err error) {
	if f.completing != nil {
		if err := f.completing(ctx, id); err != nil {
			return t, false, err
		}
	}
	return f.Service.Complete(ctx, by, id, version)
}

func TestWriteOfWhichNobodyKnowsIsToldSo(t *testing.T) {
	h := newHouse(t)
	f := &faulty{Service: h.tasks, added: func() error { return journal.ErrUnsure }}
	h.served = f
	c := h.process("p").talk(ada)
	r := c.say("add Apples", taskchat.StatusError)
	contains(t, r.Response, "I can't tell whether this worked")
	contains(t, r.ToolCalls[0].Error, "I can't tell whether this worked")
	h.wants(ada, "Apples")
}

func TestWriteThatReachedNoDatabaseIsToldToHaveDoneNothing(t *testing.T) {
	for _, err := range []error{journal.ErrUnreachable, journal.ErrLocked, journal.ErrFull, journal.ErrReadOnly} {
		h := newHouse(t)
		h.served = &refusing{h.tasks, err}
		r := h.process("p").talk(ada).say("add Apples", taskchat.StatusError)
		contains(t, r.Response, "nothing was changed")
		assert.That(t, r.Writes != nil && r.Writes.Unsure == 0 && r.Writes.Failed == 1, "%v: the writes are %+v", err, r.Writes)
		h.wants(ada)
	}
}

// refusing is a list of tasks to which nothing can be added.
type refusing struct {
	*task.Service
	err error
}

func (r *refusing) Add(context.Context, task.By, string, *string) (task.Task, bool, error) {
	return task.Task{}, false, r.err
}

func TestChangesThatWereNotMadeAreCountedBesideThoseThatWere(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples", "Pears", "Plums")
	var seen []int64
	f := &faulty{Service: h.tasks, completing: func(_ context.Context, id int64) error {
		if !slices.Contains(seen, id) {
			seen = append(seen, id)
		}
		if slices.Index(seen, id) == 1 {
			return journal.ErrUnsure
		}
		return nil
	}}
	h.served = f
	p := h.process("p")
	r := p.talk(ada).say("mark all tasks as done", taskchat.StatusSuccess)
	contains(t, r.Response, "I can't tell whether this worked")
	if w := r.Writes; w == nil || w.Asked != 3 || w.Done != 2 || w.Unsure != 1 || len(w.Missing) != 1 {
		t.Errorf("writes: %+v", r.Writes)
	}
	raw := assert.Must(json.Marshal(r))(t)
	shown, err := taskchat.Describe(nil, taskchat.Deps{}).Show(raw)
	assert.Require(t, err == nil && shown.Partial && len(shown.Warnings) == 1 &&
		strings.Contains(shown.Warnings[0], fmt.Sprint("task ", seen[1])) && !strings.Contains(shown.Warnings[0], "{"),
		"shown: %+v, %v", shown, err)
	contains(t, shown.Warnings[0], "1 of 3 changes may not have been made: ")
	contains(t, shown.Footer, "1 of 3 changes may not have been made: ")
}

func TestListThatFailsIsNoQuestion(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples", "Bread")
	fails := 1
	f := &faulty{Service: h.tasks, listed: func() error {
		if fails--; fails >= 0 {
			return journal.ErrUnreachable
		}
		return nil
	}}
	h.served = f
	c := h.process("p").talk(ada)
	r := c.say("show my tasks", taskchat.StatusError)
	contains(t, r.Response, "I can't reach your tasks right now")
}

func TestRunThatIsCancelledBetweenTwoCallsTellsWhatItHasDone(t *testing.T) {
	h := newHouse(t)
	ids := h.has(ada, "Apples", "Bread", "Cheese")
	arrived := make(chan struct{})
	goOn := make(chan struct{})
	h.served = &faulty{Service: h.tasks, completing: func(_ context.Context, id int64) error {
		if id == ids[1] {
			close(arrived)
			<-goOn
		}
		return nil
	}}
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	live := assert.Must(c.service.Start(t.Context(), ada, service.Request{Assistant: taskchat.Name, Session: c.id,
		Words: "add Milk and complete task 1 to 3", Options: taskchat.Options{}}))(h)
	<-arrived
	assert.NoError(h, c.engine.Cancel(t.Context(), ada, live.ID, "test"))
	close(goOn)
	assert.Must(live.Wait(t.Context()))(h)
	end := assert.Must(run.ReadEnd(t.Context(), h.journal, ada, live.ID))(h)
	var r taskchat.AgentResponse
	assert.NoError(h, json.Unmarshal(end.Outcome, &r))
	same(t, "response", r.Response,
		"I've added 'Milk' to your tasks. You got this!\nGreat! I've marked 'Apples' and 'Bread' as completed "+
			"✓\nI've stopped.")
	same(t, "calls", called(r), []string{"add_task", "list_tasks", "complete_task", "complete_task"})
	h.wants(ada, "Apples ✓", "Bread ✓", "Cheese", "Milk")
	c.say("complete task 3", taskchat.StatusSuccess)
	h.wants(ada, "Apples ✓", "Bread ✓", "Cheese ✓", "Milk")
}

func TestTaskThatChangesWhileItIsResolvedIsLeftAlone(t *testing.T) {
	h := newHouse(t)
	ids := h.has(ada, "Apples", "Bread")
	h.served = &faulty{Service: h.tasks, completing: func(_ context.Context, id int64) error {
		if id == ids[0] {
			h.renamed(ada, id, "Pears")
		}
		return nil
	}}
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	r := c.say("complete both", taskchat.StatusSuccess)
	same(t, "response", r.Response,
		"Great! I've marked 'Bread' as completed ✓\n'Apples' has changed in the meantime, so I've left it alone. "+
			"Please check it and try again.")
	h.wants(ada, "Pears", "Bread ✓")
}

// A process died with its write begun, and not done. Who stops the run wants it to stay so.
func TestRunThatIsStoppedAfterACrashPerformsNothingMore(t *testing.T) {
	for words, titles := range map[string][]string{"complete apples": {"Apples"}, "add Bread": {"Apples"},
		"rename apples to Pears": {"Apples"}} {
		t.Run(words, func(t *testing.T) {
			h := newHouse(t)
			h.has(ada, "Apples")
			begun, died := make(chan struct{}), make(chan struct{})
			dying := &dying{Service: h.tasks, begun: begun, died: died}
			h.served = dying
			dead := h.process("dead")
			live := assert.Must(dead.service.Start(t.Context(), ada, service.Request{Assistant: taskchat.Name, Words: words,
				Options: taskchat.Options{}}))(h)
			<-begun
			h.served = nil
			next := h.process("next")
			assert.NoError(h, next.engine.Cancel(t.Context(), ada, live.ID, "test"))
			h.wants(ada, titles...)
			end := assert.Must(run.ReadEnd(t.Context(), h.journal, ada, live.ID))(h)
			var r taskchat.AgentResponse
			assert.NoError(h, json.Unmarshal(end.Outcome, &r))
			same(t, "response", r.Response, "I've stopped.")
			close(died)
			_, _ = live.Wait(t.Context())
			h.wants(ada, titles...)
		})
	}
}

// dying is a list of tasks in a process that dies when it is to be changed.
type dying struct {
	*task.Service
	begun, died chan struct{}
}

func (d *dying) die() error {
	close(d.begun)
	<-d.died
	return journal.ErrUnreachable
}

func (d *dying) Add(context.Context, task.By, string, *string) (task.Task, bool, error) {
	return task.Task{}, false, d.die()
}

func (d *dying) Update(context.Context, task.By, int64, int64, task.Edit) (task.Task, bool, error) {
	return task.Task{}, false, d.die()
}

func (d *dying) Complete(context.Context, task.By, int64, int64) (task.Task, bool, error) {
	return task.Task{}, false, d.die()
}
