package council_test

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council"
	"sibyl/internal/model/modeltest"
)

// A server reads what was said once for all oracles whose files begin with it, and for the same oracle asked again.
func TestWhatAServerHasReadOfASessionIsFoundAgain(t *testing.T) {
	h := newHouse(t)
	h.now = ticking()
	for _, name := range []string{"Ada", "Bob", "Cleo"} {
		h.oracle(name, "{{CONTEXT}}\n\n# "+name+"\n\nYou are "+name+". Doubt what was said.\n")
	}
	h.oracle("Dora", "# Dora\n\nYou are Dora.\n\n{{CONTEXT}}\n\nAnswer in short.\n")
	h.says(strings.Repeat("The rent is 900 euros, and the office is far from everything. ", 60))
	p := h.process("one", h.journal)
	p.run(h.ask("ada", "bob", "cleo"))
	sitting := h.requests(council.Purpose)
	assert.Require(t, len(sitting) == 3, "%d oracles were asked", len(sitting))
	for n := 1; n < len(sitting); n++ {
		found(t, "another oracle", modeltest.FoundAgain(sitting[n-1], sitting[n]))
	}
	p.run(h.ask("dora"))
	h.says("It costs more than we have.")
	p.run(h.ask("dora"))
	again := h.requests(council.Purpose)[3:]
	assert.Require(t, len(again) == 2, "Dora was asked %d times", len(again))
	found(t, "the same oracle, asked again,", modeltest.FoundAgain(again[0], again[1]))
}

func found(t *testing.T, who string, share float64) {
	t.Helper()
	assert.That(t, share >= 0.9, "%s finds %.0f %% of what was read, want at least 90", who, 100*share)
}
