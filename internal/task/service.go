package task

import (
	"context"
	"errors"
	"strings"
	"time"

	"sibyl/internal/redact"
)

// By says who makes a change: whose list it is, by which way, and under which idempotency key; without one it has none.
type By struct{ Owner, Actor, Key string }

// Edit is what an update changes. Nil fields stay.
type Edit struct {
	Title       *string
	Description *string // "": none
	Status      *Status // Pending opens a completed task again
}

// Query selects tasks for people and models.
type Query struct {
	Filter
	// tasks that have one of these words in title or description, the best match first; then Newest and After count for
	// nothing
	Words string
}

// Page is a part of a list.
type Page struct {
	Tasks []Task
	Total int   // that the query selects, on all pages
	Next  int64 // what After is for the next page; 0: this is the last
}

// Service is what can be done with tasks. It is safe for concurrent use.
type Service struct {
	store  Store
	now    func() time.Time
	redact func(text string) string
}

// New makes a Service. now is the time of changes. redact takes secrets out of every text before it is stored; nil:
// redact.Text, which knows them by shape, name and place.
func New(store Store, now func() time.Time, redactText func(text string) string) *Service {
	if redactText == nil {
		redactText = redact.Text
	}
	return &Service{store, now, redactText}
}

// Add adds a pending task. again says that this very change was made before under the key; then it is returned. All use
// cases do so. If another change used the key, or the title is another one, it is an *Invalid.
func (s *Service) Add(ctx context.Context, by By, title string, description *string) (t Task, again bool, err error) {
	if title, err = cleanTitle(s.redact(title)); err != nil {
		return Task{}, false, err
	}
	if description, err = cleanDescription(s.redacted(description)); err != nil {
		return Task{}, false, err
	}
	c, again, err := s.apply(ctx, by, Act{Action: Add}, 0, func(_ *Task, at time.Time) *Task {
		return &Task{Title: title, Description: description, Status: Pending, CreatedAt: at}
	})
	if err != nil {
		return Task{}, false, err
	}
	return *c.After, again, nil
}

// Update changes what e names. A version of 0 is any; else ErrConflict if the task's is another. ErrNotFound.
func (s *Service) Update(ctx context.Context, by By, id, version int64, e Edit) (t Task, again bool, err error) {
	e.Title, e.Description = s.redacted(e.Title), s.redacted(e.Description)
	if e, err = e.clean(); err != nil {
		return Task{}, false, err
	}
	c, again, err := s.apply(ctx, by, Act{Action: Update, Task: id}, version, e.applyTo)
	if err != nil {
		return Task{}, false, err
	}
	return *c.After, again, nil
}

// Complete completes a task, and keeps the first completion time. already says that another call had completed it. A
// version of 0 is any; else ErrConflict if the task's is another. ErrNotFound.
func (s *Service) Complete(ctx context.Context, by By, id, version int64) (t Task, already bool, err error) {
	completed := Completed
	c, again, err := s.apply(ctx, by, Act{Action: Complete, Task: id}, version, Edit{Status: &completed}.applyTo)
	if err != nil {
		return Task{}, false, err
	}
	return *c.After, !again && !c.Changed(), nil
}

// Delete removes a task, and returns it as it was. A version of 0 is any; else ErrConflict if the task's is another.
// ErrNotFound.
func (s *Service) Delete(ctx context.Context, by By, id, version int64) (was Task, again bool, err error) {
	c, again, err := s.apply(ctx, by, Act{Action: Delete, Task: id}, version, func(*Task, time.Time) *Task {
		return nil
	})
	if err != nil {
		return Task{}, false, err
	}
	return *c.Before, again, nil
}

// Made says whether a change was made under the key.
func (s *Service) Made(ctx context.Context, by By) (bool, error) {
	_, err := s.store.Made(ctx, by.Owner, by.Key)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// redacted is a text without its secrets; nil for none.
func (s *Service) redacted(text *string) *string {
	if text == nil {
		return nil
	}
	clean := s.redact(*text)
	return &clean
}

// apply makes a change. do returns the task as it is to be, or nil to remove it.
func (s *Service) apply(
	ctx context.Context, by By, a Act, version int64, do func(now *Task, at time.Time) *Task,
) (c Change, again bool, err error) {
	if version < 0 {
		return Change{}, false, &Invalid{"version", "must be 1 or more; 0 is any"}
	}
	a.Key, a.Actor, a.At = by.Key, s.redact(by.cleanActor()), Millis(s.now())
	a.Change = func(now *Task) (*Task, error) {
		if version != 0 && now.Version != version {
			return nil, ErrConflict
		}
		return do(now, a.At), nil
	}
	c, again, err = s.store.Apply(ctx, by.Owner, a)
	if err == nil && again && !sameContent(do(c.Before.clone(), c.At), c.After) {
		err = errKeyUsed()
	}
	return c, again, err
}

// cleanActor is the actor as it is stored. Clients choose their names, so a bad one is cleaned and not refused.
func (by By) cleanActor() string {
	name := strings.Map(func(r rune) rune {
		if breaksLine(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(by.Actor, ""))
	if runes := []rune(name); len(runes) > longestName {
		name = string(runes[:longestName])
	}
	return name
}

// clean returns an edit whose texts keep the rules.
func (e Edit) clean() (Edit, error) {
	if e == (Edit{}) {
		return e, &Invalid{"title, description or status", "must be given: there is nothing to change"}
	}
	if e.Title != nil {
		title, err := cleanTitle(*e.Title)
		if err != nil {
			return e, err
		}
		e.Title = &title
	}
	if e.Description != nil {
		description, err := cleanDescription(e.Description)
		if err != nil {
			return e, err
		}
		e.Description = description
		if description == nil {
			e.Description = new(string)
		}
	}
	if e.Status != nil {
		return e, checkStatus(*e.Status)
	}
	return e, nil
}

// applyTo changes t as the edit says.
func (e Edit) applyTo(t *Task, at time.Time) *Task {
	if e.Title != nil {
		t.Title = *e.Title
	}
	if e.Description != nil {
		t.Description = e.Description
		if *e.Description == "" {
			t.Description = nil
		}
	}
	if e.Status != nil && *e.Status != t.Status {
		t.Status, t.CompletedAt = *e.Status, nil
		if t.Status == Completed {
			t.CompletedAt = &at
		}
	}
	return t
}

// Task returns one task; ErrNotFound.
func (s *Service) Task(ctx context.Context, owner string, id int64) (Task, error) {
	if err := checkID(id); err != nil {
		return Task{}, err
	}
	return s.store.Task(ctx, owner, id)
}

// History lists the changes of a task, the oldest first; also of a deleted one. ErrNotFound if there never was one.
func (s *Service) History(ctx context.Context, owner string, id int64) ([]Change, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	return s.store.History(ctx, owner, id)
}
