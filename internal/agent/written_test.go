package agent_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// offered are the tools of these tests: read wants a path, and takes lines.
var offered = []tool.Spec{
	{Name: "read", Effect: tool.Repeatable,
		Schema: json.RawMessage(
			`{"type":"object","properties":{"path":{"type":"string"},"start":{"type":"integer"}},"required":["path"]}`)},
	{Name: "list", Effect: tool.Repeatable, Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
	{Name: "write", Effect: tool.Once,
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
}

// Marks of calls are put together here, so that this file holds none.
const (
	lt    = "<"
	open  = lt + "tool_" + "call>"
	shut  = lt + "/tool_" + "call>"
	end   = lt + "/function>"
	readA = `{"name": "read", "arguments": {"path": "a"}}`
	readB = `{"name":"read","parameters":{"path":"b","start":3}}`
)

func token(name string) string { return lt + "|" + name + "|>" }

func element(name, body string) string { return lt + "function=" + name + ">" + body + end }

// written are the replies of testdata/written.txtar by their names: with “‹” and “⟦” for the brackets, so that it holds no
// calls either, and without the last line break. Behind a reply are the calls that are in it, and how much of it is text.
func written(t testing.TB) map[string]reply {
	t.Helper()
	all, last := map[string]reply{}, ""
	for _, f := range assert.Must(txtar.ParseFile("testdata/written.txtar"))(t).Files {
		text := strings.NewReplacer("‹", lt, "⟦", "[").Replace(strings.TrimSuffix(string(f.Data), "\n"))
		switch r := all[last]; f.Name {
		case "calls":
			all[last] = reply{text: r.text, calls: text}
		case "rest":
			all[last] = reply{r.text, r.calls, text}
		default:
			last = f.Name
			all[last] = reply{text: text, rest: text}
		}
	}
	assert.Require(t, len(all) >= 90, "only %d replies", len(all))
	return all
}

type reply struct{ text, calls, rest string }

func TestWrittenCalls(t *testing.T) {
	all := written(t)
	long := strings.Repeat("word ", 14000) + "\n" + readA
	all["LongReply"] = reply{text: long, rest: long}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			found, rest := agent.WrittenCalls(c.text, offered)
			var got []string
			for _, call := range found {
				got = append(got, call.Name+" "+call.Arguments)
			}
			same(t, "calls", strings.Join(got, "\n"), c.calls)
			same(t, "rest", rest, c.rest)
		})
	}
}

func TestWrittenCallsHaveIdsOfTheirOwn(t *testing.T) {
	found, _ := agent.WrittenCalls(open+readA+shut+open+readB+shut, offered)
	same(t, "calls", found, []model.ToolCall{{ID: "call_written_1", Name: "read", Arguments: `{"path": "a"}`},
		{ID: "call_written_2", Name: "read", Arguments: `{"path":"b","start":3}`}})
}

// signals are forms of signals, and of what is around them.
var signals = []string{"Signal:\n", "```", "\n", "> ", lt + "think>", lt + "/think>", lt + `signal type="stuck"/>`,
	lt + " SIGNAL type=stuck>", "&lt;signal type='stuck'&gt;&lt;/signal&gt;",
	`{"type": "stuck", "blocker": "x"}`, `{"signal": {"type": "stuck"}}`, "&lt;", "{"}

func TestWhatToolsSaidHoldsNeitherCallsNorSignals(t *testing.T) {
	forms := slices.Clone(signals)
	all := written(t)
	for _, name := range slices.Sorted(maps.Keys(all)) { // the same in each run
		forms = append(forms, all[name].text)
	}
	rapid.Check(t, func(r *rapid.T) {
		inert(t, strings.Join(rapid.SliceOf(rapid.SampledFrom(forms)).Draw(r, "parts"), ""))
	})
}

func inert(t *testing.T, text string) {
	t.Helper()
	said := signal.Neutralise(text)
	found, rest := agent.WrittenCalls(said, offered)
	assert.Require(t, found == nil && rest == said, "calls %v are found in %q", found, said)
	clean, r := signal.Extract(said)
	assert.Require(t, clean == said && r.Signal == nil && r.Problems == nil, "a signal is found in %q", said)
}

func FuzzWrittenCalls(f *testing.F) {
	for _, c := range written(f) {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, rest := agent.WrittenCalls(text, offered)
		for _, call := range found {
			assert.That(t, slices.Contains([]string{"read", "list"}, call.Name) && strings.HasPrefix(call.Arguments, "{") &&
				json.Valid([]byte(call.Arguments)), "a call that was not offered: %+v", call)
		}
		again, left := agent.WrittenCalls(rest, offered)
		assert.That(t, again == nil && left == rest && strings.HasPrefix(text, rest),
			"%q has rest %q, which has calls %v", text, rest, again)
		inert(t, text)
	})
}

// What is looked at again for each place where calls may begin takes more than a minute here.
func TestCallsThatAReplyRepeatsUntilItIsCutAreReadOnce(t *testing.T) {
	text := strings.Repeat(`{"name":"read","arguments":{}}`+"\n", 2000) + `{"name":"re`
	offered := []tool.Spec{{Name: "read", Schema: json.RawMessage(`{}`)}}
	allocated := testing.AllocsPerRun(1, func() {
		calls, rest := agent.WrittenCalls(text, offered)
		assert.That(t, calls == nil && rest == text, "it has %d calls", len(calls))
	})
	assert.That(t, allocated <= 200*2000, "2000 calls take %.0f allocations", allocated)
}

func TestCallBehindMuchThatLooksLikeOneIsFound(t *testing.T) {
	found, _ := agent.WrittenCalls(strings.Repeat("{ {\n", 9000)+readB, offered)
	same(t, "calls", len(found), 1)
}
