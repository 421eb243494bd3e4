package config

import (
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
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
		"a:b": 3} {
		got, known := cfg.Prices.Cost(model, 2e6, 1e6, 1e6)
		assert.That(t, known && got == want, "%s costs %v (known: %v), not %v", model, got, known, want)
	}
	_, known := (Prices{Models: map[string]Price{"a:b": {}}}).Cost("a:bc", 1, 0, 1)
	assert.That(t, !known && cfg.Prices.Currency == "EUR",
		"a name without a star fits another model, or the currency is %q", cfg.Prices.Currency)
}

func TestPublicPricesStandInWhereTheSettingsHaveNone(t *testing.T) {
	public := Prices{}.OrPublic()
	_, err := time.Parse(time.DateOnly, public.Public)
	assert.That(t, err == nil, "the table has no date: %v", err)
	for name, p := range public.Models {
		assert.That(t, p.Input > 0 && p.Output >= p.Input && p.Cached > 0 && p.Cached <= p.Input, "%s: %+v", name, p)
	}
	for model, known := range map[string]bool{"openai:gpt-5-nano": true, "openai:gpt-5-nano-2025-08-07": true,
		"openai:gpt-5-nano-audio": false, "ollama:gpt-5-nano": false} {
		_, found := public.Cost(model, 1, 0, 1)
		assert.That(t, found == known, "%s has a price: %t", model, found)
	}
	own := Prices{Currency: "EUR", Models: map[string]Price{"a:b": {}}}
	if got := own.OrPublic(); got.Currency != "EUR" || got.Public != "" || len(got.Models) != 1 {
		t.Errorf("prices of the settings are not taken as they are: %+v", got)
	}
}
