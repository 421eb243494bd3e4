package oracle_test

import (
	"strings"
	"testing"

	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

// Whatever the model said last, its best text is the answer.
func TestBestTextIsTheAnswer(t *testing.T) {
	t.Parallel()
	const first = "The middleware takes the token of the header, checks its signature with the " +
		"key of the tenant, and passes the request on."
	for _, c := range []struct {
		name, then string
		replaces   bool
	}{
		{"it points up", "My answer above is complete.", false},
		{"it was given", "Already given above.", false},
		{"it is sorry", "Sorry, here is the signal.", false},
		{"it is done", "Done.", false},
		{"it says a part of it again", "The middleware checks its signature.", false},
		{"it announces", "Let me check the signature once more.", false},
		{"it says nothing", "", false},
		{"it is longer", first + " A request without one is refused.", true},
		{"it cites", "By `one.go:3`.", true},
		{"it says otherwise of the same",
			"The middleware takes the token of a cookie, not of the header: what was said is wrong.", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := setUp(t, opening("one"), modeltest.Say(first+needTurn("be sure")), modeltest.Say(c.then+enough()))
			a := h.ask(auth)
			want := first
			if c.replaces {
				want = c.then
			}
			same(t, "answer", a.Answer, want)
			same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
			same(t, "the signal is that of the last reply", string(a.Signal.Type), "context_sufficient")
		})
	}
}

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
			spec, err := h.begin(t.Context(), h.store, h.question(auth))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.newEngine(h.store, "test", nil).Start(t.Context(), spec); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("starting gives %v; want %q", err, c.want)
			}
		})
	}
}

func TestWhatIsSaidAfterReadingIsNotLostToTheGuessBeforeIt(t *testing.T) {
	const guess = "Authentication is probably handled by some middleware which " +
		"checks cookies of the session on each request."
	for then, want := range map[string]string{
		"It uses JWT.":     "It uses JWT.",
		"30 seconds.":      "30 seconds.",
		"As I said above.": guess + "\n\nAs I said above.",
		"It does not.":     guess + "\n\nIt does not.",
	} {
		t.Run(then, func(t *testing.T) {
			h := setUp(t, modeltest.Say(guess), reading(1), modeltest.Say(then+" "+enough()))
			a := h.ask(auth)
			same(t, "answer", a.Answer, want)
			same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
		})
	}
}
