package cli

import (
	"fmt"
	"strconv"

	"sibyl/internal/assistant"
	"sibyl/internal/config"
)

// costsOf tells the tokens of models and, where the settings have the prices of all of them, what they cost. "" where there are none.
func costsOf(prices config.Prices, used []assistant.Usage) string {
	var sum assistant.Usage
	total, priced := 0.0, true
	for _, u := range used {
		sum.Input, sum.Cached, sum.Output = sum.Input+u.Input, sum.Cached+u.Cached, sum.Output+u.Output
		p, known := prices.Find(u.Model)
		total, priced = total+p.Of(u.Input, u.Cached, u.Output), priced && known
	}
	if sum.Input+sum.Output == 0 {
		return ""
	}
	line := fmt.Sprintf("%d tokens in", sum.Input)
	if sum.Cached > 0 {
		line += fmt.Sprintf(" (%d cached)", sum.Cached)
	}
	line += fmt.Sprintf(", %d out", sum.Output)
	if priced {
		line += "; " + amount(total) + " " + prices.Currency
	}
	return line
}

// amount is a sum of money: to the cent, or to two digits that count where it is less than one.
func amount(sum float64) string {
	if sum == 0 || sum >= 0.995 {
		return strconv.FormatFloat(sum, 'f', 2, 64)
	}
	decimals := 2
	for s := sum; s < 0.0995 && decimals < 8; s *= 10 {
		decimals++
	}
	return strconv.FormatFloat(sum, 'f', decimals, 64)
}
