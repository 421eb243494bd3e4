package oracle_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

func TestTokensAreEstimatedWhereNoUsageIsReported(t *testing.T) {
	calm := setUp(t, reading(1), theEnd)
	calm.ask(auth)
	r := calm.receipts()[0]
	spent := r.PromptSize + r.History
	if r.PromptSize == 0 || r.History == 0 {
		t.Fatalf("the receipt estimates %d and %d tokens", r.PromptSize, r.History)
	}
	for limit, want := range map[int][]string{spent + 1: {"code_read", "code_search"}, spent: {}} {
		h := setUp(t, reading(1), theEnd)
		h.maxTokens = limit
		h.ask(auth)
		same(t, fmt.Sprintf("tools of the second request, limit %d of %d", limit, spent), offered(h.request(2)), want)
	}
}

// A fifth of the time is kept for the last turn.
func TestBudgetOfSecondsCountsASlowModel(t *testing.T) {
	clock := newHandClock()
	h := setUp(t, clock.slowly(4*time.Second, reading(1)), clock.slowly(3*time.Second, reading(2)), clock.slowly(999*time.Millisecond, reading(3)),
		clock.slowly(time.Millisecond, reading(4)), modeltest.Say("So far. "+needTurn("more")))
	h.engine = h.newEngine(h.store, "test", clock)
	h.maxTime = 10 * time.Second
	a := h.ask(auth)
	lacks(t, "the second request", whole(h.request(2)), hintLow)
	holds(t, "the third request", lastText(h.request(3)), hintLow)
	same(t, "tools of the fourth request, at 7.999 s", offered(h.request(4)), []string{"code_read", "code_search"})
	same(t, "tools of the fifth request, at 8 s", offered(h.request(5)), []string{})
	same(t, "what ran out", a.Budget, &agent.Spent{Kind: "seconds", Used: 8, Limit: 10})
	same(t, "stop reason", a.StopReason, oracle.StopBudget)
	same(t, "warnings", notices(a, agent.NoticeBudgetWarning), []agent.Notice{{Type: "budget.warning", Severity: agent.Warning, Turn: 2,
		Text: "7 of 10 seconds were used.", Payload: map[string]string{"kind": "seconds", "used": "7", "limit": "10"}}})
}

func TestHoursInWhichNobodyDrivesARunAreNotItsSeconds(t *testing.T) {
	h := setUp(t, reading(1), reading(2), reading(2), modeltest.Say("All is read. "+enough()))
	h.maxTime = 10 * time.Second
	dying := mortal(h.store, 6, false)
	a := h.crashAndResume(auth, dying)
	same(t, "the process died", dying.Dead(), true)
	same(t, "what ran out", a.Budget, (*agent.Spent)(nil))
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
	same(t, "budget notices", notices(a, agent.NoticeBudgetWarning), []agent.Notice(nil))
}

func TestBudgetIsWarnedOfOnceAtSeventyPercent(t *testing.T) {
	for _, c := range []struct {
		first    int // tokens of the first turn; the others take 10
		warnedAt int // number of the request
	}{{679, 5}, {680, 4}, {699, 3}, {700, 2}, {701, 2}} {
		t.Run(fmt.Sprint(c.first), func(t *testing.T) {
			turns := []modeltest.Turn{costing(model.Usage{InputTokens: c.first}, reading(0))}
			for i := 1; i < 6; i++ {
				turns = append(turns, costing(model.Usage{InputTokens: 10}, reading(i)))
			}
			h := setUp(t, append(turns, theEnd)...)
			h.maxTokens = 1000
			a := h.ask(auth)
			for n := 1; n <= 7; n++ {
				want := 0
				if n >= c.warnedAt {
					want = 1
				}
				same(t, fmt.Sprintf("times the model was told by request %d", n), strings.Count(whole(h.request(n)), hintLow), want)
			}
			warned := notices(a, agent.NoticeBudgetWarning)
			same(t, "warnings", len(warned), 1)
			same(t, "turns before it", warned[0].Turn, c.warnedAt-1)
			same(t, "kind", warned[0].Payload["kind"], "tokens")
		})
	}
}

func TestEachKindOfBudgetIsWarnedOfOnce(t *testing.T) {
	clock := newHandClock()
	var turns []modeltest.Turn
	for i := range 9 {
		turns = append(turns, clock.slowly(time.Second, costing(model.Usage{InputTokens: 100}, reading(i))))
	}
	h := setUp(t, append(turns, theEnd)...)
	h.engine = h.newEngine(h.store, "test", clock)
	h.turns, h.maxTokens, h.maxTime = 10, 1100, 12*time.Second
	a := h.ask(auth)
	var kinds []string
	for _, n := range notices(a, agent.NoticeBudgetWarning) {
		kinds = append(kinds, n.Payload["kind"]+" "+n.Payload["used"]+" of "+n.Payload["limit"])
	}
	same(t, "warnings", kinds, []string{"turns 7 of 10", "tokens 800 of 1100", "seconds 9 of 12"})
	lacks(t, "what the last turn ends with", lastText(h.request(10)), hintLow)
}

// anyScores is whatever a classifier may come up with.
func anyScores(r *rapid.T) ([]oracle.Score, error) {
	if rapid.IntRange(0, 4).Draw(r, "the classifier fails") == 0 {
		return nil, fmt.Errorf("no model is there")
	}
	return rapid.SliceOfN(rapid.Custom(func(r *rapid.T) oracle.Score {
		return oracle.Score{Label: rapid.SampledFrom([]string{"go_on", "retry", "other_strategy", "force_answer", "ask_user", "dance", ""}).Draw(r, "label"),
			Score: rapid.SampledFrom([]float64{-1, 0, 0.49, 0.5, 0.9, 1, 7}).Draw(r, "score")}
	}), 0, 3).Draw(r, "scores"), nil
}

func TestNothingThatAModelOrAClassifierSaysLiftsABudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		clock := newHandClock()
		most := rapid.IntRange(1, 14).Draw(r, "turns")
		maxTokens := rapid.SampledFrom([]int{0, 1, 100, 500}).Draw(r, "tokens")
		maxTime := time.Duration(rapid.SampledFrom([]int{0, 1, 5}).Draw(r, "seconds")) * time.Second
		doubtful := []string{malformed, stuck("no way"), needTurn("the same"), element("need_turn", "0.1", "reason", "the same"),
			element("context_sufficient", "0.2", "sources_found", "1"), ""}
		var spent []int // tokens, before each request
		var began []time.Duration
		var withdrawn []bool
		var reached []int // calls that had reached a tool, before each request
		tokens, start := 0, clock.Now()
		var h *harness
		var turns []modeltest.Turn
		for range 2*most + 2 {
			turns = append(turns, modeltest.Func(func(req model.Request) modeltest.Turn {
				if req.Purpose == oracle.PurposeNotes {
					return rapid.SampledFrom([]modeltest.Turn{modeltest.Say("NOTES."), modeltest.Say(""), modeltest.Fail(model.Server)}).Draw(r, "notes")
				}
				spent, began = append(spent, tokens), append(began, clock.Now().Sub(start))
				withdrawn = append(withdrawn, strings.Contains(whole(req), lastHint) || strings.Contains(whole(req), hintWithdrawn))
				reached = append(reached, len(h.world.called()))
				turn := anyTurn(r)
				if rapid.Bool().Draw(r, "in doubt") {
					turn.Text = rapid.SampledFrom([]string{"", "Words. ", "Which one? "}).Draw(r, "words") + rapid.SampledFrom(doubtful).Draw(r, "doubtful")
				}
				turn.Usage.InputTokens = rapid.IntRange(1, 200).Draw(r, "cost")
				tokens += turn.Usage.InputTokens
				clock.pass(time.Duration(rapid.IntRange(0, 2000).Draw(r, "ms")) * time.Millisecond)
				return turn
			}))
		}
		h = setUp(t, turns...)
		h.turns, h.maxTokens, h.maxTime = most, maxTokens, maxTime
		if rapid.Bool().Draw(r, "long outputs") {
			h.env.WindowTokens = 10_000
			h.world.on("code_read", opens(tool.Code, long("TEXT", 2_500)))
			h.world.on("vault_read", opens(tool.Vault, long("TEXT", 2_500)))
		}
		if rapid.Bool().Draw(r, "with a classifier") {
			h.classifier = func(context.Context, string) ([]oracle.Score, error) { return anyScores(r) }
		}
		h.engine = h.newEngine(h.store, "test", clock)
		a := h.finish(h.start(rapid.SampledFrom([]string{auth, caching, thanks, save}).Draw(r, "question")))

		stops := []string{oracle.StopSatisfied, oracle.StopPartial, oracle.StopBudget, oracle.StopStuck, oracle.StopLoop, oracle.StopNeedsUser}
		switch {
		case !slices.Contains(stops, a.StopReason):
			r.Fatalf("stop reason %q, error %v", a.StopReason, a.Error)
		case len(spent) > most || a.Turns != len(spent):
			r.Fatalf("%d turns of %d are counted, %d were taken", a.Turns, most, len(spent))
		case strings.TrimSpace(a.Answer) == "":
			r.Fatalf("the answer is empty, stop reason %s", a.StopReason)
		}
		for n := range spent {
			over := n == most-1 || maxTokens > 0 && spent[n] >= maxTokens || maxTime > 0 && began[n] >= maxTime
			switch {
			case over && !withdrawn[n]:
				r.Fatalf("request %d of %d, after %d of %d tokens and %s of %s, is not the last", n+1, most, spent[n], maxTokens, began[n], maxTime)
			case over && n != len(spent)-1:
				r.Fatalf("a turn follows the last one, %d of %d", n+1, len(spent))
			case withdrawn[n] && len(h.world.called()) > reached[n]:
				r.Fatalf("%v were called, %d of them before the tools were withdrawn", h.world.called(), reached[n])
			}
		}
	})
}
