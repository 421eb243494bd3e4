package rules

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"sibyl/internal/learned"
)

// whether is the aspect of a question for yes or no. In gaps it is What.
const whether = "whether"

// signs are what is seen in an answer that may tell whether it gives an aspect of its question: each by itself, and for the aspect.
type signs struct {
	l      *language
	aspect string
	list   []learned.Feature
}

// signsOf gives the signs of an answer.
func (l *language) signsOf(q question, aspect string, a answer) []learned.Feature {
	s := &signs{l: l, aspect: aspect}
	all := l.shapes(q, a)
	s.sequences(all)
	s.add("aspect", 1)
	s.length(all, a)
	s.kinds(q, all)
	s.beginning(q, all)
	s.phrases(a)
	v := l.ruled(q, spoken(aspect), a)
	s.add("rules "+v.category+" "+v.why, weighty)
	return s.list
}

// spoken is an aspect as gaps have it.
func spoken(aspect string) string {
	if aspect == whether {
		return What
	}
	return aspect
}

// What signs count, by what is known of them: words side by side share gramsTogether, however many they are.
const (
	gramsTogether = 5
	weighty       = 0.7
	light         = 0.35
)

func (s *signs) add(name string, value float64) {
	s.list = append(s.list, learned.Feature{Name: name, Value: value}, learned.Feature{Name: s.aspect + "|" + name, Value: value})
}

// sequences adds what stands side by side: words, their beginnings, and what kinds they are of.
func (s *signs) sequences(all []shaped) {
	var shapes, said, stems []string
	for i, t := range all {
		if i == 0 || t.sentence != all[i-1].sentence {
			shapes, said = append(shapes, "^"), append(said, "^")
		}
		shapes, said = append(shapes, t.shape), append(said, t.word)
		stems = append(stems, t.word[:min(len(t.word), longestBeginning)])
	}
	shapes, said = append(shapes, "$"), append(said, "$")
	s.grams("shape", shapes, 3)
	s.grams("word", said, 2)
	s.grams("begins", stems, 1)
	if len(s.list) == 0 {
		return
	}
	each := gramsTogether / math.Sqrt(float64(len(s.list)))
	for i := range s.list {
		s.list[i].Value *= each
	}
}

// longestBeginning is how many bytes of a word are its beginning.
const longestBeginning = 5

// grams adds what stands side by side, up to a length, and what the text begins with.
func (s *signs) grams(name string, list []string, longest int) {
	seen := map[string]bool{}
	for n := 1; n <= longest; n++ {
		for i := 0; i+n <= len(list); i++ {
			if gram := name + strconv.Itoa(n) + "=" + strings.Join(list[i:i+n], " "); !seen[gram] {
				seen[gram] = true
				s.add(gram, 1)
			}
		}
	}
	for n := 1; n <= longest && n < len(list); n++ {
		s.add(name+"^"+strings.Join(list[1:1+n], " "), 1)
	}
}

func (s *signs) length(all []shaped, a answer) {
	s.add("length "+upTo(len(all), 1, 2, 3, 5, 8, 12, 18, 25, 40), weighty)
	s.add("sentences "+upTo(len(a.sentences), 1, 2, 3), weighty)
	if n := len(a.sentences); n > 0 && a.sentences[n-1].asked {
		s.add("asks back", weighty)
	}
}

// upTo names the first bound that a number does not pass.
func upTo(n int, bounds ...int) string {
	for _, b := range bounds {
		if n <= b {
			return strconv.Itoa(b)
		}
	}
	return "more"
}

// kinds adds which kinds of words there are, and which there are not, also for how the question begins.
func (s *signs) kinds(q question, all []shaped) {
	begins := ""
	if len(q.list) > 0 {
		begins = q.list[0].norm
	}
	for _, kind := range wordKinds {
		n := 0
		for _, t := range all {
			if t.kind == kind {
				n++
			}
		}
		has := "has "
		if n == 0 {
			has = "no "
		} else {
			s.add(has+kind+" "+upTo(n, 1, 2, 4), light)
		}
		s.add(has+kind, weighty)
		s.list = append(s.list, learned.Feature{Name: s.aspect + "|" + begins + "|" + has + kind, Value: weighty})
	}
	if len(all) > 0 {
		s.add("first "+all[0].kind, weighty)
	}
}

// beginning adds how the question begins, and with what kind of word the answer does.
func (s *signs) beginning(q question, all []shaped) {
	s.list = append(s.list, learned.Feature{Name: s.aspect + "|asks " + strconv.Itoa(len(q.asked)), Value: weighty})
	first := "$"
	if len(all) > 0 {
		first = all[0].shape
	}
	for i, t := range q.list {
		if t.word && i < 3 {
			name := s.aspect + "|asks " + t.norm
			s.list = append(s.list, learned.Feature{Name: name, Value: light}, learned.Feature{Name: name + "|" + first, Value: light})
		}
	}
}

// signClasses are the classes of words that tell something of what an answer is worth.
var signClasses = [...]string{"ignorance", "evasion", "dodge", "hedge", "not found", "anybody", "everybody", "vague person", "vague thing", "vague time", "vague place",
	"vague amount", "vague cause", "vague manner", "cause firm", "cause", "manner firm", "manner", "place", "yes", "no", "nobody", "first person", "relative time", "hour", "unreal",
	"planned", "role"}

// phrases adds the classes of words that sentences hold, and what they begin with.
func (s *signs) phrases(a answer) {
	for n, x := range a.sentences {
		where := "later "
		if n == 0 {
			where = "first "
		}
		for _, class := range signClasses {
			if !s.l.has(class, x.list) {
				continue
			}
			s.add(where+class, weighty)
			s.add("any "+class, weighty)
			if s.l.classes[class].at(x.list, 0) > 0 {
				s.add(where+"begins "+class, weighty)
			}
		}
		if s.l.negations(x.list) > 0 {
			s.add(where+"negated", weighty)
		}
	}
}

// shaped is a word of an answer with what it is.
type shaped struct {
	word     string // folded; figures are all one
	shape    string // the word itself if it only holds a sentence together, else its kind
	kind     string // one of wordKinds; "" for a word that only holds a sentence together
	sentence int
}

// The kinds of words: numbers, with a unit, of times and of days; names; what the question said too; all else that carries meaning.
var wordKinds = [...]string{"number", "measure", "time", "day", "name", "echo", "content"}

// shapes reads what the words of an answer are.
func (l *language) shapes(q question, a answer) []shaped {
	var all []shaped
	for n, s := range a.sentences {
		kinds := l.kindsOf(s)
		for i, t := range s.list {
			x := shaped{word: t.norm, kind: kinds[i], sentence: n}
			if t.isFigure() {
				x.word = "#"
			}
			switch {
			case x.kind != "":
			case !t.word || l.isFunction(t.norm):
				x.shape = t.norm
			case slices.Contains(q.stems, l.stemOf(t)):
				x.kind = "echo"
			case t.upper && l.code == "en" && i > 0:
				x.kind = "name"
			default:
				x.kind = "content"
			}
			if x.kind != "" {
				x.shape = "<" + x.kind + ">"
			}
			all = append(all, x)
		}
		if s.asked {
			all = append(all, shaped{word: "?", shape: "?", sentence: n})
		}
	}
	return all
}

// kindsOf gives the kinds of the words that parsers know, "" for all others.
func (l *language) kindsOf(s sentence) []string {
	kinds := make([]string, len(s.list))
	mark := func(from, to int, kind string) {
		for i := max(0, from); i < min(to, len(kinds)); i++ {
			if kinds[i] == "" {
				kinds[i] = kind
			}
		}
	}
	for _, d := range l.dates(s.list) {
		mark(d.from, d.to, "time")
	}
	for _, x := range l.quantities(s.list) {
		kind := "number"
		if x.unit != "" {
			kind = "measure"
		}
		mark(x.from, x.to, kind)
	}
	for i := 0; i < len(s.list); i++ {
		t := s.list[i]
		n, _ := l.nameAt(s.list, i)
		switch {
		case n > 0:
			mark(i, i+n, "name")
			i += n - 1
		case l.is("weekday", t.norm) || l.is("season", t.norm) || l.months[t.norm] > 0 && t.upper:
			mark(i, i+1, "day")
		case l.isNumberLike(t):
			mark(i, i+1, "number")
		}
	}
	return kinds
}
