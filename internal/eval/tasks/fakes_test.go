package tasks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// lists are task lists in memory.
type lists struct {
	mu    sync.Mutex
	users map[string][]Task
	ids   int64
}

func newLists() *lists { return &lists{users: map[string][]Task{}} }

func (l *lists) Tasks(_ context.Context, user string) ([]Task, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.users[user]), nil
}

func (l *lists) Add(_ context.Context, user, title string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids++
	l.users[user] = append(l.users[user], Task{ID: l.ids, Title: title, Status: Pending})
	return nil
}

func (l *lists) change(user string, id int64, do func(*Task)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.users[user] {
		if l.users[user][i].ID == id {
			do(&l.users[user][i])
			return nil
		}
	}
	return fmt.Errorf("no task %d", id)
}

func (l *lists) Rename(_ context.Context, user string, id int64, title string) error {
	return l.change(user, id, func(t *Task) { t.Title = title })
}

func (l *lists) Complete(_ context.Context, user string, id int64) error {
	return l.change(user, id, func(t *Task) { t.Status = Completed })
}

func (l *lists) Delete(_ context.Context, user string, id int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.users[user] = slices.DeleteFunc(l.users[user], func(t Task) bool { return t.ID == id })
	return nil
}

// prompter is an assistant that has read the labels, and does what the first alternative says. spoil makes it worse.
type prompter struct {
	*lists
	byUser map[string]Dialogue
	spoil  func(p *prompter, user string, t Turn, r *Response) error

	next   map[string]int // turns by user; one dialogue asks one thing after the other
	nextMu sync.Mutex
}

func newPrompter(dialogues []Dialogue) *prompter {
	p := &prompter{lists: newLists(), byUser: map[string]Dialogue{}, next: map[string]int{}}
	for _, d := range dialogues {
		p.byUser[d.ID] = d
	}
	return p
}

func (p *prompter) Say(ctx context.Context, user, conversation, text string) (Response, error) {
	t, err := p.turn(user, text)
	if err != nil {
		return Response{}, err
	}
	r := Response{ConversationID: conversation, Status: t.Expect[0].Status[0]}
	if conversation == NewConversation {
		r.ConversationID = user + " in " + t.In
	} else if conversation != user+" in "+t.In {
		return r, fmt.Errorf("conversation %q goes on in %q", conversation, t.In)
	}
	list, _ := p.Tasks(ctx, user) // it never fails
	for _, e := range t.Expect {
		if _, err := planned(list, e.Calls); err != nil {
			return r, fmt.Errorf("a label can't be met: %w", err)
		}
	}
	e := t.Expect[0]
	r.Text = strings.Join(append(slices.Clone(e.Shown), "Fine."), "\n")
	if len(e.Says) > 0 && !strings.Contains(r.Text, e.Says[0]) {
		r.Text += " " + e.Says[0]
	}
	if e.Options > 0 {
		r.Clarification = &Clarification{Question: "Which?", Options: make([]string, e.Options)}
	}
	for _, c := range e.Calls {
		if err := p.call(ctx, user, c, &r); err != nil {
			return r, err
		}
	}
	if p.spoil != nil {
		err = p.spoil(p, user, t, &r)
	}
	return r, err
}

// turn is the one that is said; those that are left out are passed over.
func (p *prompter) turn(user, text string) (Turn, error) {
	p.nextMu.Lock()
	defer p.nextMu.Unlock()
	turns := p.byUser[user].Turns
	for i := p.next[user]; i < len(turns); i++ {
		if turns[i].Say == text {
			p.next[user] = i + 1
			return turns[i], nil
		}
	}
	return Turn{}, fmt.Errorf("%q is not in the dialogue of %s", text, user)
}

// call makes a call and tells of it, as the agent of the requirement would.
func (p *prompter) call(ctx context.Context, user string, c Call, r *Response) error {
	told := ToolCall{Tool: c.Tool, Parameters: map[string]any{}, Result: map[string]any{"success": true}}
	for name, values := range c.Args {
		if name != "task" {
			told.Parameters[name] = values[0]
		}
	}
	var err error
	if c.Tool == addTask {
		err = p.Add(ctx, user, c.Args["title"][0])
		if d := c.Args["description"]; len(d) > 0 && err == nil {
			err = p.change(user, p.ids, func(t *Task) { t.Description = d[0] })
		}
	} else if c.Tool != listTasks {
		id, found := p.find(user, c.Args["task"][0])
		if found != nil {
			return found
		}
		told.Parameters["task_id"] = id
		switch c.Tool {
		case completeTask:
			err = p.Complete(ctx, user, id)
		case deleteTask:
			err = p.Delete(ctx, user, id)
		case updateTask:
			err = p.change(user, id, func(t *Task) {
				for name, field := range map[string]*string{"title": &t.Title, "description": &t.Description, "status": &t.Status} {
					if v := c.Args[name]; len(v) > 0 {
						*field = v[0]
					}
				}
			})
		}
	}
	r.ToolCalls = append(r.ToolCalls, told)
	return err
}

func (p *prompter) find(user, name string) (int64, error) {
	title, second := strings.CutSuffix(name, "#2")
	list, _ := p.Tasks(context.Background(), user) // it never fails
	for _, t := range list {
		if t.Title == title {
			if !second {
				return t.ID, nil
			}
			second = false
		}
	}
	return 0, fmt.Errorf("%s has no “%s”: the label is wrong", user, name)
}
