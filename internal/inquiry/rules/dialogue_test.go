package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// witness answers by the aspect of a question. What it has no answer for is not in its documents.
type witness struct {
	language, hypothesis string
	says                 map[string]string
	both                 string // to a question that names two answers
}

// examine asks a witness until nothing is left or the limit is reached, by the strategies in turn.
func (w witness) examine(t *testing.T, limit int) (all []Exchange, last Analysis) {
	t.Helper()
	for len(all) < limit {
		strategy := Breadth
		if slices.ContainsFunc(last.Gaps, func(g Gap) bool { return g.Category == Inconsistency }) {
			strategy = Contradiction
		} else if len(last.Gaps) > 0 {
			strategy = Depth
		}
		q, ok := Next(w.hypothesis, w.language, strategy, all, last)
		if !ok {
			break
		}
		for _, e := range all {
			if Same(e.Question, q.Text) && len(q.Gaps) == 0 {
				t.Errorf("asked again: %q", q.Text)
			}
		}
		answer, known := w.says[q.Aspect]
		if len(q.About) == 2 && w.both != "" {
			answer, known = w.both, true
		}
		all = append(all, Exchange{Question: q.Text, Answer: answer, NotFound: !known})
		last = Analyse(w.hypothesis, w.language, all)
		if last.Satisfied {
			break
		}
	}
	return all, last
}

func flawless() []witness {
	return []witness{
		{language: "en", hypothesis: "The Harbour Bridge in Stowe was closed in 2021 because of corrosion.", says: map[string]string{
			What: "The Harbour Bridge was closed to all traffic because six main cables were corroded.", When: "The Harbour Bridge was closed on 12 May 2021.",
			Where: "The corrosion was in the northern anchorage in Stowe.", Who: "The city engineer Laura Finch ordered the closure of the bridge.",
			Why: "Because inspectors found corrosion in six cables of the bridge."}},
		{language: "en", hypothesis: "Why did the ferry Aurora sink?", says: map[string]string{
			Why: "The ferry Aurora sank because a hatch had been left open.", When: "The Aurora sank on 3 October 1987.", Where: "It sank in the Bay of Kell.",
			Who: "Captain Erik Holm was in command.", What: "The ferry Aurora capsized within ten minutes and sank."}},
		{language: "en", hypothesis: "Summarize the health benefits of Vitamin B3", says: map[string]string{
			What: "Vitamin B3 lowers blood lipids and helps the skin barrier.", Why: "Because Vitamin B3 is part of the coenzyme NAD."}},
		{language: "en", hypothesis: "The new tram line is cheaper than the bus line."},
		{language: "de", hypothesis: "Die Hafenbrücke in Stade wurde 2021 wegen Rost gesperrt.", says: map[string]string{
			What: "Die Hafenbrücke wurde für den gesamten Verkehr gesperrt, weil sechs Seile verrostet waren.", When: "Die Hafenbrücke wurde am 12. Mai 2021 gesperrt.",
			Where: "Der Rost saß in der nördlichen Verankerung in Stade.", Who: "Die Bauleiterin Laura Fink ordnete die Sperrung an.",
			Why: "Weil die Prüfer in sechs Hauptseilen Rost fanden."}},
		{language: "de", hypothesis: "Wer hat die Orgel in Birkau gebaut und was hat sie gekostet?", says: map[string]string{
			Who: "Die Orgel baute der Meister Johann Kern.", HowMuch: "Die Orgel kostete 12.000 Gulden und 300 Euro Transport.", When: "Die Orgel wurde 1782 gebaut.",
			What: "Die Orgel hat zwei Manuale und ein Pedal.", Where: "Sie steht in der Kirche von Birkau.", Why: "Weil die alte Orgel verbrannt war."}},
		{language: "de", hypothesis: "Die neue Buslinie soll ab 2026 fahren.", says: map[string]string{
			What: "Die neue Buslinie verbindet den Bahnhof mit dem Krankenhaus.", When: "Die Buslinie soll am 1. März 2026 in Betrieb gehen.",
			Who: "Die Stadtwerke betreiben die Buslinie.", HowMuch: "Die Buslinie kostet 400.000 Euro im Jahr."}},
	}
}

func TestAFlawlessWitnessSatisfiesInFewQuestions(t *testing.T) {
	for _, w := range flawless() {
		all, a := w.examine(t, 12)
		if len(w.says) > 0 && (!a.Satisfied || len(all) > 7) {
			t.Errorf("%s: %d questions, completeness %d, gaps %v\n%s", w.hypothesis, len(all), a.Completeness, a.Gaps, transcript(all))
		}
		if len(w.says) == 0 && len(a.Gaps) == 0 {
			t.Errorf("%s: a witness that knows nothing leaves no gap", w.hypothesis)
		}
		if testing.Verbose() {
			t.Logf("%v %d\n%s", a.Satisfied, a.Completeness, transcript(all))
		}
	}
}

func transcript(all []Exchange) string {
	var b strings.Builder
	for _, e := range all {
		fmt.Fprintf(&b, "  Q %s\n  A %s\n", e.Question, e.Answer)
	}
	return b.String()
}
