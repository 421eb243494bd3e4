package config

import (
	"testing"
	"time"
)

func TestPriceOfAModelIsThatOfTheNameThatFitsItBest(t *testing.T) {
	cfg, _ := mustLoad(t, `
models:
  currency: EUR
  prices:
    "*": {input: 1, output: 1}
    "a:b-*": {input: 2, cached: 0.5, output: 8}
    "a:b-*-mini": {input: 3, output: 4}
`)
	for model, want := range map[string]float64{"a:b-1": 1*2 + 1*0.5 + 8, "a:b-1-mini": 2*3 + 4, "x:b-1/c:d": 3,
		"a:b": 3, "a:b-mini": 1*2 + 1*0.5 + 8, "a:b-x-mini-y": 1*2 + 1*0.5 + 8} {
		if got, known := cfg.Prices.Cost(model, 2e6, 1e6, 1e6); !known || got != want {
			t.Errorf("%s costs %v (known: %v), not %v", model, got, known, want)
		}
	}
	if _, known := (Prices{Models: map[string]Price{"a:b": {}}}).Cost("a:bc", 1, 0, 1); known ||
		cfg.Prices.Currency != "EUR" {
		t.Errorf("a name without a star fits another model, or the currency is %q", cfg.Prices.Currency)
	}
}

func TestPublicPricesStandInWhereTheSettingsHaveNone(t *testing.T) {
	public := Prices{}.OrPublic()
	if _, err := time.Parse(time.DateOnly, public.Public); err != nil {
		t.Errorf("the table has no date: %v", err)
	}
	for name, p := range public.Models {
		if p.Input <= 0 || p.Output < p.Input || p.Cached <= 0 || p.Cached > p.Input {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for model, known := range map[string]bool{"openai:gpt-5-nano": true, "openai:gpt-5-nano-2025-08-07": true,
		"openai:gpt-5-nano-audio": false, "ollama:gpt-5-nano": false} {
		if _, found := public.Cost(model, 1, 0, 1); found != known {
			t.Errorf("%s has a price: %t", model, found)
		}
	}
	own := Prices{Currency: "EUR", Models: map[string]Price{"a:b": {}}}
	if got := own.OrPublic(); got.Currency != "EUR" || got.Public != "" || len(got.Models) != 1 {
		t.Errorf("prices of the settings are not taken as they are: %+v", got)
	}
}
