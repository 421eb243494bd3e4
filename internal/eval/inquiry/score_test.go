package inquiry

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// reader is a detective that has read the labels and does what they say. spoil makes its findings worse.
func reader(cases []Case, spoil func(c Case, f *Found)) Detective {
	byHypothesis := map[string]Case{}
	for _, c := range cases {
		byHypothesis[c.Hypothesis] = c
	}
	if spoil == nil {
		spoil = func(Case, *Found) {}
	}
	return Detective{
		Analyse: func(_ context.Context, hypothesis, _ string, _ []Pair) (Found, error) {
			c := byHypothesis[hypothesis]
			f := Found{Satisfied: len(c.Gaps)+len(c.Contradictions) == 0}
			for _, g := range c.Gaps {
				found := Gap{Pair: max(g.Pair, 0), Category: g.Category[0], Severity: g.Severity, Closed: g.Closed > 0}
				if len(g.Aspect) > 0 {
					found.Aspect = g.Aspect[0]
				}
				f.Gaps = append(f.Gaps, found)
			}
			for _, l := range c.Contradictions {
				f.Contradictions = append(f.Contradictions, Clash{l.Pairs})
			}
			spoil(c, &f)
			return f, nil
		},
		Interrogate: func(_ context.Context, hypothesis, _ string, w Witness, limit int) (Outcome, error) {
			c := byHypothesis[hypothesis]
			o := Outcome{Found: Found{Satisfied: c.Flawless}, End: "done"}
			at, asked := map[int]int{}, 0
			for i, p := range c.Pairs {
				if i != c.standing() {
					w.Answer(p.Question)
					at[i] = asked
					asked++
				}
			}
			for _, l := range c.Contradictions {
				if reply := w.Answer("“" + l.Words[0] + "” or “" + l.Words[1] + "”?"); reply != l.Reply {
					return o, errors.New(c.ID + " does not reply: " + reply)
				}
				asked++
				if l.Stands() {
					o.Contradictions = append(o.Contradictions, Clash{[2]int{at[l.Pairs[1]], at[l.Pairs[0]]}})
				}
			}
			if asked > limit {
				return o, errors.New(c.ID + " needs more questions than it may ask")
			}
			spoil(c, &o.Found)
			return o, nil
		},
	}
}

func mustRun(t *testing.T, set Set, d Detective) Report {
	t.Helper()
	r, err := Run(t.Context(), set, d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhoFindsWhatTheLabelsSayKeepsAllBounds(t *testing.T) {
	cases := mustLoad(t)
	r := mustRun(t, Set{Cases: cases, Parallel: 4}, reader(cases, nil))
	if len(r.Broken)+len(r.Failures)+r.Hidden > 0 {
		t.Errorf("%v\n%v, %d hidden", r.Broken, r.Failures, r.Hidden)
	}
	i, w := r.All.Interviews, r.All.Witnesses
	for name, share := range map[string]struct{ got, of int }{
		"recorded": {i.Recorded.Hits, i.Recorded.Of}, "gaps": {i.GapsFound.Hits, i.GapsFound.Of}, "aspects": {i.AspectsNamed.Hits, i.AspectsNamed.Of},
		"severity": {i.SeverityRight.Hits, i.SeverityRight.Of}, "clean": {i.Clean.Hits, i.Clean.Of}, "standing": {w.Recorded.Hits, w.Recorded.Of},
		"reached": {w.Reached.Hits, w.Reached.Of}, "believed": {w.Believed.Hits, w.Believed.Of},
	} {
		if share.got != share.of || share.of < 20 {
			t.Errorf("%s: %d of %d", name, share.got, share.of)
		}
	}
	if w.Repeated != 0 || i.Hasty != 0 || w.Put < 30 || r.Open.Interviews.Cases+r.Frozen.Interviews.Cases != len(cases) {
		t.Errorf("%+v", r.All)
	}
}

func TestWhoFallsForTrapsLosesPrecision(t *testing.T) {
	cases := mustLoad(t)
	r := mustRun(t, Set{Cases: cases}, reader(cases, func(c Case, f *Found) {
		for _, l := range c.Traps {
			f.Contradictions = append(f.Contradictions, Clash{l.Pairs})
		}
	}))
	fell := 0
	for _, kind := range r.All.Interviews.ByTrap {
		fell += kind.Recorded
		if kind.Recorded != kind.Of {
			t.Errorf("%+v", r.All.Interviews.ByTrap)
		}
	}
	if p := r.All.Interviews.RecordedRight; p.Of-p.Hits != fell || fell < 40 || p.Part > 0.5 {
		t.Errorf("%v with %d traps", p, fell)
	}
	if p := r.All.Witnesses.RecordedRight; p.Part > 0.5 || len(r.Broken) != 2 || r.Hidden == 0 {
		t.Errorf("%v, %v, %d hidden", p, r.Broken, r.Hidden)
	}
	for _, f := range r.Failures {
		if f.Frozen {
			t.Fatalf("a frozen case is shown: %v", f)
		}
	}
	frozen := mustRun(t, Set{Cases: cases, FrozenOnly: true}, reader(cases, nil))
	if frozen.Open.Interviews.Cases != 0 || frozen.All.Interviews.Cases != frozen.Frozen.Interviews.Cases || frozen.All.Interviews.Cases == 0 {
		t.Errorf("%+v", frozen.All)
	}
}

func TestASilentDetectiveKeepsNoBoundOfItsOwn(t *testing.T) {
	silent := Detective{
		Analyse:     func(context.Context, string, string, []Pair) (Found, error) { return Found{}, nil },
		Interrogate: func(context.Context, string, string, Witness, int) (Outcome, error) { return Outcome{}, nil },
	}
	r := mustRun(t, Set{Cases: mustLoad(t)}, silent)
	if len(r.Broken) != 4 { // all but the precision of what it did not record in interviews
		t.Errorf("%q", r.Broken)
	}
}

// findings scores what a detective finds in the interview of the small case.
func findings(f Found) InterviewFigures {
	h := newHalf()
	h.add(small(), played{found: f, witness: newWitness(small())})
	return h.figures().Interviews
}

func TestGapsMatchByPairCategoryAndAspect(t *testing.T) {
	who := Gap{Pair: 1, Category: Vagueness, Severity: "high", Aspect: "who"}
	for name, c := range map[string]struct {
		gaps         []Gap
		found, wrong int
	}{
		"the label":                      {[]Gap{who}, 1, 0},
		"its other category":             {[]Gap{{Pair: 1, Category: "Missing Information", Aspect: "Who"}}, 1, 0},
		"no aspect":                      {[]Gap{{Pair: 1, Category: Vagueness}}, 1, 0},
		"another aspect":                 {[]Gap{{Pair: 1, Category: Vagueness, Aspect: "when"}}, 0, 1},
		"another category":               {[]Gap{{Pair: 1, Category: Ambiguity, Aspect: "who"}}, 0, 1},
		"another pair":                   {[]Gap{{Pair: 2, Category: Missing, Aspect: "who"}}, 0, 1},
		"two for one hole":               {[]Gap{who, {Pair: 1, Category: Missing, Aspect: "who"}}, 1, 0},
		"an optional one":                {[]Gap{{Pair: 2, Category: Vagueness}}, 0, 0},
		"of the whole, at any pair":      {[]Gap{{Pair: 2, Category: Missing, Aspect: "why"}}, 1, 0},
		"closed later, and said so":      {[]Gap{{Pair: 0, Category: Ambiguity, Closed: true}}, 0, 0},
		"closed later, and said open":    {[]Gap{{Pair: 0, Category: Ambiguity}}, 0, 1},
		"inconsistency beside a clash":   {[]Gap{{Pair: 3, Category: Inconsistency}}, 0, 0},
		"inconsistency with no clash":    {[]Gap{{Pair: 1, Category: Inconsistency}}, 0, 1},
		"a pair that there is not":       {[]Gap{{Pair: 9, Category: Vagueness}}, 0, 1},
		"a second one of the same label": {[]Gap{who, who}, 1, 0},
	} {
		f := findings(Found{Gaps: c.gaps})
		if f.GapsFound.Hits != c.found || f.GapsRight.Of-f.GapsRight.Hits != c.wrong || f.GapsFound.Of != 2 {
			t.Errorf("%s: %v found, %v right", name, f.GapsFound, f.GapsRight)
		}
	}
}

func TestClashesMatchInAnyOrderAndOnce(t *testing.T) {
	right, turned := Clash{[2]int{0, 3}}, Clash{[2]int{3, 0}}
	f := findings(Found{Contradictions: []Clash{right, turned}})
	if f.Recorded.Hits != 1 || f.RecordedRight.Of != 1 {
		t.Errorf("twice: %+v", f)
	}
	f = findings(Found{Suspicions: []Clash{turned, {[2]int{1, 2}}}})
	if f.Recorded.Hits != 0 || f.Abstained.Hits != 1 || f.SuspectRight.Hits != 1 || f.SuspectRight.Of != 2 {
		t.Errorf("suspected: %+v", f)
	}
	f = findings(Found{Contradictions: []Clash{{[2]int{2, 3}}, {[2]int{3, 3}}, {[2]int{0, 0}}}, Satisfied: true})
	if f.RecordedRight.Of != 3 || f.RecordedRight.Hits != 0 || f.ByTrap["subject"].Recorded != 1 || f.Hasty != 1 {
		t.Errorf("wrong: %+v", f)
	}
}

func TestTheAnswerThatLeavesAContradictionStandingStandsForEitherSide(t *testing.T) {
	l := ClashLabel{Pairs: [2]int{0, 2}, Standing: 3}
	for pairs, want := range map[[2]int]bool{{0, 2}: true, {2, 3}: true, {3, 0}: true, {1, 3}: false, {3, 3}: false} {
		if l.has(Clash{pairs}) != want {
			t.Errorf("%v: %t", pairs, !want)
		}
	}
}

// interrogation asks the small witness, and scores what a detective makes of the answers.
func interrogation(change func(c *Case), questions []string, f Found) (WitnessFigures, []string) {
	c := small()
	change(&c)
	w := newWitness(c)
	for _, q := range questions {
		w.Answer(q)
	}
	h := newHalf()
	_, problems := h.add(c, played{outcome: Outcome{Found: f}, witness: w})
	return h.figures().Witnesses, problems
}

func TestAContradictionIsRightOnlyIfTheWitnessLeavesItStanding(t *testing.T) {
	questions := []string{"When did the mill burn?", "When was the mill gone?", "Was it on 3 May 1990 or on 5 May 1990?"}
	for then, want := range map[string][3]int{Keeps: {1, 0, 1}, Evades: {1, 0, 1}, Corrects: {0, 1, 0}, Explains: {0, 1, 0}} {
		for _, pairs := range [][2]int{{0, 1}, {1, 0}, {0, 2}, {2, 1}} {
			f, _ := interrogation(func(c *Case) { c.Contradictions[0].Then = then }, questions, Found{Contradictions: []Clash{{pairs}}})
			if got := [3]int{f.RecordedRight.Hits, f.RecordedRight.Of - f.RecordedRight.Hits, f.Reached.Of}; got != want || f.Put != 1 {
				t.Errorf("%s %v: %v, want %v; %d put", then, pairs, got, want, f.Put)
			}
		}
	}
	f, problems := interrogation(func(*Case) {}, questions[:2], Found{Contradictions: []Clash{{[2]int{0, 7}}}})
	if f.RecordedRight.Hits != 0 || f.RecordedRight.Of != 1 || !strings.Contains(strings.Join(problems, "\n"), "never given") {
		t.Errorf("%+v, %q", f, problems)
	}
}

func TestGapsLeftOpenAreThoseThatTheWitnessLeaves(t *testing.T) {
	who := Gap{Pair: 0, Category: Vagueness, Aspect: "who"}
	for name, c := range map[string]struct {
		questions []string
		gap       Gap
		right     int
	}{
		"a vague answer":                   {[]string{"Who saw it?"}, who, 1},
		"asked again, and answered":        {[]string{"Who saw it?", "Who exactly saw it?"}, who, 0},
		"nothing is vague":                 {[]string{"How many sacks were lost?"}, Gap{Category: Ambiguity}, 0},
		"the witness knows nothing":        {[]string{"Where was the moon?"}, Gap{Category: Missing, Aspect: "where"}, 1},
		"never asked":                      {nil, who, 0},
		"a clash, and one side was told":   {[]string{"When was the mill gone?"}, Gap{Category: Inconsistency}, 1},
		"no clash":                         {[]string{"Who saw it?"}, Gap{Category: Inconsistency}, 0},
		"the reply that lets a clash stay": {[]string{"When did the mill burn?", "When was it gone?", "3 May 1990 or 5 May 1990?"}, Gap{Pair: 2, Category: Inconsistency}, 1},
	} {
		f, _ := interrogation(func(*Case) {}, c.questions, Found{Gaps: []Gap{c.gap}})
		if f.LeftRight.Hits != c.right || f.LeftRight.Of != 1 {
			t.Errorf("%s: %v", name, f.LeftRight)
		}
	}
	f, _ := interrogation(func(c *Case) { c.Flawless = true }, []string{"Who saw it?", "who saw it"}, Found{Gaps: []Gap{who}})
	if f.LeftRight.Hits != 0 || f.Believed.Of != 1 || f.Believed.Hits != 0 || f.Cleared.Hits != 1 || f.Repeated != 1 || f.Questions != 2 {
		t.Errorf("%+v", f)
	}
}

func TestAnErrorOfTheDetectiveNamesTheCase(t *testing.T) {
	cases := mustLoad(t)[:1]
	d := reader(cases, nil)
	d.Analyse = func(context.Context, string, string, []Pair) (Found, error) { return Found{}, errors.New("no light") }
	if _, err := Run(t.Context(), Set{Cases: cases}, d); err == nil || !strings.Contains(err.Error(), cases[0].ID+": the interview: no light") {
		t.Error(err)
	}
	for _, limit := range []int{4, 21} {
		if _, err := Run(t.Context(), Set{Cases: cases, Limit: limit}, reader(cases, nil)); err == nil || !strings.Contains(err.Error(), "5 to 20") {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	if _, err := Run(t.Context(), Set{Cases: cases}, Detective{}); err == nil {
		t.Error("half a detective was taken")
	}
}

func TestTheReportShowsPrecisionFirstAndFailuresOnRequest(t *testing.T) {
	cases := mustLoad(t)
	r := mustRun(t, Set{Cases: cases}, reader(cases, func(_ Case, f *Found) { f.Gaps = nil }))
	var quiet, loud strings.Builder
	if err := r.WriteText(&quiet); err != nil {
		t.Fatal(err)
	}
	r.WithFailures = true
	if err := r.WriteText(&loud); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(quiet.String(), "not met: gaps found: 0 of") || strings.Contains(quiet.String(), "missed:") ||
		!strings.Contains(loud.String(), "missed: pair") || !strings.Contains(loud.String(), "which --frozen shows") {
		t.Errorf("%s\n%s", quiet.String(), loud.String())
	}
	text := quiet.String()
	if right := strings.Index(text, "recorded and right"); right < 0 || right > strings.Index(text, "of all contradictions") {
		t.Errorf("precision does not come first:\n%s", text)
	}
	if encoded, err := json.Marshal(r); err != nil || !strings.Contains(string(encoded), `"gaps_right"`) {
		t.Errorf("%v: %s", err, encoded)
	}
}
