package sentence

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

const (
	mostSentences  = 3
	mostCandidates = 40   // chunks that are looked at
	enough         = 0.68 // of the weight of a question that an answer must cover
	enoughMeant    = 0.42 // of it, where the passage is also the one that means most of the same
	nearBest       = 0.9  // of the best score, for a further sentence
)

// How much a word counts beside the sentence that answers.
const (
	besideIt   = 0.45 // in the sentence before it
	aboveIt    = 0.7  // in the heading that it stands under
	inTitle    = 0.5  // in the name of its document, or its first line
	aroundIt   = 0.25 // elsewhere in the chunk
	leastOwn   = 0.3  // of the weight that the sentence itself must cover
	leastSaid  = 0.7  // of the weight of what is no name: names say what it is about, and not what is asked
	mayMiss    = 4    // one of so many words of meaning may be missing
	pointingTo = 0.95 // in the sentence before it, of which it goes on to speak
)

// found is a sentence that answers.
type found struct {
	chunk, sentence int
	score           float64 // share of the question that it covers
	rank            float64 // score, with what breaks ties
	back            bool    // it can't be understood without the sentence before it
	whole           bool    // it speaks, with what it stands under, of all that the question says
}

// Answers gives the sentences that answer a question, the best first; none if nothing does. What answers one of several things that are asked for
// stands before what answers the next. Near ranks the parts by how near they are to the question by their meaning, the nearest first; nil where only words are searched.
func (c *Corpus) Answers(q Question, near []int) []Quote {
	list := c.find(q, near)
	for _, other := range q.also {
		for _, f := range c.find(other, near) {
			if !slices.ContainsFunc(list, func(k found) bool { return c.repeats(k, f) }) {
				list = append(list, f)
			}
		}
	}
	return c.quotes(list)
}

// Clear is the one sentence that clearly answers a question: it has what is asked for and speaks of all that the question says, and no other
// does so nearly as well. Where several things are asked for, it is one sentence for each, or the same for some; none where one has none.
func (c *Corpus) Clear(q Question) []Quote {
	var list []found
	for _, part := range append([]Question{q}, q.also...) {
		if part.kind == anything || part.survey {
			return nil
		}
		answers := c.find(part, nil)
		if len(answers) != 1 || !answers[0].whole {
			return nil
		}
		if !slices.ContainsFunc(list, func(f found) bool { return c.repeats(f, answers[0]) }) {
			list = append(list, answers[0])
		}
	}
	return c.quotes(list)
}

func (c *Corpus) find(q Question, near []int) []found {
	if list := c.repeated(q); len(list) > 0 {
		return list
	}
	order := c.rank(append(slices.Clone(q.terms), q.context...), q.language)
	best := -1 // the chunk that means most of the same
	if len(near) > 0 {
		order, best = fuse(order, near), near[0]
	}
	order = order[:min(len(order), mostCandidates)]
	if q.survey {
		return c.survey(q, order)
	}
	return c.choose(q, order, best)
}

// fuse joins two rankings by their reciprocal ranks.
func fuse(a, b []int) []int {
	const k = 60
	scores := map[int]float64{}
	for _, list := range [][]int{a, b} {
		for i, chunk := range list {
			scores[chunk] += 1 / float64(k+i+1)
		}
	}
	var all []int
	for chunk := range scores {
		all = append(all, chunk)
	}
	slices.SortFunc(all, func(x, y int) int { return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(x, y)) })
	return all
}

// choose finds the sentences of chunks that answer a question, the best first.
func (c *Corpus) choose(q Question, order []int, best int) []found {
	var all []found
	for place, at := range order {
		for i := range c.chunks[at].sentences {
			f, ok := c.score(q, at, i, at == best)
			if !ok {
				continue
			}
			f.rank = f.score + 0.05*c.covers(q.context, at, i) + 0.02/float64(place+1)
			all = append(all, f)
		}
	}
	return c.first(all, nearBest)
}

// first are the sentences of the highest rank, and those near to the best.
func (c *Corpus) first(all []found, near float64) (kept []found) {
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.chunk, b.chunk), cmp.Compare(a.sentence, b.sentence))
	})
	for _, f := range all {
		if len(kept) == mostSentences || f.rank < near*all[0].rank {
			break
		}
		if !slices.ContainsFunc(kept, func(k found) bool { return c.repeats(k, f) }) {
			kept = append(kept, f)
		}
	}
	return kept
}

// score says how much of a question a sentence covers, and whether it answers. Meant says that its chunk means most of the same.
func (c *Corpus) score(q Question, at, i int, meant bool) (found, bool) {
	ch := &c.chunks[at]
	f := found{chunk: at, sentence: i}
	if !ch.tells(i) || len(q.terms) == 0 {
		return f, false
	}
	points := c.pointsBack(ch, i, q.language)
	f.whole = true
	sum, own, said, unnamed := 0.0, 0.0, 0.0, 0.0
	contents, missing := 0, 0
	for _, t := range q.terms {
		here, value := c.stands(t, ch, i, points)
		if t.must && !c.isNamed(t, ch, i, points) || t.counted && here == 0 {
			return f, false
		}
		if in, above := ch.names(t, i, points); (t.tells() || t.weak) && max(in, above) < spokenOf {
			f.whole = false
		}
		sum += t.weight * value
		own += t.weight * here
		if t.content {
			contents++
			if value <= aroundIt {
				missing++
			}
		}
		if !t.must {
			said += t.weight * value
			unnamed += t.weight
		}
	}
	f.score = sum / q.total
	f.back = points
	bar, least, may := enough, leastSaid, contents/mayMiss
	if meant {
		bar, least, may = enoughMeant, enoughMeant, contents/2
	}
	if math.IsNaN(f.score) || f.score < bar || own < leastOwn*q.total && !points || said < least*unnamed || missing > may {
		return f, false
	}
	return f, c.fits(q, ch.text(i))
}

// stands says how well a sentence stands for a term: by its own words, and together with what is around it.
func (c *Corpus) stands(t term, ch *chunk, i int, points bool) (here, value float64) {
	s := &ch.sentences[i]
	here = best(t, s.words)
	value = here
	if i > 0 && !s.first {
		share := besideIt
		if points {
			share = pointingTo
		}
		value = max(value, share*best(t, ch.sentences[i-1].words))
	}
	value = max(value, aboveIt*best(t, s.under), inTitle*best(t, ch.title))
	if value < aroundIt {
		for j := range ch.sentences {
			value = max(value, aroundIt*best(t, ch.sentences[j].words))
		}
	}
	return here, value
}

// text is a sentence as it stands there.
func (ch *chunk) text(i int) string { return ch.whole[ch.sentences[i].from:ch.sentences[i].to] }

// tells says whether a sentence is one that can answer: no heading, and no question.
func (ch *chunk) tells(i int) bool {
	return !ch.sentences[i].heading && !strings.HasSuffix(ch.text(i), "?")
}

// pointsBack says whether a sentence goes on to speak of what the one before it names.
func (c *Corpus) pointsBack(ch *chunk, i int, language string) bool {
	return i > 0 && !ch.sentences[i-1].heading && !ch.sentences[i].first && c.points(ch.text(i), language)
}

// isNamed says whether a name or a number stands where it says what a sentence is about: in the sentence, in that which it goes on from, or
// above it.
func (c *Corpus) isNamed(t term, ch *chunk, i int, points bool) bool {
	const named = partly
	if best(t, ch.sentences[i].under) >= named || best(t, ch.title) >= named && !t.single {
		return true
	}
	for j := i; j >= 0 && (j == i || j == i-1 && points); j-- {
		s := &ch.sentences[j]
		if best(t, s.words) >= named && (!t.single || hasLetter(ch.whole[s.from:s.to], t.word)) {
			return true
		}
	}
	return false
}

// hasLetter says whether a letter stands in a sentence as a name: pump A, but not “A pump”.
func hasLetter(text, letter string) bool {
	for i, p := range pieces(text) {
		if i > 0 && p.text == strings.ToUpper(letter) {
			return true
		}
	}
	return false
}

// best is how well one of some words stands for a term.
func best(t term, words []int32) (most float64) {
	for _, id := range words {
		most = max(most, t.likeness[id])
	}
	return most
}

// covers is the share of terms that a sentence, its chunk or its title covers.
func (c *Corpus) covers(terms []term, at, i int) float64 {
	sum, total := 0.0, 0.0
	for _, t := range terms {
		total += t.weight
		sum += t.weight * max(best(t, c.chunks[at].sentences[i].words), aboveIt*best(t, c.chunks[at].sentences[i].under), inTitle*best(t, c.chunks[at].title))
	}
	if total == 0 {
		return 0
	}
	return sum / total
}

// points says whether a sentence begins with a word for what was named before.
func (c *Corpus) points(text, language string) bool {
	list := pieces(text)
	for _, p := range list[:min(len(list), 2)] {
		if isPointing(p.low, language) && p.low != "one" && p.low != "das" && p.low != "there" {
			return true
		}
	}
	return false
}

// repeats says whether two sentences are nearly the same, or one after the other is already quoted with it.
func (c *Corpus) repeats(a, b found) bool {
	if a.chunk == b.chunk && (a.back && a.sentence-1 == b.sentence || b.back && b.sentence-1 == a.sentence) {
		return true
	}
	x, y := c.chunks[a.chunk].sentences[a.sentence].words, c.chunks[b.chunk].sentences[b.sentence].words
	return slices.Equal(x, y)
}

// quotes are sentences as they stand there, with what they can't be understood without.
func (c *Corpus) quotes(list []found) (all []Quote) {
	for _, f := range list {
		in := c.chunks[f.chunk].sentences
		quote := Quote{Part: f.chunk, From: in[f.sentence].from, To: in[f.sentence].to}
		if f.back {
			quote.From = in[f.sentence-1].from
		}
		all = append(all, quote)
	}
	return all
}
