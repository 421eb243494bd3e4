package council

import (
	"regexp"

	"sibyl/internal/service/assistant"
)

// wishes are plain words for the Council, each with what is offered, in its language.
func wishes() assistant.Wishes {
	return assistant.Wishes{
		{Said: regexp.MustCompile(`(?i)^(?:please )?(?:ask|consult|convene) (?:the|my) (?:council|oracles)\b.*\pL`),
			Offer: "Ask the oracles?"},
		{Said: regexp.MustCompile(
			`(?i)^(?:bitte )?(?:frage?|befrage?|konsultiere?) (?:bitte )?(?:den|meinen) rat\b.*\pL`),
			Offer: "Die Orakel fragen?"},
		{Said: regexp.MustCompile(
			`(?i)^(?:por favor,? )?(?:pergunt[ae]|consult[ae]) (?:ao|o) (?:meu )?conselho(?:[^\pL].*\pL|$)`),
			Offer: "Perguntar aos oráculos?"},
	}
}
