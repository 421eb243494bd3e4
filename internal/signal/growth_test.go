package signal

import (
	"strings"
	"testing"

	"sibyl/internal/lineartest"
)

// TestTimeIsLinearInTheSize measures what TestWorkIsInProportionToTheText counts, and the reading of what was found.
func TestTimeIsLinearInTheSize(t *testing.T) {
	for name, part := range hostileTexts {
		for what, work := range map[string]func(text string){
			"in small pieces": func(text string) { extract(text, 16) }, "whole": func(text string) { extract(text, len(text)) }, "neutralised": func(text string) { Neutralise(text) },
		} {
			ratios := lineartest.Check(t, 4<<10, func(size int) func() {
				text := strings.Repeat(part, size/len(part)+1)
				return func() { work(text) }
			})
			t.Logf("%s, %s: %s", name, what, ratios)
		}
	}
}
