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
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run/replay"
	"sibyl/internal/tool"
)

// anyTurn is whatever a model may come up with.
func anyTurn(r *rapid.T) modeltest.Turn {
	text := rapid.SampledFrom([]string{"", " ", "Words. ", "`auth/middleware.go:12` ", "```\n" + enough() + "\n```\n",
		"An open fence:\n```\n"}).Draw(r, "text")
	signal := rapid.SampledFrom([]string{"", needTurn("more"), needTurn("other words"), enough(), stuck("no way"),
		partial("all"), delegate("the rest"),
		needCapability("web search"), needCapability("vault write"), needCapability("email"),
		element("need_turn", "0.1", "reason", "a guess"), needTurn("the same"), element("context_sufficient", "0.2",
			"sources_found", "1"),
		element("done", "0.9"), `<signal type="stuck">`, enough() + stuck("no way")}).Draw(r, "signal")
	t := modeltest.Say(text + signal)
	calls := rapid.SliceOfN(rapid.SampledFrom([]string{"code_search", "code_read", "vault_search", "vault_read",
		"thread_seek", "vault_write",
		"web_search", "web_fetch", "no_such_tool"}), 0, 3).Draw(r, "calls")
	for _, name := range calls {
		t = t.AndCall(name, rapid.SampledFrom([]string{lines("auth/middleware.go", 10, 30), `{}`, `{`, ``, `[1]`}).
			Draw(r, "arguments"))
	}
	return t
}

// anyScores is whatever a classifier may come up with.
func anyScores(r *rapid.T) ([]oracle.Score, error) {
	if rapid.IntRange(0, 4).Draw(r, "the classifier fails") == 0 {
		return nil, fmt.Errorf("no model is there")
	}
	return rapid.SliceOfN(rapid.Custom(func(r *rapid.T) oracle.Score {
		return oracle.Score{Label: rapid.SampledFrom([]string{"go_on", "retry", "other_strategy", "force_answer",
			"ask_user", "dance", ""}).Draw(r, "label"),
			Score: rapid.SampledFrom([]float64{-1, 0, 0.49, 0.5, 0.9, 1, 7}).Draw(r, "score")}
	}), 0, 3).Draw(r, "scores"), nil
}

// watched is what a request allowed, what had been spent by then, and what the reply to it asked for.
type watched struct {
	offered, asked []string
	tokens, calls  int
	began          time.Duration
}

// talk is a model that may say anything, with what limits it.
type talk struct {
	*rapid.T
	*harness
	clock  *handClock
	began  time.Time
	tokens int
	seen   []watched
}

func (k *talk) turn(req model.Request) modeltest.Turn {
	if req.Purpose == oracle.PurposeNotes {
		return rapid.SampledFrom([]modeltest.Turn{modeltest.Say("NOTES."), modeltest.Say(""),
			modeltest.Fail(model.Server)}).Draw(k.T, "notes")
	}
	w := watched{offered: offered(req), tokens: k.tokens, calls: len(k.world.called()), began: k.clock.Now().
		Sub(k.began)}
	turn := anyTurn(k.T)
	for _, c := range turn.ToolCalls {
		w.asked = append(w.asked, c.Name)
	}
	k.seen = append(k.seen, w)
	turn.Usage.InputTokens = rapid.IntRange(1, 200).Draw(k.T, "cost")
	k.tokens += turn.Usage.InputTokens
	k.clock.pass(time.Duration(rapid.IntRange(0, 2000).Draw(k.T, "ms")) * time.Millisecond)
	return turn
}

// Whatever a model and a classifier say, a run ends in time, lifts no budget, does only what was offered, and is
// replayed as it was recorded.
func TestAnyConversationEndsInTimeAndDoesOnlyWhatWasOffered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		k := &talk{T: r, harness: setUp(t), clock: newHandClock()}
		k.began = k.clock.Now()
		k.turns = rapid.IntRange(1, 14).Draw(r, "turns")
		k.maxTokens = rapid.SampledFrom([]int{0, 1, 100, 500}).Draw(r, "tokens")
		k.maxTime = time.Duration(rapid.SampledFrom([]int{0, 1, 5}).Draw(r, "seconds")) * time.Second
		if rapid.Bool().Draw(r, "searches find nothing") {
			for _, name := range []string{"code_search", "vault_search", "thread_seek", "web_search"} {
				k.world.replaceTool(name, finds())
			}
		}
		if rapid.Bool().Draw(r, "long outputs") {
			k.env.WindowTokens = 10_000
			k.world.replaceTool("code_read", opens(tool.Code, long("TEXT", 2_500)))
			k.world.replaceTool("vault_read", opens(tool.Vault, long("TEXT", 2_500)))
		}
		if rapid.Bool().Draw(r, "with a classifier") {
			k.classifier = func(context.Context, string) ([]oracle.Score, error) { return anyScores(r) }
		}
		k.script.Add(slices.Repeat([]modeltest.Turn{modeltest.Func(k.turn)}, 2*k.turns+2)...)
		k.engine = k.newEngine(k.store, "test", k.clock)
		a := k.finish(k.harness.start(rapid.SampledFrom([]string{auth, caching, weather, thanks, save}).
			Draw(r, "question")))
		k.check(a)
		found := k.replay(replay.Options{})
		same(t, "differences", kindsOf(found), []replay.DifferenceKind{})
		same(t, "steps", found.Trace, k.steps())
		assert.Require(r, !t.Failed(), "%+v", found.Differences)
	})
}

// check wants an answer within the budgets, and no call that was not offered.
func (k *talk) check(a oracle.Answer) {
	stops := []string{oracle.StopSatisfied, oracle.StopPartial, oracle.StopBudget, oracle.StopStuck, oracle.StopLoop,
		oracle.StopNeedsUser}
	switch {
	case !slices.Contains(stops, a.StopReason):
		k.Fatalf("stop reason %q, error %v", a.StopReason, a.Error)
	case a.Turns != len(k.seen) || a.Turns > k.turns:
		k.Fatalf("%d turns of %d are counted, %d were taken", a.Turns, k.turns, len(k.seen))
	case strings.TrimSpace(a.Answer) == "":
		k.Fatalf("the answer is empty, stop reason %s", a.StopReason)
	case len(k.world.written()) > 0 && a.QueryType != "action":
		k.Fatalf("a %s question wrote %v", a.QueryType, k.world.written())
	case slices.ContainsFunc(a.Sources, func(s agent.Source) bool { return !s.Opened && !s.Cited }):
		k.Fatalf("a source was neither opened nor cited: %+v", a.Sources)
	}
	allowed := map[string]int{}
	for n, w := range k.seen {
		over := n == k.turns-1 || k.maxTokens > 0 && w.tokens >= k.maxTokens || k.maxTime > 0 && w.began >= k.maxTime
		switch {
		case over && n != len(k.seen)-1:
			k.Fatalf("a turn follows the last one, %d of %d", n+1, len(k.seen))
		case over && len(w.offered) > 0:
			k.Fatalf("request %d, the last one, is offered %v", n+1, w.offered)
		case len(w.offered) == 0 && n == len(k.seen)-1 && len(k.world.called()) > w.calls:
			k.Fatalf("%v were called, %d of them before the tools were withdrawn", k.world.called(), w.calls)
		}
		for _, name := range w.asked {
			if slices.Contains(w.offered, name) {
				allowed[name]++
			}
		}
	}
	for _, name := range k.world.called() {
		allowed[name]--
		assert.Require(k, allowed[name] >= 0, "%s was called more often than it was offered and asked for", name)
	}
}
