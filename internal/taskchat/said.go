package taskchat

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sibyl/internal/bt"
	"sibyl/internal/text"
	"sibyl/internal/text/language"
	"sibyl/internal/text/search"
)

func said() bt.Leaf {
	type in struct {
		Act      Act    `port:"act"`
		Words    string `port:"words" doc:"the person's message"`
		Said     string `port:"said" doc:"what they said before"`
		Language string `port:"language"`
	}
	const doc = "Whether the texts that a model wants written hold the person's words and no others. Those of the " +
		"task that is changed may stay."
	return bt.Check("Said", doc, func(i in) (bool, string) {
		if i.Act.By == "" || i.Act.Agreed {
			return true, "these are the person's words"
		}
		texts := []string{i.Words, i.Said}
		for _, t := range i.Act.Targets {
			texts = append(texts, t.Title)
			if t.Description != nil {
				texts = append(texts, *t.Description)
			}
		}
		own := contentStems(search.Words(strings.Join(texts, "\n")), i.Language)
		for _, w := range contentStems(search.Words(i.Act.Entities.Title+"\n"+i.Act.Entities.Description), i.Language) {
			if !slices.ContainsFunc(own, func(o string) bool { return sameWord(w, o) }) {
				return false, fmt.Sprintf("the person did not say “%s”", w)
			}
		}
		return true, "the person said each word of it"
	})
}

// shortWord is up to how many characters a word only holds others together in most languages.
const shortWord = 2

// contentStems are the stems of those words, as search has them, that carry meaning.
func contentStems(words []string, language string) (stems []string) {
	for _, w := range words {
		// Also a number of one digit, and the pairs of characters of a language without spaces; the last of those
		// stands in its pair.
		if n := utf8.RuneCountInString(w); !search.IsStop(w) && n > 1 && len(w) > shortWord || w[0] < 'a' {
			stems = append(stems, text.Stem(w, language))
		}
	}
	return stems
}

// speaksOf says whether a reply takes up a word of a message that does more than hold a sentence together.
func speaksOf(reply, words, code string) bool {
	said := contentStems(telling(search.Words(words)), code)
	return slices.ContainsFunc(contentStems(telling(search.Words(reply)), code), func(w string) bool {
		return slices.ContainsFunc(said, func(s string) bool { return sameWord(s, w) })
	})
}

// telling are those of words that do more than hold sentences together, as “how is it” and “until tomorrow” do.
func telling(words []string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return language.Common(w, "") })
}

// sameWord says that two stems belong to one word. Either they are equal, or more than three fifths of the shorter one
// begin alike (inflected forms), or one ends with the other (“an-rufen”). Numbers have to be equal.
func sameWord(a, b string) bool {
	short, long := []rune(a), []rune(b)
	if len(short) > len(long) {
		a, b, short, long = b, a, long, short
	}
	if a == b || a[0] < 'a' || len(short) <= shortWord {
		return a == b
	}
	begin := 0
	for begin < len(short) && short[begin] == long[begin] {
		begin++
	}
	return begin > shortWord && 5*begin > 3*len(short) || strings.HasSuffix(b, a)
}
