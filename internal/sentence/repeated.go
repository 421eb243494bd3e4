package sentence

import (
	"slices"
	"strings"

	"sibyl/internal/text/search"
)

// leastQuoted is how many words a quotation has that names an earlier answer.
const leastQuoted = 3

// repeated finds the passages of earlier answers, or of one, that a question holds against each other: “you said A, and then B: which holds?” Each is
// quoted again as it stands, since documents take nothing back. It finds none if the question does not quote two.
func (c *Corpus) repeated(q Question) (list []found) {
	if len(q.quoted) < 2 || len(q.earlier) == 0 {
		return nil
	}
	for _, quoted := range q.quoted {
		words := search.Words(quoted)
		if len(words) < leastQuoted || !slices.ContainsFunc(q.earlier, func(e Exchange) bool { return !e.NotFound && holds(search.Words(e.Answer), words) }) {
			continue
		}
		if f, ok := c.locate(words); ok && !slices.Contains(list, f) && len(list) < mostSentences {
			list = append(list, f)
		}
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

// locate finds the sentence that holds these words in a row, or the first of them if they go on over its end.
func (c *Corpus) locate(words []string) (found, bool) {
	var ids []int32
	for _, w := range words {
		id, known := c.ids[w]
		if !known {
			break // the end of a shortened quotation may be half a word
		}
		ids = append(ids, id)
	}
	if len(ids) < leastQuoted {
		return found{}, false
	}
	for at := range c.chunks {
		for i, s := range c.chunks[at].sentences {
			if n := overlap(s.words, ids); n == len(ids) || n >= leastQuoted && n == endOf(s.words, ids) {
				return found{chunk: at, sentence: i, score: 1}, true
			}
		}
	}
	return found{}, false
}

// overlap is how many of some words a sentence holds in a row, from the first one on.
func overlap(sentence, words []int32) (most int) {
	for i := range sentence {
		n := 0
		for n < len(words) && i+n < len(sentence) && sentence[i+n] == words[n] {
			n++
		}
		most = max(most, n)
	}
	return most
}

// endOf is overlap, where the words go on over the end of the sentence.
func endOf(sentence, words []int32) int {
	for n := min(len(sentence), len(words)); n > 0; n-- {
		if slices.Equal(sentence[len(sentence)-n:], words[:n]) {
			return n
		}
	}
	return 0
}

// holds says whether words stand in a row in others; the last may be cut off.
func holds(all, words []string) bool {
	last := len(words) - 1
	for i := 0; i+len(words) <= len(all); i++ {
		if slices.Equal(all[i:i+last], words[:last]) && strings.HasPrefix(all[i+last], words[last]) {
			return true
		}
	}
	return false
}
