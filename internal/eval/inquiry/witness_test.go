package inquiry

import (
	"slices"
	"strings"
	"testing"
)

func TestEachWitnessAnswersTheQuestionsOfItsInterview(t *testing.T) {
	for _, c := range mustLoad(t) {
		if len(c.Witness.Facts) < len(c.Pairs)-1 {
			t.Errorf("%s: %d facts for %d pairs", c.ID, len(c.Witness.Facts), len(c.Pairs))
		}
		for i, p := range c.Pairs {
			known := slices.ContainsFunc(c.Witness.Facts, func(f Fact) bool { return f.Pair == i })
			if got := newWitness(c).Answer(p.Question); known && !strings.Contains(got, p.Answer) {
				t.Errorf("%s: pair %d: “%s” gives “%s”", c.ID, i, p.Question, got)
			}
		}
	}
}

func TestEachWitnessRepliesToAQuestionThatNamesBothSides(t *testing.T) {
	for _, c := range mustLoad(t) {
		look := func(pairs [2]int, words [2]string, reply string) {
			for _, sides := range [][2]string{words, {c.Pairs[pairs[0]].Answer, c.Pairs[pairs[1]].Answer}, {words[1], words[0]}} {
				w := newWitness(c)
				w.Answer(c.Pairs[pairs[0]].Question)
				w.Answer(c.Pairs[pairs[1]].Question)
				if got := w.Answer("You said “" + sides[0] + "” and “" + sides[1] + "”. Which is right?"); got != reply {
					t.Errorf("%s: “%s” against “%s” gives “%s”", c.ID, sides[0], sides[1], got)
				}
			}
		}
		for _, l := range c.Contradictions {
			look(l.Pairs, l.Words, l.Reply)
		}
		for _, l := range c.Traps {
			look(l.Pairs, l.Words, l.Reply)
		}
	}
}

func TestAWitnessIsNotConfrontedByOneSide(t *testing.T) {
	for _, c := range mustLoad(t) {
		for _, l := range c.Contradictions {
			for i, at := range l.Pairs {
				w := newWitness(c)
				w.Answer(c.Pairs[l.Pairs[0]].Question)
				w.Answer(c.Pairs[l.Pairs[1]].Question)
				if got := w.Answer("You said “" + l.Words[i] + "”. " + c.Pairs[at].Question); got == l.Reply {
					t.Errorf("%s: “%s” alone brings the reply", c.ID, l.Words[i])
				}
			}
		}
	}
}

func TestAWitnessSaysItBetterWhenAskedAgainAndElseTheSame(t *testing.T) {
	w := newWitness(small())
	for _, step := range [][2]string{
		{"Who saw it?", "Some people."},
		{"You said “Some people.” Who exactly saw it?", "Ann Poole."},
		{"How many sacks were lost?", "80 sacks."},
		{"How many sacks were lost?", "80 sacks."},
		{"How many was that?", "80 sacks."},
		{"Who baked the bread, and where was the moon?", "Some people."},
		{"Where was the moon?", "I don't know."},
	} {
		if step[0] == "Who baked the bread, and where was the moon?" {
			w = newWitness(small())
		}
		if got := w.Answer(step[0]); got != step[1] {
			t.Errorf("“%s” gives “%s”, want “%s”", step[0], got, step[1])
		}
	}
}

func TestAQuestionOfTwoPartsGetsTwoAnswers(t *testing.T) {
	w := newWitness(small())
	if got, want := w.Answer("When did the mill burn, and who saw it?"), "On 3 May 1990. Some people."; got != want {
		t.Errorf("“%s”, want “%s”", got, want)
	}
}

func TestQuestionWordsAreOnlyThoseThatAsk(t *testing.T) {
	for _, c := range []struct{ lang, question, want string }{
		{"en", "What was burning when the crew arrived?", "what"},
		{"en", "When did it burn?", "when"},
		{"en", "How many sacks were there?", "how_much"},
		{"en", "In which year did the mill burn?", "when"},
		{"en", "Who saw it, and why?", "why who"},
		{"en", "Did the mill burn?", "whether"},
		{"en", "You said “when it burned, who knows”. Was that so?", "whether"},
		{"de", "Wie viele Säcke waren es, und wo?", "how_much where"},
		{"de", "Wer war da, als es brannte?", "who"},
		{"de", "Seit wann brannte es?", "when"},
		{"de", "Aus welchem Grund brannte es?", "why"},
		{"de", "Sie sagten „wer weiß, wann“. Was stimmt?", "what"},
	} {
		of := small()
		of.Lang = c.lang
		if got := strings.Join(newWitness(of).kindsOf(c.question), " "); got != c.want {
			t.Errorf("“%s” is %s, want %s", c.question, got, c.want)
		}
	}
}

func TestAFollowUpThatQuotesAnAnswerIsAboutThatAnswer(t *testing.T) {
	asks := map[string]map[string]string{
		"en": {"who": "Who exactly?", "what": "What exactly?", "when": "When exactly was that?", "where": "Where exactly?", "how_much": "How much exactly?", "why": "Why?", "how": "How?", "": "What do you mean by that?"},
		"de": {"who": "Wer genau?", "what": "Was genau?", "when": "Wann genau war das?", "where": "Wo genau?", "how_much": "Wie viel genau?", "why": "Warum?", "how": "Wie genau?", "": "Was meinen Sie damit?"},
	}
	missed, of := 0, 0
	for _, c := range mustLoad(t) {
		for _, l := range c.Gaps {
			at := slices.IndexFunc(c.Witness.Facts, func(f Fact) bool { return f.Pair == l.Pair && f.Again != "" })
			if at < 0 {
				continue
			}
			aspect := ""
			if len(l.Aspect) > 0 {
				aspect = l.Aspect[0]
			}
			w := newWitness(c)
			first := w.Answer(c.Pairs[l.Pair].Question)
			question := "“" + first + "” " + asks[c.Lang][aspect]
			of++
			if got := w.Answer(question); !strings.Contains(got, c.Witness.Facts[at].Again) {
				missed++
				t.Logf("%s: “%s” gives “%s”", c.ID, question, got)
			}
		}
	}
	if missed*10 > of {
		t.Errorf("%d of %d follow-ups are answered beside the point", missed, of)
	}
}
