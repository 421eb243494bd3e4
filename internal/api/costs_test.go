package api_test

import (
	"encoding/json"
	"math"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/assistant"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

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
