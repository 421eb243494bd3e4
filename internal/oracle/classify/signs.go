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

// Sign is something that is seen in a question.
type Sign struct {
	Bucket uint32  // the number of its name, below Buckets
	Count  float64 // how much it counts, above 0

	from [2]int // first token that shows it, and the one behind the last; none where it is the text as a whole
	is   role
}

// role is what a sign is beside others.
type role byte

const (
	other  role = iota
	term        // a word or a name by itself
	before      // the question before it
)

const (
	usualLength  = 6   // words of a question: in a longer one each counts for less
	lettersCount = 0.5 // what a run of letters counts beside a word
	// what it counts that a text goes on with the question before it: few lessons show it, and it decides
	followCount = 2
	longestRead = 40 // letters of a word
)

// Signs are what the classifier sees in a question, each once: words, their neighbours and letters, how the text is
// built, and the question before.
func Signs(q Query) []Sign { return newText(q.Text).signs(q) }

// signs collects what is seen. What is seen again says nothing more.
type signs struct {
	all  []Sign
	seen map[uint32]bool
	from [2]int
}

// add adds the sign whose name is made of these parts.
func (s *signs) add(is role, count float64, parts ...string) {
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
		s.all = append(s.all, Sign{bucket, count, s.from, is})
	}
}

func (t *said) signs(q Query) []Sign {
	s := &signs{seen: map[uint32]bool{}}
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
				s.letters(tok.seen, lettersCount*count)
			}
			s.from[0] = max(in[0], i-1)
			s.add(other, count, "pair", previous, tok.seen)
			previous = tok.seen
		}
		s.add(other, count, "last", strconv.Itoa(int(t.tokens[in[1]-1].after)), previous)
	}
	s.from = [2]int{}
	s.whole(t)
	s.history(t, q)
	return s.all
}

// letters adds the runs of three to five letters of a word, with its ends.
func (s *signs) letters(w string, count float64) {
	letters := []rune("^" + w + "$")
	letters = letters[:min(len(letters), longestRead)]
	for n := 3; n <= 5; n++ {
		for i := 0; i+n <= len(letters); i++ {
			s.add(other, count, "letters", string(letters[i:i+n]))
		}
	}
}

// whole adds how long the text is, and how it begins and ends.
func (s *signs) whole(t *said) {
	s.add(other, 1, "length", steps(t))
	if last, _ := utf8.DecodeLastRuneInString(t.raw); unicode.IsPunct(last) {
		s.add(other, 1, "ends", string(last))
	}
}

// steps is how many tokens a text has, in steps that become longer.
func steps(t *said) string { return strconv.Itoa(bits.Len(uint(len(t.tokens) * len(t.tokens)))) }

// history adds what the last question was, and whether this one looks like going on with it. Where the topic is
// another, nothing came before.
func (s *signs) history(t *said, q Query) {
	if len(q.Previous) == 0 || !q.PreviousType.Valid() || q.PreviousType == Conversational || t.leaves(q.Previous) {
		return
	}
	was := string(q.PreviousType)
	s.add(before, 1, "before", was)
	s.add(before, 1, "before", was, steps(t))
	if t.goesOn() {
		s.add(before, followCount, "follows", was)
	}
}
