package rules

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sibyl/internal/learned"
	"sibyl/internal/text/search"
)

//go:embed en.txt
var english string

//go:embed de.txt
var german string

// language holds the closed classes of words of a language, and what is said in it.
type language struct {
	code      string
	classes   map[string]phrases
	say       map[string]string
	numbers   map[string]float64
	units     map[string]unit
	irregular map[string]string // stems of forms that no ending tells
	particles []string          // that a verb may begin with, or have at the end of its clause
	endings   []string          // the longest first; none: those of search
	contrasts []contrast
	marks     map[string][]mark // by word
	openMarks []openMark
	antonyms  map[string]pole // by stem
	months    map[string]int
	weekdays  map[string]int // 1 is Monday
	ordinals  map[string]int
	clocks    map[string]int // the minute of the day that a word names
	worth     func() *learned.Model
}

// unit is what a number is measured in.
type unit struct {
	dimension string
	factor    float64
}

// pole is one side of a pair of antonyms.
type pole struct {
	pair int
	side bool
}

var languages = sync.OnceValue(func() map[string]*language {
	return map[string]*language{"en": parseLanguage("en", english), "de": parseLanguage("de", german)}
})

func languageOf(code, text string) *language {
	code, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(code, "_", "-")), "-")
	if l := languages()[code]; l != nil {
		return l
	}
	return languages()[Language(text)]
}

// Language says which of the two languages a text is in: "en" or "de". A text of neither is "en".
func Language(text string) string {
	count := map[string]int{}
	for _, t := range tokens(text) {
		if !t.word {
			continue
		}
		for code, l := range languages() {
			if l.is("function", t.norm) || l.is("asking", t.norm) {
				count[code]++
			}
		}
		if strings.ContainsAny(text[t.from:t.to], "äöüßÄÖÜ") {
			count["de"]++
		}
	}
	if count["de"] > count["en"] {
		return "de"
	}
	return "en"
}

// parseLanguage reads a file of lines “name: list” and “say name: words”. A name that comes again goes on with its list.
func parseLanguage(code, text string) *language {
	l := &language{code: code, classes: map[string]phrases{}, say: map[string]string{}, numbers: map[string]float64{}, units: map[string]unit{},
		irregular: map[string]string{}, antonyms: map[string]pole{}, marks: map[string][]mark{}, months: map[string]int{}, weekdays: map[string]int{}, ordinals: map[string]int{}, clocks: map[string]int{}, worth: worthModel}
	lists := map[string]string{}
	var order []string
	for line := range strings.Lines(text) {
		name, rest, found := strings.Cut(line, ":")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		rest = strings.TrimSpace(rest)
		if key, ok := strings.CutPrefix(name, "say "); ok {
			l.say[key] = rest
			continue
		}
		if lists[name] == "" {
			order = append(order, name)
		}
		lists[name] += rest + ", "
	}
	slices.SortStableFunc(order, func(a, b string) int { return first(a) - first(b) })
	for _, name := range order {
		l.take(name, lists[name])
	}
	return l
}

// first gives the order in which lists are read: stems are made with endings and irregular forms.
func first(name string) int {
	switch name {
	case "endings":
		return 0
	case "irregular", "particle":
		return 1
	}
	return 2
}

func (l *language) take(name, list string) {
	items := func(yield func(string)) {
		for item := range strings.SplitSeq(list, ",") {
			if item = strings.TrimSpace(item); item != "" {
				yield(item)
			}
		}
	}
	kind, of, _ := strings.Cut(name, " ")
	switch kind {
	case "endings":
		l.endings = strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
		slices.SortStableFunc(l.endings, func(a, b string) int { return len(b) - len(a) })
	case "irregular":
		items(func(item string) {
			form, base, _ := strings.Cut(item, "=")
			l.irregular[fold(form)] = l.cut(fold(base))
		})
	case "numbers":
		items(func(item string) {
			word, value, _ := strings.Cut(item, "=")
			l.numbers[fold(word)], _ = strconv.ParseFloat(value, 64)
		})
	case "unit":
		items(func(item string) {
			word, value, found := strings.Cut(item, "=")
			factor := 1.0
			if found {
				factor, _ = strconv.ParseFloat(value, 64)
			}
			l.units[foldSign(word)] = unit{of, factor}
		})
	case "month":
		items(func(item string) {
			word, value, _ := strings.Cut(item, "=")
			l.months[fold(word)], _ = strconv.Atoi(value)
		})
	case "weekday", "ordinal", "clock":
		if of != "number" {
			l.classes[name] = parsePhrases(list)
			return
		}
		into := l.weekdays
		switch kind {
		case "ordinal":
			into = l.ordinals
		case "clock":
			into = l.clocks
		}
		items(func(item string) {
			word, value, _ := strings.Cut(item, "=")
			into[fold(word)], _ = strconv.Atoi(value)
		})
	case "contrast":
		l.takeContrast(of, list)
	case "antonyms":
		n := 0
		items(func(item string) {
			n++
			left, right, _ := strings.Cut(item, "|")
			for w := range strings.FieldsSeq(left) {
				l.antonyms[l.stem(fold(w))] = pole{n, false}
			}
			for w := range strings.FieldsSeq(right) {
				l.antonyms[l.stem(fold(w))] = pole{n, true}
			}
		})
	case "particle":
		items(func(item string) { l.particles = append(l.particles, fold(item)) })
		l.classes[name] = parsePhrases(list)
	default:
		l.classes[name] = parsePhrases(list)
	}
}

// foldSign folds a word that may be a sign.
func foldSign(word string) string {
	if folded := fold(word); folded != "" {
		return folded
	}
	return word
}

// shortestStem is how many bytes of a word are left at least.
const shortestStem = 4

// stem gives what the forms of a word have in common.
func (l *language) stem(word string) string {
	if s, ok := l.irregular[word]; ok {
		return s
	}
	for _, p := range l.particles {
		if rest, ok := strings.CutPrefix(word, p); ok && l.irregular[rest] != "" {
			return p + l.irregular[rest]
		}
	}
	return l.cut(word)
}

// tokens takes a text apart, with the stems of its words.
func (l *language) tokens(text string) []token {
	list := tokens(text)
	for i, t := range list {
		if t.word {
			list[i].stem = l.stem(t.norm)
		}
	}
	return list
}

func (l *language) stemOf(t token) string {
	if t.stem != "" {
		return t.stem
	}
	return l.stem(t.norm)
}

func (l *language) cut(word string) string {
	word = strings.TrimSuffix(word, "'s")
	if len(l.endings) == 0 {
		return search.Stem(word)
	}
	for _, end := range l.endings {
		if stem, ok := strings.CutSuffix(word, end); ok && len(stem) >= shortestStem {
			return stem
		}
	}
	return word
}

// is says whether a word by itself is of a class.
func (l *language) is(class, word string) bool {
	return l.classes[class].at([]token{{norm: word, word: true}}, 0) > 0
}

// isFunction says whether a word only holds a sentence together.
func (l *language) isFunction(word string) bool {
	return len(word) < 2 || search.IsStop(word) || l.is("function", word)
}

// content gives the stems of the words that carry meaning, each once, in their order. Figures and signs are left out.
func (l *language) content(list []token) []string {
	var stems []string
	for i, t := range list {
		if !t.word || t.isFigure() || l.isFunction(t.norm) || l.isNumberWord(t.norm) || t.upper && l.months[t.norm] > 0 || i > 0 && l.isUnit(t.norm) && (list[i-1].isFigure() || l.isNumberWord(list[i-1].norm)) {
			continue
		}
		if s := l.stemOf(t); !slices.Contains(stems, s) {
			stems = append(stems, s)
		}
	}
	return union(stems, l.separated(list))
}

// longestFrame is how many words stand at most between a verb and its particle.
const longestFrame = 8

// separated gives the stems of verbs whose particle stands at the end of a clause: “lief … aus” is “auslief”.
func (l *language) separated(list []token) []string {
	var stems []string
	for i, t := range list {
		if i == 0 || i+1 < len(list) && list[i+1].word || !l.is("particle", t.norm) {
			continue
		}
		for back := 1; back <= longestFrame && i-back >= 0 && list[i-back].word; back++ {
			if v := list[i-back]; !v.upper && !v.isFigure() && (l.irregular[v.norm] != "" || !l.isFunction(v.norm)) {
				stems = append(stems, l.stem(t.norm+v.norm))
				break
			}
		}
	}
	return stems
}

// phrases are words and groups of words, by their first word. In a group a word may be one of several (“the/a”), or an open one (“premiss*”).
type phrases struct {
	byFirst map[string][]phrase
	open    []phrase // whose first word is open
}

type phrase [][]string

// parsePhrases reads a list that commas part.
func parsePhrases(list string) phrases {
	p := phrases{byFirst: map[string][]phrase{}}
	for item := range strings.SplitSeq(list, ",") {
		var ph phrase
		open := false
		for w := range strings.FieldsSeq(item) {
			var other []string
			alternatives := strings.Split(w, "/")
			if w == "/" {
				alternatives = []string{w}
			}
			for _, a := range alternatives {
				starred := strings.HasSuffix(a, "*")
				a = foldSign(strings.TrimSuffix(a, "*"))
				if starred {
					a += "*"
					open = open || len(ph) == 0
				}
				other = append(other, a)
			}
			ph = append(ph, other)
		}
		switch {
		case len(ph) == 0:
		case open:
			p.open = append(p.open, ph)
		default:
			for _, w := range ph[0] {
				p.byFirst[w] = append(p.byFirst[w], ph)
			}
		}
	}
	return p
}

// at is how many tokens the longest phrase that begins at i has; 0 if none begins there.
func (p phrases) at(list []token, i int) int {
	if i < 0 || i >= len(list) {
		return 0
	}
	longest := 0
	for _, ph := range p.byFirst[list[i].norm] {
		if len(ph) > longest && ph.isAt(list, i) {
			longest = len(ph)
		}
	}
	for _, ph := range p.open {
		if len(ph) > longest && ph.isAt(list, i) {
			longest = len(ph)
		}
	}
	return longest
}

// in finds the first phrase in a list: where it begins and how long it is, or a length of 0.
func (p phrases) in(list []token) (at, length int) {
	for i := range list {
		if n := p.at(list, i); n > 0 {
			return i, n
		}
	}
	return 0, 0
}

// has says whether a phrase of a class stands in a list.
func (l *language) has(class string, list []token) bool {
	_, n := l.classes[class].in(list)
	return n > 0
}

func (ph phrase) isAt(list []token, i int) bool {
	if i+len(ph) > len(list) {
		return false
	}
	for j, other := range ph {
		if !isOneOf(list[i+j].norm, other) {
			return false
		}
	}
	return true
}

func isOneOf(word string, other []string) bool {
	for _, o := range other {
		if begins, open := strings.CutSuffix(o, "*"); word == o || open && strings.HasPrefix(word, begins) {
			return true
		}
	}
	return false
}
