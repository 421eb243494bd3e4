package inquiry

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	evaldata "sibyl/eval"
)

func mustLoad(t *testing.T) []Case {
	t.Helper()
	all, err := Load(evaldata.Files, evaldata.InquiryCases)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSetIsLargeHalfFrozenHalfGermanAndHasEveryKind(t *testing.T) {
	flawed, flawless, frozen, german := 0, 0, 0, 0
	kinds := map[string]int{}
	all := mustLoad(t)
	for _, c := range all {
		flawless += one(c.Flawless)
		flawed += one(!c.Flawless)
		frozen += one(c.Frozen)
		german += one(c.Lang == "de")
		for _, l := range c.Contradictions {
			kinds[l.Kind]++
			kinds[l.Then]++
		}
		for _, l := range c.Traps {
			kinds["trap "+l.Kind]++
		}
		for _, l := range c.Gaps {
			kinds[l.Category[0]]++
		}
	}
	if flawed < 64 || flawless < 24 {
		t.Errorf("%d flawed and %d flawless witnesses; at least 64 and 24 are wanted", flawed, flawless)
	}
	for what, n := range map[string]int{"frozen": frozen, "in German": german} {
		if part := float64(n) / float64(len(all)); part < 0.45 || part > 0.55 {
			t.Errorf("%.2f of the cases are %s, not about half", part, what)
		}
	}
	for kind, least := range map[string]int{"number": 8, "date": 6, "negation": 6, "name": 5, "other": 4, Keeps: 10, Evades: 4, Corrects: 6, Explains: 2,
		Missing: 15, Vagueness: 15, Ambiguity: 6} {
		if kinds[kind] < least {
			t.Errorf("%d of %s, at least %d are wanted", kinds[kind], kind, least)
		}
	}
	for _, kind := range TrapKinds() {
		if kinds["trap "+kind] == 0 {
			t.Errorf("no trap of the kind %s", kind)
		}
	}
}

func TestNoTwoCasesShareAHypothesisOrAnAnswer(t *testing.T) {
	seen := map[string]string{}
	look := func(id, text string) {
		if other, twice := seen[plain(text)]; twice {
			t.Errorf("%s and %s say the same: “%s”", id, other, text)
		}
		seen[plain(text)] = id
	}
	for _, c := range mustLoad(t) {
		look(c.ID, c.Hypothesis)
		for i, p := range c.Pairs {
			if i != c.standing() {
				look(fmt.Sprintf("%s, pair %d", c.ID, i), p.Answer)
			}
		}
	}
}

// standing is the pair in which a contradiction was left standing, whose answer the witness says when it is confronted; -1: none.
func (c Case) standing() int {
	for _, l := range c.Contradictions {
		if l.Standing > 0 {
			return l.Standing
		}
	}
	return -1
}

func TestNoPairIsLabelledAsContradictionAndAsTrap(t *testing.T) {
	for _, c := range mustLoad(t) {
		for _, l := range c.Contradictions {
			for _, trap := range c.Traps {
				if l.Pairs == trap.Pairs {
					t.Errorf("%s: pairs %v are both", c.ID, l.Pairs)
				}
			}
		}
	}
}

// small is a case with one contradiction, one trap and a gap of each sort.
func small() Case {
	c := Case{ID: "a", Lang: "en", Domain: "x", About: "x", Hypothesis: "The mill burned.",
		Pairs: []Pair{
			{"When did the mill burn?", "On 3 May 1990."},
			{"Who saw it?", "Some people."},
			{"How many sacks were lost?", "80 sacks."},
			{"When was the mill gone?", "On 5 May 1990, the day of the fire. It stood 80 years."},
		},
		Gaps: []GapLabel{
			{Pair: 1, Category: OneOf{Vagueness, Missing}, Severity: "high", Aspect: OneOf{"who"}},
			{Pair: 2, Category: OneOf{Vagueness}, Severity: "low", Optional: true},
			{Pair: 0, Category: OneOf{Ambiguity}, Severity: "low", Closed: 3},
			{Pair: Anywhere, Category: OneOf{Missing}, Severity: "medium", Aspect: OneOf{"why"}},
		},
		Contradictions: []ClashLabel{{Pairs: [2]int{0, 3}, Kind: "date", Words: [2]string{"3 May 1990", "5 May 1990"}, Then: Keeps, Reply: "Both."}},
		Traps:          []Trap{{Pairs: [2]int{2, 3}, Kind: "subject", Words: [2]string{"80 sacks", "80 years"}, Reply: "Sacks are no years."}},
		Witness: Script{Otherwise: "I don't know.", Facts: []Fact{
			{Pair: 0, Kind: OneOf{"when"}, About: []string{"burn", "mill"}},
			{Pair: 1, Kind: OneOf{"who"}, About: []string{"saw"}, Again: "Ann Poole."},
			{Pair: 2, Kind: OneOf{"how_much"}, About: []string{"sacks"}},
			{Pair: 3, Kind: OneOf{"when"}, About: []string{"gone", "mill"}},
		}}}
	c.Frozen = c.FrozenBy()
	return c
}

func TestWrongLabelsAreRefusedWithLineAndReason(t *testing.T) {
	for want, spoil := range map[string]func(c *Case){
		`"lang" is "fr"`:                         func(c *Case) { c.Lang = "fr" },
		"the hash of what is said":               func(c *Case) { c.Frozen = !c.Frozen },
		"an interview has 3 to 8":                func(c *Case) { c.Pairs = c.Pairs[:2] },
		`"flawless" is true`:                     func(c *Case) { c.Flawless = true },
		"nothing is planted":                     func(c *Case) { c.Gaps, c.Contradictions, c.Traps = nil, nil, nil },
		`gaps[0]: "pair" is 4`:                   func(c *Case) { c.Gaps[0].Pair = 4 },
		`"category" is "inconsistency"`:          func(c *Case) { c.Gaps[0].Category = OneOf{Inconsistency} },
		`"severity" is "grave"`:                  func(c *Case) { c.Gaps[0].Severity = "grave" },
		`"aspect" is "whether"`:                  func(c *Case) { c.Gaps[0].Aspect = OneOf{"whether"} },
		`"closed" is 1`:                          func(c *Case) { c.Gaps[0].Closed = 1 },
		`needs an "aspect"`:                      func(c *Case) { c.Gaps[3].Aspect = nil },
		"“4 May” does not stand in the answer":   func(c *Case) { c.Contradictions[0].Words[0] = "4 May" },
		"the earlier first":                      func(c *Case) { c.Contradictions[0].Pairs = [2]int{3, 0} },
		`"kind" is "mood"`:                       func(c *Case) { c.Contradictions[0].Kind = "mood" },
		`"then" is "cries"`:                      func(c *Case) { c.Contradictions[0].Then = "cries" },
		`"standing" is 2`:                        func(c *Case) { c.Contradictions[0].Standing = 2 },
		`traps[0]: "reply" is empty`:             func(c *Case) { c.Traps[0].Reply = "" },
		`witness: "otherwise" is empty`:          func(c *Case) { c.Witness.Otherwise = "" },
		`facts[1]: "pair" must exist`:            func(c *Case) { c.Witness.Facts[1].Pair = OwnAnswer },
		`facts[1]: "kind" or "about" is empty`:   func(c *Case) { c.Witness.Facts[1].About = nil },
		"and no fact has its answer":             func(c *Case) { c.Witness.Facts[3].Pair = 2 },
		"the question or the answer is empty":    func(c *Case) { c.Pairs[1].Answer = " "; c.Frozen = c.FrozenBy() },
		`"hypothesis", "about" or "domain" is e`: func(c *Case) { c.Domain = "" },
	} {
		c := small()
		spoil(&c)
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Load(fstest.MapFS{"set.jsonl": {Data: text}}, "set.jsonl")
		if err == nil || !strings.Contains(err.Error(), "set.jsonl: line 1") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestARightLineIsReadAndAnUnknownFieldIsNot(t *testing.T) {
	text, err := json.Marshal(small())
	if err != nil {
		t.Fatal(err)
	}
	if all, err := Load(fstest.MapFS{"s": {Data: text}}, "s"); err != nil || len(all) != 1 {
		t.Errorf("a right case is refused: %v", err)
	}
	text = []byte(strings.Replace(string(text), `"domain"`, `"mood":1,"domain"`, 1))
	if _, err := Load(fstest.MapFS{"s": {Data: text}}, "s"); err == nil {
		t.Error("an unknown field was read over")
	}
}
