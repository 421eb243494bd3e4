package eval

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

func ref(source tool.Source, path string, start, end int) tool.Ref {
	return tool.Ref{Source: source, Path: path, Start: start, End: end, Opened: true}
}

func opened(refs ...tool.Ref) (sources []agent.Source) {
	for _, r := range refs {
		sources = append(sources, agent.Source{Ref: r, Cite: r.String()})
	}
	return sources
}

// answered is an outcome of one turn whose signal is of that type.
func answered(kind signal.Type, stop, text string, refs ...tool.Ref) oracle.Answer {
	s := signal.Signal{Type: kind, Confidence: 0.8}
	return oracle.Answer{Answer: text, Signal: &s, Signals: []signal.Signal{s}, Turns: 1, MaxTurns: 30,
		StopReason: stop, Sources: opened(refs...)}
}

func TestCitationsAreThoseOfPlacesThatWereReadOutsideOfFences(t *testing.T) {
	a := oracle.Answer{Sources: opened(ref(tool.Code, "lock/postgres.go", 10, 40),
		ref(tool.Vault, "decisions/014-cache.md", 0, 0)),
		Answer: "See `lock/postgres.go:12-20`, again (lock/postgres.go:12-20), postgres.go:38 and " +
			"decisions/014-cache.md:7.\n" +
			"Not read: lock/postgres.go:90, other.go:12. At " +
			"10:30.\n```\nlock/postgres.go:30\n```\n````\n```\nlock/postgres.go:31\n```\n````\nAnd postgres.go:40–44."}
	want := []citation{{tool.Code, "lock/postgres.go", 12, 20}, {tool.Code, "lock/postgres.go", 38, 38},
		{tool.Code, "lock/postgres.go", 40, 44},
		{tool.Vault, "decisions/014-cache.md", 7, 7}}
	assert.Same(t, want, citations(a), cmp.AllowUnexported(citation{}))
}

func TestWholeAnswerCitesAllOfAllAndOneOfAny(t *testing.T) {
	all := func(start int) Place {
		return Place{Source: tool.Code, Path: "a.go", Start: start, End: start + 9, Need: All}
	}
	some := func(start int) Place {
		return Place{Source: tool.Code, Path: "a.go", Start: start, End: start + 9, Need: Any}
	}
	at := func(lines ...int) (cited []citation) {
		for _, l := range lines {
			cited = append(cited, citation{tool.Code, "a.go", l, l})
		}
		return cited
	}
	for name, c := range map[string]struct {
		places       []Place
		cited        []citation
		found, whole bool
	}{
		"nothing is labelled":  {nil, at(5), false, false},
		"nothing is cited":     {[]Place{all(1)}, nil, false, false},
		"one of two":           {[]Place{all(1), all(20)}, at(5), true, false},
		"both":                 {[]Place{all(1), all(20)}, at(10, 29), true, true},
		"one of any":           {[]Place{some(1), some(20)}, at(20), true, true},
		"all, but none of any": {[]Place{all(1), some(20)}, at(1), true, false},
		"any, but not all":     {[]Place{all(1), some(20)}, at(20), true, false},
		"just outside":         {[]Place{all(2)}, at(1, 12), false, false},
		"another file":         {[]Place{all(1)}, []citation{{tool.Code, "b.go", 1, 1}}, false, false},
		"another source":       {[]Place{all(1)}, []citation{{tool.Vault, "a.go", 1, 1}}, false, false},
	} {
		found, whole := covered(c.places, c.cited)
		assert.That(t, found == c.found && whole == c.whole, "%s: found %v, whole %v", name, found, whole)
	}
}

func TestCallIsNecessaryIfTheAnswerRestsOnItAndItIsNoRepetition(t *testing.T) {
	a := answered(signal.ContextSufficient, oracle.StopSatisfied, "a.go:10", ref(tool.Code, "a.go", 1, 50))
	a.ToolCalls = []agent.ToolUse{
		{Name: "code_search", Arguments: "1", Used: true},
		{Name: "code_search", Arguments: "1", Used: true}, // word for word again
		{Name: "code_search", Arguments: "2"},
		{Name: "code_read", Arguments: "1", Used: true},
		{Name: "code_read", Arguments: "3", Error: "no such file"},
		{Name: "vault_write", Arguments: "4", Refused: "not offered"},
	}
	if got := ScoreOracle(OracleQuestion{}, a); got.Calls != 6 || got.Unnecessary != 4 {
		t.Errorf("%d calls, %d unnecessary; want 6 and 4", got.Calls, got.Unnecessary)
	}
}

func TestSignalFitsWhatIsThereAndWhatWasDone(t *testing.T) {
	code := OracleQuestion{Type: classify.Code, Places: []Place{{Source: tool.Code, Path: "a.go",
		Start: 1, End: 9, Need: All}}}
	nothing := OracleQuestion{Type: classify.Code, MustBePartial: true}
	talk := OracleQuestion{Type: classify.Conversational}
	act := OracleQuestion{Type: classify.Action}
	right, other := ref(tool.Code, "a.go", 1, 9), ref(tool.Code, "b.go", 1, 9)
	wrote := answered(signal.ContextSufficient, oracle.StopSatisfied, "done")
	wrote.ToolCalls = []agent.ToolUse{{Name: "vault_write", Used: true}}
	refused := answered(signal.ContextSufficient, oracle.StopSatisfied, "done")
	refused.ToolCalls = []agent.ToolUse{{Name: "vault_write", Refused: "no"}, {Name: "thread_push", Error: "no"},
		{Name: "vault_read", Used: true}}
	unsupported := answered(signal.ContextSufficient, oracle.StopSatisfied, "a.go:1", right)
	unsupported.Unsupported = []string{"c.go:1"}
	twoInOneTurn := answered(signal.ContextSufficient, oracle.StopSatisfied, "a.go:1", right)
	twoInOneTurn.Signals = append(twoInOneTurn.Signals, signal.Signal{Type: signal.NeedTurn})
	malformed := answered(signal.ContextSufficient, oracle.StopSatisfied, "a.go:1", right)
	malformed.Problems = []signal.Problem{{Reason: "x"}}
	none := answered(signal.ContextSufficient, oracle.StopSatisfied, "a.go:1", right)
	none.Signal, none.Signals = nil, nil
	for name, c := range map[string]struct {
		q                   OracleQuestion
		a                   oracle.Answer
		present, fits, true bool
	}{
		"enough, on a labelled place": {code, answered(signal.ContextSufficient, oracle.StopSatisfied,
			"a.go:3", right), true, true, true},
		"enough, on another place": {code, answered(signal.ContextSufficient, oracle.StopSatisfied,
			"b.go:3", other), true, true, false},
		"enough, with no citation": {code, answered(signal.ContextSufficient, oracle.StopSatisfied,
			"so it is", right), true, false, false},
		"enough, and cites unread": {code, unsupported, true, false, true},
		"partial, and really is": {code, answered(signal.PartialAnswer, oracle.StopPartial, "b.go:3",
			other), true, true, true},
		"partial, with all that it needs": {code, answered(signal.PartialAnswer, oracle.StopPartial, "a.go:3",
			right), true, false, false},
		"partial in words only": {code, answered(signal.PartialAnswer, oracle.StopSatisfied, "b.go:3",
			other), true, false, false},
		"goes on for ever": {code, answered(signal.NeedTurn, oracle.StopBudget, "a.go:3", right),
			true, false, false},
		"enough, of nothing": {nothing, answered(signal.ContextSufficient, oracle.StopSatisfied,
			"b.go:3", other), true, false, false},
		"partial, of nothing": {nothing, answered(signal.PartialAnswer, oracle.StopPartial, "no"),
			true, true, true},
		"stuck, of nothing": {nothing, answered(signal.Stuck, oracle.StopStuck, "no"), true,
			true, true},
		"small talk": {talk, answered(signal.ContextSufficient, oracle.StopSatisfied,
			"hello"), true, true, true},
		"small talk, partial": {talk, answered(signal.PartialAnswer, oracle.StopPartial, "hello"),
			true, false, false},
		"did it": {act, wrote, true, true, true},
		"claims to have done it": {act, answered(signal.ContextSufficient, oracle.StopSatisfied, "done"),
			true, false, false},
		"claims to have done what was refused": {act, refused, true, false, false},
		"did not do it, and says so": {act, answered(signal.PartialAnswer, oracle.StopPartial, "not done"),
			true, true, true},
		"two in one turn":        {code, twoInOneTurn, false, false, false},
		"a malformed one beside": {code, malformed, false, false, false},
		"none":                   {code, none, false, false, false},
	} {
		s := ScoreOracle(c.q, c.a)
		assert.That(t, s.SignalPresent == c.present && s.SignalFits == c.fits && s.SignalTrue == c.true,
			"%s: present %v, fits %v, true %v", name, s.SignalPresent, s.SignalFits, s.SignalTrue)
	}
}

func TestEndWithinTheBudgetIsOneOfItsOwn(t *testing.T) {
	for stop, want := range map[string]bool{oracle.StopSatisfied: true, oracle.StopPartial: true,
		oracle.StopStuck: true, oracle.StopRefused: true,
		oracle.StopBudget: false, oracle.StopError: false, oracle.StopCancelled: false, "": false} {
		assert.Equalf(t, withinBudget(oracle.Answer{StopReason: stop, Turns: 30, MaxTurns: 30}), want, "ended %q", stop)
	}
	assert.That(t, !withinBudget(oracle.Answer{StopReason: oracle.StopPartial, Turns: 31, MaxTurns: 30}),
		"31 turns of 30 pass")
}

func TestScoreTakesItsFiguresFromTheOutcome(t *testing.T) {
	a := answered(signal.PartialAnswer, oracle.StopPartial, "nothing")
	a.Class, a.Usage = classify.Classification{QueryType: classify.Research},
		model.Usage{InputTokens: 30, OutputTokens: 12}
	a.ToolCalls = []agent.ToolUse{{Name: "code_search"}, {Name: "code_read"}, {Name: "code_read", Refused: "no"}}
	a.Error = &bt.Fault{Kind: "x", Reason: "because"}
	got := ScoreOracle(OracleQuestion{ID: "q", Half: Dev, Type: classify.Code, MustBePartial: true}, a)
	want := OracleScore{ID: "q", Half: Dev, Type: classify.Code, Got: classify.Research, StopReason: oracle.StopPartial,
		Failure: "because", Turns: 1, Calls: 3,
		Unnecessary: 3, Tokens: 42, Signal: signal.PartialAnswer,
		SignalPresent: true, SignalFits: true, SignalTrue: true, RepliesFit: 1, WithinBudget: true, MustBePartial: true,
		Honest: true}
	assert.Same(t, want, got)
}

func TestSignalOfAStepFitsWhatTheReplyDoes(t *testing.T) {
	last := signal.Signal{Type: signal.ContextSufficient}
	for name, c := range map[string]struct {
		step  signal.Type
		calls bool
		fits  int
	}{
		"wants another turn for its calls":      {signal.NeedTurn, true, 1},
		"wants another turn to think":           {signal.NeedTurn, false, 1},
		"is stuck without a call":               {signal.Stuck, false, 1},
		"is stuck, and calls all the same":      {signal.Stuck, true, 0},
		"has enough, and calls all the same":    {signal.ContextSufficient, true, 0},
		"has a part, and goes on":               {signal.PartialAnswer, false, 0},
		"wants a tool that is not offered":      {signal.NeedCapability, false, 1},
		"leaves it to others, before the end":   {signal.DelegationRecommended, false, 1},
		"leaves it to others, and calls itself": {signal.DelegationRecommended, true, 0},
	} {
		a := oracle.Answer{Turns: 2, Signals: []signal.Signal{{Type: c.step}, last}}
		if c.calls {
			a.ToolCalls = []agent.ToolUse{{Name: "code_search", Turn: 1}}
		}
		assert.Equalf(t, stepsThatFit(a), c.fits, "%s", name)
	}
}
