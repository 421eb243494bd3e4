package vault

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"sibyl/internal/tool"
)

const maxTerms = 16

// headingWeight is what a term in the heading adds to a section's score, in units of the term's rarity. The text gives at
// most 1, however often the term stands there.
const headingWeight = 2.0

// wholeWeight is what a term adds to all sections of a note, by where it stands.
func wholeWeight(f field) float64 {
	switch f {
	case inTitle:
		return 3
	case inTags:
		return 2.5
	}
	return 0.8
}

// How well a word of a note answers a term.
const (
	exactly  = 1.0
	byStem   = 0.8
	byPrefix = 0.6
)

// query is what a search looks for.
type query struct{ terms []vocable }

// newQuery takes the words of text that carry meaning; all of them if none does. Of words with the same stem one is kept.
func newQuery(text string) (query, error) {
	var all []string
	for _, word := range words(clip(text, 4096)) {
		// Beside the pair that it ends, the last character of an unspaced run would only find too much.
		if len(all) == 0 || !endsPair(all[len(all)-1], word) {
			all = append(all, word)
		}
	}
	content := slices.DeleteFunc(slices.Clone(all), isFunctionWord)
	if len(content) == 0 {
		content = all
	}
	var q query
	for _, word := range content {
		v := vocable{word, stem(word)}
		same := func(t vocable) bool { return t.stem == v.stem }
		if !slices.ContainsFunc(q.terms, same) && len(q.terms) < maxTerms {
			q.terms = append(q.terms, v)
		}
	}
	if len(q.terms) == 0 {
		return q, tool.Errorf(tool.InvalidArgs, "", "the query %q has no word in it", oneLine(text, 100))
	}
	return q, nil
}

func endsPair(pair, word string) bool {
	runes := []rune(pair)
	return len(runes) == 2 && unspaced(runes[0]) && string(runes[1]) == word
}

// match returns the term that a word answers best, and how well; quality 0 if none.
func (q query) match(word vocable) (term int, quality float32) {
	for i, t := range q.terms {
		var found float32
		switch {
		case word.text == t.text:
			found = exactly
		case word.stem == t.stem:
			found = byStem
		case len(t.text) >= 3 && strings.HasPrefix(word.text, t.text):
			found = byPrefix
		}
		if found > quality {
			term, quality = i, found
		}
	}
	return term, quality
}

// hit is a section that answers a query.
type hit struct {
	note    *note
	section int // -1: the note has no section at all
	score   float64
	at      time.Time
}

// candidate is a note with a matching word, and the range of its matches.
type candidate struct {
	note     *note
	from, to int
}

type match struct {
	posting
	term    int
	quality float32
}

// rank returns the sections of the notes in scope that answer q, the best first: ties go to the later date, then to the
// path, then to the line. Of each note it gives at most perNote sections.
//
// The score is the sum over the terms of rarity x (whole note + heading + saturated frequency in the section), after
// BM25F (Robertson, Zaragoza, Taylor 2004), times how much of the query the note covers.
func (s *snapshot) rank(q query, scope func(*note) bool, perNote int) []hit {
	r := ranking{terms: len(q.terms)}
	type answer struct {
		term    int32
		quality float32
	}
	answers := make([]answer, len(s.words))
	for i, word := range s.words {
		if term, quality := q.match(word); quality > 0 {
			answers[i] = answer{int32(term), quality}
		}
	}
	for _, n := range s.notes {
		if !scope(n) {
			continue
		}
		r.notes++
		for _, length := range n.lengths {
			r.words += length
		}
		r.sections += len(n.lengths)
		from := len(r.matches)
		for _, p := range n.postings {
			if a := answers[p.word]; a.quality > 0 {
				r.matches = append(r.matches, match{p, int(a.term), a.quality})
			}
		}
		if len(r.matches) > from {
			r.add(candidate{n, from, len(r.matches)})
		}
	}
	var hits []hit
	for _, c := range r.candidates {
		hits = append(hits, r.sectionsOf(c, perNote)...)
	}
	slices.SortFunc(hits, compareHits)
	return hits
}

func compareHits(a, b hit) int {
	return cmp.Or(
		cmp.Compare(b.score, a.score),
		b.at.Compare(a.at),
		strings.Compare(a.note.path, b.note.path),
		cmp.Compare(a.section, b.section),
	)
}

// ranking gathers what scores depend on.
type ranking struct {
	terms      int
	notes      int
	sections   int
	words      int
	matches    []match
	candidates []candidate
	holding    [maxTerms]int // notes with the term
}

func (r *ranking) add(c candidate) {
	var has [maxTerms]bool
	for _, m := range r.matches[c.from:c.to] {
		has[m.term] = true
	}
	for term, found := range has {
		if found {
			r.holding[term]++
		}
	}
	r.candidates = append(r.candidates, c)
}

// rarity is BM25's inverse document frequency, which is never negative in this form.
func (r *ranking) rarity(term int) float64 {
	with := float64(r.holding[term])
	return math.Log(1 + (float64(r.notes)-with+0.5)/(with+0.5))
}

// coverage is the part of the query, by rarity, that c answers.
func (r *ranking) coverage(c candidate) float64 {
	var has [maxTerms]bool
	for _, m := range r.matches[c.from:c.to] {
		has[m.term] = true
	}
	covered, all := 0.0, 0.0
	for term := range r.terms {
		all += r.rarity(term)
		if has[term] {
			covered += r.rarity(term)
		}
	}
	return covered / all
}

// sectionsOf scores the sections of a note. A section counts if a term stands in it; if the terms stand only in what
// belongs to the whole note, its first section does.
func (r *ranking) sectionsOf(c candidate, most int) []hit {
	var whole [maxTerms]float64
	matches := r.matches[c.from:c.to]
	for len(matches) > 0 && matches[0].field >= inMeta {
		m := matches[0]
		whole[m.term] = max(whole[m.term], wholeWeight(m.field)*float64(m.quality))
		matches = matches[1:]
	}
	scale := 0.4 + 0.6*r.coverage(c)
	var hits []hit
	for len(matches) > 0 {
		n := 1
		for n < len(matches) && matches[n].section == matches[0].section {
			n++
		}
		hits = append(hits, r.hit(c.note, int(matches[0].section), whole, matches[:n], scale))
		matches = matches[n:]
	}
	if len(hits) == 0 {
		hits = append(hits, r.hit(c.note, min(0, len(c.note.sections)-1), whole, nil, scale))
	}
	slices.SortFunc(hits, compareHits)
	return hits[:min(len(hits), most)]
}

func (r *ranking) hit(n *note, section int, whole [maxTerms]float64, matches []match, scale float64) hit {
	var heading, frequency [maxTerms]float64
	for _, m := range matches {
		if m.field == inHeading {
			heading[m.term] = max(heading[m.term], headingWeight*float64(m.quality))
		} else {
			frequency[m.term] += float64(m.quality) * float64(m.count)
		}
	}
	norm := 1.2
	if section >= 0 && r.words > 0 {
		average := float64(r.words) / float64(r.sections)
		norm *= 0.25 + 0.75*float64(n.lengths[section])/average
	}
	score := 0.0
	for term := range r.terms {
		score += r.rarity(term) * (whole[term] + heading[term] + frequency[term]/(frequency[term]+norm))
	}
	h := hit{note: n, section: section, at: n.at, score: math.Round(score*scale*1e4) / 1e4}
	if section >= 0 && !n.sections[section].at.IsZero() {
		h.at = n.sections[section].at
	}
	return h
}
