package text

import (
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/spanish"
)

// Stem is the part that the forms of a word in lower case share, by the Snowball stemmer of a language: "en", "de",
// "pt", "fr" or "es". A word of any other language stays as it is. Compare stems only with stems of the same language.
func Stem(word, language string) string {
	var stem func(*snowballstem.Env) bool
	switch language {
	case "en":
		stem = english.Stem
	case "de":
		stem = german.Stem
	case "pt":
		stem = portuguese.Stem
	case "fr":
		stem = french.Stem
	case "es":
		stem = spanish.Stem
	default:
		return word
	}
	env := snowballstem.NewEnv(word)
	stem(env)
	return env.Current()
}
