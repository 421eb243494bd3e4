package understand

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestWordsSaidElsewhereAreAWishOnlyWhereTheyNameTheListOrAReminder(t *testing.T) {
	for words, want := range map[string][]string{
		"remind me to buy milk":                         {"buy milk"},
		"Please add milk to my list.":                   {"milk"},
		"put eggs on my list and remind me to call Bob": {"eggs", "call Bob"},
		"new task: water the plants":                    {"water the plants"},
		"Erinnere mich daran, Milch zu kaufen":          {"Milch zu kaufen"},
		"adiciona leite à minha lista":                  {"leite"},
		"show my tasks":                                 {""},
		"what's on my list?":                            {""},
		"add error handling to the parser":              nil,
		"add a test for the lexer":                      nil,
		"show all":                                      nil,
		"what is left?":                                 nil,
		"find the lease":                                nil,
		"show the lease":                                nil,
		"delete task 2":                                 nil,
		"How do I remind people of a deadline?":         nil,
		"don't remind me to buy milk":                   nil,
		"create these functions: a, b":                  nil,
		"add it to my list":                             nil,
		"hi":                                            nil,
		"":                                              nil,
	} {
		_, got := ReadWish(words)
		if len(got) != len(want) {
			t.Errorf("%q: %+v", words, got)
			continue
		}
		for n, title := range want {
			assert.That(t, got[n].Entities.Title == title, "%q: %q, not %q", words, got[n].Entities.Title, title)
		}
	}
}
