package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/tool"
)

// ports are what the trees of these tests are given, and what is read from them.
type ports struct {
	Reply      agent.Reply      `port:"reply"`
	Offered    []string         `port:"offered"`
	Tools      []agent.ToolFact `port:"tools"`
	Ledger     agent.Ledger     `port:"ledger"`
	Used       []string         `port:"used,optional"`
	Held       []agent.Held     `port:"held,optional"`
	Words      string           `port:"words,optional"`
	Said       agent.Said       `port:"said,optional"`
	Admitted   []agent.Verdict  `port:"admitted,optional"`
	Transcript []agent.Entry    `port:"transcript"`
}

// bench takes turns of a model through a tree of the agent's leaves: what a turn leaves is what the next begins with.
type bench struct {
	t    *testing.T
	tree *bt.Tree
	ports
	refs int64 // records so far
	told []bt.Typed
}

// set makes a bench whose turns go through this node.
func set(t *testing.T, node string) *bench {
	t.Helper()
	reg := assert.Must(bt.NewLeaves(agent.Admit(), agent.RunAllowed(), agent.RunTools(), agent.IsLooping()))(t)
	given := assert.Must(bt.Ports[ports]())(t)
	text := `<root BTCPP_format="4"><BehaviorTree ID="Test">` + node + `</BehaviorTree></root>`
	tree := assert.Must(reg.Load("test.xml", []byte(text), bt.Options{Given: given, Wanted: given}))(t)
	b := &bench{t: t, tree: tree}
	b.Tools = agent.FactsOf([]tool.Spec{{Name: "read", Source: tool.Code, Effect: tool.Repeatable},
		{Name: "search", Source: tool.Code, Search: true, Effect: tool.Repeatable},
		{Name: "fetch", Source: tool.Web, Foreign: true, Effect: tool.Repeatable, Out: tool.Out{To: tool.ToAddress,
			Arg: "url"}}, {Name: "write", Source: tool.Vault, Effect: tool.Once},
		{Name: "find", Source: tool.Web, Foreign: true, Search: true, Effect: tool.Repeatable,
			Out: tool.Out{To: tool.ToEngine, Arg: "query"}},
		{Name: "theirs", Source: tool.Server, Foreign: true, Effect: tool.Repeatable,
			Out: tool.Out{To: tool.ToServer}}})
	b.Offered = []string{"read", "search", "fetch", "write", "find", "theirs"}
	return b
}

// runTools is the node that performs calls.
const runTools = `<Sequence><Admit reply="{reply}" offered="{offered}" tools="{tools}" said="{said}" words="{words}" ledger="{ledger}" admitted="{admitted}" held="{held}" used="{used}"/>
	<RunTools reply="{reply}" admitted="{admitted}" tools="{tools}" ledger="{ledger}" transcript="{transcript}" held="{held}"/></Sequence>`

// call is a call of a turn, and what it gives.
type call struct {
	tool, args string
	gives      tool.Result
	fails      *tool.Error
	held       string
}

func reads(path string) call {
	return call{tool: "read", args: fmt.Sprintf(`{"path":%q}`, path),
		gives: tool.Result{Text: "text of " + path, Items: 1,
			Refs: []tool.Ref{{Source: tool.Code, Path: path, Start: 1, End: 9, Opened: true}}}}
}

// propose begins a turn with these calls, and gives the state of its tree and the requests that it asks for.
func (b *bench) propose(calls ...call) (*bt.State, []bt.Effect) {
	b.t.Helper()
	b.refs++
	r := agent.TurnReceipt[struct{}]{}
	for i, c := range calls {
		r.Calls = append(r.Calls, model.ToolCall{ID: fmt.Sprint("call_", i), Name: c.tool, Arguments: c.args})
	}
	var err error
	_, b.Reply, err = agent.ReadTurn[struct{}](bt.Completion{Ref: b.refs, Value: r}, b.Tools)
	assert.NoError(b.t, err)
	b.Ledger = b.Ledger.Clone()
	b.Ledger.EnterReply(b.Reply)
	b.Transcript = append(slices.Clone(b.Transcript), agent.Entry{Turn: b.refs})
	given, err := bt.EncodePorts(b.ports)
	assert.NoError(b.t, err)
	s := b.tree.NewState()
	for key, value := range given {
		assert.NoError(b.t, b.tree.SetJSON(s, key, value))
	}
	return s, b.step(s, bt.Input{}).Start
}

// step steps the tree, and takes over what is known then.
func (b *bench) step(s *bt.State, in bt.Input) bt.Result {
	b.t.Helper()
	res := assert.Must(b.tree.Step(s, in, func(e bt.Event) {
		if e.Kind == bt.Emitted {
			b.told = append(b.told, e.Data)
		}
	}))(b.t)
	b.tree.Read(s, &b.ports)
	return res
}

// done is the completion of an effect that performs one of the calls.
func (b *bench) done(e bt.Effect, calls []call) bt.Completion {
	b.t.Helper()
	var p agent.CallPayload
	assert.NoError(b.t, json.Unmarshal(e.Payload, &p))
	b.refs++
	c := calls[p.Call]
	r := agent.CallReceipt{Tool: c.tool, Arguments: c.args, Result: &c.gives}
	if c.fails != nil {
		r.Result, r.Error = nil, c.fails
	}
	if c.held != "" {
		r.Result, r.Error, r.Held = nil, tool.Errorf(tool.Denied, "", "%s", c.held), c.held
	}
	return bt.Completion{Op: e.Op, Ref: b.refs, Value: r}
}

// turn takes a whole turn, of whose requests under way the one that was asked for last ends first; else the first one.
func (b *bench) turn(lastFirst bool, calls ...call) bt.Status {
	b.t.Helper()
	s, asked := b.propose(calls...)
	var res bt.Result
	for len(asked) > 0 {
		next := 0
		if lastFirst {
			next = len(asked) - 1
		}
		res = b.step(s, bt.Input{Done: []bt.Completion{b.done(asked[next], calls)}})
		asked = append(slices.Delete(asked, next, next+1), res.Start...)
	}
	return res.Status
}

// same fails the test where two values differ.
func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	assert.NoDiff(t, cmp.Diff(want, got), "%s (-want +got)", what)
}
