package oracle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
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
		oracle.CauseUnsure:     {modeltest.Say("It is so. " + element("context_sufficient", "0.2", "sources_found", "1"))},
	}
}

func TestClassifiersVerdictIsFollowedForEachCause(t *testing.T) {
	code := []string{"code_read", "code_search"}
	wider := []string{"code_read", "code_search", "thread_seek", "vault_read", "vault_search", "web_fetch", "web_search"}
	retries := map[oracle.Cause]string{oracle.CauseSameReason: hintSame, oracle.CauseUnsure: hintUnsure, oracle.CauseSilent: hintUnsigned, oracle.CauseMalformed: hintUnsigned}
	goesOn := map[oracle.Cause]string{oracle.CauseUnsure: "No source was opened for this answer", oracle.CauseSilent: "Your replies have no signal.", oracle.CauseMalformed: "No source was opened for this answer"}
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
				judge := says(verdict, 0.7)
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
				same(t, "decision", got, oracle.Consult{Turn: len(turns), Cause: cause, Verdict: verdict, By: "classifier", Score: 0.7, Because: "the classifier says so (0.70)"})
				if verdict == oracle.AskUser {
					same(t, "stop reason", a.StopReason, oracle.StopNeedsUser)
					return
				}
				next := h.request(len(turns) + 1)
				same(t, "tools of the next request", offered(next), c.tools)
				holds(t, "what is said before it", lastText(next), c.hint)
			})
		}
	}
}

// A hint that is not true of the reply misleads the model.
func TestRetryOfAStuckReplyDoesNotSayThatItsSignalWasMissing(t *testing.T) {
	h := setUp(t, modeltest.Say("No way so far. "+stuck("nothing")), theEnd)
	h.classifier = says(oracle.Retry, 0.9).ask
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"1: stuck, retry by classifier"})
	lacks(t, "what is said after it", lastText(h.request(2)), hintUnsigned)
	holds(t, "what is said after it", lastText(h.request(2)), "[control]")
}

func TestClassifierIsFollowedFromAScoreOfOneHalfOn(t *testing.T) {
	for score, by := range map[float64]string{0.499: "rules", 0.5: "classifier", 1: "classifier", 0: "rules", -1: "rules"} {
		h := setUp(t, modeltest.Say("It is so. "+malformed), theEnd)
		h.classifier = says(oracle.OtherStrategy, score).ask
		a := h.ask(auth)
		same(t, fmt.Sprintf("whose decision at %v", score), a.Fallbacks[0].By, by)
	}
}

func TestClassifiersVerdictThatIsNotAllowedIsLeftToTheRules(t *testing.T) {
	for name, c := range map[string]struct {
		reply  string
		scores []oracle.Score
		want   string
	}{
		"go_on for stuck":            {"No way. " + stuck("nothing"), []oracle.Score{{Label: "go_on", Score: 1}}, "1: stuck, other_strategy by rules"},
		"ask_user without a word":    {stuck("nothing"), []oracle.Score{{Label: "ask_user", Score: 1}}, "1: stuck, other_strategy by rules"},
		"no verdict at all":          {stuck("nothing"), []oracle.Score{{Label: "dance", Score: 1}}, "1: stuck, other_strategy by rules"},
		"no label":                   {stuck("nothing"), []oracle.Score{{Score: 1}}, "1: stuck, other_strategy by rules"},
		"no score":                   {stuck("nothing"), nil, "1: stuck, other_strategy by rules"},
		"the second best is no help": {stuck("nothing"), []oracle.Score{{Label: "go_on", Score: 0.6}, {Label: "force_answer", Score: 0.55}}, "1: stuck, other_strategy by rules"},
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, modeltest.Say(c.reply), theEnd)
			h.classifier = (&classifier{scores: c.scores}).ask
			same(t, "decisions", consulted(h.ask(auth)), []string{c.want})
		})
	}
}

func TestClassifierCannotRetryForEver(t *testing.T) {
	var turns []modeltest.Turn
	for i := range 3 {
		turns = append(turns, modeltest.Say("No way. "+stuck(spelled[i])))
	}
	h := setUp(t, append(turns, theEnd)...)
	h.classifier = says(oracle.Retry, 1).ask
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"1: stuck, retry by classifier", "2: stuck, other_strategy by rules", "3: stuck, force_answer by rules"})
}

func TestClassifierCannotAskForOtherWordsTwiceWhereNoSourceIsLeft(t *testing.T) {
	h := setUp(t, reading(1), modeltest.Say(stuck("a")), modeltest.Say(stuck("b")), theEnd)
	h.onlyCode()
	h.classifier = says(oracle.OtherStrategy, 1).ask
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"2: stuck, other_strategy by classifier", "3: stuck, force_answer by rules"})
}

func TestClassifierThatIsNotInThisProcessIsToldAndTheRulesDecide(t *testing.T) {
	h := setUp(t, modeltest.Say(stuck("nothing")), theEnd)
	h.configured = true
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"1: stuck, other_strategy by rules"})
	same(t, "told", told(a), []string{"The classifier is not available, so rules decide: no classifier is configured in this process"})
}

func TestClassifierThatFailsAgainAndAgainIsToldOnce(t *testing.T) {
	h := setUp(t, modeltest.Say("So. "+malformed), modeltest.Say("So. "+malformed))
	n := 0
	h.classifier = func(context.Context, string) ([]oracle.Score, error) {
		n++
		return nil, fmt.Errorf("time ran out after %d.01 s", n)
	}
	a := h.ask(auth)
	same(t, "times it was asked", n, 2)
	same(t, "notices", len(notices(a, oracle.NoticeClassifier)), 1)
}

func TestClassifierThatBreaksDownIsAFailureOfItAlone(t *testing.T) {
	h := setUp(t, modeltest.Say(stuck("nothing")), theEnd)
	h.classifier = func(context.Context, string) ([]oracle.Score, error) { panic("index out of range") }
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"1: stuck, other_strategy by rules"})
	same(t, "notices", len(notices(a, oracle.NoticeClassifier)), 1)
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
			same(t, "decisions", consulted(a), []string{"1: malformed, retry by classifier", "2: stuck, other_strategy by rules"})
			same(t, "score of the second", a.Fallbacks[1].Score, 0.0)
		})
	}
}

func TestClassifierIsNotAskedWhereNothingIsInDoubt(t *testing.T) {
	judge := says(oracle.ForceAnswer, 1)
	h := setUp(t, thinking(1), modeltest.Say("Hm."), modeltest.Say(needCapability("web search")), reading(1), modeltest.Say("It checks a token. "+enough()))
	h.classifier = judge.ask
	a := h.ask(auth)
	same(t, "times it was asked", judge.asked, []string(nil))
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
}

func TestClassifierIsNotAskedInTheLastTurnNorOnceToolsAreWithdrawn(t *testing.T) {
	for name, c := range map[string]struct {
		turns []modeltest.Turn
		most  int
		asked int
	}{
		"the last turn": {[]modeltest.Turn{thinking(1), modeltest.Say("So. " + stuck("nothing"))}, 2, 0},
		"withdrawn":     {[]modeltest.Turn{modeltest.Say(stuck("nothing")), modeltest.Say("So. " + stuck("nothing"))}, 30, 1},
	} {
		t.Run(name, func(t *testing.T) {
			judge := says(oracle.ForceAnswer, 1)
			h := setUp(t, c.turns...)
			h.turns, h.classifier = c.most, judge.ask
			a := h.ask(auth)
			same(t, "times it was asked", len(judge.asked), c.asked)
			same(t, "answer", a.Answer, "So.")
		})
	}
}

func TestClassifierReadsTheReplyAndWhatItSaysOfItselfWithoutMarkup(t *testing.T) {
	for name, c := range map[string]struct {
		turn modeltest.Turn
		want string
	}{
		"words, blocker and calls": {modeltest.SayAndCall("No way. "+stuck("nothing &amp; nowhere"), "code_search", `{}`), "No way.\nnothing & nowhere\ncalls code_search"},
		"no word":                  {modeltest.Say(malformed), "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			judge := says(oracle.ForceAnswer, 0)
			h := setUp(t, c.turn, theEnd)
			h.classifier = judge.ask
			h.ask(auth)
			same(t, "what it read", judge.asked, []string{c.want})
		})
	}
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
	if err := errors.Join(json.Unmarshal(done[0].Payload, &p), json.Unmarshal(done[0].Result, &r)); err != nil {
		t.Fatal(err)
	}
	same(t, "scores", r.Scores, scores)
	same(t, "the reply that they are of", p, oracle.ClassifyPayload{Turn: h.turnRecord(1), Cause: oracle.CauseStuck})
	holds(t, "the trace", h.trace(), "force_answer (0.75)", "force_answer by classifier: the classifier says so (0.75)")
}

// turnRecord is the record that holds the nth reply.
func (h *harness) turnRecord(n int) int64 {
	h.t.Helper()
	for _, rec := range h.records() {
		var c struct {
			Kind string `json:"kind"`
		}
		if json.Unmarshal(rec.Data, &c) == nil && c.Kind == agent.EffectTurn && rec.Kind == "completion" {
			if n--; n == 0 {
				return rec.Seq
			}
		}
	}
	h.t.Fatal("there are not so many turns")
	return 0
}

// The question moves to another topic while the fallback has widened the last one: it begins with its own source.
func TestTopicShiftBeginsWithoutWhatTheFallbackHadOffered(t *testing.T) {
	h := setUp(t, modeltest.Say(stuck("nothing")), theEnd, modeltest.Say("Hm."), theEnd)
	a := h.finish(h.start(auth))
	same(t, "decisions on the first", len(a.Fallbacks), 1)
	a = h.ask(weather)
	same(t, "topic shift", a.TopicShift, true)
	same(t, "tools offered", offered(h.request(3)), []string{"web_fetch", "web_search"})
	same(t, "decisions on the second", consulted(a), []string(nil))
}

func TestUnsureWishForACapabilityIsGrantedAllTheSame(t *testing.T) {
	h := setUp(t, modeltest.Say(element("need_capability", "0.1", "capability", "web search", "reason", "to see")), theEnd)
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"1: unsure, go_on by rules"})
	same(t, "tools of the second request", offered(h.request(2)), []string{"code_read", "code_search", "web_fetch", "web_search"})
}

func TestOnlyTheFirstOfSeveralSignalsIsDoubted(t *testing.T) {
	h := setUp(t, modeltest.Say("I go on. "+needTurn("more to read")+stuck("nothing")), modeltest.Say("So. "+stuck("nothing")+needTurn("more")), theEnd)
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"2: stuck, other_strategy by rules"})
}

// Tools are not withdrawn from a model that has searched one source of two: it is pointed at the other, once.
func TestStuckModelIsPointedAtTheOfferedSourceThatItHasNotSearched(t *testing.T) {
	for name, c := range map[string]struct {
		third modeltest.Turn
		why   string
	}{
		"and it searches it": {modeltest.SayAndCall(needTurn("the notes"), "vault_search", `{}`), "every source has been searched"},
		"and it fails":       {modeltest.SayAndCall(needTurn("the notes"), "vault_read", lines("a.md", 1, 9)), "no other way is left; not searched: the notes"},
		"and it does not":    {thinking(1), "no other way is left; not searched: the notes"},
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{}`), c.third, modeltest.Say(stuck("nothing")), theEnd)
			h.world.on("code_search", finds())
			h.world.on("vault_search", finds())
			h.world.without("web_search", "web_fetch", "thread_seek")
			h.world.on("vault_read", fails(tool.Unavailable, "", "the disk is away"))
			a := h.play(auth)
			holds(t, "what is said after the empty search", lastText(h.request(2)), "Your searches found nothing.", "Search the notes too")
			last := a.Fallbacks[len(a.Fallbacks)-1]
			same(t, "the last decision", last.Verdict, oracle.ForceAnswer)
			same(t, "why", last.Because, c.why)
		})
	}
}

// A model that gives one reason for every step, and finds something new in each, is told once and then left alone.
func TestRetryForTheSameReasonIsSaidOnceInARun(t *testing.T) {
	var script []modeltest.Turn
	for i := range 20 {
		script = append(script, modeltest.SayAndCall(needTurn("see more"), "code_read", lines(spelled[i]+".go", 1, 9)))
	}
	h := setUp(t, append(script, modeltest.Say("It checks a token (`two.go:3`). "+enough()))...)
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"3: same_reason, retry by rules"})
	same(t, "times the hint was given", strings.Count(whole(h.request(21)), hintSame), 1)
}

func TestFallbackIsConsultedOnEachOccasionOfSilence(t *testing.T) {
	silent := func(n int) modeltest.Turn { return modeltest.Call("code_read", lines(spelled[n]+".go", 1, 9)) }
	h := setUp(t, silent(0), silent(1), silent(2), silent(3), reading(1), silent(4), silent(5), silent(6), silent(7), theEnd)
	same(t, "decisions", consulted(h.ask(auth)), []string{"3: silent, go_on by rules", "8: silent, go_on by rules"})
}
