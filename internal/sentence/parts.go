package sentence

import (
	"slices"
	"strings"

	"sibyl/internal/text/search"
)

// parts takes a question apart that asks for several things: “When was it put up, and how many were hurt?” The first part keeps what stands before the question. Any other question is its own only part.
func parts(question, language string) []string {
	plain, _ := unquote(question)
	asking := lastQuestion(plain)
	at := strings.LastIndex(question, asking)
	if at < 0 || !asks(asking, language) {
		return []string{question}
	}
	var all []string
	from := 0
	list := pieces(asking)
	for i := 1; i+1 < len(list); i++ {
		and, next := list[i], list[i+1]
		if isAnd(and.low, language) && asks(asking[from:and.at], language) && asks(asking[next.at:], language) {
			all = append(all, strings.TrimRight(asking[from:and.at], " \n,;(–—")+"?")
			from = next.at
		}
	}
	all = append(all, asking[from:])
	all[0] = question[:at] + all[0]
	return all
}

// asks says whether a text begins with words that ask.
func asks(text, language string) bool {
	words := search.Words(text)
	_, opens := kindOf(words, language)
	return len(opens) > 0 && slices.Equal(words[:min(len(opens), len(words))], opens)
}

func isAnd(word, language string) bool {
	if language == german {
		return word == "und" || word == "sowie"
	}
	return word == "and"
}
