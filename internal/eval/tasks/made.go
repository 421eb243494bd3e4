package tasks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// made is a call that the assistant says it made, with what changes by it.
type made struct {
	tool   string
	id     int64 // of the task; 0 where there is none
	values map[string]string
}

// told are the calls of a response that took effect by its own account, without those that had nothing to change.
func told(r Response, before []Task) (all []made) {
	for _, c := range r.ToolCalls {
		if succeeded, said := c.Result["success"].(bool); c.Error != "" || said && !succeeded {
			continue
		}
		m := made{tool: c.Tool, id: number(c.Parameters["task_id"]), values: map[string]string{}}
		for _, name := range []string{"title", "description", "status"} {
			if text, is := c.Parameters[name].(string); is && text != "" {
				m.values[name] = text
			}
		}
		if c.Tool == listTasks && m.values["status"] == "" {
			m.values["status"] = "all"
		}
		if m.changes(before) {
			all = append(all, m)
		}
	}
	return all
}

// changes drops from an update what is so already, and says whether the call had anything to change. Lists always count.
func (m made) changes(before []Task) bool {
	at := slices.IndexFunc(before, func(t Task) bool { return t.ID == m.id })
	if at < 0 {
		if m.tool == addTask && m.values["status"] == Pending {
			delete(m.values, "status")
		}
		return true
	}
	switch was := before[at]; m.tool {
	case completeTask:
		return was.Status != Completed
	case updateTask:
		for name, value := range map[string]string{"title": was.Title, "description": was.Description, "status": was.Status} {
			if m.values[name] == value {
				delete(m.values, name)
			}
		}
		return len(m.values) > 0
	}
	return true
}

// number reads an id as JSON or Go gives it; 0 if it is none.
func number(id any) int64 {
	switch id := id.(type) {
	case int:
		return int64(id)
	case int64:
		return id
	case float64:
		return int64(id)
	case json.Number:
		n, _ := id.Int64() // 0 is no task's
		return n
	case string:
		n, _ := strconv.ParseInt(id, 10, 64) // 0 is no task's
		return n
	}
	return 0
}

// wish is a call that a label expects, with the task that it means; nil for a list.
type wish struct {
	call   Call
	target *wanted
}

// granted says whether a call is the one that was expected. after tells the titles of tasks that were added.
func (w wish) granted(m made, after []Task) bool {
	if m.tool != w.call.Tool {
		return false
	}
	for _, name := range []string{"title", "description", "status"} {
		value, given := m.values[name]
		values, asked := w.call.Args[name]
		if given != asked && m.tool != listTasks || asked && !slices.Contains(values, value) {
			return false
		}
	}
	switch {
	case m.tool == listTasks, m.tool == addTask:
		return true
	case w.target.id != 0:
		return m.id == w.target.id
	}
	return slices.ContainsFunc(after, func(t Task) bool { return t.ID == m.id && slices.Contains(w.target.titles, t.Title) })
}

// unmatched pairs calls with wishes, one to one, and says what is left of both. Lists that nobody asked for are left out: an assistant may
// look before it acts.
func unmatched(wishes []wish, calls []made, after []Task) (problems []string) {
	calls = slices.Clone(calls)
	for _, w := range wishes {
		at := slices.IndexFunc(calls, func(m made) bool { return w.granted(m, after) })
		if at < 0 {
			problems = append(problems, "no call "+w.call.String())
			continue
		}
		calls = slices.Delete(calls, at, at+1)
	}
	for _, m := range calls {
		if m.tool != listTasks {
			problems = append(problems, "an unexpected call "+m.String(after))
		}
	}
	return problems
}

// String is a call as a person reads it.
func (m made) String(after []Task) string {
	c := Call{Tool: m.tool, Args: map[string]OneOf{}}
	for name, value := range m.values {
		c.Args[name] = OneOf{value}
	}
	if m.id != 0 {
		c.Args["task"] = OneOf{fmt.Sprintf("number %d", m.id)}
		if at := slices.IndexFunc(after, func(t Task) bool { return t.ID == m.id }); at >= 0 {
			c.Args["task"] = OneOf{after[at].Title}
		}
	}
	return c.String()
}
