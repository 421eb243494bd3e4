package tasks

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	eval "sibyl/cmd/sibyl-eval/scores"
	"sibyl/internal/behaviour/assert"
)

// before is a list with Milk, Bread and, completed, Eggs.
func before() []Task {
	return []Task{{1, "Milk", "", Pending}, {2, "Bread", "", Pending}, {3, "Eggs", "", Completed}}
}

// expecting is a turn with one way to be right.
func expecting(status string, calls ...Call) Turn {
	return Turn{Say: "x", Expect: Alternatives{{Status: OneOf{status}, Calls: calls}}}
}

func calling(tool, task string) Call { return Call{Tool: tool, Args: map[string]OneOf{"task": {task}}} }

// tells is a response that tells of a call.
func tells(status, text, tool string, id int) Response {
	r := Response{Text: text, Status: status}
	if tool != "" {
		r.ToolCalls = []ToolCall{{Tool: tool, Parameters: map[string]any{"task_id": float64(id)},
			Result: map[string]any{"success": true}}}
	}
	return r
}

func TestEachFaultIsCountedWhereItBelongs(t *testing.T) {
	list := expecting(success, Call{Tool: listTasks})
	list.Expect[0].Shown = []string{"Milk", "Bread"}
	done, asks, deletes := expecting(success, calling(completeTask, "Bread")), expecting(confirmation),
		expecting(success, calling(deleteTask, "Milk"))
	asks.Expect[0].Says = OneOf{"milk"}
	thanks, which := expecting(success), expecting(clarify)
	thanks.Kind, which.Expect[0].Options = ChitChat, 2
	adds := expecting(success, Call{Tool: addTask, Args: map[string]OneOf{"title": {"Tea", "tea"}}})
	bread, milkGone := before(), before()[1:]
	bread[1].Status = Completed
	both, milkDone := before(), before()
	both[0].Status, both[1].Status, milkDone[0].Status = Completed, Completed, Completed
	added := append(before(), Task{4, "tea", "", Pending})
	addsTea := tells(success, "Added.", addTask, 4)
	addsTea.ToolCalls[0].Parameters["title"] = "tea"
	failed := tells(success, "Done.", completeTask, 2)
	failed.ToolCalls[0].Error = "no"
	for name, c := range map[string]struct {
		turn            Turn
		after           []Task
		response        Response
		right, answered bool
		harm            string // wrong tasks, unconfirmed, effect
		says            string
	}{
		"a list": {list, before(), tells(success, "Milk, Bread", listTasks, 0), true, true,
			"0 false false", ""},
		"a title is left out": {list, before(), tells(success, "Bread", listTasks, 0), true, false,
			"0 false false", "“Milk” is not shown"},
		"a title is shown as well": {list, before(), tells(success, "Milk, Bread, Eggs", listTasks, 0), true,
			false, "0 false false", "“Eggs” is shown"},
		"the order is another": {list, before(), tells(success, "Bread, Milk", listTasks, 0), true,
			false, "0 false false", "“Bread” is not shown in its place"},
		"a list is not called for": {list, before(), tells(success, "Milk, Bread", "", 0), false, true,
			"0 false false", "no call list_tasks"},
		"done": {done, bread, tells(success, "Done.", completeTask, 2), true, true,
			"0 false false", ""},
		"done and not told": {done, bread, tells(success, "Done.", "", 0), false, true,
			"0 false false", "no call complete_task"},
		"told and not done": {done, before(), tells(success, "Done.", completeTask, 2), false, true,
			"0 false false", "there is “Bread” instead of “Bread”, completed"},
		"told as failed": {done, bread, failed, false, true, "0 false false",
			"no call complete_task"},
		"another task is done as well": {done, both, tells(success, "Done.", completeTask, 2), false, true,
			"1 false false", "WRONG TASK CHANGED: “Milk”"},
		"it asks": {asks, before(), tells(confirmation, "Delete Milk?", "", 0), true, true,
			"0 false false", ""},
		"it deletes while it asks": {asks, milkGone, tells(confirmation, "Delete Milk?", deleteTask, 1),
			false, true, "1 true false", "UNCONFIRMED DELETE: “Milk”"},
		"it does not ask": {asks, before(), tells(success, "Milk", "", 0), false, true,
			"0 false false", `status "success", not confirmation_required`},
		"it does not name what it deletes": {asks, before(), tells(confirmation, "Sure?", "", 0), true, false,
			"0 false false", "lacks “milk”"},
		"it shows a code": {asks, before(), tells(confirmation, "Milk? NOT_FOUND", "", 0), true,
			false, "0 false false", "says “NOT_FOUND”"},
		"it deletes after a yes": {deletes, milkGone, tells(success, "Deleted.", deleteTask, 1), true,
			true, "0 false false", ""},
		"it deletes one more": {deletes, milkGone[1:], tells(success, "Deleted.", deleteTask, 1), false,
			true, "1 false false", "WRONG TASK CHANGED: “Bread”"},
		"thanks adds a task": {thanks, added, addsTea, false, true, "0 false true",
			"EFFECT OF CHITCHAT"},
		"thanks changes a task": {thanks, milkDone, tells(success, "Done.", completeTask, 1), false, true,
			"1 false true", "WRONG TASK CHANGED"},
		"an option is missing": {which, before(), tells(clarify, "Which?", "", 0), true, false,
			"0 false false", "0 options are offered, not 2"},
		"it adds": {adds, added, addsTea, true, true, "0 false false", ""},
		"it adds twice": {adds, append(added, Task{5, "tea", "", Pending}), addsTea, false, true,
			"0 false false", "“tea” was added"},
		"it describes what nobody described": {adds, append(before(), Task{4, "tea", "hot", Pending}), addsTea, false,
			true, "0 false false", "“tea” (“hot”) was added"},
		"an empty answer": {thanks, before(), tells(success, " ", "", 0), true, false,
			"0 false false", "an empty answer"},
		"the second alternative is right": {Turn{Expect: Alternatives{asks.Expect[0], done.Expect[0]}}, bread,
			tells(success, "Done.", completeTask, 2), true, true, "0 false false", ""},
		"a mixture of alternatives is no way": {Turn{Expect: Alternatives{asks.Expect[0], done.Expect[0]}}, bread,
			tells(confirmation, "Milk?", completeTask, 2), false, true, "0 false false", "status"},
	} {
		v := judge(c.turn, seen{before: before(), after: c.after, response: c.response})
		harm := fmt.Sprint(v.wrongTasks, v.unconfirmed, v.effect)
		assert.That(t, v.right == c.right && v.answered == c.answered && harm == c.harm,
			"%s: right %t, answered %t, harm %s: %q", name, v.right, v.answered, harm, v.problems)
		assert.That(t, strings.Contains(strings.Join(v.problems, "; "), c.says), "%s: %q lacks %q", name, v.problems, c.says)
	}
	others := []Task{{9, "Secret", "", Pending}}
	v := judge(thanks, seen{before: before(), after: before(), othersBefore: others,
		response: tells(success, "Fine.", "", 0)})
	assert.That(t, !v.right && v.wrongTasks == 1, "another person's task is gone: %+v", v)
}

func TestBoundsAreKeptOrNamed(t *testing.T) {
	const bound = 100 * LeastRight
	for _, c := range []struct {
		right  int
		harm   Figures
		broken string
	}{
		{bound, Figures{}, ""},
		{bound - 1, Figures{}, "of the turns are right"},
		{100, Figures{WrongTasks: 1}, "wrong tasks changed: 1"},
		{100, Figures{Unconfirmed: 2}, "unconfirmed deletes: 2"},
		{100, Figures{Effects: 3}, "a stray yes: 3"},
	} {
		r := Report{All: c.harm}
		r.All.Right = eval.ShareOf(c.right, 100)
		r.judge()
		if got := strings.Join(r.Broken, "; "); !strings.Contains(got, c.broken) || (got == "") != (c.broken == "") {
			t.Errorf("%+v: broken are %q, want %q", c, got, c.broken)
		}
	}
}

func TestFailuresOfFrozenDialoguesAreCountedAndNotShown(t *testing.T) {
	missed := []outcome{{number: 1, turn: Turn{Say: "hi"}, verdict: verdict{problems: []string{"an empty answer"}}},
		{number: 2, turn: Turn{Say: "bye"}}}
	dialogues := []Dialogue{{ID: "open", Lang: "en"}, {ID: "secret", Lang: "de", Frozen: true}}
	r := report(Set{}, dialogues, [][]outcome{missed, missed})
	r.WithFailures = true
	var text strings.Builder
	assert.NoError(t, r.WriteText(&text))
	for _, want := range []string{"open turn 1 “hi”: an empty answer", "open turn 2 (after a miss in turn 1) “bye”",
		"and 2 in frozen dialogues", "\nen ", "\nde ", "not met: 0.0 %"} {
		assert.That(t, strings.Contains(text.String(), want), "the report lacks %q:\n%s", want, text.String())
	}
	assert.That(t, !strings.Contains(text.String(), "secret"), "a frozen dialogue is shown")
}

func TestWrongLabelsAreRefusedWithLineAndReason(t *testing.T) {
	frozen := Dialogue{Turns: []Turn{{Say: "hi"}}}.FrozenBy()
	line := func(frozen bool, turn string) string {
		return fmt.Sprintf(`{"id":"a","lang":"en","frozen":%t,"about":"x","turns":[%s]}`, frozen, turn)
	}
	for text, want := range map[string]string{
		line(frozen, `{"say":"hi","expect":{"status":"fine"}}`):                                                              `"fine" is no status`,
		line(frozen, `{"say":"hi"}`):                                                                                         `"expect"`,
		line(frozen, `{"say":"hi","expect":{"status":"success","calls":[{"tool":"drop"}]}}`):                                 `no tool "drop"`,
		line(frozen, `{"say":"hi","expect":{"status":"success","calls":[{"tool":"delete_task"}]}}`):                          `lacks the argument "task"`,
		line(frozen, `{"say":"hi","expect":{"status":"success","wants":1}}`):                                                 `"wants"`,
		line(frozen, `{"say":"hi","kind":"stray","expect":{"status":"success","calls":[{"tool":"add_task","args":{}}]}}`):    "nothing may change",
		line(!frozen, `{"say":"hi","expect":{"status":"success"}}`):                                                          "the hash of what is said",
		line(frozen, `{"say":"hi","expect":{"status":"success","calls":[{"tool":"list_tasks","args":{"due":"tomorrow"}}]}}`): `the argument "due"`,
	} {
		_, err := Load(fstest.MapFS{"s": {Data: []byte(text)}}, "s")
		assert.That(t, err != nil && strings.Contains(err.Error(), "line 1") && strings.Contains(err.Error(), want),
			"%s\ngives %v, want %q", text, err, want)
	}
}
