package signal

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/lineartest"
)

// The extractor's work is counted by TestWorkIsInProportionToTheText.
func TestNeutralisingTakesTimeInProportionToTheText(t *testing.T) {
	for name, part := range hostileTexts {
		ratios := lineartest.Check(t, 4<<10, func(size int) func() {
			text := strings.Repeat(part, size/len(part)+1)
			return func() { Neutralise(text) }
		})
		t.Logf("%s: %s", name, ratios)
	}
}
