package config

import (
	"os"
	"path/filepath"
	"testing"
)

func loadText(t *testing.T, text string) (Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(Options{Path: file, Environ: []string{}, Home: t.TempDir()})
}

func TestPriceOfAModelIsThatOfTheNameThatFitsItBest(t *testing.T) {
	cfg, err := loadText(t, `
models:
  currency: EUR
  prices:
    "*": {input: 1, output: 1}
    "a:b-*": {input: 2, cached: 0.5, output: 8}
    "a:b-*-mini": {input: 3, output: 4}
`)
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]float64{"a:b-1": 1*2 + 1*0.5 + 8, "a:b-1-mini": 2*3 + 4, "x:b-1/c:d": 3, "a:b": 3} {
		p, known := cfg.Prices.Find(model)
		if got := p.Of(2e6, 1e6, 1e6); !known || got != want {
			t.Errorf("%s costs %v (known: %v), not %v", model, got, known, want)
		}
	}
	if _, known := (Prices{Models: map[string]Price{"a:b": {}}}).Find("a:bc"); known || cfg.Prices.Currency != "EUR" {
		t.Errorf("a name without a star fits another model, or the currency is %q", cfg.Prices.Currency)
	}
}
