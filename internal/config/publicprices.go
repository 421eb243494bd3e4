package config

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

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

// OrPublic are the prices of the settings or, where they have none, the public ones that this build knows. They are no promise of a bill.
func (p Prices) OrPublic() Prices {
	if len(p.Models) > 0 {
		return p
	}
	return publicPrices()
}
