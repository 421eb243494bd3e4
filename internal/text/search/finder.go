package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Finder looks for the words of a query in texts. It is for one goroutine.
type Finder struct {
	query Query
	// begins says by the byte before, 1 for a letter or digit of ASCII, whether a word that answers may begin with a byte
	begins [2][256]bool
	plain  [256]uint8 // 1 for the letters and digits of ASCII
	stems  []string   // what every word that answers begins with, by term
	folds  map[rune]fold
	known  map[string]answer // words that were looked at
}

// answer is the term that a word fits, and how well.
type answer struct{ term, quality int }

// qualities are what quality counts, from 1.
var qualities = [...]float64{0, byPrefix, byStem, exactly}

// mostKnown bounds Finder.known.
const mostKnown = 10_000

// longestStem is how many bytes of a stem MayHold compares: EachWord drops characters near the end of a long word.
const longestStem = MaxWord / 2

// Finder makes a Finder for the words of q.
func (q Query) Finder() *Finder {
	f := &Finder{query: q, folds: map[rune]fold{}, known: map[string]answer{}}
	for _, t := range q.terms {
		stem := t.stem[:min(len(t.stem), longestStem)]
		f.stems = append(f.stems, stem)
		c := stem[0]
		f.begins[0][c] = true
		if 'a' <= c && c <= 'z' {
			f.begins[0][c-'a'+'A'] = true
		}
	}
	for c := range utf8.RuneSelf {
		if wordRune(rune(c)) != 0 {
			f.plain[c] = 1
		}
	}
	for c := utf8.RuneSelf; c < 256; c++ { // what other characters fold to is looked up
		f.begins[0][c], f.begins[1][c] = utf8.RuneStart(byte(c)), utf8.RuneStart(byte(c))
	}
	return f
}

// MayHold says whether a text may hold a word that answers the query: false is certain.
func (f *Finder) MayHold(text []byte) bool {
	after := 0
	for i, c := range text {
		if f.begins[after][c] && f.mayBegin(text[i:]) {
			return true
		}
		after = int(f.plain[c])
	}
	return false
}

// mayBegin says whether a text may begin with a word that answers.
func (f *Finder) mayBegin(text []byte) bool {
	if text[0] >= utf8.RuneSelf {
		r, _ := utf8.DecodeRune(text)
		if f.foldOf(r).several {
			return true
		}
	}
	for _, stem := range f.stems {
		if f.beginsWith(text, stem) {
			return true
		}
	}
	return false
}

// beginsWith says whether a text begins with a stem, whatever its case and accents.
func (f *Finder) beginsWith(text []byte, stem string) bool {
	for stem != "" {
		if len(text) == 0 {
			return false
		}
		if c := text[0]; c < utf8.RuneSelf {
			if Lower(c) != stem[0] {
				return false
			}
			text, stem = text[1:], stem[1:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		as := f.foldOf(r)
		n := min(len(as.text), len(stem))
		if as.parts || as.text[:n] != stem[:n] {
			return false
		}
		text, stem = text[size:], stem[n:]
	}
	return true
}

// fold is what becomes of a character as EachWord reads it.
type fold struct {
	text    string // "" for an accent
	parts   bool   // it stands between words
	several bool   // it holds words of its own, so that one may begin within it
}

func (f *Finder) foldOf(r rune) fold {
	as, known := f.folds[r]
	if known {
		return as
	}
	words := Words(string(r))
	switch {
	case len(words) > 1:
		as.several = true
	case len(words) == 1:
		as.text = words[0]
	default:
		as.parts = strings.TrimFunc(norm.NFKD.String(string(r)), isAccent) != ""
	}
	f.folds[r] = as
	return as
}

func isAccent(r rune) bool { return unicode.Is(unicode.Mn, r) }

// Count counts the words of the query in a document.
func (f *Finder) Count(d Document) Entry {
	e := Entry{lengths: make([]int, len(d.Sections))}
	for _, field := range d.Fields {
		f.countIn(&e, ofWhole, field.Weight, field.Texts)
	}
	for i, s := range d.Sections {
		if s.Heading != "" {
			f.countIn(&e, i, headingWeight, []string{s.Heading})
		}
		e.lengths[i] = f.countIn(&e, i, 0, s.Lines)
		for _, line := range s.Lines {
			e.bytes += len(line)
		}
	}
	return e
}

// countIn adds the matches of one place to e, and returns the number of its words.
func (f *Finder) countIn(e *Entry, section int, weight float64, texts []string) (total int) {
	var counts [maxTerms][len(qualities)]int32
	found := false
	for _, text := range texts {
		total += f.eachWord(text, func(word []byte) {
			if a := f.answerOf(word); a.quality > 0 {
				counts[a.term][a.quality]++
				found = true
			}
		})
	}
	if !found {
		return total
	}
	for term := range counts {
		for quality, count := range counts[term] {
			if count > 0 {
				e.matches = append(e.matches, match{section: int32(section), count: count, weight: float32(weight),
					term: uint8(term), quality: uint8(quality)})
			}
		}
	}
	return total
}

// eachWord is EachWord for the words that may answer. It returns how many words there are in all.
func (f *Finder) eachWord(text string, yield func(word []byte)) (total int) {
	if !isASCII(text) {
		EachWord(text, func(word []byte) {
			total++
			if f.begins[0][word[0]] {
				yield(word)
			}
		})
		return total
	}
	var buf [MaxWord]byte
	after := uint8(0)
	for i := range len(text) {
		is := f.plain[text[i]]
		total += int(is &^ after)
		if is > after && f.begins[0][text[i]] {
			word := buf[:0]
			for at := i; at < len(text) && f.plain[text[at]] == 1 && len(word) < MaxWord; at++ {
				word = append(word, Lower(text[at]))
			}
			yield(word)
		}
		after = is
	}
	return total
}

// answerOf looks up the term that a word fits best.
func (f *Finder) answerOf(text []byte) answer {
	a, known := f.known[string(text)]
	if known {
		return a
	}
	term, quality := f.query.bestTerm(word{string(text), Stem(string(text))})
	for i, q := range qualities {
		if q == quality {
			a = answer{term, i}
		}
	}
	if len(f.known) < mostKnown {
		f.known[string(text)] = a
	}
	return a
}
