package tasks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// wanted is a task as it must be after a turn. Of an added one the id is 0, and any of the titles is right.
type wanted struct {
	id                  int64
	titles, description OneOf
	status              string
}

func (w wanted) name() string { return w.titles[0] }

// is says whether a task is as it must be.
func (w wanted) is(t Task) bool {
	return slices.Contains(w.titles, t.Title) && slices.Contains(w.description, t.Description) && w.status == t.Status
}

// plan is what the calls of a label come to: the list afterwards, what is gone from it, and the calls with the tasks
// that they mean.
type plan struct {
	list, gone []*wanted
	wishes     []wish
}

// planned applies calls to a list. An error says that a task which a call names is not there.
func planned(before []Task, calls []Call) (plan, error) {
	var p plan
	for _, t := range before {
		p.list = append(p.list, &wanted{id: t.ID, titles: OneOf{t.Title}, description: OneOf{t.Description},
			status: t.Status})
	}
	for _, c := range calls {
		if err := p.apply(c); err != nil {
			return p, err
		}
	}
	return p, nil
}

// apply makes one call. Completing what is completed is no wish: the assistant may call, or say that there is nothing
// to do.
func (p *plan) apply(c Call) error {
	var target *wanted
	switch c.Tool {
	case listTasks:
	case addTask:
		target = &wanted{titles: c.Args["title"], description: OneOf{""}, status: Pending}
		if d := c.Args["description"]; len(d) > 0 {
			target.description = d
		}
		p.list = append(p.list, target)
	default:
		var err error
		if target, err = p.named(c.Args["task"][0]); err != nil {
			return err
		}
		if c.Tool == completeTask && target.status == Completed {
			return nil
		}
		p.change(c, target)
	}
	p.wishes = append(p.wishes, wish{c, target})
	return nil
}

func (p *plan) change(c Call, target *wanted) {
	switch c.Tool {
	case completeTask:
		target.status = Completed
	case deleteTask:
		p.list = slices.DeleteFunc(p.list, func(w *wanted) bool { return w == target })
		p.gone = append(p.gone, target)
	case updateTask:
		if titles := c.Args["title"]; len(titles) > 0 {
			target.titles = titles
		}
		if texts := c.Args["description"]; len(texts) > 0 {
			target.description = texts
		}
		if states := c.Args["status"]; len(states) > 0 {
			target.status = states[0]
		}
	}
}

// named finds a task by its title; “Title#2” is the second of that title.
func (p *plan) named(name string) (*wanted, error) {
	title, place := name, 1
	if head, number, found := strings.Cut(name, "#"); found {
		if n, err := strconv.Atoi(number); err == nil {
			title, place = head, n
		}
	}
	for _, w := range p.list {
		if slices.Contains(w.titles, title) {
			if place--; place == 0 {
				return w, nil
			}
		}
	}
	return nil, fmt.Errorf("“%s” is not on the list", name)
}

// differences says in which ways a list is not as planned.
func (p *plan) differences(after []Task) (all []string) {
	left := slices.Clone(after)
	take := func(fits func(Task) bool) *Task {
		at := slices.IndexFunc(left, fits)
		if at < 0 {
			return nil
		}
		found := left[at]
		left = slices.Delete(left, at, at+1)
		return &found
	}
	for _, w := range p.list {
		if w.id == 0 {
			continue
		}
		found := take(func(t Task) bool { return t.ID == w.id })
		switch {
		case found == nil:
			all = append(all, fmt.Sprintf("“%s” is gone", w.name()))
		case !w.is(*found):
			have, want := described(found.Title, found.Description, found.Status), described(w.name(), w.description[0],
				w.status)
			all = append(all, fmt.Sprintf("there is %s instead of %s", have, want))
		}
	}
	for _, w := range p.gone {
		if take(func(t Task) bool { return t.ID == w.id }) != nil {
			all = append(all, fmt.Sprintf("“%s” is still there", w.name()))
		}
	}
	for _, w := range p.list {
		if w.id == 0 && take(w.is) == nil {
			all = append(all, described(w.name(), w.description[0], w.status)+" was not added")
		}
	}
	for _, t := range left {
		all = append(all, described(t.Title, t.Description, t.Status)+" was added")
	}
	return all
}

func described(title, description, status string) string {
	text := "“" + title + "”"
	if description != "" {
		text += " (“" + description + "”)"
	}
	if status == Completed {
		text += ", completed,"
	}
	return text
}
