package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/mcp"
	"sibyl/internal/task"
)

func TestTasksLiveThroughTheirTools(t *testing.T) {
	for _, revision := range []string{older, newer} {
		t.Run(revision, func(t *testing.T) {
			h := newHouse(t)
			c := h.connect("ada", revision, yes)
			added := c.call("add_task", `{"title":"Buy groceries","description":null}`)
			want := map[string]any{"id": 1.0, "title": "Buy groceries", "status": "pending",
				"created_at": "2026-11-22T09:00:00Z",
				"version":    1.0}
			assert.That(t, maps.Equal(added.Data, want) && added.text == "Added task 1, “Buy groceries”.",
				"added %v, %q", added.Data, added.text)
			changed := c.call("update_task", `{"task_id":1,"title":"Buy apples","description":"two"}`)
			assert.That(t, changed.Data["title"] == "Buy apples" && changed.Data["description"] == "two" &&
				changed.Data["version"] == 2.0, "changed into %v", changed.Data)
			h.pass(time.Hour)
			done := c.call("complete_task", `{"task_id":1}`)
			assert.That(t, done.Data["already_completed"] == false && done.Data["completed_at"] == "2026-11-22T10:00:00Z",
				"completed into %v", done.Data)
			h.pass(time.Hour)
			again := c.call("complete_task", `{"task_id":1}`)
			assert.That(t, again.Data["already_completed"] == true && again.Data["completed_at"] == "2026-11-22T10:00:00Z" &&
				again.text == "Task 1, “Buy apples” was completed already, at 2026-11-22T10:00:00Z.",
				"completed again into %v, %q", again.Data, again.text)
			opened := c.call("update_task",
				`{"task_id":1,"status":"pending","description":""}`)
			assert.That(t, opened.Data["status"] == "pending" && opened.Data["description"] == nil,
				"opened into %v", opened.Data)
			gone := c.call("delete_task", `{"task_id":1}`)
			assert.That(t, gone.Data["title"] == "Buy apples" && gone.text == "Deleted task 1, “Buy apples”.",
				"deleted %v, %q", gone.Data, gone.text)
			c.call("complete_task", `{"task_id":1}`).failed(t, mcp.NotFound, "", "")
		})
	}
}

func TestListsAreOrderedFilteredAndPaged(t *testing.T) {
	h := newHouse(t)
	c := h.connect("ada", newer, nil)
	empty := c.call("list_tasks", ``)
	assert.That(t, fmt.Sprint(empty.Data) == "map[tasks:[] total:0]" && empty.text == "There are no such tasks.",
		"an empty list is %v, %q", empty.Data, empty.text)
	for _, title := range []string{"Call John", "Buy milk", "Read", "Call Ann"} {
		h.add("ada", title)
		h.pass(time.Second)
	}
	h.add("eve", "Plot")
	c.call("complete_task", `{"task_id":3}`)
	for args, want := range map[string]string{
		`{}`:                        "Call John, Buy milk, Read, Call Ann of 4",
		`{"status":"all"}`:          "Call John, Buy milk, Read, Call Ann of 4",
		`{"status":"pending"}`:      "Call John, Buy milk, Call Ann of 3",
		`{"status":"completed"}`:    "Read of 1",
		`{"order":"newest"}`:        "Call Ann, Read, Buy milk, Call John of 4",
		`{"limit":2}`:               "Call John, Buy milk of 4, next 2",
		`{"limit":2,"after":2}`:     "Read, Call Ann of 4",
		`{"query":"call"}`:          "Call John, Call Ann of 2",
		`{"task_ids":[4,2.0,5,99]}`: "Buy milk, Call Ann of 2",
	} {
		data := c.call("list_tasks", args).Data
		var titles []string
		for _, one := range data["tasks"].([]any) {
			titles = append(titles, one.(map[string]any)["title"].(string))
		}
		got := fmt.Sprintf("%s of %v", strings.Join(titles, ", "), data["total"])
		if next := data["next_after"]; next != nil {
			got += fmt.Sprintf(", next %v", next)
		}
		assert.That(t, got == want, "%s gives %s, want %s", args, got, want)
	}
	const read = "4 tasks:\n- [ ] Call John (task_id 1)\n- [ ] Buy milk (task_id 2)\n- " +
		"[x] Read (task_id 3)\nThere are more: after 3."
	text := c.call("list_tasks", `{"limit":3}`).text
	assert.That(t, text == read, "a person reads %q", text)
}

func TestWhatBreaksARuleIsRefusedByItsFieldAndNeverRepeated(t *testing.T) {
	h := newHouse(t)
	h.add("ada", "Buy milk")
	c := h.connect("ada", newer, yes)
	const sent = "S3NT"
	for _, wrong := range []struct{ tool, args, field string }{
		{"add_task", `{}`, "title"},
		{"add_task", ``, "title"},
		{"add_task", `{"title":null}`, "title"},
		{"add_task", `{"title":"  "}`, "title"},
		{"add_task", `{"title":["` + sent + `"]}`, "title"},
		{"add_task", `{"title":"` + strings.Repeat("ä", task.MaxTitle) + sent + `"}`, "title"},
		{"add_task", `{"title":"x","description":{"a":7}}`, "description"},
		{"add_task", `{"title":"x","` + sent + `":1}`, "arguments"},
		{"add_task", `{"title":"x","Title":"y"}`, "arguments"},
		{"add_task", `["` + sent + `"]`, "arguments"},
		{"list_tasks", `{"status":"` + sent + `"}`, "status"},
		{"list_tasks", `{"order":"oldest"}`, "order"},
		{"list_tasks", `{"limit":0}`, "limit"},
		{"list_tasks", `{"limit":201}`, "limit"},
		{"list_tasks", `{"limit":"ten"}`, "limit"},
		{"list_tasks", `{"limit":"201"}`, "limit"},
		{"list_tasks", `{"after":1,"query":"milk"}`, "after"},
		{"list_tasks", `{"task_ids":[]}`, "task_ids"},
		{"list_tasks", `{"task_ids":["` + sent + `"]}`, "task_ids"},
		{"update_task", `{"task_id":1}`, "arguments"},
		{"update_task", `{"title":"y"}`, "task_id"},
		{"update_task", `{"task_id":1,"status":"completed"}`, "status"},
		{"complete_task", `{"task_id":1.5}`, "task_id"},
		{"complete_task", `{"task_id":-1}`, "task_id"},
		{"complete_task", `{"task_id":99999999999999999999}`, "task_id"},
		{"complete_task", `{"task_id":"1.5"}`, "task_id"},
		{"complete_task", `{"task_id":"1; 2"}`, "task_id"},
		{"complete_task", `{"task_id":true}`, "task_id"},
		{"complete_task", `{"task_id":null,"taskId":null}`, "task_id"},
		{"delete_task", `{"task_id":[1]}`, "task_id"},
	} {
		o := c.call(wrong.tool, wrong.args)
		o.failed(t, mcp.Validation, "field", wrong.field)
		all := fmt.Sprint(o)
		assert.That(t, !strings.Contains(all, sent) && !strings.Contains(all, "schema") &&
			!strings.Contains(all, "unmarshal"), "%s %s: %v", wrong.tool, wrong.args, all)
	}
	for meta, value := range map[string]any{mcp.MetaKey: strings.Repeat("k", 300), mcp.MetaVersion: "1"} {
		c.call("complete_task", `{"task_id":1}`, meta, value).failed(t, mcp.Validation, "field", "_meta."+meta)
	}
	if got := h.titles("ada"); got != "Buy milk" || len(c.asked) > 0 {
		t.Errorf("then there are %s, and %d questions were asked", got, len(c.asked))
	}
}

func TestHarmlessSlipsOfClientsAreTakenAsTheyAreMeant(t *testing.T) {
	for args, want := range map[string]string{
		`{"task_ids":["1","2"]}`: "Buy milk, Call Ann", `{"task_ids":1}`: "Buy milk", `{"task_ids":"2"}`: "Call Ann",
		`{"task_ids":"[1, 2]"}`: "Buy milk, Call Ann", `{"task_ids":"1,2"}`: "Buy milk, Call Ann",
		`{"taskIds":[2.0,null]}`: "Call Ann", `{"limit":"1"}`: "Buy milk", `{"limit":1.0,"after":null}`: "Buy milk",
		`{"limit":"","status":"","order":null,"query":null}`: "Buy milk, Call Ann", `{"status":"Pending"}`: "Buy milk, Call Ann",
		`{"limit":"1e0","after":"None"}`: "Buy milk", `{"status":"null","unknown":null}`: "Buy milk, Call Ann",
		`"{\"limit\":1}"`: "Buy milk",
	} {
		h := newHouse(t)
		h.add("ada", "Buy milk")
		h.add("ada", "Call Ann")
		c := h.connect("ada", newer, yes)
		o := c.call("list_tasks", args)
		var titles []string
		list, _ := o.Data["tasks"].([]any)
		for _, one := range list {
			titles = append(titles, fmt.Sprint(one.(map[string]any)["title"]))
		}
		got := strings.Join(titles, ", ")
		assert.That(t, got == want, "%s: %s, want %s; %s", args, got, want, o.text)
	}
	h := newHouse(t)
	c := h.connect("ada", newer, yes)
	c.call("add_task", `{"title":2024,"description":true}`)
	c.call("add_task", `{"title":"Null","description":"none"}`)
	assert.Equal(t, h.titles("ada"), "2024, Null")
	c.call("complete_task", `{"task_id":"1"}`)
	gone := c.call("delete_task", `{"taskId":" 2.0 "}`)
	assert.That(t, gone.Data["title"] == "Null" && len(c.asked) == 1 && h.titles("ada") == "2024",
		"%+v, %d questions; there are %s", gone, len(c.asked), h.titles("ada"))
}

func TestUnknownToolIsRefusedWithoutItsName(t *testing.T) {
	c := newHouse(t).connect("ada", newer, nil)
	_, err := c.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "S3NT"})
	assert.That(t, err != nil && !strings.Contains(err.Error(), "S3NT") && strings.Contains(err.Error(), "tools/list"),
		"an unknown tool is answered with %v", err)
}

func TestTasksOfOthersDoNotExist(t *testing.T) {
	h := newHouse(t)
	h.add("ada", "Buy milk")
	eve := h.connect("eve", newer, yes)
	never := eve.call("complete_task", `{"task_id":99}`)
	for _, tool := range []string{"complete_task", "delete_task"} {
		o := eve.call(tool, `{"task_id":1}`)
		o.failed(t, mcp.NotFound, "", "")
		assert.That(t, o.text == never.text, "%s of another's task says %q, of none %q", tool, o.text, never.text)
	}
	if got := h.titles("ada"); got != "Buy milk" || len(eve.asked) > 0 {
		t.Errorf("then there are %s, and eve was asked %d times", got, len(eve.asked))
	}
}

func TestRepeatedWriteGivesItsFirstResult(t *testing.T) {
	h := newHouse(t)
	c := h.connect("ada", newer, yes)
	first := c.call("add_task", `{"title":"Buy milk"}`, mcp.MetaKey, "k1")
	again := c.call("add_task", `{"title":"Buy milk"}`, mcp.MetaKey, "k1")
	assert.That(t, maps.Equal(first.Data, again.Data) && h.titles("ada") == "Buy milk",
		"added %v, then %v", first.Data, again.Data)
	c.call("add_task", `{"title":"Buy bread"}`, mcp.MetaKey, "k1").failed(t, mcp.Validation, "field", "idempotency_key")
	c.call("delete_task", `{"task_id":1}`, mcp.MetaKey, "k2")
	gone := c.call("delete_task", `{"task_id":1}`, mcp.MetaKey, "k2")
	assert.That(t, gone.Data["title"] == "Buy milk" && len(c.asked) == 1,
		"deleted again gives %+v, and %d questions were asked", gone, len(c.asked))
	c.call("delete_task", `{"task_id":1}`, mcp.MetaKey, "k3").failed(t, mcp.NotFound, "", "")
}

func TestWriteThatIsOnlyLookedUpIsNotPerformed(t *testing.T) {
	h := newHouse(t)
	h.add("ada", "Buy milk")
	c := h.connect("ada", newer, yes)
	writes := map[string]string{"add_task": `{"title":"Buy oil"}`, "update_task": `{"task_id":1,"title":"Buy bread"}`,
		"complete_task": `{"task_id":1}`, "delete_task": `{"task_id":1}`}
	for name, args := range writes {
		c.call(name, args, mcp.MetaKey, name, mcp.MetaLook, true).failed(t, mcp.NotFound, "", "")
		c.call(name, args, mcp.MetaLook, true).failed(t, mcp.Validation, "field", "_meta."+mcp.MetaLook)
	}
	if got := h.titles("ada"); got != "Buy milk" || len(c.asked) > 0 {
		t.Errorf("then there are %s, and %d questions were asked", got, len(c.asked))
	}
	for _, name := range []string{"add_task", "update_task", "complete_task", "delete_task"} {
		first := c.call(name, writes[name], mcp.MetaKey, name)
		found := c.call(name, writes[name], mcp.MetaKey, name, mcp.MetaLook, true)
		assert.That(t, found.Data["title"] != nil && found.Data["title"] == first.Data["title"],
			"%s gave %v, and is found with %v", name, first.Data, found.Data)
	}
}

func TestChangeOfAnotherVersionIsAConflict(t *testing.T) {
	h := newHouse(t)
	h.add("ada", "Buy milk")
	c := h.connect("ada", newer, yes)
	c.call("update_task", `{"task_id":1,"title":"Buy bread"}`, mcp.MetaVersion, 1)
	for tool, args := range map[string]string{"update_task": `{"task_id":1,"title":"Buy oil"}`,
		"complete_task": `{"task_id":1}`, "delete_task": `{"task_id":1}`} {
		c.call(tool, args, mcp.MetaVersion, 1).failed(t, mcp.Conflict, "", "")
	}
	assert.That(t, len(c.asked) == 0, "the person was asked about a version that is no more")
	o := c.call("complete_task", `{"task_id":1}`, mcp.MetaVersion, 2)
	assert.That(t, o.Success, "a change of this version: %+v", o)
}

func TestHistorySaysByWhichClientAChangeCame(t *testing.T) {
	h := newHouse(t)
	h.connect("ada", newer, nil).call("add_task", `{"title":"Buy milk"}`)
	h.connectTo(h.server.For("ada", "chat: run1"), newer, nil, nil).call("complete_task", `{"task_id":1}`)
	changes, err := h.tasks.History(t.Context(), "ada", 1)
	assert.That(t, err == nil && len(changes) == 2 && changes[0].Actor == "mcp: pen and paper" &&
		changes[1].Actor == "chat: run1", "%+v, %v", changes, err)
}

// broken is a task list whose database does not work.
type broken struct {
	mcp.Tasks
	err error
}

func (b broken) Add(context.Context, task.By, string, *string) (task.Task, bool, error) {
	if b.err == nil {
		panic("S3NT")
	}
	return task.Task{}, false, b.err
}

func TestDatabaseTellsNothingOfItself(t *testing.T) {
	for _, one := range []struct {
		err  error
		want mcp.Code
	}{{errors.New(`insert into tasks: S3NT: syntax error`), mcp.Database},
		{fmt.Errorf("S3NT: %w", journal.ErrUnreachable), mcp.Unavailable}, {fmt.Errorf("S3NT: %w", journal.ErrUnsure), mcp.Database}, {nil, mcp.Internal}} {
		h := newHouse(t)
		h.server = h.process(mcp.Config{Tasks: broken{err: one.err}})
		o := h.connect("ada", newer, nil).call("add_task", `{"title":"Buy milk"}`)
		o.failed(t, one.want, "", "")
		assert.That(t, !strings.Contains(fmt.Sprint(o), "S3NT"), "%v comes out as %v", one.err, o)
	}
}

// small holds a list of tools to less than 6 kB.
func small(t *testing.T, res *sdk.ListToolsResult, most int) {
	t.Helper()
	raw, err := json.Marshal(res)
	assert.That(t, err == nil && len(raw) < most, "tools/list has %d bytes, %v", len(raw), err)
	t.Logf("tools/list has %d bytes", len(raw))
}

func TestListOfToolsIsSmallPrivateAndSaysWhatEachDoes(t *testing.T) {
	h := newHouse(t)
	res := assert.Must(h.connect("ada", newer, nil).session.ListTools(t.Context(), nil))(t)
	small(t, res, 6000)
	assert.That(t, res.CacheScope == "private", "the list may be kept by %q", res.CacheScope)
	var hints []string
	for _, tool := range res.Tools {
		a := tool.Annotations
		if tool.Title == "" || tool.OutputSchema == nil || a == nil || a.DestructiveHint == nil ||
			a.OpenWorldHint == nil {
			t.Errorf("%s lacks something: %+v", tool.Name, tool)
			continue
		}
		hints = append(hints, fmt.Sprintf("%s reads=%v destroys=%v idempotent=%v open=%v", tool.Name, a.ReadOnlyHint,
			*a.DestructiveHint, a.IdempotentHint, *a.OpenWorldHint))
	}
	slices.Sort(hints)
	want := []string{
		"add_task reads=false destroys=false idempotent=false open=false",
		"complete_task reads=false destroys=false idempotent=true open=false",
		"delete_task reads=false destroys=true idempotent=true open=false",
		"list_tasks reads=true destroys=false idempotent=true open=false",
		"update_task reads=false destroys=true idempotent=true open=false",
	}
	assert.That(t, slices.Equal(hints, want), "hints are\n%s", strings.Join(hints, "\n"))
}

func TestOnlyWhatIsThereIsAdvertised(t *testing.T) {
	for _, revision := range []string{older, newer} {
		raw, err := json.Marshal(newHouse(t).connect("ada", revision, nil).session.InitializeResult().Capabilities)
		assert.That(t, err == nil && string(raw) == `{"tools":{}}`, "%s: capabilities are %s, %v", revision, raw, err)
	}
}

func TestWhatIsNotThereIsNotAnswered(t *testing.T) {
	for _, revision := range []string{older, newer} {
		s := newHouse(t).connect("ada", revision, nil).session
		_, prompts := s.ListPrompts(t.Context(), nil)
		_, resources := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "file:///etc/passwd"})
		for what, err := range map[string]error{"prompts": prompts, "resources": resources} {
			wire, ok := errors.AsType[*jsonrpc.Error](err)
			assert.That(t, ok && wire.Code == jsonrpc.CodeMethodNotFound, "%s: asked for %s: %v", revision, what, err)
		}
	}
}

func TestUndoTakesBackTheVeryChangeOrNothing(t *testing.T) {
	h := newHouse(t)
	h.server = h.process(mcp.Config{Tasks: h.tasks, Undo: true})
	c := h.connect("ada", newer, nil)
	refused := func(code mcp.Code, o outcome) {
		t.Helper()
		assert.That(t, !o.Success && o.Code == code, "%+v, want %s", o, code)
	}
	c.call("add_task", `{"title":"Buy milk"}`)
	c.call("complete_task", `{"task_id":1}`)
	refused(mcp.Conflict, c.call("undo_task", `{"task_id":1}`, mcp.MetaVersion, 1))
	refused(mcp.Conflict, c.call("undo_task", `{"task_id":2}`))
	for range 2 { // under one key it is undone once
		undone := c.call("undo_task", `{"task_id":1}`, mcp.MetaVersion, 2, mcp.MetaKey, "k")
		after, _ := undone.Data["after"].(map[string]any)
		assert.That(t, after["status"] == "pending", "undone: %+v", undone)
	}
	gone := c.call("undo_task", `{"task_id":1}`)
	assert.That(t, gone.Success && gone.Data["after"] == nil, "an addition is undone as %+v", gone)
	refused(mcp.NotFound, c.call("undo_task", `{"task_id":1}`))
}
