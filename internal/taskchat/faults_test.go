package taskchat_test

import (
	"context"
	"errors"

	"testing"

	"sibyl/internal/journal"

	"sibyl/internal/task"
	"sibyl/internal/taskchat"
)

// faulty is a task list to which something happens.
type faulty struct {
	*task.Service
	added, listed func() error
	completing    func(ctx context.Context, id int64) error
}

func (f *faulty) Add(ctx context.Context, by task.By, title string, description *string) (t task.Task, again bool, err error) {
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
