package assistant

import "regexp"

// Wish is a pattern of words that plainly ask for an assistant, with the question that offers it in the same language.
type Wish struct {
	Said  *regexp.Regexp
	Offer string
}

// Wishes are the wishes for one assistant.
type Wishes []Wish

// Offers gives the question of the first wish that words match; "" if none does.
func (all Wishes) Offers(words string) (question string) {
	for _, wish := range all {
		if wish.Said.MatchString(words) {
			return wish.Offer
		}
	}
	return ""
}
