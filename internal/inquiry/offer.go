package inquiry

import (
	"regexp"

	"sibyl/internal/service/assistant"
)

// wishes are patterns of words that wish for an inquiry, each with the offer in its language.
func wishes() assistant.Wishes {
	return assistant.Wishes{
		{Said: regexp.MustCompile(`(?is)^(?:please )?(?:investigate|inquire) (?:whether|if|that)\s+(\pL.*)`),
			Offer: "Begin an inquiry?"},
		{Said: regexp.MustCompile(`(?is)^(?:bitte )?(?:untersuche?|prüfe?)(?: bitte)?,? ob\s+(\pL.*)`),
			Offer: "Eine Befragung beginnen?"},
		{Said: regexp.MustCompile(`(?is)^(?:por favor,? )?(?:investig(?:a|ue)|averigu[ae]) se\s+(\pL.*)`),
			Offer: "Começar um inquérito?"},
	}
}

// withoutWish is the hypothesis in the words, without a wish before it.
func withoutWish(words string) string {
	for _, wish := range wishes() {
		if found := wish.Said.FindStringSubmatch(words); found != nil {
			return found[1]
		}
	}
	return words
}
