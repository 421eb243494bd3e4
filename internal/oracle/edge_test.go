package oracle_test

import (
	"strings"
	"testing"

	"sibyl/internal/model/modeltest"
)

func TestEdgeMalformedSignalCountsAsNoneAndIsLoggedAndStripped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ markup, reason string }{
		"a required field is missing": {element("context_sufficient", "0.9"), "sources_found"},
		"an unknown type":             {element("done", "0.9"), `no signal type "done"`},
		"no confidence":               {`<signal type="need_turn"><reason>more</reason></signal>`, "no confidence"},
		"a confidence in words": {element("need_turn", "high", "reason", "more"),
			`confidence "high" is not a number`},
		"a confidence in percent":       {element("need_turn", "85%", "reason", "more"), "85%"},
		"a confidence that is no value": {element("need_turn", "NaN", "reason", "more"), "NaN"},
		"a confidence over 1":           {element("need_turn", "1.5", "reason", "more"), "1.5 is not between 0 and 1"},
		"no end":                        {`<signal type="need_turn"><reason>more</reason>`, "ends inside the signal"},
		"an end inside a tag":           {`<signal type="need_turn`, "first tag"},
		"elements in the wrong order":   {`<signal type="need_turn"><reason>more</signal></reason>`, "not well-formed"},
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
