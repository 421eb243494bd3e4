// Package tasks scores a task assistant on labelled dialogues, which it plays word for word.
//
// It knows no assistant: whatever is a World can be scored. What was changed is found by comparing the task lists
// before and after each turn, so that an assistant that misreports what it did is found out. The same dialogues and the
// same assistant give the same report.
package tasks

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sibyl/cmd/sibyl-eval/scores"
)

// Dialogue is one line of the set: a task list, and what a person says to it.
type Dialogue struct {
	ID     string  `json:"id"`
	Lang   string  `json:"lang"`             // en, de or pt
	Frozen bool    `json:"frozen"`           // nobody tunes on it; the hash of what is said decides
	About  string  `json:"about"`            // what it tries, in a few words
	Tasks  []Entry `json:"tasks,omitempty"`  // there before, in order of creation
	Others []Entry `json:"others,omitempty"` // the list of another person, which nothing may change
	Turns  []Turn  `json:"turns"`
}

// Entry is a task as a label has it: its title and its status.
type Entry [2]string

// The states of a task.
const (
	Pending   = "pending"
	Completed = "completed"
)

// Turn is one thing that is said, and what may come of it.
type Turn struct {
	Say       string `json:"say"`
	In        string `json:"in,omitempty"`        // a name for another conversation of the same person
	Meanwhile []Call `json:"meanwhile,omitempty"` // changes that are made elsewhere before it is said
	// it is said only if the last response in this conversation had one of these states
	When   OneOf        `json:"when,omitempty"`
	Kind   Kind         `json:"kind,omitempty"`
	Expect Alternatives `json:"expect"`
}

// Kind marks turns that may change nothing at all.
type Kind string

// The kinds of turns; Plain is any other.
const (
	Plain    Kind = ""
	ChitChat Kind = "chitchat"
	Stray    Kind = "stray" // a yes or a choice that nothing was asked for
)

// Expect is one way in which a turn is right. What is empty is not looked at, but for Calls: no others may be made.
type Expect struct {
	Status  OneOf    `json:"status"`
	Calls   []Call   `json:"calls,omitempty"`
	Tasks   []Entry  `json:"tasks,omitempty"`   // the whole list afterwards
	Shown   []string `json:"shown,omitempty"`   // exactly these titles stand in the answer, in this order
	Options int      `json:"options,omitempty"` // how many the clarification offers
	Says    OneOf    `json:"says,omitempty"`    // one of these stands in the answer, in any case of letters
	Never   OneOf    `json:"never,omitempty"`   // none of these does
}

// Alternatives are ways in which a turn is right; in JSON one object, or several.
type Alternatives = eval.OneOf[Expect]

// Call is a call of a tool that is expected. Args has “task” (the title at that time; “Title#2” is the second of that
// title), “title”, “description”, “status”. What an argument leaves out may not be given, but for the status of a list.
type Call struct {
	Tool string           `json:"tool"`
	Args map[string]OneOf `json:"args,omitempty"`
}

// The tools.
const (
	addTask      = "add_task"
	listTasks    = "list_tasks"
	updateTask   = "update_task"
	completeTask = "complete_task"
	deleteTask   = "delete_task"
	undoTask     = "undo_task" // of which labels say what list it comes to
)

// arguments are what a call of each tool may name, those it must name first.
func arguments(tool string) (must, may []string) {
	switch tool {
	case addTask:
		return []string{"title"}, []string{"description"}
	case listTasks:
		return nil, []string{"status"}
	case updateTask:
		return []string{"task"}, []string{"title", "description", "status"}
	case completeTask, deleteTask:
		return []string{"task"}, nil
	}
	return nil, nil
}

// The states of a response.
const (
	success      = "success"
	clarify      = "clarification_needed"
	confirmation = "confirmation_required"
	failure      = "error"
)

// OneOf are texts of which each is right.
type OneOf = eval.OneOf[string]

// Load reads a set in JSON lines. An error names the line that is wrong and what it lacks.
func Load(files fs.FS, name string) ([]Dialogue, error) {
	return eval.LoadSet(files, name, eval.WithID(func(d Dialogue) string { return d.ID }, Dialogue.check))
}

// FrozenBy says by the hash of all that is said whether a dialogue is frozen, so that nobody chooses.
func (d Dialogue) FrozenBy() bool {
	said := make([]string, len(d.Turns))
	for i, t := range d.Turns {
		said[i] = t.Say
	}
	return eval.HalfOf(strings.Join(said, "\n")) == eval.Test
}

func (d Dialogue) check() error {
	switch {
	case len(d.Turns) == 0:
		return errors.New(`"turns" is empty`)
	case d.Frozen != d.FrozenBy():
		return fmt.Errorf(`"frozen" is %t, the hash of what is said says %t`, d.Frozen, d.FrozenBy())
	}
	for i, t := range d.Turns {
		if err := t.check(); err != nil {
			return fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	return nil
}

func (t Turn) check() error {
	if strings.TrimSpace(t.Say) == "" || len(t.Expect) == 0 {
		return errors.New(`it needs "say" and "expect"`)
	}
	calls := slices.Clone(t.Meanwhile)
	for _, e := range t.Expect {
		calls = append(calls, e.Calls...)
		if len(e.Status) == 0 {
			return errors.New(`"status" is missing`)
		}
		for _, s := range e.Status {
			if !slices.Contains([]string{success, clarify, confirmation, failure}, s) {
				return fmt.Errorf("%q is no status of a response", s)
			}
		}
		if t.Kind != Plain && slices.ContainsFunc(e.Calls, func(c Call) bool { return c.Tool != listTasks }) {
			return fmt.Errorf(`"kind" is %q, so nothing may change, but calls that change something are expected`,
				t.Kind)
		}
	}
	for _, c := range calls {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

func (c Call) check() error {
	must, may := arguments(c.Tool)
	if must == nil && may == nil {
		return fmt.Errorf("there is no tool %q", c.Tool)
	}
	for _, name := range must {
		if len(c.Args[name]) == 0 {
			return fmt.Errorf("%s lacks the argument %q", c.Tool, name)
		}
	}
	for name := range c.Args {
		if !slices.Contains(must, name) && !slices.Contains(may, name) {
			return fmt.Errorf("%s can't have the argument %q", c.Tool, name)
		}
	}
	return nil
}

// String is a call as a person reads it.
func (c Call) String() string {
	var parts []string
	for _, name := range []string{"task", "title", "description", "status"} {
		if values := c.Args[name]; len(values) > 0 {
			parts = append(parts, fmt.Sprintf("%s “%s”", name, strings.Join(values, "” or “")))
		}
	}
	return strings.TrimSpace(c.Tool + " " + strings.Join(parts, ", "))
}
