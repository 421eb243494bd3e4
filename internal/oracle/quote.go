package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"sibyl/internal/oracle/classify"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

// quote is a passage that was read.
type quote struct {
	source   tool.Source
	path     string
	url      string
	from, to int
	lines    []string
	score    float64
	rank     int    // in its search
	named    bool   // the question names what it defines
	head     *quote // the comment and the first line of a long definition, of which lines are a part; nil for none
}

func (q quote) cite() string {
	return tool.Ref{Path: q.path, URL: q.url, Start: q.from, End: q.to}.String()
}

// fenced stands the passage in a fence longer than any in it.
func (q quote) fenced() string {
	fence := "```"
	text := strings.Join(q.lines, "\n")
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

// quotes finds the best passage of every place that was read. Those of one search stand in its order; of several searches, whichever is next says
// more goes first. Of copies of one text, the best stands for all.
func (o offline) quotes() []quote { return o.best(o.read()) }

// best is quotes of any passages. What no search names stands by its words.
func (o offline) best(all []quote) []quote {
	terms := o.sought(all)
	total := 0.0
	for _, t := range terms {
		total += t.weight
	}
	lists := map[int][]quote{}
	for i, q := range all {
		h, ok := o.hitOf(q)
		if q = q.best(terms, h); q.score == 0 && !ok {
			continue
		}
		q.score /= total
		list := -1 - i
		if ok {
			list, q.rank = h.list, h.rank
			q.named = o.names(h.Symbol)
			if q.named {
				q.score += namedShare
			}
		}
		lists[list] = append(lists[list], q)
	}
	var kept []quote
	for _, q := range merged(lists) {
		if !slices.ContainsFunc(kept, q.copies) {
			kept = append(kept, q)
		}
	}
	return kept
}

// merged makes one list of several, each in the order of its ranks.
func merged(lists map[int][]quote) (all []quote) {
	numbers := slices.SortedFunc(maps.Keys(lists), func(a, b int) int { return cmp.Compare(b, a) })
	for _, n := range numbers {
		slices.SortStableFunc(lists[n], func(a, b quote) int { return cmp.Compare(a.rank, b.rank) })
	}
	for {
		best := -1
		for i, n := range numbers {
			if len(lists[n]) > 0 && (best < 0 || lists[n][0].score > lists[numbers[best]][0].score) {
				best = i
			}
		}
		if best < 0 {
			return all
		}
		n := numbers[best]
		all, lists[n] = append(all, lists[n][0]), lists[n][1:]
	}
}

const (
	namedShare = 1   // of a definition that the question names
	copyShare  = 0.9 // of the lines that two passages have, to be copies
)

// names says whether the question names a symbol as it is spelt, with or without its type.
func (o offline) names(symbol string) bool {
	own := symbol[strings.LastIndexByte(symbol, '.')+1:]
	return isIdentifier(own) && slices.ContainsFunc(o.terms, func(t string) bool {
		return strings.TrimSuffix(t[strings.LastIndexByte(t, '.')+1:], "()") == own
	})
}

// isIdentifier tells a name of a program from a word: capitals or signs stand within it.
func isIdentifier(name string) bool {
	for i, r := range name {
		if i > 0 && (unicode.IsUpper(r) || unicode.IsDigit(r) || r == '_') {
			return true
		}
	}
	return false
}

// copies says whether two passages have nearly the same lines. Lines without a word are alike everywhere, and count for nothing.
func (q quote) copies(of quote) bool {
	own, other := q.worded(), of.worded()
	same := 0
	for l := range own {
		if other[l] {
			same++
		}
	}
	return len(own) > 0 && float64(same) >= copyShare*float64(max(len(own), len(other)))
}

// worded is the set of lines that hold a letter.
func (q quote) worded() map[string]bool {
	lines := map[string]bool{}
	for _, l := range q.lines {
		if strings.ContainsFunc(l, unicode.IsLetter) {
			lines[strings.TrimSpace(l)] = true
		}
	}
	return lines
}

// read lists what was opened, in this order.
func (o offline) read() (all []quote) {
	for _, s := range o.sit.Steps {
		if s.Receipt.Result == nil || len(s.Receipt.Result.Refs) == 0 || !s.Receipt.Result.Refs[0].Opened {
			continue
		}
		if q, ok := passageOf(*s.Receipt.Result); ok {
			all = append(all, q)
		}
	}
	return all
}

// sought is a word to look for in passages, and what it says: 1 where it stands nowhere, less the more lines hold it.
type sought struct {
	term   string
	weight float64
}

// sought weighs the words of the question, and those of the question that it continues, by how rare they are in what was read.
func (o offline) sought(read []quote) []sought {
	var lines []string
	for _, q := range read {
		for _, l := range q.lines {
			lines = append(lines, strings.ToLower(l))
		}
	}
	rarity := func(term string) float64 {
		with := 0
		for _, l := range lines {
			if holds(l, term) {
				with++
			}
		}
		n := float64(len(lines)) // they were opened for these words, so a word that many hold is not as empty as among documents
		return math.Log(1+n/float64(1+with)) / math.Log(1+n)
	}
	var out []sought
	for _, t := range o.terms {
		w := sought{t, rarity(t)}
		if search.IsGeneric(strings.ToLower(t)) {
			w.weight *= genericShare
		}
		out = append(out, w)
	}
	for _, t := range classify.Terms(o.earlier) {
		if !slices.Contains(o.terms, t) {
			out = append(out, sought{t, rarity(t) * earlierShare})
		}
	}
	return out
}

const (
	genericShare = 0.3
	earlierShare = 0.5
)

// passageOf reads the text of a result that opened something. Each kind of source has a shape of its own.
func passageOf(r tool.Result) (quote, bool) {
	ref := r.Refs[0]
	q := quote{source: ref.Source, path: ref.Path, url: ref.URL}
	var err error
	switch ref.Source {
	case tool.Code:
		var data struct {
			Start int      `json:"start"`
			Lines []string `json:"lines"`
		}
		err = json.Unmarshal(r.Data, &data)
		q.from, q.lines = data.Start, data.Lines
	case tool.Vault:
		var data struct {
			Start   int    `json:"start"`
			Content string `json:"content"`
		}
		err = json.Unmarshal(r.Data, &data)
		q.from, q.lines = data.Start, textLines(data.Content)
	case tool.Web:
		var data struct {
			Text string `json:"text"`
		}
		err = json.Unmarshal(r.Data, &data)
		q.lines = textLines(data.Text)
	}
	if q.from > 0 {
		q.to = q.from + len(q.lines) - 1
	}
	return q, err == nil && len(q.lines) > 0
}

func textLines(text string) []string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// best scores a passage by the window in which most words of the question meet. A comment counts more than code: it was written to explain.
// A short passage is shown whole; of a longer one, the window, which is the search's if it names one, and what stands at its top.
func (q quote) best(terms []sought, h hit) quote {
	lower := make([]string, len(q.lines))
	for i, l := range q.lines {
		lower[i] = strings.ToLower(l)
	}
	bestAt, bestScore := 0, 0.0
	for at := range q.lines {
		if at > 0 && at+quoteLines > len(q.lines) {
			break
		}
		score := windowScore(lower[at:min(at+quoteLines, len(lower))], terms)
		if score > bestScore {
			bestAt, bestScore = at, score
		}
	}
	from, to := bestAt, min(bestAt+quoteLines, len(q.lines))
	if first, last := h.From-q.from, h.To-q.from+1; h.From > 0 && first >= 0 && first < last && last <= len(q.lines) {
		from, to = first, last
	}
	top := 0
	switch {
	case len(q.lines) <= wholeLines:
		from, to = 0, len(q.lines)
	case q.source == tool.Code:
		if top = q.top(); from <= top {
			from, top = 0, 0
		}
	}
	cut := q.part(from, to)
	cut.score = bestScore
	if top > 0 {
		head := q.part(0, top)
		cut.head = &head
	}
	return cut
}

// topLines bounds what is shown of the top of a long definition.
const topLines = 12

// top counts the lines of the comment above a definition, with its first line of code; 0 where there is no comment.
func (q quote) top() int {
	n := 0
	for n < len(q.lines) && n < topLines && isComment(q.lines[n]) {
		n++
	}
	if n == len(q.lines) {
		return 0
	}
	return n + 1
}

// part is the passage of some of the lines, without empty ones at its ends.
func (q quote) part(from, to int) quote {
	for from < to-1 && strings.TrimSpace(q.lines[from]) == "" {
		from++
	}
	for to-1 > from && strings.TrimSpace(q.lines[to-1]) == "" {
		to--
	}
	cut := q
	cut.lines = slices.Clone(q.lines[from:to])
	if q.from > 0 {
		cut.from, cut.to = q.from+from, q.from+to-1
	}
	return cut
}

func windowScore(lines []string, terms []sought) float64 {
	score := 0.0
	for _, t := range terms {
		best, seen := 0.0, 0
		for i, l := range lines {
			if !holds(l, t.term) {
				continue
			}
			seen++
			worth := 1 - float64(i)*0.01 // a window that begins with the word reads better
			if isComment(l) {
				worth += 0.5
			}
			best = max(best, worth)
		}
		score += t.weight * (best + 0.1*float64(min(seen, 5)))
	}
	return score
}

func isComment(line string) bool {
	l := strings.TrimSpace(line)
	for _, mark := range []string{"//", "#", "/*", "*", "--", `"""`, ";"} {
		if strings.HasPrefix(l, mark) {
			return true
		}
	}
	return false
}

// holds says whether a text has a word, endings aside: "closing" finds "closes". Of a quoted phrase it has every word.
func holds(lowerText, term string) bool {
	for w := range strings.FieldsSeq(strings.ToLower(term)) {
		if !search.Holds(lowerText, search.Stem(w)) {
			return false
		}
	}
	return true
}

// sig writes a signal.
func sig(kind string, confidence float64, fields ...string) string {
	return fmt.Sprintf("<signal type=%q>%s<confidence>%g</confidence></signal>", kind, strings.Join(fields, ""), confidence)
}

func field(name, value string) string { return "<" + name + ">" + xmlText(value) + "</" + name + ">" }

func list(name string, items []string) string {
	b := &strings.Builder{}
	for _, item := range items {
		b.WriteString(field("item", item))
	}
	return "<" + name + ">" + b.String() + "</" + name + ">"
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func xmlText(s string) string { return xmlEscapes.Replace(s) }
