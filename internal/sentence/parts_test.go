package sentence

import (
	"slices"
	"testing"
)

func TestAQuestionForSeveralThingsIsTakenApart(t *testing.T) {
	for _, c := range []struct {
		language, question string
		parts              []string
	}{
		{"en", "When was the pump repaired, and how much did it cost?", []string{"When was the pump repaired?", "how much did it cost?"}},
		{"en", "The pump leaked. Who noticed it and when and why?", []string{"The pump leaked. Who noticed it?", "when?", "why?"}},
		{"en", "when,and how often (and  why)?", []string{"when?", "how often?", "why)?"}},
		{"en", "Who came and went?", []string{"Who came and went?"}},
		{"en", "The day when it broke and who was there", []string{"The day when it broke and who was there"}},
		{"en", "What is the name of the ship “Where and When”?", []string{"What is the name of the ship “Where and When”?"}},
		{"de", "Wer hat die Pumpe repariert, und was hat es gekostet?", []string{"Wer hat die Pumpe repariert?", "was hat es gekostet?"}},
		{"de", "Wann kam der Zug und fuhr er weiter?", []string{"Wann kam der Zug und fuhr er weiter?"}},
	} {
		if got := parts(c.question, c.language); !slices.Equal(got, c.parts) {
			t.Errorf("%s: %q", c.question, got)
		}
	}
}

func TestAQuestionForSeveralThingsIsAnsweredPartByPart(t *testing.T) {
	texts := map[string]string{
		"en": "The pump was repaired on 4 March. The garden has a pond. The repair of the pump cost 310 euros.",
		"de": "Die Pumpe wurde am 4. März repariert. Der Garten hat einen Teich. Die Reparatur der Pumpe kostete 310 Euro.",
	}
	for _, c := range []struct{ language, question, want string }{
		{"en", "When was the pump repaired, and how much did the repair cost?", "The pump was repaired on 4 March. The repair of the pump cost 310 euros."},
		{"en", "How much did the repair of the pump cost, and when was it repaired?", "The repair of the pump cost 310 euros. The pump was repaired on 4 March."},
		{"en", "When was the pump repaired, and how deep is the well?", "The pump was repaired on 4 March."},
		{"de", "Wann wurde die Pumpe repariert, und wie viel kostete die Reparatur?", "Die Pumpe wurde am 4. März repariert. Die Reparatur der Pumpe kostete 310 Euro."},
	} {
		text := texts[c.language]
		corpus := New([]Text{{Name: "house", Parts: []string{text}}}, "")
		said := ""
		for _, quote := range corpus.Answers(corpus.Ask(c.question, c.language, nil), nil) {
			said += " " + text[quote.From:quote.To]
		}
		if said != " "+c.want {
			t.Errorf("%s:%s", c.question, said)
		}
	}
}

func TestAnArticleAndAVerbPointAtNothing(t *testing.T) {
	c := New([]Text{{Name: "reise", Parts: []string{"Wir fliegen am 3. Juni nach Lissabon. Das Hotel kostet 98 Euro die Nacht. Der Druck soll bei 1,6 bar stehen."}}}, "")
	for question, thin := range map[string]bool{"Wie teuer ist das Hotel?": false, "Wie hoch soll der Druck sein?": false, "Wie teuer ist das?": true, "Wie hoch ist sein Druck?": true, "Was kostet es?": true} {
		if got := c.Ask(question, "de", []Exchange{{Question: "Wann fliegen wir nach Lissabon?"}}).Thin(); got != thin {
			t.Errorf("%s %v", question, got)
		}
	}
}
