package digest

import (
	"math"
	"slices"
)

// rank says how central each sentence is: how much of it are words that others take up, whatever its length.
func (l *language) rank(all []sentence) []float64 {
	holding := map[string]int{}
	for _, s := range all {
		for _, stem := range s.stems {
			holding[stem]++
		}
	}
	worth := make([]float64, len(all))
	for i, s := range all {
		sum := 0.0
		if l.words["pointing"].At(s.tokens, 0) > 0 {
			sum = -1 // it leans on the one before
		}
		for _, stem := range s.stems {
			sum += math.Log2(float64(holding[stem])) + 0.25
		}
		worth[i] = sum / math.Sqrt(float64(len(s.stems))+4)
	}
	return worth
}

const (
	mostCentral  = 5
	fewestSaid   = 4 // words of a key sentence
	fewestMeant  = 2 // stems of one
	shareCentral = 4 // one key sentence for so many
)

// best picks the key sentences, the most central first, none like another.
func (t talk) best(l *language) []finding {
	order := make([]int, 0, len(t.sentences))
	for i, s := range t.sentences {
		if countWords(s.tokens) >= fewestSaid && len(s.stems) >= fewestMeant && !s.asked && !l.isQuestion(s) && !l.mayAsk(s) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case t.worth[a] > t.worth[b]:
			return -1
		case t.worth[a] < t.worth[b]:
			return 1
		}
		return a - b
	})
	most := min(mostCentral, (len(t.sentences)+shareCentral-1)/shareCentral)
	var kept []finding
	for _, i := range order {
		if len(kept) == most {
			break
		}
		if !slices.ContainsFunc(kept, func(k finding) bool { return alike(t.sentences[k.at].stems, t.sentences[i].stems) }) {
			kept = append(kept, finding{at: i})
		}
	}
	return kept
}

// mayAsk says whether speech without signs begins as questions do. It is not sure enough to be listed as one.
func (l *language) mayAsk(s sentence) bool {
	lead := l.connects("lead", s.tokens, 0)
	return !s.stated && (l.words["interrogative"].At(s.tokens, 0) > 0 || lead > 0 && l.words["interrogative"].At(s.tokens, lead) > 0)
}

// alike says whether two sentences say much of the same.
func alike(a, b []string) bool {
	return 2*shares(a, b) > min(len(a), len(b))
}
