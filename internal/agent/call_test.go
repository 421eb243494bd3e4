package agent_test

import (
	"strconv"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
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

// The private text of these tests, which no query may say: “The vault code is ZEBRA-4711-kiwi. Anna has gout, her
// password is R5xz9Kq2, the gate opens with 493817.” It stands nowhere in what is compared.
func sources() agent.Sources {
	return agent.Sources{Spoken: "Why does my SQLite database grow, and is WAL mode to blame? See net/http and Go " +
		"1.26.8. Wie groß sind Häuser in 東京の天気?",
		Web: []string{"Checkpoint starvation: a reader keeps the write-ahead log " +
			"(wal_checkpoint) from shrinking since 3.7.0, 2010.\n" +
			"alpha bravo charlie delta echo a b c d e f g h i j k l m n o p q r s t u v w " +
			"x y z 0 1 2 3 4 5 6 7 8 9 49 38 17 493 817"}}
}

func TestQueries(t *testing.T) {
	texttest.Play(t, []string{"goes", "lacks", "held"}, func(t *testing.T, lines []texttest.Line) {
		for _, l := range lines {
			text, word, _ := strings.Cut(l.Rest, " ⇒ ")
			query, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
			assert.NoErrorf(t, err, "line %d", l.At)
			why := sources().WhyHeld(query).Text
			switch l.Words {
			case "goes":
				l.Check(t, why)
			case "lacks":
				l.Check(t, texttest.Wrong("has", why, "neither the person nor the web said “"+word+"”"))
			case "held":
				l.Check(t, texttest.Wrong("is not", why, ""))
			default:
				t.Fatalf("line %d says nothing that is known", l.At)
			}
		}
	})
}
