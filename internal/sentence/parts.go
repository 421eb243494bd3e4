package sentence

import (
	"slices"
	"strings"

	"sibyl/internal/search"
)

// parts takes a question apart that asks for several things: “When was it put up, and how many were hurt?” The first part keeps what stands before the question. Any other question is its own only part.
func parts(question, language string) []string {
	plain, _ := unquote(question)
	asking := lastQuestion(plain)
	at := strings.LastIndex(question, asking)
	if asks(asking, language) == nil || at < 0 {
		return []string{question}
	}
	list := pieces(asking)
	starts := []int{0}
	for i := 1; i+1 < len(list); i++ {
		if isAnd(list[i].low, language) && asks(asking[list[i+1].at:], language) != nil && asks(asking[starts[len(starts)-1]:list[i].at], language) != nil {
			starts = append(starts, list[i+1].at)
		}
	}
	var all []string
	for n, from := range starts {
		part := asking[from:]
		if n+1 < len(starts) {
			part = strings.TrimRight(asking[from:starts[n+1]], " ")
			part = strings.TrimRight(part[:strings.LastIndexByte(part, ' ')], " ,;") + "?"
		}
		all = append(all, part)
	}
	all[0] = question[:at] + all[0]
	return all
}

// asks gives the words with which a text asks, if it begins with them.
func asks(text, language string) []string {
	words := search.Words(text)
	_, opens := kindOf(words, language)
	if len(opens) == 0 || !slices.Equal(words[:min(len(opens), len(words))], opens) {
		return nil
	}
	return opens
}

func isAnd(word, language string) bool {
	if language == german {
		return word == "und" || word == "sowie"
	}
	return word == "and"
}
