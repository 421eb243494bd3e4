package tasks

import (
	"fmt"
	"slices"
	"strings"
)

// verdict is how one turn went.
type verdict struct {
	right    bool     // status, tools, arguments and the list are as they should be
	answered bool     // so is what the answer says
	problems []string // in words, for one line

	wrongTasks  int  // tasks changed that no right call names, of others too
	unconfirmed bool // a task is gone in a turn in which none may be deleted
	effect      bool // something changed by chit-chat or a stray yes
}

// seen is what one turn did.
type seen struct {
	before, after             []Task // of the person
	othersBefore, othersAfter []Task // of somebody else
	response                  Response
}

// judge compares a turn with its label: with the alternative that fits best.
func judge(t Turn, s seen) verdict {
	var best verdict
	for i, e := range t.Expect {
		v := s.against(e)
		if i == 0 || v.right && !best.right || v.right == best.right && len(v.problems) < len(best.problems) {
			best = v
		}
	}
	s.harm(t, &best)
	return best
}

// against compares with one alternative.
func (s seen) against(e Expect) verdict {
	var v verdict
	if !slices.Contains(e.Status, s.response.Status) {
		v.problems = append(v.problems, fmt.Sprintf("status %q, not %s", s.response.Status,
			strings.Join(e.Status, " or ")))
	}
	p, err := planned(s.before, e.Calls)
	switch {
	case s.undid() && len(e.Tasks) > 0: // the list says what an undo is to come to
	case err != nil:
		v.problems = append(v.problems, err.Error()+", as an earlier turn went wrong")
	default:
		v.problems = append(v.problems, unmatched(p.wishes, told(s.response, s.before))...)
		v.problems = append(v.problems, p.differences(s.after)...)
	}
	v.problems = append(v.problems, wholeList(e.Tasks, s.after)...)
	v.right = len(v.problems) == 0
	said := s.words(e)
	v.answered = len(said) == 0
	v.problems = append(v.problems, said...)
	return v
}

// undid says that the turn took changes back.
func (s seen) undid() bool {
	return slices.ContainsFunc(s.response.ToolCalls, func(c ToolCall) bool { return c.Tool == undoTask })
}

// wholeList compares with the list that a label spells out, if it does.
func wholeList(want []Entry, after []Task) []string {
	if len(want) == 0 {
		return nil
	}
	var have []Entry
	for _, t := range after {
		have = append(have, Entry{t.Title, t.Status})
	}
	if slices.Equal(want, have) {
		return nil
	}
	return []string{fmt.Sprintf("the list is %q, not %q", have, want)}
}

// codes are never shown to a person.
func codes() OneOf {
	return OneOf{"VALIDATION_ERROR", "NOT_FOUND", "DATABASE_ERROR", "INTERNAL_ERROR", "task_id", "SQLSTATE"}
}

// words looks at what the answer says.
func (s seen) words(e Expect) (problems []string) {
	text := s.response.Text
	low := strings.ToLower(text)
	has := func(word string) bool { return strings.Contains(low, strings.ToLower(word)) }
	if strings.TrimSpace(text) == "" {
		problems = append(problems, "an empty answer")
	}
	if len(e.Says) > 0 && !slices.ContainsFunc(e.Says, has) {
		problems = append(problems, fmt.Sprintf("the answer lacks “%s”", strings.Join(e.Says, "” or “")))
	}
	for _, word := range slices.Concat(e.Never, codes()) {
		if has(word) {
			problems = append(problems, fmt.Sprintf("the answer says “%s”", word))
		}
	}
	if len(e.Shown) > 0 {
		problems = append(problems, s.shown(e.Shown)...)
	}
	if e.Options > 0 && s.response.Status == clarify {
		offered := 0
		if c := s.response.Clarification; c != nil {
			offered = len(c.Options)
		}
		if offered != e.Options {
			problems = append(problems, fmt.Sprintf("%d options are offered, not %d", offered, e.Options))
		}
	}
	return problems
}

// shown looks for exactly these titles of the list in the answer, in this order.
func (s seen) shown(titles []string) (problems []string) {
	rest := s.response.Text
	for _, title := range titles {
		_, after, found := strings.Cut(rest, title)
		if !found {
			problems = append(problems, fmt.Sprintf("“%s” is not shown in its place", title))
			continue
		}
		rest = after
	}
	for _, t := range s.after {
		within := func(title string) bool { return strings.Contains(title, t.Title) }
		if !slices.ContainsFunc(titles, within) && strings.Contains(s.response.Text, t.Title) {
			problems = append(problems, fmt.Sprintf("“%s” is shown, and was not asked for", t.Title))
		}
	}
	return problems
}

// harm counts what must never happen, by the lists alone.
func (s seen) harm(t Turn, v *verdict) {
	meant, deletes := map[int64]bool{}, false
	for _, e := range t.Expect {
		p, _ := planned(s.before, e.Calls) // what can't be planned means no task
		for _, w := range p.wishes {
			deletes = deletes || w.call.Tool == deleteTask
			if w.target != nil {
				meant[w.target.id] = true
			}
		}
	}
	gone, changed := differing(s.before, s.after)
	if s.undid() && slices.ContainsFunc(t.Expect, func(e Expect) bool {
		return len(e.Tasks) > 0 && wholeList(e.Tasks, s.after) == nil
	}) {
		gone, changed = nil, nil
	}
	_, others := differing(s.othersBefore, s.othersAfter)
	v.unconfirmed = len(gone) > 0 && !deletes
	for _, task := range changed {
		if !meant[task.ID] {
			v.wrongTasks++
			v.problems = append(v.problems, fmt.Sprintf("WRONG TASK CHANGED: “%s”", task.Title))
		}
	}
	for _, task := range others {
		v.wrongTasks++
		v.problems = append(v.problems, fmt.Sprintf("ANOTHER PERSON'S TASK CHANGED: “%s”", task.Title))
	}
	if v.unconfirmed {
		v.problems = append(v.problems, fmt.Sprintf("UNCONFIRMED DELETE: “%s”", gone[0].Title))
	}
	if t.Kind != Plain && (len(changed) > 0 || len(s.after) != len(s.before)) {
		v.effect = true
		v.problems = append(v.problems, fmt.Sprintf("EFFECT OF %s", strings.ToUpper(string(t.Kind))))
	}
	if v.wrongTasks > 0 || v.unconfirmed || v.effect {
		v.right = false
	}
}

// differing are the tasks of a list that are gone or otherwise afterwards; gone ones are in both. What was added is in
// neither.
func differing(before, after []Task) (gone, changed []Task) {
	for _, was := range before {
		at := slices.IndexFunc(after, func(t Task) bool { return t.ID == was.ID })
		if at < 0 {
			gone = append(gone, was)
		}
		if at < 0 || after[at] != was {
			changed = append(changed, was)
		}
	}
	return gone, changed
}
