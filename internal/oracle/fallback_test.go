package oracle_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
)

// inDoubt are turns that lead to each cause of doubt, the last of them with words and nothing read.
func inDoubt() map[oracle.Cause][]modeltest.Turn {
	again := modeltest.Say("Thinking. " + needTurn("look for it"))
	silent := func(query string) modeltest.Turn {
		return modeltest.SayAndCall("Hm.", "code_search", `{"query":"`+query+`"}`)
	}
	return map[oracle.Cause][]modeltest.Turn{
		oracle.CauseStuck:      {modeltest.Say("No way so far. " + stuck("nothing"))},
		oracle.CauseSameReason: {again, again, again},
		oracle.CauseSilent:     {silent("a"), silent("b"), silent("c")},
		oracle.CauseMalformed:  {modeltest.Say("It is so. " + malformed)},
		oracle.CauseUnsure: {modeltest.Say("It is so. " + element("context_sufficient", "0.2", "sources_found",
			"1"))},
	}
}

func TestClassifiersVerdictIsFollowedForEachCause(t *testing.T) {
	t.Parallel()
	code := []string{"code_read", "code_search"}
	wider := []string{"code_read", "code_search", "thread_seek", "vault_read", "vault_search", "web_fetch",
		"web_search"}
	retries := map[oracle.Cause]string{oracle.CauseSameReason: hintSame, oracle.CauseUnsure: hintUnsure,
		oracle.CauseSilent: hintUnsigned, oracle.CauseMalformed: hintUnsigned}
	goesOn := map[oracle.Cause]string{oracle.CauseUnsure: "Now answer",
		oracle.CauseSilent:    "Your replies have no signal.",
		oracle.CauseMalformed: "Now answer"}
	for cause, turns := range inDoubt() {
		for verdict, c := range map[oracle.Verdict]struct {
			tools []string
			hint  string
			not   bool // is not allowed for this cause
		}{
			oracle.GoOn:          {code, goesOn[cause], cause == oracle.CauseStuck || cause == oracle.CauseSameReason},
			oracle.Retry:         {code, retries[cause], false},
			oracle.OtherStrategy: {wider, hintWidened, false},
			oracle.ForceAnswer:   {[]string{}, hintWithdrawn, false},
			oracle.AskUser:       {nil, "", false},
		} {
			t.Run(string(cause)+" "+string(verdict), func(t *testing.T) {
				h := setUp(t, append(slices.Clone(turns), theEnd)...)
				judge := fixedClassifier(verdict, 0.7)
				h.classifier = judge.ask
				a := h.play(auth)
				same(t, "times it was asked", len(judge.asked), 1)
				same(t, "decisions", len(a.Fallbacks), 1)
				got := a.Fallbacks[0]
				same(t, "cause", got.Cause, cause)
				if c.not {
					same(t, "whose decision", got.By, "rules")
					return
				}
				same(t, "decision", got, oracle.Consult{Turn: len(turns), Cause: cause, Verdict: verdict,
					By: "classifier", Score: 0.7,
					Because: "the classifier says so (0.70)", Coded: bt.Coded{Code: "reply.classified",
						Values: map[string]bt.Why{"score": bt.Because("0.70")}}})
				if verdict == oracle.AskUser {
					same(t, "stop reason", a.StopReason, oracle.StopNeedsUser)
					return
				}
				if verdict == oracle.ForceAnswer && cause == oracle.CauseSameReason { // its searches are ground enough
					same(t, "stop reason", a.StopReason, oracle.StopPartial)
					return
				}
				next := h.request(len(turns) + 1)
				same(t, "tools of the next request", offered(next), c.tools)
				wantParts(t, "what is said before it", lastText(next), c.hint)
			})
		}
	}
}

func TestScoresOfAnEarlierTurnAreNeverUsed(t *testing.T) {
	for name, second := range map[string]struct {
		scores []oracle.Score
		err    error
	}{"the classifier fails": {err: errors.New("gone")}, "it has no score": {}} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, modeltest.Say("So. "+malformed), modeltest.Say(stuck("nothing")), theEnd)
			asked := 0
			h.classifier = func(context.Context, string) ([]oracle.Score, error) {
				if asked++; asked == 1 {
					return []oracle.Score{{Label: "retry", Score: 1}}, nil
				}
				return second.scores, second.err
			}
			a := h.ask(auth)
			same(t, "decisions", consulted(a), []string{"1: malformed, retry by classifier",
				"2: stuck, other_strategy by rules"})
			same(t, "score of the second", a.Fallbacks[1].Score, 0.0)
		})
	}
}

func TestScoreThatIsTooLowIsVisibleBesideTheRulesDecision(t *testing.T) {
	for score, followed := range map[float64]bool{0.49: false, 0: false, 0.5: true} {
		h := setUp(t, modeltest.Say("So. "+stuck("nothing")), theEnd)
		h.classifier = fixedClassifier(oracle.ForceAnswer, score).ask
		got := h.ask(auth).Fallbacks[0]
		same(t, "decided by the classifier", got.By == "classifier", followed)
		want := oracle.Score{}
		if !followed {
			want = oracle.Score{Label: "force_answer", Score: score}
		}
		same(t, "what was not followed", got.Unfollowed, want)
		assert.That(t, strings.Contains(string(assert.Must(json.Marshal(got))(t)), "unfollowed") != followed, "the JSON: %+v", got)
	}
}

func TestPersonIsToldOfASourceThatWasOfferedAndNotSearched(t *testing.T) {
	h := setUp(t, modeltest.Say("So. "+stuck("nothing")), modeltest.Say("Still. "+stuck("nothing")), theEnd)
	a := h.ask(auth)
	last := a.Fallbacks[len(a.Fallbacks)-1]
	assert.Require(t, last.Code == "source.none_left", "it ends with %+v", a.Fallbacks)
	var told []string
	for _, n := range a.Notices {
		if n.Severity == agent.Warning {
			told = append(told, n.Text)
		}
	}
	wantParts(t, strings.Join(told, "\n"), "The model could have searched "+last.Values["sources"].Text)
}

func TestClassifiersScoresAreInTheJournal(t *testing.T) {
	h := setUp(t, modeltest.Say("So. "+stuck("nothing")), theEnd)
	scores := []oracle.Score{{Label: "force_answer", Score: 0.75}, {Label: "retry", Score: 0.25}}
	h.classifier = (&classifier{scores: scores}).ask
	h.ask(auth)
	done := h.completions(oracle.EffectClassify)
	same(t, "times it was asked", len(done), 1)
	var p oracle.ClassifyPayload
	var r oracle.ClassifyReceipt
	assert.NoError(t, errors.Join(json.Unmarshal(done[0].Payload, &p), json.Unmarshal(done[0].Result, &r)))
	same(t, "scores", r.Scores, scores)
	reply := int64(slices.IndexFunc(h.bodies(), func(body any) bool {
		c, is := body.(*run.CompletionRecord)
		return is && c.Kind == agent.EffectTurn
	}))
	same(t, "the reply that they are of", p, oracle.ClassifyPayload{Turn: reply, Cause: oracle.CauseStuck})
	wantParts(t, "the trace", h.trace(), "classifier.asked label=force_answer score=0.75",
		`verdict=force_answer by=classifier score=0.75 because="the classifier says so (0.75)"`)
}
