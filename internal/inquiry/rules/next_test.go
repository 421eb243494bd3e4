package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestAQuestionAsksForItsAspect(t *testing.T) {
	for code, l := range languages() {
		claim := map[string]string{"en": "The bridge on Mill Road was closed because of corrosion", "de": "Die Brücke an der Mühlstraße wurde wegen Rost gesperrt"}[code]
		for _, aspect := range aspects {
			for _, way := range []string{"ask", "asking", "again"} {
				text := fmt.Sprintf(l.say[way+" "+aspect], fmt.Sprintf(l.say["claim"], claim))
				if got := l.question(text).asked; !slices.Equal(got, []string{aspect}) {
					t.Errorf("%q asks for %v, not for %s", text, got, aspect)
				}
			}
			for _, text := range []string{
				fmt.Sprintf(l.say["open"], claim+"?", l.say["open "+aspect]),
				fmt.Sprintf(l.say["vague"], "some", claim+"?", l.say["vague "+aspect]),
			} {
				if got := l.question(text).asked; !slices.Equal(got, []string{aspect}) {
					t.Errorf("%q asks for %v, not for %s", text, got, aspect)
				}
			}
		}
	}
}

func TestQuestionsAreTheSameInOtherWords(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"When was the bridge closed?", "When exactly was the bridge closed?", true},
		{"When was the bridge closed?", "When was the bridge closed, please?", true},
		{"When was the bridge closed?", "Why was the bridge closed?", false},
		{"When was the bridge closed?", "When was the bridge opened?", false},
		{"How many people worked there in 2015?", "How many people worked there in 2019?", false},
		{"Was the valve inspected?", "Was the valve not inspected?", false},
		{"Wann wurde die Brücke gesperrt?", "Wann genau wurde die Brücke gesperrt?", true},
		{"Wann wurde die Brücke gesperrt?", "Wer hat die Brücke gesperrt?", false},
		{"Wie viel kostete Tank 1?", "Wie viel kostete Tank 2?", false},
	} {
		if got := Same(c.a, c.b); got != c.same || Same(c.b, c.a) != got {
			t.Errorf("Same(%q, %q) = %v", c.a, c.b, got)
		}
	}
}

func TestStrategiesLeadToTheirQuestions(t *testing.T) {
	const hypothesis = "The storm damaged the harbour of Kell in 2019."
	q, ok := Next(hypothesis, "en", Breadth, nil, Analysis{})
	if !ok || q.Strategy != Breadth || !strings.Contains(q.Text, "The storm damaged the harbour of Kell in 2019") {
		t.Errorf("%+v", q)
	}
	all := []Exchange{{Question: "How many boats did the storm damage?", Answer: "Several boats."}}
	a := Analyse(hypothesis, "en", all)
	if q, _ = Next(hypothesis, "en", Depth, all, a); q.Strategy != Depth || len(q.Gaps) != 1 || q.Gaps[0] != a.Gaps[0].ID || q.Aspect != HowMuch {
		t.Errorf("%+v", q)
	}
	if q, _ = Next(hypothesis, "en", Timeline, all, a); q.Strategy != Timeline || q.Aspect != When {
		t.Errorf("%+v", q)
	}
	if q, _ = Next(hypothesis, "en", Contradiction, all, a); q.Strategy != Depth {
		t.Errorf("no answers clash, and still %+v", q)
	}
}

func TestQuestionsEndAndNoneIsAskedTwice(t *testing.T) {
	for _, hypothesis := range []string{"The storm damaged the harbour of Kell in 2019.", "Why did the ferry sink?", "x", ""} {
		var all []Exchange
		for range 40 {
			q, ok := Next(hypothesis, "en", Breadth, all, Analyse(hypothesis, "en", all))
			if !ok {
				break
			}
			if slices.ContainsFunc(all, func(e Exchange) bool { return e.Question == q.Text }) {
				t.Errorf("asked again: %q", q.Text)
			}
			all = append(all, Exchange{Question: q.Text, Answer: "That is a good question."})
		}
		if len(all) >= 25 {
			t.Errorf("%q: %d questions to a witness that says nothing", hypothesis, len(all))
		}
		if a := Analyse(hypothesis, "en", all); a.Satisfied {
			t.Errorf("%q: satisfied with nothing", hypothesis)
		}
	}
}

func TestAspectsThatTheHypothesisAsksForStayUntouchedUntilAsked(t *testing.T) {
	const hypothesis = "When and why did the mill close?"
	all := []Exchange{{Question: "When did the mill close?", Answer: "The mill closed on 3 May 2011."}}
	a := Analyse(hypothesis, "en", all)
	if a.Satisfied || !slices.ContainsFunc(a.Untouched, func(g Gap) bool { return g.Aspect == Why && g.Severity == Medium }) || len(a.Gaps) != 0 {
		t.Errorf("%+v", a)
	}
	all = append(all, Exchange{Question: "Why did the mill close?", Answer: "I don't know."})
	a = Analyse(hypothesis, "en", all)
	if a.Satisfied || !slices.ContainsFunc(a.Gaps, func(g Gap) bool { return g.Aspect == Why && g.Severity == High && g.Words == "I don't know" }) {
		t.Errorf("%+v", a)
	}
}

func TestWhatAQuestionQuotesIsNotAskedFor(t *testing.T) {
	for text, want := range map[string]string{
		"Die Frage „Wann geschah das: „Die Börse wurde unterschlagen“?“ ist noch offen: Wo war es?": Where,
		"Zu »Die Börse wurde unterschlagen«: Wer genau?":                                            Who,
		"The question “Who did this: “The purse was “lost””?” is still open: why is it so?":         Why,
		`You said "when it was dark". How many were there?`:                                         HowMuch,
	} {
		if got := languageOf("", text).question(text).asked; !slices.Equal(got, []string{want}) {
			t.Errorf("%s: asks for %q, want %s", text, got, want)
		}
	}
}
