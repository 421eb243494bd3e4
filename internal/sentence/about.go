package sentence

import (
	"slices"
	"strings"
)

// A question about a matter says nothing by itself: “When exactly did this happen: ‘The fire could have been prevented’?” Documents seldom put a
// matter in the same words, so a sentence answers that speaks of what the matter is about and has what the question asks for.
const (
	spokenOf   = 0.5     // how well a word must be stood for, so that a sentence speaks of it
	ofMatter   = 1.0 / 3 // of the words of a matter, so many name it although its subject is not among them
	ofTitle    = 1.0 / 2 // of them, where headings alone have them
	ofOpening  = 2.0 / 3 // of them, in the sentence that opens a paragraph
	ofWhole    = 2.0 / 3 // of them, and leastWhole at least, in a text that tells of the matter as a whole
	leastWhole = 3
	inWhole    = 0.25 // what that adds to the rank of its sentences
	nearMatter = 0.6  // of the best rank, for a further sentence
)

// matter finds what a question is about that says nothing by itself: what it points at and quotes, what stands before its colon, or else the
// hypothesis. It is nil for any other question.
func (c *Corpus) matter(q *Question, asking string, opens []string) []term {
	before, rest, parted := strings.Cut(asking, ": ")
	if !parted || len(q.quoted) > 0 {
		before, rest = "", asking
	}
	own := c.terms(rest, q.language, opens, nil)
	points := len(q.quoted) > 0 && slices.ContainsFunc(pieces(asking), func(p piece) bool { return isPointing(p.low, q.language) })
	if slices.ContainsFunc(own, term.tells) && !points {
		return nil
	}
	list := c.terms(before, q.language, opens, nil)
	for _, quoted := range q.quoted {
		list = append(list, c.terms(quoted, q.language, nil, list)...)
	}
	if !slices.ContainsFunc(list, term.tells) && (parted || len(q.quoted) > 0) {
		list = c.terms(c.hypothesis, q.language, nil, nil)
	}
	if !slices.ContainsFunc(list, term.tells) {
		return nil
	}
	for _, t := range own {
		t.content, t.must = false, false
		list = append(list, t)
	}
	return list
}

// tells says whether a word says what something is about.
func (t term) tells() bool { return t.content || t.must }

// survey finds the sentences that say of a matter what a question asks for, the best first. Where it asks for anything, nothing is said again.
func (c *Corpus) survey(q Question, order []int) []found {
	var all []found
	for place, at := range order {
		whole := c.chunks[at].tellsOf(q)
		for i := range c.chunks[at].sentences {
			f, ok := c.about(q, at, i, whole)
			if ok && (q.kind != anything || !c.chunks[at].isSaid(i, q.earlier)) {
				f.rank = f.score + 0.02/float64(place+1)
				if whole {
					f.rank += inWhole
				}
				all = append(all, f)
			}
		}
	}
	return c.first(all, nearMatter)
}

// about says how much a sentence speaks of a matter, and whether it answers. Of a text that tells of the matter as a whole each may.
func (c *Corpus) about(q Question, at, i int, whole bool) (found, bool) {
	ch := &c.chunks[at]
	f := found{chunk: at, sentence: i}
	text := ch.text(i)
	isTitle := ch.opens && i == 0 && !strings.ContainsAny(text[len(text)-1:], ".!")
	if isRow := strings.HasPrefix(text, "|"); !ch.tells(i) || isTitle || isRow { // a row of a table says nothing without its head
		return f, false
	}
	f.back = c.pointsBack(ch, i, q.language)
	sum := 0.0
	for _, t := range q.terms {
		_, value := c.stands(t, ch, i, f.back)
		sum += t.weight * value
	}
	f.score = sum / q.total
	return f, (whole || ch.isOf(q, i, f.back)) && c.fits(q, text)
}

// tellsOf says whether a text tells of a matter as a whole: it names most of it, and no sentence by itself more than half of that. A text on several
// matters names one of them in one place.
func (ch *chunk) tellsOf(q Question) bool {
	telling, named := 0, 0
	bySentence := make([]int, len(ch.sentences))
	for _, t := range q.terms {
		if !t.tells() {
			continue
		}
		telling++
		found := false
		for i := range ch.sentences {
			if best(t, ch.sentences[i].words) >= spokenOf {
				bySentence[i]++
				found = true
			}
		}
		if found {
			named++
		}
	}
	return named >= leastWhole && float64(named) >= ofWhole*float64(telling) && 2*slices.Max(bySentence) <= named
}

// isOf says whether a sentence is of a matter: it or a heading names its subject, it speaks of some of the matter where the subject is named around
// it or nowhere at all, a heading speaks of half of it, or the sentence that opens its paragraph of most.
func (ch *chunk) isOf(q Question, i int, points bool) bool {
	subject, named := false, false
	said, above, opening, telling := 0.0, 0.0, 0.0, 0.0
	for _, t := range q.terms {
		if !t.tells() {
			continue
		}
		in, under := ch.names(t, i, points)
		if telling == 0 {
			subject = max(in, under) >= spokenOf
			named = len(t.likeness) == 0 || slices.ContainsFunc(ch.sentences, func(o sentence) bool { return best(t, o.words) >= spokenOf })
		}
		telling++
		if in >= spokenOf {
			said++
		}
		if under >= spokenOf {
			above++
		}
		if best(t, ch.sentences[ch.opening(i)].words) >= spokenOf {
			opening++
		}
	}
	return subject || named && said >= ofMatter*telling || above >= ofTitle*telling || opening >= ofOpening*telling
}

// names says how well a sentence stands for a term, with the one that it goes on from, and how well what it stands under does.
func (ch *chunk) names(t term, i int, points bool) (in, under float64) {
	s := &ch.sentences[i]
	in = best(t, s.words)
	if points {
		in = max(in, pointingTo*best(t, ch.sentences[i-1].words))
	}
	return in, max(aboveIt*best(t, s.under), inTitle*best(t, ch.title))
}

// opening is the first sentence of the paragraph of a sentence.
func (ch *chunk) opening(i int) int {
	for !ch.sentences[i].first {
		i--
	}
	return i
}

// isSaid says whether a sentence was quoted before.
func (ch *chunk) isSaid(i int, earlier []Exchange) bool {
	return slices.ContainsFunc(earlier, func(e Exchange) bool { return !e.NotFound && strings.Contains(e.Answer, ch.text(i)) })
}
