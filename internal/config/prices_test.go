package config

import (
	"os"
	"path/filepath"
	"strings"
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

func TestPricesThatCannotBeAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"gpt": {input: 1, output: 1}}`:           "write a model as provider:model",
		`{"a:b": {input: 1}}`:                      "no output price",
		`{"a:b": {output: 1}}`:                     "no input price",
		`{"a:b": {input: -1, output: 1}}`:          "not between 0 and",
		`{"a:b": {input: .nan, output: 1}}`:        "not valid JSON",
		`{"a:b": {input: free, output: 1}}`:        "not a number",
		`{"a:b": {input: 1, output: 1, think: 1}}`: "input, cached and output",
		`[1]`:        "models.prices",
		`{"a:b": 3}`: "models.prices",
	} {
		if _, err := loadText(t, "models:\n  prices: "+text+"\n"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "models.prices") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
