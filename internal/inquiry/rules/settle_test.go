package rules

import (
	"slices"
	"strings"
	"testing"
)

// mill is an interview whose answers clash.
func mill(language string) (hypothesis string, all []Exchange) {
	if language == "de" {
		return "Die Papierfabrik in Ansheim ist geschrumpft.", []Exchange{
			{Question: "Wie viele Mitarbeiter hatte die Fabrik?", Answer: "Die Fabrik hatte 240 Mitarbeiter."},
			{Question: "Wie groß war die Belegschaft der Fabrik?", Answer: "In der Fabrik arbeiteten 310 Mitarbeiter."},
		}
	}
	return "The paper mill at Ansley shrank.", []Exchange{
		{Question: "How many people worked at the mill?", Answer: "The mill employed 240 people."},
		{Question: "How large was the workforce of the mill?", Answer: "There were 310 people employed at the mill."},
	}
}

func TestASuspicionIsAskedAboutWithBothAnswers(t *testing.T) {
	for _, language := range []string{"en", "de"} {
		hypothesis, all := mill(language)
		a := Analyse(hypothesis, language, all)
		if len(a.Contradictions) != 0 || len(a.Suspicions) != 1 || a.Suspicions[0].Settled != -1 || a.Satisfied {
			t.Fatalf("%+v", a)
		}
		i := slices.IndexFunc(a.Gaps, func(g Gap) bool { return g.Category == Inconsistency && g.Severity == High })
		if i < 0 {
			t.Fatalf("no gap: %+v", a.Gaps)
		}
		q, ok := Next(hypothesis, language, Contradiction, all, a)
		if !ok || !strings.Contains(q.Text, strings.TrimSuffix(all[0].Answer, ".")) || !strings.Contains(q.Text, strings.TrimSuffix(all[1].Answer, ".")) ||
			!slices.Equal(q.About, []int{0, 1}) || !slices.Equal(q.Gaps, []string{a.Gaps[i].ID}) || q.Strategy != Contradiction {
			t.Errorf("%+v", q)
		}
	}
}

func TestTheReplySettlesASuspicion(t *testing.T) {
	for _, c := range []struct{ language, reply, want string }{
		{"en", "Both figures are correct.", "stands"},
		{"en", "I stand by what I said.", "stands"},
		{"en", "The mill employed 240 people. There were 310 people employed at the mill.", "stands"},
		{"en", "As I said, 240 people, and 310 people.", "stands"},
		{"en", "Both are correct: 240 people in 2019 and 310 people in 2015.", "closed"},
		{"en", "I was mistaken, it was 310 people.", "closed"},
		{"en", "The first figure is wrong.", "closed"},
		{"en", "240 people.", "closed"},
		{"en", "The 240 people are those of the day shift, the 310 include the night shift.", "closed"},
		{"en", "240 people in the north hall, 310 people in the south hall.", "closed"},
		{"en", "The 310 refers to the whole group.", "closed"},
		{"en", "That was before the extension, when it had 240; afterwards it had 310.", "closed"},
		{"en", "240 is the number rounded down, a typing error made it 310.", "closed"},
		{"en", "", "open"},
		{"en", "I don't know, and I won't say more about it.", "stands"},
		{"de", "Beide Angaben stimmen.", "stands"},
		{"de", "Ich bleibe dabei.", "stands"},
		{"de", "Die Fabrik hatte 240 Mitarbeiter. In der Fabrik arbeiteten 310 Mitarbeiter.", "stands"},
		{"de", "Ich habe mich geirrt, es waren 310 Mitarbeiter.", "closed"},
		{"de", "Die erste Zahl ist falsch.", "closed"},
		{"de", "Beide stimmen: 240 Mitarbeiter im Jahr 2019, 310 Mitarbeiter im Jahr 2015.", "closed"},
		{"de", "Die 310 beziehen sich auf die ganze Gruppe.", "closed"},
		{"de", "310 Mitarbeiter.", "closed"},
		{"de", "Vor dem Umbau waren es 240, danach 310.", "closed"},
		{"de", "", "open"},
		{"de", "Dazu sage ich nichts.", "stands"},
	} {
		hypothesis, all := mill(c.language)
		q, _ := Next(hypothesis, c.language, Contradiction, all, Analysis{})
		all = append(all, Exchange{Question: q.Text, Answer: c.reply})
		a := Analyse(hypothesis, c.language, all)
		got := "open"
		switch {
		case len(a.Contradictions) == 1 && a.Contradictions[0].Settled == 2 && len(a.Suspicions) == 0:
			got = "stands"
		case len(a.Contradictions) == 0 && len(a.Suspicions) == 0 && slices.ContainsFunc(a.Closed, func(id string) bool { return strings.Contains(id, Inconsistency) }):
			got = "closed"
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.reply, got, c.want)
		}
		hasGap := slices.ContainsFunc(a.Gaps, func(g Gap) bool { return g.Category == Inconsistency })
		if hasGap != (got == "open") {
			t.Errorf("%q: the gap is open: %v", c.reply, hasGap)
		}
	}
}

func TestAGapIsAskedAboutTwiceAtMost(t *testing.T) {
	hypothesis, all := mill("en")
	asked := 0
	for range 6 {
		q, ok := Next(hypothesis, "en", Contradiction, all, Analysis{})
		if !ok {
			break
		}
		if len(q.About) == 2 {
			asked++
		}
		for _, e := range all {
			if e.Question == q.Text {
				t.Fatalf("asked again: %q", q.Text)
			}
		}
		all = append(all, Exchange{Question: q.Text, NotFound: true})
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
	if a := Analyse(hypothesis, "en", all); len(a.Suspicions) != 1 {
		t.Errorf("what nobody settled is no longer suspected: %+v", a)
	}
}

func TestAFinishedInterviewRecordsWhatIsFirm(t *testing.T) {
	for _, language := range []string{"en", "de"} {
		hypothesis, all := mill(language)
		a := Finished(hypothesis, language, all)
		if len(a.Contradictions) != 1 || a.Contradictions[0].Settled != 1 || a.Contradictions[0].Pairs != [2]int{0, 1} || len(a.Suspicions) != 0 {
			t.Errorf("%+v", a)
		}
		c := a.Contradictions[0]
		for i, w := range c.Words {
			if !strings.Contains(all[i].Answer, w) || !strings.Contains(c.Reason, w) {
				t.Errorf("%q is not what was said", w)
			}
		}
	}
}

func TestAFinishedInterviewIsJudgedByWhatWasAsked(t *testing.T) {
	said := []Exchange{
		{Question: "When was the bridge closed?", Answer: "It was closed on 4 March 2023."},
		{Question: "Who ordered that?", Answer: "Ada Miller of the city council ordered it."},
	}
	const hypothesis = "The bridge on Mill Road was closed because of corrosion."
	if a := Finished(hypothesis, "en", said); !a.Satisfied || a.Completeness < enough || len(a.Untouched) > 0 {
		t.Errorf("everything asked was answered, and it says %+v", a)
	}
	if a := Analyse(hypothesis, "en", said); a.Satisfied || len(a.Untouched) == 0 {
		t.Errorf("nobody asked why yet, and it says %+v", a)
	}
	if a := Finished("Why was the bridge on Mill Road closed?", "en", said); a.Satisfied {
		t.Errorf("the hypothesis asks why, nobody did, and it says %+v", a)
	}
	if a := Finished("The ferry sank.", "en", said); a.Satisfied || len(a.Untouched) == 0 {
		t.Errorf("nobody spoke of the ferry, and it says %+v", a)
	}
	open := slices.Concat(said, []Exchange{{Question: "Why was it closed?", Answer: "For various reasons."}})
	if a := Finished(hypothesis, "en", open); a.Satisfied {
		t.Errorf("the reason is open, and it says %+v", a)
	}
}

func TestADoubtHidesNoSuspicion(t *testing.T) {
	a := Finished("The invoice was paid twice by mistake.", "en", []Exchange{
		{Question: "What does the statement show?", Answer: "Two transfers of 3,400 euros each to the supplier."},
		{Question: "Did the supplier return the money?", Answer: "Yes, they returned it within a week."},
		{Question: "What is still open?", Answer: "The supplier has never returned the money."},
	})
	if len(a.Contradictions) != 1 || a.Contradictions[0].Pairs != [2]int{1, 2} {
		t.Errorf("%+v", a)
	}
}

// Who is asked which of two holds and says both again explains nothing: what is not firm enough to be recorded stays open.
func TestWhoSaysBothAgainExplainsNothing(t *testing.T) {
	first, second := "The pump at Station 4 failed on 12 March 2024 at 03:40.", "Tom Reuter said that the pump failed on 12 March 2024 at 05:15 and that the alarm never sounded."
	hypothesis := "The pump at Station 4 failed because the seal was worn"
	all := []Exchange{
		{Question: "What exactly is known about this: “" + hypothesis + "”?", Answer: first},
		{Question: "On the pump: is there more to say?", Answer: second},
	}
	a := Analyse(hypothesis, "en", all)
	if len(a.Suspicions) != 1 {
		t.Fatalf("two times of one failure are not suspected: %+v", a)
	}
	q, ok := Next(hypothesis, "en", Contradiction, all, a)
	if !ok || !strings.Contains(q.Text, "03:40") || !strings.Contains(q.Text, "05:15") {
		t.Fatalf("asked is %q", q.Text)
	}
	for reply, open := range map[string]bool{first + " " + second: true, "The first is a typing error, it was 05:15.": false} {
		a := Analyse(hypothesis, "en", append(slices.Clone(all), Exchange{Question: q.Text, Answer: reply}))
		if got := len(a.Contradictions) == 0 && len(a.Suspicions) == 1; got != open {
			t.Errorf("%q: it stays open: %v, want %v; %+v", reply, got, open, a)
		}
	}
}
