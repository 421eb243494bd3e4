package oracle_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/trees"
)

// shadowOf makes the shadow of the last run, in a session of its own.
func (h *harness) shadowOf() run.Spec {
	h.t.Helper()
	session := "shadow of " + h.last.ID
	now := time.Now()
	h.store.Open(journal.Session{ID: session, Owner: owner, Assistant: oracle.ShadowName, Title: session,
		CreatedAt: now, UpdatedAt: now})
	return h.baseline(h.spec, h.last.ID, session)
}

// baseline makes the shadow of a run, by its own tree.
func (h *harness) baseline(of run.Spec, id, session string) run.Spec {
	h.t.Helper()
	tree := assert.Must(trees.Set{}.Get(oracle.ShadowTree))(h.t)
	spec := assert.Must(oracle.NewShadow(of, id))(h.t)
	spec.Assistant, spec.Session, spec.TreeFile, spec.Tree = oracle.ShadowName, session, tree.File, tree.Text
	return spec
}

// shadow answers the last question again, as a shadow that says these turns. It returns what the shadow's model was
// asked.
func (h *harness) shadow(turns ...modeltest.Turn) (oracle.Answer, []model.Request) {
	h.t.Helper()
	main, mainModel := h.script, h.model
	defer func() { h.script, h.model = main, mainModel }()
	h.script = modeltest.Script(h.t, turns...)
	h.model = h.script
	spec := h.shadowOf()
	live := assert.Must(h.engine.Start(h.t.Context(), spec))(h.t)
	a := h.finish(live)
	left := h.script.Left()
	assert.That(h.t, left == 0, "%d turns of the shadow's script were never asked for", left)
	return a, h.script.Requests()
}

func TestShadowAnswersTheSameQuestionWithTheSamePastByTheBaseline(t *testing.T) {
	h := setUp(t, modeltest.Say("FIRST-ANSWER. "+partial("more")), modeltest.Say("OUR-ANSWER. "+partial("more")))
	h.finish(h.start(auth))
	h.finish(h.start("And in the tests?"))
	a, asked := h.shadow(modeltest.Say("They use a fake. " + needTurn("more")))
	same(t, "times the shadow's model was asked", len(asked), 1)
	wantParts(t, "its request", whole(asked[0]), "FIRST-ANSWER.", "And in the tests?")
	wantNoParts(t, "its request", whole(asked[0]), "OUR-ANSWER.")
	same(t, "tools offered to it", offered(asked[0]), []string{"code_read", "code_search", "thread_seek", "vault_read",
		"vault_search", "vault_write", "web_fetch", "web_search"})
	same(t, "question", a.Question, "And in the tests?")
	same(t, "answer", a.Answer, "They use a fake.")
	same(t, "stop reason: it called no tool, so it is done", a.StopReason, oracle.StopSatisfied)
}

func TestShadowStaysOutOfThePersonsSession(t *testing.T) {
	h := setUp(t, modeltest.Say("OUR-ANSWER. "+partial("more")), modeltest.Say("Another. "+partial("more")))
	h.finish(h.start(auth))
	h.shadow(modeltest.Say("THEIR-ANSWER."))
	all := h.endedAnswers("talk")
	same(t, "exchanges of the session", len(all), 1)
	h.ask("And in the tests?")
	wantNoParts(t, "the next request", whole(h.request(2)), "THEIR-ANSWER.")
}

func TestBaselineHasNoControlButTheTurnLimit(t *testing.T) {
	again := modeltest.SayAndCall(needTurn("the same"), "code_search", `{"query":"auth"}`)
	h := setUp(t, theEnd)
	h.turns = 7
	h.finish(h.start(auth))
	a, asked := h.shadow(slices.Repeat([]modeltest.Turn{again}, 7)...)
	for i, req := range asked {
		wantNoParts(t, fmt.Sprintf("request %d", i+1), textOfRole(req, model.User), "[control]")
		same(t, fmt.Sprintf("tools of request %d", i+1), len(offered(req)), 8)
	}
	same(t, "calls performed: the last turn's are not", len(h.world.called()), 6)
	same(t, "stop reason", a.StopReason, oracle.StopBudget)
	wantParts(t, "answer", a.Answer, "I have no answer.")
	same(t, "decisions of a fallback", consulted(a), []string(nil))
	same(t, "loops found", loops(a), []string(nil))
}

func TestRunOfAnotherAssistantHasNoShadow(t *testing.T) {
	_, err := oracle.NewShadow(run.Spec{Assistant: "council", Env: 7}, "r")
	assert.That(t, err != nil && err.Error() == "a run of council can't have a shadow", "the error is %v", err)
}

// shadows compares the shadows of a person with their runs.
func (h *harness) shadows(of journal.Owner, most int) ([]oracle.Pair, int, error) {
	h.t.Helper()
	rows, err := h.store.Runs(h.t.Context(), of, journal.Filter{Assistant: oracle.ShadowName, Summaries: true})
	assert.NoError(h.t, err)
	return oracle.PairsOf(rows, func(id string) (json.RawMessage, error) {
		end, err := run.ReadEnd(h.t.Context(), h.store, of, id)
		return end.Outcome, err
	}, most)
}

func TestShadowsAreComparedWithTheirRunsTheLatestFirst(t *testing.T) {
	h := setUp(t,
		modeltest.SayAndCall(needTurn("read"), "code_read", lines("a.go", 1, 9)),
		costing(model.Usage{InputTokens: 90, OutputTokens: 10}, modeltest.Say("It checks a token (`a.go:3`). "+
			enough())),
		modeltest.Say("It rains. "+partial("more")))
	h.engine = h.newEngine(h.store, "test", newSteppingClock())
	first := h.finish(h.start(auth))
	shadowed, _ := h.shadow(
		modeltest.Say("").AndCall("code_search", `{}`).AndCall("vault_search", `{}`).AndCall("code_read",
			lines("a.go", 1, 9)),
		costing(model.Usage{InputTokens: 500, OutputTokens: 50}, modeltest.Say("It checks a token (`a.go:3`).")))
	second := h.finish(h.start(weather))
	h.shadow(modeltest.Say("It is dry."))
	pairs, skipped, err := h.shadows(owner, 10)
	assert.NoError(t, err)
	same(t, "skipped", skipped, 0)
	same(t, "pairs", len(pairs), 2)
	same(t, "the latest", []string{pairs[0].Question, pairs[0].Ours.RunID}, []string{weather, second.RunID})
	p := pairs[1]
	for _, s := range []*oracle.ComparedAnswer{&p.Ours, &p.Shadow} {
		assert.That(t, s.TookMS > 0, "it took %d ms", s.TookMS)
		s.TookMS = 0
	}
	same(t, "the pair", p, oracle.Pair{Question: auth,
		Ours: oracle.ComparedAnswer{RunID: first.RunID, Model: "scripted:test", StopReason: "satisfied", Turns: 2,
			Calls: map[string]int{"code_read": 1}, ToolCalls: 1,
			Tokens: 100, Signals: map[string]int{"need_turn": 1, "context_sufficient": 1}, Cited: []string{"a.go:1-9"},
			Answer: "It checks a token (`a.go:3`)."},
		Shadow: oracle.ComparedAnswer{RunID: shadowed.RunID, Model: "scripted:test", StopReason: "satisfied", Turns: 2,
			Calls:     map[string]int{"code_search": 1, "vault_search": 1, "code_read": 1},
			ToolCalls: 3, Unnecessary: 2, Tokens: 550, Signals: map[string]int{}, Cited: []string{"a.go:1-9"},
			Answer: "It checks a token (`a.go:3`)."}})
	pairs, _, err = h.shadows(owner, 1)
	assert.That(t, err == nil && len(pairs) == 1 && pairs[0].Question == weather,
		"the latest one alone: %+v, %v", pairs, err)
	pairs, skipped, err = h.shadows("eve", 10)
	assert.That(t, err == nil && len(pairs)+skipped == 0, "another person's: %+v, %d skipped, %v", pairs, skipped, err)
}

func TestShadowsWithNothingToCompareWithAreSkipped(t *testing.T) {
	h := setUp(t, theEnd, theEnd, theEnd)
	h.finish(h.start(auth))
	h.shadow(modeltest.Say("Yes."))
	h.openSession("removed")
	h.finish(h.start(weather))
	h.shadow(modeltest.Say("No."))
	assert.NoError(t, h.store.DeleteSession(t.Context(), owner, "removed", journal.ByPerson, time.Now()))
	h.openSession("under way")
	h.finish(h.start(caching))
	main := h.script
	h.script = modeltest.Script(t, modeltest.Turn{Text: "It", Hang: true})
	h.model = h.script
	live := assert.Must(h.engine.Start(t.Context(), h.shadowOf()))(t)
	<-h.script.Hanging()
	pairs, skipped, err := h.shadows(owner, 10)
	live.Cancel("end of the test")
	h.finish(live)
	h.script = main
	assert.NoError(t, err)
	same(t, "skipped", skipped, 2)
	same(t, "pairs", len(pairs), 1)
	same(t, "the one that is left", pairs[0].Question, auth)
}

func TestFiguresOfPairsAreMediansAndWhoIsLower(t *testing.T) {
	pair := func(ours, theirs int) oracle.Pair {
		side := func(n int) oracle.ComparedAnswer {
			return oracle.ComparedAnswer{Turns: n, ToolCalls: 2 * n, Unnecessary: 3 * n, Tokens: 4 * n, TookMS: int64(5 * n),
				Cited: make([]string, n)}
		}
		return oracle.Pair{Ours: side(ours), Shadow: side(theirs)}
	}
	got := oracle.Compare([]oracle.Pair{pair(1, 4), pair(9, 2), pair(2, 2), pair(3, 7)}) // 1 2 3 9 and 2 2 4 7
	var want []oracle.Compared
	for i, what := range []string{"turns", "tool calls", "unnecessary calls", "tokens", "time, ms", "places cited"} {
		times := []float64{1, 2, 3, 4, 5, 1}[i]
		want = append(want, oracle.Compared{What: what, Ours: 2.5 * times, Shadow: 3 * times, Lower: 2, Higher: 1})
	}
	same(t, "figures", got, want)
	same(t, "of one pair", oracle.Compare([]oracle.Pair{pair(3, 5)})[0], oracle.Compared{What: "turns", Ours: 3,
		Shadow: 5, Lower: 1})
	same(t, "of three", oracle.Compare([]oracle.Pair{pair(7, 1), pair(1, 1), pair(3, 1)})[0],
		oracle.Compared{What: "turns", Ours: 3, Shadow: 1, Higher: 2})
}

func TestCountsAreListedByName(t *testing.T) {
	same(t, "counts", oracle.FormatCounts(map[string]int{"code_search": 1, "code_read": 4}),
		"code_read 4, code_search 1")
	same(t, "none", oracle.FormatCounts(nil), "none")
}
