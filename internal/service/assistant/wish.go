package assistant

import "regexp"

// Wish is a way to ask plainly for an assistant, with the question that then offers it, in the same language.
type Wish struct {
	Said  *regexp.Regexp
	Offer string
}

// Wishes are those for one assistant.
type Wishes []Wish

// Offers is what is offered for words: "" if they don't plainly ask for the assistant.
func (all Wishes) Offers(words string) (question string) {
	for _, wish := range all {
		if wish.Said.MatchString(words) {
			return wish.Offer
		}
	}
	return ""
}
