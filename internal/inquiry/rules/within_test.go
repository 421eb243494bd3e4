package rules

import (
	"slices"
	"strings"
	"testing"
)

// reports is an answer that quotes two reports, which give different numbers for one thing, with what stands between the passages.
func reports(language, parting string) (hypothesis string, all []Exchange) {
	hypothesis, mill := mill(language)
	e := mill[0]
	e.Answer, e.Around = mill[0].Answer+" "+mill[1].Answer, mill[0].Answer+parting+mill[1].Answer
	return hypothesis, []Exchange{e}
}

func TestPassagesThatOneAnswerQuotesAreHeldAgainstEachOther(t *testing.T) {
	for _, language := range []string{"en", "de"} {
		hypothesis, all := reports(language, "\n\n")
		a := Analyse(hypothesis, language, all)
		if len(a.Suspicions) != 1 || a.Suspicions[0].Pairs != [2]int{0, 0} || strings.Count(a.Suspicions[0].Reason, "1") != 1+strings.Count(strings.Join(a.Suspicions[0].Words[:], ""), "1") {
			t.Fatalf("%s: %+v", language, a.Suspicions)
		}
		q, ok := Next(hypothesis, language, Contradiction, all, a)
		if !ok || !strings.Contains(q.Text, "240") || !strings.Contains(q.Text, "310") || !slices.Equal(q.About, []int{0}) {
			t.Fatalf("%s: %+v", language, q)
		}
		for recorded, reply := range map[string][]string{"en": {"I was mistaken, it was 310 people.", "Both figures are correct."}, "de": {"Da habe ich mich geirrt, es waren 310.", "Beide Angaben stimmen."}}[language] {
			if a := Analyse(hypothesis, language, append(slices.Clone(all), Exchange{Question: q.Text, Answer: reply})); len(a.Contradictions) != recorded || len(a.Suspicions) > 0 {
				t.Errorf("%s, %q: %+v", language, reply, a)
			}
		}
	}
}

func TestWhoSpeaksForOneselfOrInOneParagraphIsNotHeldAgainstOneself(t *testing.T) {
	for _, language := range []string{"en", "de"} {
		hypothesis, together := reports(language, " ")
		_, spoken := reports(language, "\n\n")
		spoken[0].Around = ""
		for name, all := range map[string][]Exchange{"one paragraph": together, "spoken": spoken} {
			if a := Analyse(hypothesis, language, all); len(a.Suspicions) > 0 {
				t.Errorf("%s, %s: %+v", language, name, a.Suspicions)
			}
		}
	}
}

func TestWhatWasNotFoundContradictsNothing(t *testing.T) {
	for language, said := range map[string][4]string{
		"en": {"Is anything about the model written down in a log?", "The failed writes of the model are in a log.", "That is not in the documents.", "No, the failed writes are not in a log."},
		"de": {"Steht etwas über das Modell in einem Protokoll?", "Die Fehler des Modells stehen in einem Protokoll.", "Das steht nicht in den Dokumenten.", "Nein, die Fehler stehen nicht in einem Protokoll."},
	} {
		all := []Exchange{{Question: said[0], Answer: said[1], Around: said[1]}, {Question: said[0], Answer: said[2], NotFound: true}}
		if a := Analyse(said[1], language, all); len(a.Suspicions) > 0 {
			t.Errorf("%s: %+v", language, a.Suspicions)
		}
		all[1] = Exchange{Question: said[0], Answer: said[3]}
		if a := Analyse(said[1], language, all); len(a.Suspicions) == 0 {
			t.Errorf("%s: a witness who says no contradicts what it said", language)
		}
	}
}
