package witness

import (
	"slices"
	"strings"

	"sibyl/internal/media/document"
	"sibyl/internal/text"
	"sibyl/internal/text/search"
)

// quote is a part of a chunk.
type quote struct {
	chunk int
	text.Span
}

// The bounds of quoting without a model.
const (
	mostSentences = 3    // each of another chunk
	mostSearched  = 40   // chunks, the likeliest
	enough        = 0.3  // of the score of a sentence with all words of the question
	further       = 0.85 // of the best score: the least for further sentences
)

// searchQuotes finds the sentences of the likeliest chunks that match the terms best. It leaves out those in earlier
// answers; said says whether there were any.
func (w *documentWitness) searchQuotes(terms []term, order []int, earlier []Exchange) (best []quote, said bool) {
	all, units := w.sentences(order[:min(len(order), mostSearched)])
	x := newIndex(units)
	for n := range terms {
		terms[n].worth = x.rarity(terms[n])
	}
	scores := x.scores(terms)
	isSaid := func(i int) bool {
		return slices.ContainsFunc(earlier, func(e Exchange) bool { return strings.Contains(e.Answer, units[i].text) })
	}
	least := 0.0
	for _, t := range terms {
		least += enough * t.worth * search.Saturated(1, 1, strict)
	}
	quoted := map[int]bool{}
	for _, i := range rankByScore(scores) {
		if scores[i] < least || len(best) == mostSentences {
			break
		}
		if isSaid(i) {
			said = true
			continue
		}
		least = max(least, further*scores[i])
		if !quoted[all[i].chunk] {
			best = append(best, all[i])
		}
		quoted[all[i].chunk] = true
	}
	return best, said
}

// sentences are the statements in chunks, in their order: no headings, and no questions. Each has the heading above it.
func (w *documentWitness) sentences(chunks []int) (all []quote, units []unit) {
	for _, i := range chunks {
		in := w.index.units[i]
		for _, s := range text.Sentences(in.text) {
			words := in.text[s.From:s.To]
			if document.IsHeading(words) {
				in.heading = words
			} else if !strings.HasSuffix(words, "?") {
				all = append(all, quote{i, s})
				units = append(units, unit{words, in.heading, in.language, w.chunks[i].Hash})
			}
		}
	}
	return all, units
}

// wholeSentences widens a part of a chunk to whole sentences, since a part of a sentence can say the opposite.
func wholeSentences(content string, part text.Span) text.Span {
	for _, s := range text.Sentences(content) {
		if s.From < part.To && s.To > part.From {
			part.From, part.To = min(part.From, s.From), max(part.To, s.To)
		}
	}
	return part
}
