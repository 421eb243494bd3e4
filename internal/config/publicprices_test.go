package config

import (
	"testing"
	"time"
)

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
	for model, known := range map[string]bool{"openai:gpt-5-nano": true, "openai:gpt-5-nano-2025-08-07": true, "openai:gpt-5-nano-audio": false, "ollama:gpt-5-nano": false} {
		if _, found := public.Find(model); found != known {
			t.Errorf("%s has a price: %t", model, found)
		}
	}
	own := Prices{Currency: "EUR", Models: map[string]Price{"a:b": {}}}
	if got := own.OrPublic(); got.Currency != "EUR" || got.Public != "" || len(got.Models) != 1 {
		t.Errorf("prices of the settings are not taken as they are: %+v", got)
	}
}
