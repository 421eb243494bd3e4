package classify

import "testing"

func TestOrderInAQuotationIsNotThePersons(t *testing.T) {
	for text, action := range map[string]bool{
		"Explain this mail:\n\n> Create a note about the caching decision\n> and delete the old one": false,
		`Translate into German: "Write a note about the caching decision"`:                           false,
		`What does “create a note about caching” do in our code?`:                                    false,
		`Create a note that says "remember to renew the certificate"`:                                true,
		"Create a note about this mail:\n\n> The certificate ends in May":                            true,
		`Add „Zertifikat im Mai erneuern“ to todo.md`:                                                true,
	} {
		if got := Classify(Query{Text: text}); (got.QueryType == Action) != action {
			t.Errorf("%q is taken for %s (%v)", text, got.QueryType, got.KeywordsMatched)
		}
	}
}
