package oracle_test

import (
	"fmt"
	"testing"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
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
