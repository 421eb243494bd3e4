package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/run"
	"sibyl/internal/run/replay"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/service/servicetest"
)

// panelTree is the tree of the house's assistant.
func panelTree(t *testing.T) string {
	t.Helper()
	text, err := servicetest.Trees.ReadFile("panel.xml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTreeOfARunHasTheNodesThatItsEventsName(t *testing.T) {
	h := newHouse(t).open()
	b := h.begin("", "Tea?")
	h.ended("", b.Run)
	var tree api.Tree
	h.get(question{path: "/api/runs/" + b.Run + "/tree"}, &tree)
	if tree.ID != "Panel" || tree.Text != panelTree(t) || len(tree.Nodes) != 3 || tree.Nodes[0].Parent != -1 || tree.Nodes[2].Parent != 0 || tree.Nodes[0].Leaf || !slices.Equal(tree.Nodes[2].Says, []string{"names=chair"}) {
		t.Errorf("the tree is %+v", tree)
	}
	var x service.Explanation
	h.get(question{path: "/api/runs/" + b.Run + "/explanation"}, &x)
	for _, step := range x.Steps {
		for _, e := range step.Events {
			if n := tree.Nodes[e.Number]; n.Rule != e.Rule || e.Number != 1 {
				t.Errorf("an event of node %d, by %s, is of %+v", e.Number, e.Rule, n)
			}
		}
	}
	if x.Steps[0].Op != 0 || x.Steps[1].Op == 0 || x.Steps[1].Op+x.Steps[2].Op != x.Steps[0].Started[0].Op+x.Steps[0].Started[1].Op {
		t.Errorf("the steps took in the receipts of %d and %d", x.Steps[0].Op, x.Steps[1].Op)
	}
}

func TestReceiptTellsWhatWasSentAndWhatCameBack(t *testing.T) {
	h := newHouse(t)
	long := strings.Repeat("é", 50_000)
	var failing error
	h.panel.Exchanged = func(_ context.Context, v *run.View, c *run.CompletionRecord) (assistant.Exchanged, error) {
		if v.ID == "" || len(v.Records()) == 0 {
			t.Error("there is nothing of the run")
		}
		return assistant.Exchanged{To: "ada", Sent: []assistant.Part{{Kind: assistant.PartPerson, Text: long, Tokens: 9}}, LeftOut: []string{"x: no room"}}, failing
	}
	h.open()
	b := h.begin("", "Tea?")
	h.ended("", b.Run)
	at := "/api/runs/" + b.Run + "/receipts/"
	var r service.Receipt
	conforms := h.described()
	conforms("told", "Receipt", h.get(question{path: at + "1"}, &r))
	if r.To != "ada" || len(r.Sent) != 1 || len(r.Sent[0].Text) != 64<<10 || r.Sent[0].Bytes != 100_000 || r.Sent[0].Tokens != 9 || r.Lost || !slices.Equal(r.LeftOut, []string{"x: no room"}) {
		t.Errorf("told as %.300v", fmt.Sprintf("%+v", r))
	}
	if len(r.Got) != 1 || r.Got[0].Kind != "data" || r.Got[0].Text != `"ADA"` && r.Got[0].Text != `"BOB"` {
		t.Errorf("it gave %+v", r.Got)
	}
	failing = errors.New("no prompt")
	if h.get(question{path: at + "1"}, &r); !r.Lost || r.Sent[0].Kind != "data" || !strings.Contains(r.Sent[0].Text, `"Words": "Tea?"`) {
		t.Errorf("what can't be composed is told as %+v", r)
	}
	h.refused("a record that is no receipt", question{path: at + "0"}, 404, "not_found")
	h.refused("one behind the last", question{path: at + "99"}, 404, "not_found")
	h.refused("a number that is none", question{path: at + "-1"}, 400, "invalid_request")
	h.refused("a word", question{path: at + "last"}, 400, "invalid_request")
	h.refused("by another", question{path: at + "1", token: evesToken}, 404, "not_found")
}

func TestReplayShowsTheFirstDecisionThatDiffersAndKeepsNothing(t *testing.T) {
	h := newHouse(t).open()
	b := h.begin("", "Tea?")
	before := h.ended("", b.Run)
	conforms := h.described()
	replay := func(tree string) (r api.Replay) {
		conforms("replayed", "Replay", h.get(question{method: "POST", path: "/api/runs/" + b.Run + "/replay", body: map[string]any{"tree": tree}}, &r))
		return r
	}
	own := panelTree(t)
	if r := replay(own); !r.Same || !r.OwnTree || r.Reached != "end" || len(r.Wrong) != 0 {
		t.Errorf("its own tree: %+v", r)
	}
	r := replay(strings.Replace(own, `names="{names}"`, `names="cleo"`, 1))
	if r.Same || len(r.Differences) != 1 || r.Differences[0].Kind != "decision" || r.Differences[0].Step != 1 || !slices.Equal(r.Differences[0].Missing, []string{"bob"}) {
		t.Errorf("with another persona: %+v", r)
	}
	if r := replay(strings.Replace(own, "<Ask", "<Shout", 1)); len(r.Wrong) == 0 || !strings.Contains(r.Wrong[0], "Shout") || len(r.Differences) != 0 {
		t.Errorf("a tree that does not load: %+v", r)
	}
	if now := h.ended("", b.Run); now.Records != before.Records {
		t.Errorf("a replay left %d records in place of %d", now.Records, before.Records)
	}
	h.refused("without a tree", question{method: "POST", path: "/api/runs/" + b.Run + "/replay", body: map[string]string{"tree": ""}}, 400, "invalid_request")
}

func TestReplayOverHistoryGroupsTheUsersOwnRuns(t *testing.T) {
	h := newHouse(t).open()
	var runs []string
	for range 3 {
		b := h.begin("", "Tea?")
		h.ended("", b.Run)
		runs = append(runs, b.Run)
	}
	h.ended(evesToken, h.begin(evesToken, "Milk?").Run)
	ask := func(tree string, limit int) (f api.ReplayHistory) {
		body := map[string]any{"assistant": "panel", "tree": tree}
		if limit > 0 {
			body["limit"] = limit
		}
		h.described()("replayed", "ReplayHistory", h.get(question{method: "POST", path: "/api/replay", body: body}, &f))
		return f
	}
	own := panelTree(t)
	if f := ask(own, 0); f.Runs != 3 || f.Same != 3 || len(f.Groups) != 0 {
		t.Errorf("their own tree: %+v", f)
	}
	other := strings.Replace(own, `names="{names}"`, `names="cleo"`, 1)
	f := ask(other, 0)
	if f.Runs != 3 || f.Same != 0 || len(f.Groups) != 1 || len(f.Groups[0].Runs) != 3 || !slices.ContainsFunc(f.Groups[0].Runs, func(p replay.Place) bool { return p.Run == runs[0] && p.Step == 1 }) {
		t.Errorf("another tree: %+v", f)
	}
	if f := ask(other, 2); f.Runs != 2 {
		t.Errorf("two at most: %+v", f)
	}
	if f := ask("<root", 0); len(f.Wrong) == 0 || f.Runs != 0 {
		t.Errorf("a tree that does not load: %+v", f)
	}
	h.refused("of no assistant", question{method: "POST", path: "/api/replay", body: map[string]string{"assistant": "nobody", "tree": own}}, 400, "invalid_request")
}

// costly has each answer of the panel take 1,000 tokens in and 100 out, of a model that bears the persona's name.
func costly(h *house, prices *service.Prices) {
	h.panel.Used = func(c *run.CompletionRecord) (assistant.Usage, bool) {
		return assistant.Usage{Model: "test:" + c.Label, Input: 1000, Cached: 200, Output: 100}, true
	}
	h.prices = prices
	h.open()
}

// perToken costs so much for each token of models that have a price.
func perToken(models ...string) *service.Prices {
	return &service.Prices{Currency: "EUR", Of: func(model string, input, cached, output int) (float64, bool) {
		for _, m := range models {
			if m == model {
				return float64(input-cached)*0.001 + float64(output)*0.002, true
			}
		}
		return 0, false
	}}
}

func TestCostsAreToldByTurnByRunAndOfASession(t *testing.T) {
	h := newHouse(t)
	costly(h, perToken("test:ada", "test:bob", "test:chair"))
	b := h.begin("", "Tea?")
	h.ended("", b.Run)
	conforms := h.described()
	var me api.Me
	if h.get(question{path: "/api/me"}, &me); me.Currency != "EUR" {
		t.Errorf("costs are told in %q", me.Currency)
	}
	var x service.Explanation
	conforms("explained", "Explanation", h.get(question{path: "/api/runs/" + b.Run + "/explanation"}, &x))
	if len(x.Used) == 0 || x.Used[0].Record != 1 || !costs(x.Used[0].Cost, 1) || x.Tokens.Input != 1000*len(x.Used) || !costs(x.Tokens.Cost, float64(len(x.Used))) {
		t.Errorf("the run took %+v, together %+v", x.Used, x.Tokens)
	}
	var r service.Receipt
	if h.get(question{path: "/api/runs/" + b.Run + "/receipts/1"}, &r); r.Used == nil || !costs(r.Used.Cost, 1) || r.Used.Cached != 200 {
		t.Errorf("the turn took %+v", r.Used)
	}
	var c service.Costs
	for range 2 { // what an ended run took is remembered
		conforms("costs", "Costs", h.get(question{path: "/api/sessions/" + b.Session + "/costs", token: adasReader}, &c))
		if c.Currency != "EUR" || len(c.Runs) != 1 || c.Runs[0].Run != b.Run || !costs(c.Runs[0].Cost, float64(len(x.Used))) || !costs(&c.Cost, float64(len(x.Used))) || c.Left != 0 {
			t.Errorf("the session cost %+v", c)
		}
	}
	h.refused("of another", question{path: "/api/sessions/" + b.Session + "/costs", token: evesToken}, 404, "not_found")
	h.refused("of none", question{path: "/api/sessions/nothing/costs"}, 404, "not_found")
}

// askingAda is the surroundings of a run that asks a model.
type askingAda struct{}

func (askingAda) Models() []string { return []string{"test:ada"} }

func TestRunOverTheLimitOfADayBeginsOnlyWhereTheUserAgrees(t *testing.T) {
	h := newHouse(t)
	begin := h.panel.Begin
	h.panel.Begin = func(ctx context.Context, r assistant.Request) (run.Spec, error) {
		spec, err := begin(ctx, r)
		spec.Env = askingAda{}
		return spec, err
	}
	prices := perToken("test:ada")
	prices.Limit = 0.5
	costly(h, prices)
	b := h.begin("", "Tea?")
	h.ended("", b.Run)
	again := question{method: "POST", path: "/api/runs", body: asking("Milk?")}
	p := h.refused("over the limit", again, 402, "over_limit").problem()
	if p.Spent < 1 || p.Limit != 0.5 || p.Currency != "EUR" || !strings.Contains(p.Detail, "models without a known price count as nothing") {
		t.Errorf("the problem says %+v", p)
	}
	again.header = map[string]string{"Over-Limit": "true"}
	h.get(again, nil)
	eves := question{method: "POST", path: "/api/runs", token: evesToken, body: asking("Milk?")}
	h.get(eves, nil) // whose day has cost nothing
}

func TestNoCostIsInventedWhereThereIsNoPrice(t *testing.T) {
	for name, prices := range map[string]*service.Prices{"none at all": nil, "of one model alone": perToken("test:ada")} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			costly(h, prices)
			b := h.begin("", "Tea?")
			h.ended("", b.Run)
			var x struct {
				Tokens map[string]json.RawMessage `json:"tokens"`
			}
			h.get(question{path: "/api/runs/" + b.Run + "/explanation"}, &x)
			var c service.Costs
			h.get(question{path: "/api/sessions/" + b.Session + "/costs"}, &c)
			if x.Tokens["cost"] != nil || c.Cost != 0 || prices == nil && (len(c.Runs) != 0 || c.Currency != "") {
				t.Errorf("the run took %s, the session cost %+v", x.Tokens, c)
			}
		})
	}
}

func costs(got *float64, want float64) bool { return got != nil && math.Abs(*got-want) < 1e-9 }
