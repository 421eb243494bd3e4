package tasks

import (
	"cmp"
	"slices"
)

// told are the calls of a response that took effect by its own account, without those that complete what is completed.
// What they changed is seen by the list.
func told(r Response, before []Task) (all []ToolCall) {
	for _, c := range r.ToolCalls {
		succeeded, said := c.Result["success"].(bool)
		id, _ := c.Parameters["task_id"].(float64)
		done := slices.ContainsFunc(before, func(t Task) bool { return t.ID == int64(id) && t.Status == Completed })
		if c.Error == "" && (succeeded || !said) && (c.Tool != completeTask || !done) {
			all = append(all, c)
		}
	}
	return all
}

// wish is a call that a label expects, with the task that it means; nil for a list.
type wish struct {
	call   Call
	target *wanted
}

// granted says whether a call is the one that was expected.
func (w wish) granted(c ToolCall) bool {
	states := w.call.Args["status"]
	if c.Tool != listTasks || len(states) == 0 {
		return c.Tool == w.call.Tool
	}
	status, _ := c.Parameters["status"].(string)
	return w.call.Tool == listTasks && slices.Contains(states, cmp.Or(status, "all"))
}

// unmatched pairs calls with wishes, one to one, and says what is left of both. Lists that nobody asked for are left
// out: an assistant may look before it acts.
func unmatched(wishes []wish, calls []ToolCall) (problems []string) {
	for _, w := range wishes {
		at := slices.IndexFunc(calls, w.granted)
		if at < 0 {
			problems = append(problems, "no call "+w.call.String())
			continue
		}
		calls = slices.Delete(calls, at, at+1)
	}
	for _, c := range calls {
		if c.Tool != listTasks {
			problems = append(problems, "an unexpected call "+c.Tool)
		}
	}
	return problems
}
