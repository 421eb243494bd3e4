package search

import (
	"cmp"
	"math"
	"slices"
)

// Document is a text in sections, such as a note with headings, or a file in chunks.
type Document struct {
	Fields   []Field // of the whole document, such as its title
	Sections []Section
}

// Field is text that stands out. A term in it counts Weight, however often it occurs there; in running text a term
// counts at most 1.
type Field struct {
	Weight float64
	Texts  []string
}

// Section is a part that can be a hit of its own.
type Section struct {
	Heading string
	Lines   []string
}

// headingWeight is the weight of a section's heading.
const headingWeight = 2.0

// ofWhole is the section number of the document's own fields.
const ofWhole = -1

// Entry is a document in which the words of a query are counted. It never changes.
type Entry struct {
	matches []match
	lengths []int // words per section
	bytes   int   // of the running text
}

// Found says whether the document holds a word of the query.
func (e Entry) Found() bool { return len(e.matches) > 0 }

// match says how often words that answer a term equally well occur in one place of a document. The document's fields
// come first, then the sections.
type match struct {
	section, count int32
	weight         float32 // of its field; 0 in running text
	term, quality  uint8   // quality is an index of qualities
}

// worth is how well the words of a match answer its term.
func (m match) worth() float64 { return qualities[m.quality] }

// Others are documents that were not counted, as they hold no word of the query.
type Others struct{ Documents, Sections, Bytes int }

// Hit is a section that answers a query.
type Hit struct {
	Document int // its place among the entries
	Section  int // -1: the document has no section at all
	Score    float64
}

// ranking gathers what scores depend on.
type ranking struct {
	questionWeights []float64 // Query.weights
	entries         []Entry
	documents       float64
	usual           float64 // words of a section
	weights         Weights // of the terms, by their rarity
	total           float64
}

// Rank returns the sections of documents that answer q, the best first, of each document at most most. entries were
// counted for q. Ties says which of two hits of equal score comes first.
//
// For words, the score is the sum over the terms of rarity x (fields of the whole + heading + saturated frequency in
// the section), times how much of the query the document covers. For a question (Query.weights), titles and headings
// count less, and the factor is what the section covers.
func Rank(q Query, entries []Entry, others Others, most int, ties func(a, b Hit) int) []Hit {
	r := ranking{questionWeights: q.weights, entries: entries, weights: make(Weights, len(q.terms)),
		documents: float64(len(entries) + others.Documents)}
	sections, words, bytes := others.Sections, 0, 0
	for _, e := range entries {
		for _, length := range e.lengths {
			words += length
		}
		sections += len(e.lengths)
		bytes += e.bytes
	}
	if words > 0 { // a byte of the others is taken to hold as many words as one of the entries
		r.usual = float64(words) * (1 + float64(others.Bytes)/float64(bytes)) / float64(sections)
	}
	r.weighTerms()
	order := func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), ties(a, b), cmp.Compare(a.Section, b.Section))
	}
	var hits []Hit
	for document, e := range entries {
		if !e.Found() {
			continue
		}
		sections := r.sectionsOf(document)
		slices.SortFunc(sections, order)
		hits = append(hits, sections[:min(len(sections), most)]...)
	}
	slices.SortFunc(hits, order)
	return hits
}

// weighTerms sets the weight of each term: its rarity, times what the question gives it.
func (r *ranking) weighTerms() {
	holding := make([]float64, len(r.weights))
	for _, e := range r.entries {
		if !e.Found() {
			continue
		}
		for term, has := range r.termsOf(e) {
			holding[term] += has
		}
	}
	for term, with := range holding {
		r.weights[term] = Rarity(r.documents, with)
		if r.questionWeights != nil {
			r.weights[term] *= r.questionWeights[term]
		}
	}
	r.total = r.weights.Total()
}

// termsOf gives for each term 1 if the document contains it, else 0.
func (r *ranking) termsOf(e Entry) []float64 {
	has := make([]float64, len(r.weights))
	for _, m := range e.matches {
		has[m.term] = 1
	}
	return has
}

// sectionsOf scores the sections of a document that contain a term. If the terms are only in the document's fields, it
// scores the first section.
func (r *ranking) sectionsOf(document int) []Hit {
	e := r.entries[document]
	scale := leastOfWords + (1-leastOfWords)*r.weights.Sum(r.termsOf(e))/r.total
	whole := make([]float64, len(r.weights))
	matches := e.matches
	for len(matches) > 0 && matches[0].section == ofWhole {
		m := matches[0]
		whole[m.term] = max(whole[m.term], float64(m.weight)*m.worth())
		matches = matches[1:]
	}
	var hits []Hit
	for len(matches) > 0 {
		n := 1
		for n < len(matches) && matches[n].section == matches[0].section {
			n++
		}
		hits = append(hits, r.scoreSection(document, int(matches[0].section), whole, matches[:n], scale))
		matches = matches[n:]
	}
	if len(hits) == 0 {
		hits = append(hits, r.scoreSection(document, min(0, len(e.lengths)-1), whole, nil, scale))
	}
	return hits
}

// scoreSection scores one section. matches are those in it, whole is what the document's fields give each term, and
// scale is how much of the query the document covers; a question uses what the section covers instead.
func (r *ranking) scoreSection(document, section int, whole []float64, matches []match, scale float64) Hit {
	heading, frequency := make([]float64, len(r.weights)), make([]float64, len(r.weights))
	for _, m := range matches {
		if m.weight > 0 {
			heading[m.term] = max(heading[m.term], float64(m.weight)*m.worth())
		} else {
			frequency[m.term] += m.worth() * float64(m.count)
		}
	}
	length := 0.0
	if section >= 0 && r.usual > 0 {
		length = float64(r.entries[document].lengths[section]) / r.usual
	}
	values := slices.Clone(whole)
	if r.questionWeights != nil {
		scale = r.sectionScale(whole, heading, frequency)
		for term := range values {
			values[term] *= wholeShare
			heading[term] *= headingShare
		}
	}
	for term := range values {
		values[term] += heading[term] + Saturated(frequency[term], length, lengthShare)
	}
	return Hit{Document: document, Section: section, Score: math.Round(r.weights.Sum(values)*scale*1e4) / 1e4}
}

// The shares of titles and headings in the score of a question, whose answer stands in running text.
const (
	wholeShare   = 0.2
	headingShare = 0.5
	wholeCover   = 0.6
)

// How strictly a long section is judged, and the part of a score that stays where almost none of the words or of the
// question is covered.
const (
	lengthShare     = 0.75
	leastOfWords    = 0.4
	leastOfQuestion = 0.1
)

// sectionScale is how much of a question a section and the fields of its document cover.
func (r *ranking) sectionScale(whole, heading, frequency []float64) float64 {
	covered := make([]float64, len(whole))
	for term := range covered {
		covered[term] = max(min(1, whole[term])*wholeCover, min(1, heading[term]), min(1, frequency[term]))
	}
	return leastOfQuestion + (1-leastOfQuestion)*r.weights.Sum(covered)/r.total
}
