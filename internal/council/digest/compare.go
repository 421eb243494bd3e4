package digest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Answer is what an oracle answered.
type Answer struct {
	Oracle string
	Text   string
}

// Point is one thing that answers have in common, or not.
type Point struct {
	Text    string   `json:"text"`
	By      []string `json:"by,omitempty"`      // the oracles whose it is, the one that is quoted first; none for what all overlook
	Sources []string `json:"sources,omitempty"` // ids of the transcripts that it is about
}

// Comparison says what several answers to the same transcripts have in common.
type Comparison struct {
	Agree      []Point `json:"agree,omitempty"`
	Differ     []Point `json:"differ,omitempty"`
	Overlooked []Point `json:"overlooked,omitempty"`
	By         string  `json:"by"` // who compared: ByRules, or a model
}

// ByRules is who compares where no model does.
const ByRules = "offline:rules"

// Compare finds by rules where answers to the transcripts in entries agree, where they differ, and which open questions, figures and claims of the
// transcripts none of them touches. It compares words: what two answers say in words of their own it does not see, and leaves out.
func Compare(entries []Entry, answers []Answer, language string) Comparison {
	l := languageOf(language)
	c := comparer{language: l, talk: l.read(entries), answers: answers}
	for i, a := range answers {
		c.points = append(c.points, l.pointsOf(a.Text, i)...)
	}
	c.byStem = indexed(c.points)
	pairs := c.pairs()
	return Comparison{Agree: c.agreements(pairs), Differ: c.differences(pairs), Overlooked: c.overlooked(), By: ByRules}
}

// comparer compares the points of answers.
type comparer struct {
	*language
	talk
	answers []Answer
	points  []statement
	byStem  map[string][]int
}

// statement is a sentence of an answer.
type statement struct {
	sentence
	negated bool
	limited bool     // a negation that something else takes back in part: “not before …”, “not only”
	denied  []string // what stands behind a negation
	atOnce  bool
	advises bool
	warns   bool
}

const (
	mostStatements = 300 // of one answer
	mostPoints     = 6   // of a kind
	fewestShared   = 3   // stems of two sentences that mean the same
	nearNegation   = 4   // words behind a negation that it denies
)

// pointsOf takes an answer apart into what it states. Headings, code and what asks are left out.
func (l *language) pointsOf(text string, answer int) []statement {
	var list []statement
	for _, s := range l.split(withoutMarkdown(text), answer) {
		if len(list) == mostStatements {
			break
		}
		if len(s.stems) < fewestMeant || s.asked {
			continue
		}
		p := statement{sentence: s, warns: l.words["warn"].Has(s.tokens), atOnce: l.words["at once"].Has(s.tokens)}
		for i := range s.tokens {
			if l.words["negation"].At(s.tokens, i) > 0 {
				p.negated = !p.negated
				p.denied = append(p.denied, l.content(s.tokens[i+1:min(i+1+nearNegation, len(s.tokens))])...)
			}
		}
		p.limited = len(p.denied) > 0 && l.words["limits"].Has(s.tokens)
		p.advises = !p.warns && !p.negated && l.words["recommend"].Has(s.tokens)
		list = append(list, p)
	}
	return list
}

func indexed(points []statement) map[string][]int {
	by := map[string][]int{}
	for i, p := range points {
		for _, stem := range p.stems {
			if len(by[stem]) < mostHolding {
				by[stem] = append(by[stem], i)
			}
		}
	}
	return by
}

// pair is two points of two answers with words in common.
type pair struct{ a, b, shared int }

// pairs finds them, those with the most in common first.
func (c comparer) pairs() []pair {
	var list []pair
	for b, p := range c.points {
		shared := map[int]int{}
		for _, stem := range p.stems {
			for _, a := range c.byStem[stem] {
				if a < b && c.points[a].entry != p.entry {
					shared[a]++
				}
			}
		}
		for a, n := range shared {
			if n >= 2 {
				list = append(list, pair{a, b, n})
			}
		}
	}
	slices.SortFunc(list, func(p, q pair) int { return cmp.Or(q.shared-p.shared, p.a-q.a, p.b-q.b) })
	return list
}

// overlap is the share of the stems of the shorter point that the other has too, and of all stems of both.
func (c comparer) overlap(p pair) (ofShorter, ofAll float64) {
	a, b := len(c.points[p.a].stems), len(c.points[p.b].stems)
	return float64(p.shared) / float64(min(a, b)), float64(p.shared) / float64(a+b-p.shared)
}

// agreements groups points that mean the same.
func (c comparer) agreements(pairs []pair) []Point {
	var groups [][]int
	group := map[int]int{} // of a point
	for _, p := range pairs {
		if !c.agree(p) {
			continue
		}
		i, known := group[p.a]
		if j, other := group[p.b]; other {
			i, known = j, true
		}
		if !known {
			i = len(groups)
			groups = append(groups, nil)
		}
		for _, at := range []int{p.a, p.b} {
			if _, in := group[at]; !in {
				group[at] = i
				groups[i] = append(groups[i], at)
			}
		}
	}
	var list []Point
	for _, g := range groups {
		slices.SortFunc(g, func(a, b int) int { return cmp.Or(len(c.points[a].stems)-len(c.points[b].stems), a-b) }) // what all of them say is in the shortest
		if by := c.names(g...); len(by) >= 2 && len(list) < mostPoints {
			list = append(list, Point{Text: c.inMarks(c.points[g[0]].text), By: by, Sources: c.sources(g...)})
		}
	}
	return list
}

// agree says whether two points mean the same, by their words, figures, advice and negation.
func (c comparer) agree(p pair) bool {
	a, b := c.points[p.a], c.points[p.b]
	shorter, all := c.overlap(p)
	if a.negated != b.negated || a.limited != b.limited || a.warns != b.warns {
		return false
	}
	equal := false
	for _, q := range a.figures {
		for _, r := range b.figures {
			if comparable(q, r) && q.value != r.value {
				return false
			}
			equal = equal || q.kind == r.kind && q.value == r.value && q.value > 0
		}
	}
	switch {
	case equal:
		return shorter >= 0.4 && all >= 0.25
	case p.shared < fewestShared:
		return shorter == 1 && all >= 0.5
	}
	return shorter >= 0.6 && all >= 0.5
}

// differences finds points on the same subject that go against each other.
func (c comparer) differences(pairs []pair) []Point {
	var list []Point
	used := map[int]bool{}
	for _, p := range pairs {
		if len(list) == mostPoints {
			break
		}
		if used[p.a] || used[p.b] || !c.oppose(p) {
			continue
		}
		used[p.a], used[p.b] = true, true
		a, b := c.points[p.a], c.points[p.b]
		by := c.names(p.a, p.b)
		text := by[0] + ": " + c.inMarks(a.text) + " — " + by[len(by)-1] + ": " + c.inMarks(b.text)
		list = append(list, Point{Text: text, By: by, Sources: c.sources(p.a, p.b)})
	}
	return list
}

func (c comparer) oppose(p pair) bool {
	a, b := c.points[p.a], c.points[p.b]
	shorter, all := c.overlap(p)
	denies := shares(a.denied, b.stems) > 0 || shares(b.denied, a.stems) > 0
	subject := p.shared >= fewestShared && shorter >= 0.6 && all >= 0.4
	if subject && denies && a.negated != b.negated && (!a.limited && !b.limited || a.atOnce != b.atOnce) {
		return true
	}
	if (a.advises && b.warns || b.advises && a.warns) && shorter >= 0.5 {
		return true
	}
	for _, q := range a.figures {
		for _, r := range b.figures {
			if isRival(q, r) {
				return true
			}
		}
	}
	return false
}

// names are the oracles of points, each once, in the order of the points.
func (c comparer) names(points ...int) []string {
	var by []string
	for _, at := range points {
		if name := oneLine(c.answers[c.points[at].entry].Oracle); !slices.Contains(by, name) {
			by = append(by, name)
		}
	}
	return by
}

// sources are the transcripts with a sentence that points are about.
func (c comparer) sources(points ...int) []string {
	var ids []string
	for _, s := range c.sentences {
		id := c.entries[s.entry].ID
		if slices.Contains(ids, id) {
			continue
		}
		for _, at := range points {
			if shares(s.stems, c.points[at].stems) >= 2 {
				ids = append(ids, id)
				break
			}
		}
	}
	return ids
}

// touched is the share of the words of a finding that an answer must take up to have touched it.
const touched = 0.5

// overlooked finds what of the transcripts no answer takes up.
func (c comparer) overlooked() []Point {
	if len(c.answers) == 0 {
		return nil
	}
	said := make([]map[string]bool, len(c.answers))
	values := map[float64]bool{}
	for i, a := range c.answers {
		said[i] = map[string]bool{}
		list := tokens(a.Text)
		for _, stem := range c.content(list) {
			said[i][stem] = true
		}
		for _, q := range c.quantities(a.Text, list) {
			values[q.value] = true
		}
	}
	var list []Point
	listed := map[int]bool{}
	for _, k := range []kind{open, claim, figure} {
		for _, f := range c.found[k] {
			if len(list) == mostPoints || listed[f.at] || c.isTouched(f, said, values) {
				continue
			}
			listed[f.at] = true
			w := writer{language: c.language, talk: c.talk}
			s := c.sentences[f.at]
			list = append(list, Point{Text: w.reason(k, f) + c.inMarks(s.text), Sources: []string{c.entries[s.entry].ID}})
		}
	}
	return list
}

func (c comparer) isTouched(f finding, said []map[string]bool, values map[float64]bool) bool {
	for _, q := range f.figures {
		if values[q.value] {
			return true
		}
	}
	stems := c.sentences[f.at].stems
	for _, words := range said {
		n := 0
		for _, stem := range stems {
			if words[stem] {
				n++
			}
		}
		if float64(n) >= touched*float64(len(stems)) {
			return true
		}
	}
	return false
}

// withoutMarkdown leaves the sentences of a Markdown text, with every item of a list a paragraph of its own.
func withoutMarkdown(text string) string {
	b := strings.Builder{}
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if fenced || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|") {
			b.WriteString("\n\n")
			continue
		}
		item := listMark().ReplaceAllString(line, "")
		if item != line {
			b.WriteString("\n\n")
		}
		b.WriteString(plainText(item))
		b.WriteByte('\n')
	}
	return b.String()
}

var listMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[-*+•>]|\d{1,3}[.)])\s+`)
})

// Markdown renders a comparison. An empty list says that nothing was found.
func (c Comparison) Markdown(language string) string {
	l := languageOf(language)
	b := strings.Builder{}
	made, none := l.say["compare made"], l.say["none"]
	if c.By != ByRules {
		made, none = fmt.Sprintf(l.say["compare model"], c.By), l.say["none model"]
	}
	fmt.Fprintf(&b, "*%s*\n", made)
	for _, part := range []struct {
		title  string
		points []Point
	}{{"agree", c.Agree}, {"differ", c.Differ}, {"overlooked", c.Overlooked}} {
		fmt.Fprintf(&b, "\n## %s\n\n", l.say[part.title])
		if len(part.points) == 0 {
			fmt.Fprintf(&b, "%s\n", none)
		}
		for _, p := range part.points {
			fmt.Fprintf(&b, "- %s%s\n", p.Text, l.credits(p))
		}
	}
	return b.String()
}

// credits says whose a point is and which transcripts it is about: “ — Cético, Otimista (Transcrição 1)”.
func (l *language) credits(p Point) string {
	out := ""
	if len(p.By) > 0 && !strings.HasPrefix(p.Text, p.By[0]+": ") {
		out = " — " + strings.Join(p.By, ", ")
	}
	var places []string
	for _, id := range p.Sources {
		n, err := strconv.Atoi(strings.TrimLeft(id, "tr"))
		if err != nil {
			places = append(places, id)
			continue
		}
		places = append(places, fmt.Sprintf(l.say["transcript"], n))
	}
	if len(places) > 0 {
		out += " (" + strings.Join(places, ", ") + ")"
	}
	return out
}
