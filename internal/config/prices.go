package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Price is what a million tokens of a model cost.
type Price struct {
	Input  float64 // that were not cached
	Cached float64 // of the input that the provider had cached
	Output float64
}

// Of is what so many tokens cost; those that were cached are some of the input.
func (p Price) Of(input, cached, output int) float64 {
	cached = min(cached, input)
	return (float64(input-cached)*p.Input + float64(cached)*p.Cached + float64(output)*p.Output) / 1e6
}

// Prices are what models cost.
type Prices struct {
	Currency string
	Models   map[string]Price // by provider:model, in which * stands for anything
	Public   string           // the date of the public prices that they are; "": the person has set them
}

// Find is the price of a model: that of the longest name that fits it.
func (p Prices) Find(model string) (Price, bool) {
	names := slices.DeleteFunc(sortedNames(p.Models), func(name string) bool { return !fits(name, model) })
	if len(names) == 0 {
		return Price{}, false
	}
	return p.Models[slices.MaxFunc(names, func(a, b string) int { return cmp.Compare(len(a), len(b)) })], true
}

// fits says whether a name with stars stands for a model.
func fits(name, model string) bool {
	parts := strings.Split(name, "*")
	rest, ok := strings.CutPrefix(model, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

const pricesExample = `{"openai:gpt-*": {input: 2, cached: 0.5, output: 8}}`

func priceSettings() []setting[Config] {
	return []setting[Config]{
		field("models.prices", "", func(c *Config) *Prices { return &c.Prices }, value.prices).taking(pricesExample).shown(func(c *Config) any {
			if len(c.Prices.Models) == 0 {
				return nil
			}
			all := map[string]map[string]float64{}
			for name, p := range c.Prices.Models {
				all[name] = map[string]float64{"input": p.Input, "cached": p.Cached, "output": p.Output}
			}
			return all
		}),
		field("models.currency", "", func(c *Config) *string { return &c.Prices.Currency }, value.currency),
	}
}

func (v value) currency(into *string) error {
	if err := v.line(into); err != nil {
		return err
	}
	if len([]rune(*into)) > 8 {
		return fmt.Errorf("is %s; it must be a currency, such as USD", quote(*into))
	}
	return nil
}

// prices takes names of models with their prices. Where cached is left out, it costs what other input does.
func (v value) prices(into *Prices) error {
	var all map[string]map[string]any
	if err := v.decode(&all); err != nil {
		return err
	}
	into.Models = map[string]Price{}
	for _, name := range sortedNames(all) {
		if provider, model, _ := strings.Cut(name, ":"); name != "*" && (provider == "" || model == "") {
			return fmt.Errorf("has %s; write a model as provider:model, where * matches anything, such as \"openai:gpt-*\"", quote(name))
		}
		var p Price
		if err := p.read(all[name]); err != nil {
			return fmt.Errorf("of %s %w", quote(name), err)
		}
		into.Models[name] = p
	}
	return nil
}

func (p *Price) read(fields map[string]any) error {
	at := map[string]*float64{"input": &p.Input, "cached": &p.Cached, "output": &p.Output}
	for _, name := range sortedNames(fields) {
		to, known := at[name]
		if !known {
			return fmt.Errorf("has %s; the prices are input, cached and output", quote(name))
		}
		switch n := fields[name].(type) {
		case int:
			*to = float64(n)
		case float64:
			*to = n
		default:
			return fmt.Errorf("has a price for %s that is not a number", name)
		}
		if *to < 0 || *to > 1e6 {
			return fmt.Errorf("has a price for %s that is not between 0 and 1000000 per million tokens", name)
		}
	}
	if _, has := fields["input"]; !has {
		return errors.New("has no input price per million tokens")
	}
	if _, has := fields["output"]; !has {
		return errors.New("has no output price per million tokens")
	}
	if _, has := fields["cached"]; !has {
		p.Cached = p.Input
	}
	return nil
}
