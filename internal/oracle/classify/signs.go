package classify

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/learned"
	"sibyl/internal/text/search"
)

// What the names of signs begin with.
const (
	wordSign = "w "
	pairSign = "p "
	kindSign = "#" // stands for a token that is no word
	atStart  = "^" // stands before the first word of a sentence
)

// usualLength is how many words a question has: in a longer one each counts for less.
const usualLength = 6

// lettersCount is what a run of letters counts beside a word.
const lettersCount = 0.5

// signs collects what is seen in a question. What is seen again says nothing more.
type signs struct {
	all   []learned.Feature
	from  []span // the tokens that show each of them; none where it is the text as a whole, or what came before
	at    span   // of those that are added
	seen  map[string]bool
	names strings.Builder // the names, one behind the other: they are many and short
}

// usualSigns and usualNames are how many signs, and bytes of their names, a question has.
const (
	usualSigns = 384
	usualNames = 12 << 10
)

// spent has the room of questions before.
var spent = sync.Pool{New: func() any {
	return &signs{all: make([]learned.Feature, 0, usualSigns), from: make([]span, 0, usualSigns), seen: make(map[string]bool, usualSigns)}
}}

func newSigns() *signs {
	s := spent.Get().(*signs)
	s.names.Grow(usualNames)
	return s
}

// free lets the room of s be used again, unless the question was a long one. Its names stay.
func (s *signs) free() {
	if len(s.all) > usualSigns {
		return
	}
	clear(s.all)
	clear(s.seen)
	s.all, s.from, s.at = s.all[:0], s.from[:0], span{}
	s.names.Reset()
	spent.Put(s)
}

// written is these parts as one text.
func (s *signs) written(parts ...string) string {
	start := s.names.Len()
	for _, part := range parts {
		s.names.WriteString(part)
	}
	return s.names.String()[start:]
}

// add adds the sign whose name is made of these parts.
func (s *signs) add(value float64, parts ...string) {
	if name := s.written(parts...); !s.seen[name] {
		s.seen[name] = true
		s.all, s.from = append(s.all, learned.Feature{Name: name, Value: value}), append(s.from, s.at)
	}
}

// signsOf are what the learned classifier sees: words, their neighbours and letters, how the text is built, and the question before.
func signsOf(t *text, q Query) *signs {
	s := newSigns()
	said := make([]string, len(t.tokens))
	for i, tok := range t.tokens {
		said[i] = seenAs(tok)
	}
	s.words(t, said)
	s.meanings(t)
	s.skeleton(t, said)
	s.at = span{}
	s.build(t)
	s.before(t, q)
	return s
}

// countIn is what a word counts in a text.
func countIn(t *text) float64 { return 1 / math.Sqrt(max(1, float64(len(t.tokens))/usualLength)) }

// words adds each word by itself, as said, with its neighbours and the first word of its sentence, and by its letters.
func (s *signs) words(t *text, said []string) {
	count := countIn(t)
	for _, in := range t.sentences {
		before, head := atStart, said[in.start]
		for i := in.start; i < in.end; i++ {
			tok, w, mentioned := t.tokens[i], said[i], ""
			if tok.quoted {
				mentioned = "quoted "
			}
			s.at = span{i, i + 1}
			s.add(count, mentioned, wordSign, w)
			switch i - in.start {
			case 0:
				s.add(count, "first ", w)
			case 1:
				s.add(1, "first two ", head, " ", w)
				fallthrough
			default:
				s.add(count, "head ", head, " ", w)
			}
			if i == 0 {
				s.add(1, "opens ", w)
			}
			if tok.kind == word {
				s.letters(s.written(mentioned, "l "), w, float64(lettersCount*count))
			}
			if tok.after >= sentence {
				s.add(count, "last ", strconv.Itoa(int(tok.after)), " ", w)
			}
			s.at = span{max(in.start, i-1), i + 1}
			s.add(count, mentioned, pairSign, before, " ", w)
			before = w
		}
	}
}

// meanings adds the English for words of programming in other languages, so that what one language teaches holds for others.
func (s *signs) meanings(t *text) {
	count := countIn(t)
	for i, tok := range t.tokens {
		if tok.kind != word || tok.quoted || len(tok.norm) > longestRead {
			continue
		}
		s.at = span{i, i + 1}
		for _, part := range search.InEnglish(tok.norm) {
			s.add(count, "means ", part[0])
		}
	}
}

// form is how a word stands in the skeleton of its sentence: a word of grammar by itself, any other as a place that is filled.
type form struct{ place, ending string }

const (
	gap           = "*" // stands for what is filled in
	longestOfForm = 3   // letters of words that are most often of grammar, in whatever language
	endingOfForm  = 2   // letters by which other words are told apart
)

func formOf(tok token, w string) form {
	if tok.kind != word || isGrammar(tok.norm) || utf8.RuneCountInString(w) <= longestOfForm {
		return form{w, w}
	}
	return form{gap, w[len(w)-lengthOfLast(w, endingOfForm):]}
}

// lengthOfLast is how many bytes the last letters of a word have.
func lengthOfLast(w string, letters int) int {
	end := len(w)
	for ; letters > 0 && end > 0; letters-- {
		_, size := utf8.DecodeLastRuneInString(w[:end])
		end -= size
	}
	return len(w) - end
}

// skeleton adds how sentences are built, whatever they are about: words of grammar and the places between them, and how neighbours end.
func (s *signs) skeleton(t *text, said []string) {
	count := countIn(t)
	for _, in := range t.sentences {
		two, one := form{}, form{atStart, atStart}
		for i := in.start; i <= in.end; i++ {
			next := endOf(t.tokens[in.end-1].after)
			if i < in.end {
				next = formOf(t.tokens[i], said[i])
			}
			s.at = span{max(in.start, i-1), min(i+1, in.end)}
			if i > in.start {
				s.add(count, "between ", two.place, " ", one.place, " ", next.place)
			}
			s.add(count, "ends with ", one.ending, " ", next.ending)
			two, one = one, next
		}
	}
}

// endOf stands behind the last word of a sentence, which ends in such a way.
func endOf(b brk) form {
	end := [...]string{"$0", "$1", "$2", "$3", "$4"}[b]
	return form{end, end}
}

// seenAs is a token as a sign: a word in its folded form, and of all else its kind.
func seenAs(t token) string {
	switch t.kind {
	case word:
		return t.norm
	case number:
		return kindSign + strconv.Itoa(min(len(t.raw), 5))
	case ident:
		if pascal(t.raw) { // products are written so too
			return kindSign + "Name"
		}
		return kindSign + "name"
	case path:
		return kindSign + "path " + fileExt(t.norm)
	case link:
		return kindSign + "link"
	case block:
		return kindSign + "block"
	}
	return kindSign + t.raw
}

// longestRead bounds the letters of a word that are read, in bytes.
const longestRead = 40

// letters adds the runs of three to five letters of a word, with its ends.
func (s *signs) letters(name, w string, count float64) {
	whole := s.written("^", clip(w, longestRead), "$")
	var starts [longestRead + 4]int // of each letter, and the end
	letters := 0
	for i := range whole {
		starts[letters] = i
		letters++
	}
	starts[letters] = len(whole)
	for n := 3; n <= 5; n++ {
		for i := 0; i+n <= letters; i++ {
			s.add(count, name, whole[starts[i]:starts[i+n]])
		}
	}
}

// build adds how long the text is, and how it begins and ends.
func (s *signs) build(t *text) {
	s.add(1, "length ", strconv.Itoa(steps(len(t.tokens))))
	s.add(1, "sentences ", strconv.Itoa(min(len(t.sentences), 4)))
	if last, _ := utf8.DecodeLastRuneInString(t.raw); unicode.IsPunct(last) {
		s.add(1, "ends ", string(last))
	}
	if first, _ := utf8.DecodeRuneInString(t.raw); unicode.IsUpper(first) {
		s.add(0.5, "capital")
	}
	names := 0
	for i, tok := range t.tokens {
		if first, _ := utf8.DecodeRuneInString(tok.raw); i > 0 && unicode.IsUpper(first) && t.tokens[i-1].after < sentence {
			names++
		}
	}
	s.add(1, "capitals ", strconv.Itoa(min(names, 3)))
	if strings.Contains(t.raw, "?") {
		s.add(1, "asks")
	}
	if strings.Contains(t.raw, "\n") {
		s.add(1, "lines")
	}
}

// steps is a length in steps that become longer.
func steps(n int) int { return bits.Len(uint(n * n)) }

// before adds what the last question was, and whether this one looks like going on with it. Where the topic is another, nothing came before.
func (s *signs) before(t *text, q Query) {
	if len(q.Previous) == 0 || !q.PreviousType.Valid() || q.PreviousType == Conversational || t.leaves(q.Previous) {
		return
	}
	length := bits.Len(uint(len(t.tokens)))
	s.add(1, "before")
	s.add(1, "before, length ", strconv.Itoa(length))
	s.add(1, "before ", string(q.PreviousType))
	s.add(1, "before ", string(q.PreviousType), ", length ", strconv.Itoa(length))
	if by := t.followsBy(); by != standsAlone {
		s.add(1, "follows ", string(q.PreviousType))
		s.add(1, "follows ", string(q.PreviousType), " by ", by)
	}
}
