package oracle

import (
	"slices"
	"strings"
	"unicode"

	"sibyl/internal/text"
	"sibyl/internal/text/search"
)

// sought is what a question asks for, by which places and their lines are judged.
type sought struct {
	words  []soughtWord
	figure bool // it asks for a number or a date
}

// soughtWord is a word of a question, or a phrase: one of its ways to be written, each as stems.
type soughtWord struct {
	ways   [][]string
	weight float64
}

// What a word of a question says for a place that has it. A figure counts as a whole word where one is asked for.
const (
	wholeWord = 1.0
	halfWord  = 0.5 // one that says little about where to look
)

// soughtBy are words that all say as much.
func soughtBy(terms ...string) (s sought) {
	for _, t := range terms {
		w := soughtWord{weight: wholeWord}
		low := strings.ToLower(t)
		for _, form := range slices.Concat([]string{low}, search.Forms(low), search.Abbreviations(low)) {
			w.add(form)
		}
		s.words = append(s.words, w)
	}
	return s
}

func (w *soughtWord) add(way string) {
	var stems []string
	for one := range strings.FieldsSeq(way) {
		stems = append(stems, search.Stem(one))
	}
	w.ways = append(w.ways, stems)
}

// sought is what the question asks for. In another language than English its words may stand in English, too.
func (o offline) sought() sought {
	s, foreign := soughtBy(o.terms...), search.IsForeign(o.sit.Question)
	for i, t := range o.terms {
		w, low := &s.words[i], text.Fold(t)
		if search.IsWeak(low) || search.IsGeneric(low) {
			w.weight = halfWord
		}
		if foreign {
			for _, english := range append(slices.Concat(search.InEnglish(low)...), search.Cognates(low)...) {
				w.add(english)
			}
		}
	}
	s.figure = slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(o.sit.Question),
		func(r rune) bool { return !unicode.IsLetter(r) }),
		func(w string) bool { return search.AsksNumber(w) || search.AsksDate(w) })
	return s
}

// found says which of the words stand in lines, and how much of them a line has that holds a number.
type found struct {
	words  []bool
	figure float64
}

// in looks for the words in a line.
func (s sought) in(line string) (f found) {
	f.words = make([]bool, len(s.words))
	for i, w := range s.words {
		f.words[i] = slices.ContainsFunc(w.ways, func(stems []string) bool {
			return !slices.ContainsFunc(stems, func(stem string) bool { return !beginsIn(line, stem) })
		})
	}
	if s.figure && numberPattern().MatchString(line) {
		f.figure = s.worth(found{words: f.words})
	}
	return f
}

func (s sought) inLines(lines []string) []found {
	all := make([]found, len(lines))
	for i, line := range lines {
		all[i] = s.in(line)
	}
	return all
}

// join is what all of them have.
func (s sought) join(all ...found) (f found) {
	f.words = make([]bool, len(s.words))
	for _, one := range all {
		for i, has := range one.words {
			f.words[i] = f.words[i] || has
		}
		f.figure = max(f.figure, one.figure)
	}
	return f
}

// worth is how much of what is sought was found; figures count as much as their line has of the words.
func (s sought) worth(f found) (points float64) {
	all := 0.0
	for i, w := range s.words {
		all += w.weight
		if f.words[i] {
			points += w.weight
		}
	}
	if f.figure > 0 {
		points += wholeWord * f.figure / all
	}
	return points
}

func (f found) count() (n int) {
	for _, has := range f.words {
		if has {
			n++
		}
	}
	return n
}
