package oracle_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run/replay"
)

// anyTurn is whatever a model may come up with.
func anyTurn(r *rapid.T) modeltest.Turn {
	text := rapid.SampledFrom([]string{"", " ", "Words. ", "`auth/middleware.go:12` ", "```\n" + enough() + "\n```\n", "An open fence:\n```\n"}).Draw(r, "text")
	signal := rapid.SampledFrom([]string{"", needTurn("more"), needTurn("other words"), enough(), stuck("no way"), partial("all"), delegate("the rest"),
		needCapability("web search"), needCapability("vault write"), needCapability("email"), element("need_turn", "0.1", "reason", "a guess"),
		element("done", "0.9"), `<signal type="stuck">`, enough() + stuck("no way")}).Draw(r, "signal")
	t := modeltest.Say(text + signal)
	calls := rapid.SliceOfN(rapid.SampledFrom([]string{"code_search", "code_read", "vault_search", "vault_read", "thread_seek", "vault_write",
		"web_search", "web_fetch", "no_such_tool"}), 0, 3).Draw(r, "calls")
	for _, name := range calls {
		t = t.AndCall(name, rapid.SampledFrom([]string{lines("auth/middleware.go", 10, 30), `{}`, `{`, ``, `[1]`}).Draw(r, "arguments"))
	}
	return t
}

// watched is what a request allowed and what the reply to it asked for.
type watched struct {
	offered []string
	asked   []string
}

// Whatever a model says, its run ends in time, does only what was offered, and is replayed as it was recorded.
func TestAnyConversationEndsInTimeAndDoesOnlyWhatWasOffered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		question := rapid.SampledFrom([]string{auth, caching, weather, thanks, save}).Draw(r, "question")
		most := rapid.IntRange(1, 12).Draw(r, "turns")
		empty := rapid.Bool().Draw(r, "searches find nothing")
		var seen []watched
		var turns []modeltest.Turn
		for range most {
			turn := anyTurn(r)
			turns = append(turns, modeltest.Func(func(req model.Request) modeltest.Turn {
				w := watched{offered: offered(req)}
				for _, c := range turn.ToolCalls {
					w.asked = append(w.asked, c.Name)
				}
				seen = append(seen, w)
				return turn
			}))
		}
		h := setUp(t, turns...)
		h.turns = most
		if empty {
			for _, name := range []string{"code_search", "vault_search", "thread_seek", "web_search"} {
				h.world.on(name, finds())
			}
		}
		a := h.finish(h.start(question))
		stops := []string{oracle.StopSatisfied, oracle.StopPartial, oracle.StopBudget, oracle.StopStuck, oracle.StopLoop, oracle.StopNeedsUser}
		if !slices.Contains(stops, a.StopReason) {
			r.Fatalf("stop reason %q, error %v", a.StopReason, a.Error)
		}
		if a.Turns != len(seen) || a.Turns > most {
			r.Fatalf("%d turns of %d are counted, %d were taken", a.Turns, most, len(seen))
		}
		if strings.TrimSpace(a.Answer) == "" {
			r.Fatal("the answer is empty")
		}
		if len(seen) == most && len(seen[most-1].offered) > 0 {
			r.Fatalf("the last turn is offered %v", seen[most-1].offered)
		}
		allowed := map[string]int{}
		for _, w := range seen {
			for _, name := range w.asked {
				if slices.Contains(w.offered, name) {
					allowed[name]++
				}
			}
		}
		for _, name := range h.world.called() {
			if allowed[name]--; allowed[name] < 0 {
				r.Fatalf("%s was called more often than it was offered and asked for", name)
			}
		}
		if len(h.world.written()) > 0 && a.QueryType != "action" {
			r.Fatalf("a %s question wrote %v", a.QueryType, h.world.written())
		}
		for _, s := range a.Sources {
			if !s.Opened {
				r.Fatalf("%s is a source and was not opened", s.Cite)
			}
		}
		found := h.replay(replay.Options{})
		same(t, "differences", kindsOf(found), []replay.DifferenceKind{})
		same(t, "steps", found.Trace, h.steps())
		if t.Failed() {
			r.Fatalf("%+v", found.Differences)
		}
	})
}
