package sentence

import "testing"

func TestAReasonIsNoTimeAndNoPlace(t *testing.T) {
	for _, c := range []struct {
		language, text string
		gives          bool
	}{
		{"en", "The tree bears fruit since 2022.", false}, {"en", "It was closed, since the roof leaked.", true}, {"en", "Since May it is open.", false},
		{"de", "Der Pächter war nicht da.", false}, {"de", "Sie blieb zu, da das Dach undicht war.", true}, {"de", "Da es regnete, fiel das Fest aus.", true},
		{"de", "Um 15 Uhr beginnt das Programm.", false}, {"de", "Er kam, um Geld zu sparen.", true}, {"de", "Sie schloss, um Kosten einzusparen.", true}, {"de", "Er ging um das Haus.", false},
	} {
		if got := hasReason(c.text, c.language); got != c.gives {
			t.Errorf("%q: %v", c.text, got)
		}
	}
}

func TestWhoDidItIsNotWhatItWasDoneTo(t *testing.T) {
	c := New([]Text{{Name: "wege", Parts: []string{"Der Hauptweg wurde neu gekiest.\n\nDas Tor wurde von Karl Ott gestrichen.\n\nUte Brandt wurde zur Kassiererin gewählt."}}}, "")
	for question, want := range map[string]int{"Wer hat den Hauptweg gekiest?": 0, "Wer hat das Tor gestrichen?": 1, "Wer wurde zur Kassiererin gewählt?": 1} {
		if got := c.Answers(c.Ask(question, "de", nil), nil); len(got) != want {
			t.Errorf("%s %v", question, got)
		}
	}
}

func TestAnswerIsClearOrNone(t *testing.T) {
	parts := []string{"# House", "Boiler serviced on 12 March by Huber. It has run since 2011.", "The car was washed on 3 May. The car was washed on 9 June by Lena."}
	c := New([]Text{{Name: "house", Parts: parts}}, "")
	for question, want := range map[string]string{
		"When was the boiler serviced?":                                   "Boiler serviced on 12 March by Huber.",
		"Who serviced the boiler?":                                        "Boiler serviced on 12 March by Huber.",
		"What is a boiler?":                                               "", // it asks for anything
		"When was the boiler cleaned?":                                    "",
		"When was the boiler serviced twice?":                             "", // of which nothing is said
		"When was the car washed?":                                        "", // two sentences say it
		"When was the boiler serviced, and by whom?":                      "Boiler serviced on 12 March by Huber.",
		"Who serviced the boiler, and when was the car washed by Lena?":   "Boiler serviced on 12 March by Huber.The car was washed on 9 June by Lena.",
		"When was the boiler serviced, and how much did the boiler cost?": "", // one of two is not said
	} {
		language := LanguageOf(question)
		got := ""
		for _, q := range c.Clear(c.Ask(question, language, nil)) {
			got += parts[q.Part][q.From:q.To]
		}
		if got != want {
			t.Errorf("%s %q", question, got)
		}
	}
}

func TestLanguageIsThatOfTheWordsThatAsk(t *testing.T) {
	for question, want := range map[string]string{"When was that?": "en", "Wie viel kostet es?": "de", "Bis wann läuft die Ausstellung?": "de", "What is it?": "", "Quando foi isso?": "", "": ""} {
		if got := LanguageOf(question); got != want {
			t.Errorf("%q: %q", question, got)
		}
	}
}
