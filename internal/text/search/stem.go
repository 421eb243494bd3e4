package search

import (
	"slices"
	"strings"
)

// endings are what the forms of one English word differ in, the longest first.
var endings = [...]string{
	"ations", "ation", "ingly", "ings", "ions", "ing", "ers", "ies", "ied", "ion", "ors", "ed", "es", "er", "or", "ly",
	"th", "s", "e", "y",
}

const longestEnding = 6

// Stem cuts the ending off an English word in lower case if enough of it remains, so that caching, caches and cache
// have the same stem. Compare its result only with other stems: words of other languages keep most of their ending.
func Stem(word string) string {
	if strings.HasSuffix(word, "ss") {
		return word // process is no plural
	}
	for _, end := range endings {
		stem, ok := strings.CutSuffix(word, end)
		if !ok || len(stem) < 4 && !(len(stem) == 3 && (end == "ing" || end == "s" || end == "ed")) ||
			!strings.ContainsAny(stem, "aeiouy") {
			continue
		}
		if end[0] != 's' && end != "e" && end != "y" && isDoubled(stem) {
			stem = stem[:len(stem)-1]
		}
		return stem
	}
	return word
}

// isDoubled reports a consonant doubled for the ending: mapp-ing, stopp-ed, but call-ed, pass-ed, agree-ing.
func isDoubled(stem string) bool {
	n := len(stem)
	return n > 3 && stem[n-1] == stem[n-2] && !strings.ContainsRune("lsfzaeiou", rune(stem[n-1]))
}

// IsForm reports whether what follows a stem makes it another form of the same word: an ending, perhaps after a doubled
// consonant (stop-p-ing).
func IsForm(stem string, rest []byte) bool {
	if len(rest) == 0 {
		return true
	}
	if len(rest) > longestEnding+1 {
		return false
	}
	var low [longestEnding + 1]byte
	for i, c := range rest {
		low[i] = Lower(c)
	}
	end := low[:len(rest)]
	isEnding := func(b []byte) bool { return slices.Contains(endings[:], string(b)) }
	return isEnding(end) || len(end) > 2 && end[0] == stem[len(stem)-1] && isEnding(end[1:])
}

// ShortStem is up to how many letters a stem is that stands in many other words.
const ShortStem = 3

// Holds reports whether a text in lower case has a word with this stem. A stem that is not short is also found inside
// words.
func Holds(text, stem string) bool {
	if len(stem) > ShortStem {
		return strings.Contains(text, stem)
	}
	for at := 0; ; at++ {
		i := strings.Index(text[at:], stem)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(stem)
		for end < len(text) && isWord(text[end]) {
			end++
		}
		if (at == 0 || !isWord(text[at-1])) && IsForm(stem, []byte(text[at+len(stem):end])) {
			return true
		}
	}
}
