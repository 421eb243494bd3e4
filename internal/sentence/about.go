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
	nearMatter = 0.6     // of the best score, for a further sentence
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
		for i := range c.chunks[at].sentences {
			f, ok := c.about(q, at, i)
			if ok && (q.kind != anything || !c.chunks[at].isSaid(i, q.earlier)) {
				f.rank = f.score + 0.02/float64(place+1)
				all = append(all, f)
			}
		}
	}
	return c.first(all, nearMatter)
}

// about says how much a sentence speaks of a matter, and whether it answers.
func (c *Corpus) about(q Question, at, i int) (found, bool) {
	ch := &c.chunks[at]
	f := found{chunk: at, sentence: i}
	text := ch.text(i)
	isTitle := ch.opens && i == 0 && !strings.ContainsAny(text[len(text)-1:], ".!")
	if isRow := strings.HasPrefix(text, "|"); !ch.tells(i) || isTitle || isRow { // a row of a table says nothing without its head
		return f, false
	}
	f.back = c.pointsBack(ch, i, q.language)
	sum, subject, spoken, telling := 0.0, 0.0, 0.0, 0.0
	for _, t := range q.terms {
		_, value := c.stands(t, ch, i, f.back)
		sum += t.weight * value
		if !t.tells() {
			continue
		}
		if telling == 0 {
			subject = value
		}
		telling++
		if value >= spokenOf {
			spoken++
		}
	}
	f.score = sum / q.total
	return f, (subject > 0 || spoken >= ofMatter*telling) && c.fits(q, text)
}

// isSaid says whether a sentence was quoted before.
func (ch *chunk) isSaid(i int, earlier []Exchange) bool {
	return slices.ContainsFunc(earlier, func(e Exchange) bool { return !e.NotFound && strings.Contains(e.Answer, ch.text(i)) })
}
