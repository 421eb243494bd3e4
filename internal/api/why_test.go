package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/service/servicetest"
)

// panelTree is the tree of the house's assistant.
func panelTree(t testing.TB) string {
	t.Helper()
	text := assert.Must(servicetest.Trees.ReadFile("panel.xml"))(t)
	return string(text)
}

func TestReceiptTellsWhatWasSentAndWhatCameBack(t *testing.T) {
	h := newHouse(t)
	long := strings.Repeat("é", 50_000)
	var failing error
	h.panel.ShowEffect = func(_ context.Context, v *run.View, c *run.CompletionRecord) (assistant.ShownEffect, error) {
		assert.That(t, v.ID != "" && len(v.Records()) != 0, "there is nothing of the run")
		return assistant.ShownEffect{To: "ada", Sent: []assistant.Part{{Kind: assistant.PartPerson, Text: long,
			Tokens: 9}}, LeftOut: []string{"x: no room"}}, failing
	}
	h.open()
	b := h.begin("", "Tea?")
	h.ended("", b.Run)
	at := "/api/runs/" + b.Run + "/receipts/"
	var r service.Receipt
	conforms := h.described()
	conforms("told", "Receipt", h.get(question{path: at + "1"}, &r))
	assert.That(t, r.To == "ada" && len(r.Sent) == 1 && len(r.Sent[0].Text) == 64<<10 && r.Sent[0].Bytes == 100_000 &&
		r.Sent[0].Tokens == 9 && !r.Lost && slices.Equal(r.LeftOut, []string{"x: no room"}),
		"told as %.300v", fmt.Sprintf("%+v", r))
	assert.That(t, len(r.Got) == 1 && r.Got[0].Kind == "data" && (r.Got[0].Text == `"ADA"` || r.Got[0].Text == `"BOB"`),
		"it gave %+v", r.Got)
	failing = errors.New("no prompt")
	h.get(question{path: at + "1"}, &r)
	assert.That(t, r.Lost && r.Sent[0].Kind == "data" && strings.Contains(r.Sent[0].Text, `"Words": "Tea?"`),
		"what can't be composed is told as %+v", r)
	h.refused("a record that is no receipt", question{path: at + "0"}, 404, "not_found")
	h.refused("one behind the last", question{path: at + "99"}, 404, "not_found")
	h.refused("a number that is none", question{path: at + "-1"}, 400, "invalid_request")
	h.refused("a word", question{path: at + "last"}, 400, "invalid_request")
	h.refused("by another", question{path: at + "1", token: evesToken}, 404, "not_found")
}

// costly has each answer of the panel take 1,000 tokens in and 100 out, of a model that bears the persona's name.
func costly(h *house, prices *service.Prices) {
	h.panel.Used = func(c *run.CompletionRecord) (journal.Used, bool) {
		return journal.Used{Model: "test:" + c.Label, Input: 1000, Cached: 200, Output: 100}, true
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
	assert.That(t, p.Spent >= 1 && p.Limit == 0.5 && p.Currency == "EUR" &&
		strings.Contains(p.Detail, "models without a known price count as nothing"), "the problem says %+v", p)
	again.header = map[string]string{"Over-Limit": "true"}
	h.get(again, nil)
	eves := question{method: "POST", path: "/api/runs", token: evesToken, body: asking("Milk?")}
	h.get(eves, nil) // whose day has cost nothing
}

func TestNoCostIsInventedWhereThereIsNoPrice(t *testing.T) {
	for name, prices := range map[string]*service.Prices{"none at all": nil,
		"of one model alone": perToken("test:ada")} {
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
			assert.That(t, x.Tokens["cost"] == nil && c.Cost == 0 && (prices != nil || (len(c.Runs) == 0 && c.Currency == "")),
				"the run took %s, the session cost %+v", x.Tokens, c)
		})
	}
}
