package inquiry

import "regexp"

// wishes are plain words for an inquiry, each with what is offered, in its language.
func wishes() []struct {
	said  *regexp.Regexp
	offer string
} {
	return []struct {
		said  *regexp.Regexp
		offer string
	}{
		{regexp.MustCompile(`(?is)^(?:please )?(?:investigate|inquire) (?:whether|if|that)\s+(\pL.*)`), "Begin an inquiry?"},
		{regexp.MustCompile(`(?is)^(?:bitte )?(?:untersuche?|prüfe?)(?: bitte)?,? ob\s+(\pL.*)`), "Eine Befragung beginnen?"},
		{regexp.MustCompile(`(?is)^(?:por favor,? )?(?:investig(?:a|ue)|averigu[ae]) se\s+(\pL.*)`), "Começar um inquérito?"},
	}
}

// offers says whether words are plainly meant for an inquiry.
func offers(words string) string {
	for _, wish := range wishes() {
		if wish.said.MatchString(words) {
			return wish.offer
		}
	}
	return ""
}

// hypothesis is what words say that is to be investigated, without the wish before it.
func hypothesis(words string) string {
	for _, wish := range wishes() {
		if found := wish.said.FindStringSubmatch(words); found != nil {
			return found[1]
		}
	}
	return words
}
