package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/mcp"
	"sibyl/internal/task"
	"sibyl/internal/tool"
)

func TestDeletionIsAskedForByTheTitleAndSaysWhatItConfirms(t *testing.T) {
	for _, revision := range []string{older, newer} {
		h := newHouse(t)
		h.add("ada", "Buy milk")
		c := h.connect("ada", revision, yes)
		o := c.call("delete_task", `{ "task_id": 1 }`)
		assert.That(t, o.Success && h.titles("ada") == "", "%s: a yes gives %+v", revision, o)
		subject, err := tool.ConfirmationDigest("delete_task", json.RawMessage(`{"task_id":1}`), 1)
		assert.Require(t, err == nil && len(c.asked) == 1, "%s: asked %d times; %v", revision, len(c.asked), err)
		asked := c.asked[0]
		assert.That(t, asked.Message == "Delete the task “Buy milk”?" && asked.Mode == "form" &&
			asked.Meta[mcp.MetaConfirms] == subject, "%s: asked %+v, want it to confirm %s", revision, asked, subject)
	}
}

func TestNothingButYesDeletes(t *testing.T) {
	for _, revision := range []string{older, newer} {
		for reason, answer := range map[string]*sdk.ElicitResult{
			"declined":      {Action: "decline"},
			"cancelled":     {Action: "cancel"},
			"not_confirmed": {Action: "accept", Content: map[string]any{"confirm": false}},
		} {
			h := newHouse(t)
			h.add("ada", "Buy milk")
			c := h.connect("ada", revision, func(*sdk.ElicitParams) *sdk.ElicitResult { return answer })
			c.call("delete_task", `{"task_id":1}`).failed(t, mcp.ConfirmationRequired, "reason", reason)
			assert.That(t, h.titles("ada") == "Buy milk" && len(c.asked) == 1,
				"%s, %s: there is %q after %d questions", revision, reason, h.titles("ada"), len(c.asked))
		}
	}
}

func TestClientThatCannotAskIsToldHowToDelete(t *testing.T) {
	for _, revision := range []string{older, newer} {
		h := newHouse(t)
		h.add("ada", "Buy milk")
		o := h.connect("ada", revision, nil).call("delete_task", `{"task_id":1}`)
		o.failed(t, mcp.ConfirmationRequired, "reason", "client_cannot_ask")
		assert.That(t, strings.Contains(o.text, "sibyl task delete") && h.titles("ada") == "Buy milk",
			"%s: it is told %q, and there is %q", revision, o.text, h.titles("ada"))
	}
}

func TestTaskThatChangesWhileItsPersonThinksIsKept(t *testing.T) {
	for _, revision := range []string{older, newer} {
		h := newHouse(t)
		h.add("ada", "Buy milk")
		c := h.connect("ada", revision, func(p *sdk.ElicitParams) *sdk.ElicitResult {
			title := "Pay the rent"
			_, _, err := h.tasks.Update(t.Context(), task.By{Owner: "ada", Actor: "test"}, 1, 0,
				task.Edit{Title: &title})
			assert.Nil(t, err)
			return yes(p)
		})
		c.call("delete_task", `{"task_id":1}`).failed(t, mcp.Conflict, "", "")
		assert.That(t, h.titles("ada") == "Pay the rent", "%s: there is %q", revision, h.titles("ada"))
	}
}

// byHand is a client that hands answers in by itself.
func (h *house) byHand(owner string, server *mcp.Server) *client {
	return h.connectTo(server.For(owner, ""), newer, yes,
		&sdk.ClientOptions{MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}})
}

// send calls delete_task with a state and a yes.
func (c *client) send(args, state string) *sdk.CallToolResult {
	c.Helper()
	p := &sdk.CallToolParams{Name: "delete_task", Arguments: json.RawMessage(args), RequestState: state}
	if state != "" {
		p.InputResponses = sdk.InputResponseMap{"confirmation": yes(nil)}
	}
	res := assert.Must(c.session.CallTool(c.Context(), p))(c)
	return res
}

func TestYesHoldsInEveryProcessOnceAndForFiveMinutes(t *testing.T) {
	h := newHouse(t)
	h.add("ada", "Buy milk")
	asked := h.byHand("ada", h.server).send(`{"task_id":1}`, "")
	assert.Require(t, asked.NeedsInput() && asked.RequestState != "" && h.titles("ada") == "Buy milk",
		"the first call gives %+v", asked)
	other := h.byHand("ada", h.process(mcp.Config{Tasks: h.tasks}))
	h.pass(5 * time.Minute)
	read(t, other.send(`{"task_id":1}`, asked.RequestState)).failed(t, mcp.ConfirmationRequired, "reason", "expired")
	h.pass(-time.Millisecond)
	o := read(t, other.send(`{"task_id":1}`, asked.RequestState))
	assert.Require(t, o.Success && h.titles("ada") == "", "a yes in time gives %+v", o)
	assert.Must(h.tasks.Undo(t.Context(), task.By{Owner: "ada", Actor: "test"}))(t)
	read(t, other.send(`{"task_id":1}`, asked.RequestState)).failed(t, mcp.Conflict, "", "")
	assert.That(t, h.titles("ada") == "Buy milk", "a yes was used twice")
}

func TestYesHoldsForNothingElse(t *testing.T) {
	h := newHouse(t)
	h.add("ada", "Buy milk")
	h.add("ada", "Call John")
	h.add("eve", "Plot")
	ada, eve := h.byHand("ada", h.server), h.byHand("eve", h.server)
	state := ada.send(`{"task_id":1}`, "").RequestState
	raw := []byte(state)
	raw[len(raw)/2] ^= 1
	stretched := []byte(state)
	stretched[3] ^= 1 // in the time until which it holds
	other := assert.Must(mcp.New(mcp.Config{Tasks: h.tasks, Key: []byte(strings.Repeat("x", mcp.MinKey)), Now: h.Now}))(t)
	for what, res := range map[string]*sdk.CallToolResult{
		"another task":     ada.send(`{"task_id":2}`, state),
		"another owner":    eve.send(`{"task_id":3}`, state),
		"another server":   h.byHand("ada", other).send(`{"task_id":1}`, state),
		"a changed state":  ada.send(`{"task_id":1}`, string(raw)),
		"another time":     ada.send(`{"task_id":1}`, string(stretched)),
		"an invented one":  ada.send(`{"task_id":1}`, "yes"),
		"a shortened one":  ada.send(`{"task_id":1}`, state[:20]),
		"state of another": eve.send(`{"task_id":3}`, ada.send(`{"task_id":2}`, "").RequestState),
	} {
		o := read(t, res)
		o.failed(t, mcp.ConfirmationRequired, "reason", "not_of_this_call")
		assert.Require(t, !t.Failed(), "%v", what)
	}
	assert.That(t, h.titles("ada") == "Buy milk, Call John" && h.titles("eve") == "Plot",
		"left are %q and %q", h.titles("ada"), h.titles("eve"))
}

func TestAnswerWithoutAStateIsNone(t *testing.T) {
	h := newHouse(t)
	h.add("ada", "Buy milk")
	res := assert.Must(h.byHand("ada", h.server).session.CallTool(t.Context(), &sdk.CallToolParams{Name: "delete_task",
		Arguments:      json.RawMessage(`{"task_id":1}`),
		InputResponses: sdk.InputResponseMap{"confirmation": yes(nil)}}))(t)
	read(t, res).failed(t, mcp.ConfirmationRequired, "reason", "not_of_this_call")
	assert.That(t, h.titles("ada") == "Buy milk", "a yes that nobody asked for deleted a task")
}
