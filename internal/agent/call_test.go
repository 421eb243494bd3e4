package agent_test

import (
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/tool"
)

func TestCallsThatAreDoneWhenTheTimeIsUpAreKept(t *testing.T) {
	b := set(t, `<Timeout msec="1000">`+runTools+`</Timeout>`)
	calls := []call{reads("a"), reads("b"), reads("c"), {tool: "unknown", args: "{}"}}
	s, asked := b.propose(calls...)
	same(t, "requests", len(asked), 3)
	b.step(s, bt.Input{Now: 400, Done: []bt.Completion{b.done(asked[2], calls)}})
	res := b.step(s, bt.Input{Now: 1000})
	same(t, "status", res.Status, bt.Failure)
	same(t, "withdrawn", res.Cancel, []uint64{asked[0].Op, asked[1].Op})
	late := "it was not done in time"
	same(t, "transcript", b.Transcript,
		[]agent.Entry{{Turn: 1, Tools: []agent.ToolEntry{{Refused: late}, {Refused: late}, {Ref: 2},
			{Refused: "it is not offered for this question"}}}})
	same(t, "places read", b.Ledger.Opened, []string{"c:1-9"})
	same(t, "calls that are counted", b.Ledger.Sources, []agent.SourceCalls{{Source: tool.Code, Calls: 1, Opened: 1}})
	notOffered := bt.Why{Text: "it is not offered for this question", Coded: bt.Coded{Code: "call.not_offered"}}
	same(t, "told", b.told, []bt.Typed{agent.CallRefused{Tool: "unknown", Arguments: "{}", Why: notOffered},
		agent.CallDone{Tool: "read", Arguments: `{"path":"c"}`, Items: 1, Bytes: 9}})
}

func TestCallsStandAsTheyWereProposedHoweverTheyEnd(t *testing.T) {
	calls := []call{reads("a"), {tool: "unknown", args: "{}"}, {tool: "fetch", args: `{"url":"b"}`,
		gives: tool.Result{Text: "b", Items: 1}},
		{tool: "search", args: `{"query":"c"}`, fails: tool.Errorf(tool.Failed, "", "no index")}}
	inOrder, reversed := set(t, runTools), set(t, runTools)
	inOrder.turn(false, calls...)
	reversed.turn(true, calls...)
	same(t, "rounds", reversed.Ledger.Turns, inOrder.Ledger.Turns)
	same(t, "sources", reversed.Ledger.Sources, inOrder.Ledger.Sources)
	same(t, "records of the results", reversed.Transcript[0].Tools,
		[]agent.ToolEntry{{Ref: 4}, {Refused: "it is not offered for this question"}, {Ref: 3}, {Ref: 2}})
}

// What strangers say keeps later turns from writing. A write that was asked for before they spoke keeps its receipt.
func TestWriteBesideTextFromStrangersHasItsReceipt(t *testing.T) {
	b := set(t, runTools)
	write := call{tool: "write", args: `{"path":"n"}`, gives: tool.Result{Text: "written", Items: 1}}
	b.turn(false, call{tool: "fetch", args: `{"url":"u"}`, gives: tool.Result{Text: "page", Items: 1}}, write,
		reads("a"))
	same(t, "records of the results", b.Transcript[0].Tools, []agent.ToolEntry{{Ref: 2}, {Ref: 3}, {Ref: 4}})
	same(t, "labels", b.Ledger.Labels, agent.LabelledAs(agent.Stranger, true))
	same(t, "it wrote", b.Ledger.LastTurn().Wrote, true)
	_, asked := b.propose(write)
	same(t, "requests of the next turn", len(asked), 0)
	same(t, "why not", b.Transcript[1].Tools[0].Refused,
		"text from strangers was read in this run, so the person is asked first: go on without it, and say in your "+
			"answer that it waits for their yes")
}

func TestOnlyWhatIsOpenedForTheFirstTimeIsFresh(t *testing.T) {
	b := set(t, runTools)
	hit := call{tool: "search", args: `{"query":"b"}`,
		gives: tool.Result{Items: 1, Refs: []tool.Ref{{Source: tool.Code, Path: "b", Start: 1, End: 9}}}}
	for _, c := range []struct {
		name  string
		calls []call
		fresh bool
	}{
		{"a place", []call{reads("a")}, true},
		{"the same place", []call{reads("a")}, false},
		{"a hit that nobody opened", []call{hit}, false},
		{"a place beside a known one, which is done last", []call{reads("b"), reads("a")}, true},
		{"a failure", []call{{tool: "read", args: "{}", fails: tool.Errorf(tool.NotFound, "", "no file")}}, false},
	} {
		b.turn(false, c.calls...)
		same(t, c.name, b.Ledger.Fresh, c.fresh)
	}
}

// A search of a folder that is too large says so once in a run, and nobody else does.
func TestWhatAToolSaysBesideItsResultIsToldOnce(t *testing.T) {
	b := set(t, runTools)
	part := func(query string) call {
		return call{tool: "search", args: `{"query":"` + query + `"}`, gives: tool.Result{Text: "hits", Items: 1,
			Remark: "not all below usr was searched"}}
	}
	b.turn(false, part("a"), reads("a"))
	b.turn(false, part("b"))
	same(t, "notices", b.Ledger.Notices, []agent.Notice{{Type: agent.NoticeSearchedInPart, Severity: agent.Warning,
		Text: "not all below usr was searched", Turn: 1}})
}
