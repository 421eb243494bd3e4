package classify

import (
	"math"
	"math/bits"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Buckets is how many numbers signs are hashed to.
const Buckets = 1 << 19

// Sign is a feature of a question.
type Sign struct {
	Bucket uint32  // the number of its name, below Buckets
	Count  float64 // its weight, above 0

	from [2]int // first token that shows it, and the one after the last; zero: it is about the whole text
	role signRole
}

// signRole is what kind of sign it is.
type signRole byte

const (
	other  signRole = iota
	term            // a word or a name by itself
	before          // the question before it
)

const (
	usualLength   = 6   // words of a question: in a longer one each counts for less
	lettersWeight = 0.5 // weight of a run of letters, where a word has 1
	// weight of the sign of a follow-up: it is decisive, though few training questions show it
	followWeight   = 2
	maxWordLetters = 40 // letters of a word
)

// Signs lists the signs of a question, each once: words, neighbours, letters, the form of the text, the previous
// question.
func Signs(q Query) []Sign { return parseText(q.Text).signs(q) }

// signCollector collects signs. A repeated sign adds nothing.
type signCollector struct {
	all  []Sign
	seen map[uint32]bool
	from [2]int
}

// add adds the sign whose name consists of these parts.
func (s *signCollector) add(role signRole, count float64, parts ...string) {
	h := uint64(14695981039346656037) // FNV-1a, with a byte behind each part that no text has
	for _, part := range parts {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	h ^= h >> 32
	bucket := uint32((h ^ h>>15) % Buckets)
	if !s.seen[bucket] {
		s.seen[bucket] = true
		s.all = append(s.all, Sign{bucket, count, s.from, role})
	}
}

func (t *parsedText) signs(q Query) []Sign {
	s := &signCollector{seen: map[uint32]bool{}}
	count := 1 / math.Sqrt(max(1, float64(len(t.tokens))/usualLength))
	for _, in := range t.sentences {
		previous := "^"
		for i := in[0]; i < in[1]; i++ {
			tok := t.tokens[i]
			s.from = [2]int{i, i + 1}
			s.add(term, count, "word", tok.seen)
			switch i - in[0] {
			case 0:
				s.add(other, count, "first", tok.seen)
			case 1:
				s.add(other, 1, "first two", previous, tok.seen)
			default:
				s.add(other, count, "head", t.tokens[in[0]].seen, tok.seen)
			}
			if tok.kind == word {
				s.addLetters(tok.seen, lettersWeight*count)
			}
			s.from[0] = max(in[0], i-1)
			s.add(other, count, "pair", previous, tok.seen)
			previous = tok.seen
		}
		s.add(other, count, "last", strconv.Itoa(int(t.tokens[in[1]-1].after)), previous)
	}
	s.from = [2]int{}
	s.addLengthAndEnd(t)
	s.addPrevious(t, q)
	return s.all
}

// addLetters adds the runs of three to five letters in a word, its ends included.
func (s *signCollector) addLetters(w string, count float64) {
	letters := []rune("^" + w + "$")
	letters = letters[:min(len(letters), maxWordLetters)]
	for n := 3; n <= 5; n++ {
		for i := 0; i+n <= len(letters); i++ {
			s.add(other, count, "letters", string(letters[i:i+n]))
		}
	}
}

// addLengthAndEnd adds the length of the text, and its last character if that is punctuation.
func (s *signCollector) addLengthAndEnd(t *parsedText) {
	s.add(other, 1, "length", lengthStep(t))
	if last, _ := utf8.DecodeLastRuneInString(t.raw); unicode.IsPunct(last) {
		s.add(other, 1, "ends", string(last))
	}
}

// lengthStep is the number of tokens on a logarithmic scale.
func lengthStep(t *parsedText) string {
	return strconv.Itoa(bits.Len(uint(len(t.tokens) * len(t.tokens))))
}

// addPrevious adds the type of the previous question, and whether this is a follow-up; nothing if the topic has
// changed.
func (s *signCollector) addPrevious(t *parsedText, q Query) {
	if len(q.Previous) == 0 || !q.PreviousType.Valid() || q.PreviousType == Conversational ||
		t.leavesTopic(q.Previous) {
		return
	}
	was := string(q.PreviousType)
	s.add(before, 1, "before", was)
	s.add(before, 1, "before", was, lengthStep(t))
	if t.isFollowUp() {
		s.add(before, followWeight, "follows", was)
	}
}
