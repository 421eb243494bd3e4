package oracle_test

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

func TestCallsAreShownInTheOrderInWhichTheModelMadeThem(t *testing.T) {
	h := setUp(t, modeltest.Call("code_read", lines("auth/middleware.go", 10, 30)).AndCall(oracle.ReportTool,
		`{"type":"need_turn","confidence":0.8,"reason":"reading"}`),
		modeltest.Say("It checks a token (`auth/middleware.go:12`)."))
	h.env.ReportTool = true
	h.ask(auth)
	var names []string
	for _, m := range h.request(2).Messages {
		for _, c := range m.ToolCalls {
			names = append(names, c.Name)
		}
	}
	same(t, "calls", names, []string{"code_read", oracle.ReportTool})
}

func TestTreeWithValuesThatNoLeafTakesIsRefused(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`type="need_turn"`, `type="need_trun"`, "did you mean need_turn?"},
		{`stop_reason="partial"`, `stop_reason="banana"`, "one of satisfied, partial, budget, stuck, loop, needs_user"},
		{`unsure_below="0.3"`, `unsure_below="7"`, "at most 1"},
		{`silent_turns="3"`, `silent_turns="0"`, "at least 1"},
	} {
		t.Run(c.to, func(t *testing.T) {
			h := setUp(t)
			h.tree.Text = []byte(strings.Replace(string(h.tree.Text), c.from, c.to, 1))
			spec := assert.Must(h.begin(t.Context(), h.store, h.question(auth)))(t)
			_, err := h.newEngine(h.store, "test", nil).Start(t.Context(), spec)
			assert.That(t, err != nil && strings.Contains(err.Error(), c.want), "starting gives %v; want %q", err, c.want)
		})
	}
}
