package understand

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAnotherDayTakesThePlaceOfTheOneInATitle(t *testing.T) {
	for _, c := range []struct{ title, to, want string }{
		{"call grandma on sunday afternoon", "saturday", "call grandma on saturday afternoon"},
		{"Meeting with Tom at 3pm", "4pm", "Meeting with Tom at 4pm"},
		{"hand in the expense report by thursday", "wednesday", "hand in the expense report by wednesday"},
		{"defrost the chicken tonight", "tomorrow night", "defrost the chicken tomorrow night"},
		{"Dinner with Kim on friday", "tomorrow", "Dinner with Kim tomorrow"},
		{"Send the draft by Friday", "tomorrow", "Send the draft by tomorrow"},
		{"Dentist monday 9am", "tuesday", "Dentist tuesday 9am"},
		{"call Bob on Friday at 3", "Monday at 5", "call Bob on Monday at 5"},
		{"Dentist", "on Friday", "Dentist on Friday"},
		{"Pay 3 invoices", "Friday", "Pay 3 invoices Friday"},
		{"Renew the pass on 3 May", "the 12th of June", "Renew the pass the 12th of June"},
		{"Zahnarzt am Montag um 9 Uhr", "Dienstag", "Zahnarzt am Dienstag um 9 Uhr"},
		{"Zahnarzt am Montag", "nächste Woche", "Zahnarzt nächste Woche"},
		{"Essen mit Kim am Freitagabend", "Samstagabend", "Essen mit Kim am Samstagabend"},
		{"ligar para a Ana amanhã às 16h", "17h", "ligar para a Ana amanhã às 17h"},
		{"dentista na sexta", "amanhã", "dentista amanhã"},
	} {
		if got := Rescheduled(c.title, c.to); got != c.want {
			t.Errorf("%q to %q: %q, want %q", c.title, c.to, got, c.want)
		}
	}
}

func TestOnlyDaysAndTimesSayWhen(t *testing.T) {
	for words, want := range map[string]bool{
		"friday": true, "on Friday": true, "tomorrow at 5": true, "the 3rd of May": true, "next week": true, "16:30": true, "4pm": true, "Friday evening": true,
		"am Montag": true, "nächste Woche": true, "Montagabend": true, "um 9 Uhr": true, "sexta": true, "sexta-feira às 16h": true, "a semana que vem": true,
		"the 2nd": false, "a segunda": false, "na segunda": true, "am 3.": false, "buy milk": false, "Friday drinks": false, "2": false, "the second": false, "may": false, "Call Ana tomorrow": false, "": false, "3 apples": false,
	} {
		if got := SaysWhen(words); got != want {
			t.Errorf("%q: %v", words, got)
		}
	}
}

// Whatever a title and a time hold, the other words of the title stay.
func TestWordsOfATitleThatAreNoTimeStay(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom(strings.Fields(`call Ana on by at Friday am 3 pm next week 16:30 3rd of May the a segunda às " ' , . Montagabend 3/5`)), 1, 8)
	rapid.Check(t, func(t *rapid.T) {
		title, to := strings.Join(words.Draw(t, "title"), " "), strings.Join(words.Draw(t, "to"), " ")
		got := Rescheduled(title, to)
		for _, w := range []string{"call", "Ana"} {
			if strings.Count(got, w) < strings.Count(title, w) {
				t.Fatalf("%q to %q: %q", title, to, got)
			}
		}
		if plain := WithoutWhen(title); strings.Count(plain, "Ana") != strings.Count(title, "Ana") {
			t.Fatalf("%q without its times: %q", title, plain)
		}
	})
}
