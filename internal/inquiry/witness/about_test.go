package witness

import (
	"slices"
	"strings"
	"testing"
)

const fire = `# Incident report, warehouse

The fire broke out on 12 March 2024 at about 21:40 in hall B. The night guard, Tom Heller, noticed smoke at 21:52 and called the fire brigade.
The sprinklers did not start because the main valve had been closed during maintenance on 8 March.
Damage amounts to 340,000 euros.
`

const pool = `Protokoll der Gemeinderatssitzung

Der Rat beschloss, die Schwimmhalle am Fischerweg zu schließen. Die Sanierung hätte 2,3 Millionen Euro gekostet, weil das Dach undicht ist.
Stadtrat Uwe Born stimmte dagegen. Die Schließung erfolgt am 31. August 2025.
`

// A matter is seldom put in the words of the documents: what they say of its subject answers, if it is what the question asks for.
func TestQuestionAboutAMatterIsAnsweredByWhatTheDocumentsSayOfIt(t *testing.T) {
	const prevented, closed = "“The fire in hall B could have been prevented”", "„Die Schwimmhalle wird aus Kostengründen geschlossen“"
	for _, c := range []struct{ language, text, question, want string }{
		{"en", fire, "What exactly is known about this: " + prevented + "?", "The fire broke out on 12 March 2024"},
		{"en", fire, "When exactly did this happen: " + prevented + "?", "on 12 March 2024"},
		{"en", fire, "Where exactly did this happen: " + prevented + "?", "in hall B"},
		{"en", fire, "Who was involved in this, by name: " + prevented + "?", "Tom Heller"},
		{"en", fire, "Why is that so: " + prevented + "?", "because the main valve had been closed"},
		{"en", fire, "How much or how many, in figures, is it about here: “The insurance has to pay for the damage”?", "340,000 euros"},
		{"en", fire, "Who was involved in this, by name: “The company sells bicycles in Norway”?", ""},
		{"en", fire, "Who was involved in this, by name: “The mayor resigned”?", ""},
		{"de", pool, "Was genau ist darüber bekannt: " + closed + "?", "Der Rat beschloss, die Schwimmhalle am Fischerweg zu schließen."},
		{"de", pool, "Wann genau geschah das: " + closed + "?", "31. August 2025"},
		{"de", pool, "Warum ist das so: " + closed + "?", "weil das Dach undicht ist"},
		{"de", pool, "Wann genau geschah das: „Der Bahnhof wurde verkauft“?", ""},
	} {
		if a := answer(t, over(t, Options{}, c.text), c.question, c.language); a.NotFound != (c.want == "") || !strings.Contains(a.Text, c.want) {
			t.Errorf("%s\n%q", c.question, a.Text)
		}
	}
}

func TestMoreOfAMatterIsWhatWasNotSaidYet(t *testing.T) {
	w := over(t, Options{}, fire)
	var earlier []Exchange
	var said []string
	for range 4 {
		const question = "On the fire: is there more to say?"
		a := answer(t, w, question, "en", earlier...)
		earlier = append(earlier, Exchange{Question: question, Answer: a.Text, NotFound: a.NotFound})
		for _, c := range a.Citations {
			if slices.Contains(said, c.Quote) {
				t.Errorf("%q is said again", c.Quote)
			}
			said = append(said, c.Quote)
		}
	}
	if len(said) != 3 || !earlier[3].NotFound {
		t.Errorf("%d sentences were said: %q", len(said), said)
	}
}
