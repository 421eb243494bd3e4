package oracle_test

import (
	"strings"
	"testing"

	"sibyl/internal/model/modeltest"
)

func TestEdgeMalformedSignalCountsAsNoneAndIsLoggedAndStripped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ markup, reason string }{
		"an unknown type":             {element("done", "0.9"), `no signal type "done"`},
		"no end":                      {`<signal type="need_turn"><reason>more</reason>`, "ends inside the signal"},
		"elements in the wrong order": {`<signal type="need_turn"><reason>more</signal></reason>`, "not well-formed"},
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, modeltest.Say("It checks a token. "+c.markup), modeltest.Say("It checks a token, I think. "+
				partial("a proof")))
			a := h.ask(auth)
			wantParts(t, "what is said after it", lastText(h.request(2)),
				"[control] No source was opened for this answer")
			if len(a.Problems) == 0 || !strings.Contains(a.Problems[0].Reason, c.reason) {
				t.Errorf("the problems are %+v; want one that says %q", a.Problems, c.reason)
			}
			same(t, "signals", len(a.Signals), 1)
			wantNoParts(t, "what was shown", h.shown, "signal", "more", "0.9")
			wantParts(t, "the trace", h.trace(), "signal.heard malformed=")
			if problems := h.receipts()[0].Report.Problems; len(problems) == 0 || problems[0].Raw == "" {
				t.Errorf("the journal keeps %+v of the malformed signal", problems)
			}
		})
	}
}
