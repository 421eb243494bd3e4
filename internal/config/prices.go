package config

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Price is the cost of a million tokens of a model.
type Price struct {
	Input  float64 // that were not cached
	Cached float64 // of the input that the provider had cached
	Output float64
}

// Prices are the costs of models.
type Prices struct {
	// Models are by provider:model, in which * stands for anything.
	Models   map[string]Price `name:"prices" as:"prices" like:"{\"openai:gpt-*\": {input: 2, cached: 0.5, output: 8}}"`
	Currency string           `name:"currency" match:".{1,8}" must:"a currency, such as USD" default:"USD"`
	// of a day, in the currency: beyond it, the user is asked before more is spent; 0: none
	Limit  float64  `name:"limit" min:"0" max:"1000000" as:"amount"`
	Public string   // the date of the public prices that they are; "": the person has set them
	local  []string // providers whose models run on the person's own machines
}

// Free reports whether a model costs nothing, since it runs on the person's own machines and has no price.
func (p Prices) Free(model string) bool {
	provider, _, _ := strings.Cut(model, ":")
	return slices.Contains(p.local, provider)
}

// Cost returns the cost of these tokens at the price of a model: that of the longest matching name. Cached tokens are
// part of the input. Without a price it returns false.
func (p Prices) Cost(model string, input, cached, output int) (float64, bool) {
	names := slices.DeleteFunc(sortedNames(p.Models), func(name string) bool { return !matchesName(name, model) })
	if len(names) == 0 {
		return 0, false
	}
	price := p.Models[slices.MaxFunc(names, func(a, b string) int { return cmp.Compare(len(a), len(b)) })]
	cached = min(cached, input)
	return (float64(input-cached)*price.Input + float64(cached)*price.Cached + float64(output)*price.Output) / 1e6, true
}

// matchesName reports whether a name with stars matches a model.
func matchesName(name, model string) bool {
	parts := strings.Split(name, "*")
	last := len(parts) - 1
	rest, matches := strings.CutPrefix(model, parts[0])
	if last == 0 || !matches {
		return matches && rest == ""
	}
	for _, part := range parts[1:last] {
		if _, rest, matches = strings.Cut(rest, part); !matches {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[last])
}

// prices parses names of models with their prices.
func (v value) prices() (map[string]Price, error) {
	var all map[string]map[string]any
	if err := v.decode(&all); err != nil {
		return nil, err
	}
	prices := map[string]Price{}
	for _, name := range sortedNames(all) {
		if provider, model, _ := strings.Cut(name, ":"); name != "*" && (provider == "" || model == "") {
			return nil, fmt.Errorf("has %s; write a model as provider:model, where * matches anything, such as "+
				"\"openai:gpt-*\"", quote(name))
		}
		p, err := priceOf(all[name])
		if err != nil {
			return nil, fmt.Errorf("of %s %w", quote(name), err)
		}
		prices[name] = p
	}
	return prices, nil
}

// priceOf parses a price. Cached input costs as much as other input if cached is missing.
func priceOf(fields map[string]any) (p Price, err error) {
	at := map[string]*float64{"input": &p.Input, "cached": &p.Cached, "output": &p.Output}
	for _, name := range sortedNames(fields) {
		to, known := at[name]
		if !known {
			return p, fmt.Errorf("has %s; the prices are input, cached and output", quote(name))
		}
		switch n := fields[name].(type) {
		case int:
			*to = float64(n)
		case float64:
			*to = n
		default:
			return p, fmt.Errorf("has a price for %s that is not a number", name)
		}
		if *to < 0 || *to > 1e6 {
			return p, fmt.Errorf("has a price for %s that is not between 0 and 1000000 per million tokens", name)
		}
	}
	for _, name := range []string{"input", "output"} {
		if _, has := fields[name]; !has {
			return p, fmt.Errorf("has no %s price per million tokens", name)
		}
	}
	if _, has := fields["cached"]; !has {
		p.Cached = p.Input
	}
	return p, nil
}

// showPrices returns prices in the file's form.
func showPrices(prices map[string]Price) any {
	if len(prices) == 0 {
		return nil
	}
	all := map[string]map[string]float64{}
	for name, p := range prices {
		all[name] = map[string]float64{"input": p.Input, "cached": p.Cached, "output": p.Output}
	}
	return all
}

//go:embed publicprices.json
var publicPricesText []byte

var publicPrices = sync.OnceValue(func() Prices {
	var shipped struct {
		Date   string
		Models map[string][3]float64 // input, cached, output
	}
	if err := json.Unmarshal(publicPricesText, &shipped); err != nil {
		panic(fmt.Sprintf("the table of public prices: %v", err)) // it is ours, and tested
	}
	p := Prices{Currency: "USD", Models: map[string]Price{}, Public: shipped.Date}
	for name, of := range shipped.Models {
		price := Price{Input: of[0], Cached: of[1], Output: of[2]}
		p.Models[name], p.Models[name+"-20*"] = price, price
	}
	return p
})

// OrPublic returns the set prices or, without any, the public ones of this build. They do not guarantee a bill.
func (p Prices) OrPublic() Prices {
	if len(p.Models) > 0 {
		return p
	}
	public := publicPrices()
	public.Limit, public.local = p.Limit, p.local
	return public
}
