package council

import "regexp"

// wishes are plain words for the Council, each with what is offered, in its language.
func wishes() []struct {
	said  *regexp.Regexp
	offer string
} {
	return []struct {
		said  *regexp.Regexp
		offer string
	}{
		{regexp.MustCompile(`(?i)^(?:please )?(?:ask|consult|convene) (?:the|my) (?:council|oracles)\b.*\pL`), "Ask the oracles?"},
		{regexp.MustCompile(`(?i)^(?:bitte )?(?:frage?|befrage?|konsultiere?) (?:bitte )?(?:den|meinen) rat\b.*\pL`), "Die Orakel fragen?"},
		{regexp.MustCompile(`(?i)^(?:por favor,? )?(?:pergunt[ae]|consult[ae]) (?:ao|o) (?:meu )?conselho(?:[^\pL].*\pL|$)`), "Perguntar aos oráculos?"},
	}
}

// offers says whether words are plainly meant for the Council.
func offers(words string) string {
	for _, wish := range wishes() {
		if wish.said.MatchString(words) {
			return wish.offer
		}
	}
	return ""
}
