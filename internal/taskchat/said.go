package taskchat

import (
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/text"
	"sibyl/internal/text/search"
)

func said() bt.Leaf {
	type in struct {
		Act      Act    `port:"act"`
		Words    string `port:"words" doc:"the person's message"`
		Said     string `port:"said" doc:"what they said before"`
		Language string `port:"language"`
	}
	const doc = "Whether the texts that a model wants written hold the person's words and no others. Those of the task that is changed may stay."
	return bt.Check("Said", doc, func(i in) (bool, string) {
		if i.Act.By == "" || i.Act.Agreed {
			return true, "these are the person's words"
		}
		own := wordsOf(strings.Join(append(i.Act.texts(), i.Words, i.Said), "\n"), i.Language)
		for _, w := range wordsOf(i.Act.Entities.Title+"\n"+i.Act.Entities.Description, i.Language) {
			if !slices.ContainsFunc(own, func(o string) bool { return alike(w, o) }) {
				return false, fmt.Sprintf("the person did not say “%s”", w)
			}
		}
		return true, "the person said each word of it"
	})
}

// texts are those of the tasks that the act is for.
func (a *Act) texts() (all []string) {
	for _, t := range a.Targets {
		all = append(all, t.Title)
		if t.Description != nil {
			all = append(all, *t.Description)
		}
	}
	return all
}

// shortWord is up to which length, in bytes, a word only holds others together in most languages.
const shortWord = 2

// wordsOf are the stems of the words of a text that carry meaning.
func wordsOf(words, language string) (stems []string) {
	for _, w := range search.Words(words) {
		if !search.IsStop(w) && (len(w) > shortWord || w[0] < 'a') { // also a number of one digit
			stems = append(stems, text.Stem(w, language))
		}
	}
	return stems
}

// alike says that two stems are of one word: that they are the same, that they begin alike for more than three fifths of the shorter one, as inflected
// forms do, or that one ends with the other, as “an-rufen” does. Numbers have to be the same.
func alike(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if a == b || a[0] < 'a' || len(a) <= shortWord {
		return a == b
	}
	begin := 0
	for begin < len(a) && a[begin] == b[begin] {
		begin++
	}
	return begin > shortWord && 5*begin > 3*len(a) || strings.HasSuffix(b, a)
}
