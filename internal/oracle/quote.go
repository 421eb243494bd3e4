package oracle

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"sibyl/internal/oracle/classify"
	"sibyl/internal/search"
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
	rank     int // as it was opened
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

// quotes finds the best passage of every place that was read, best first.
func (o offline) quotes() []quote {
	all := o.read()
	terms := o.sought(all)
	var found []quote
	for _, q := range all {
		if q = q.best(terms); q.score > 0 {
			q.score -= float64(q.rank) * 0.01 // what the search ranked higher comes first among equals
			found = append(found, q)
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].score > found[j].score })
	return found
}

// read lists what was opened, in this order.
func (o offline) read() (all []quote) {
	for rank, s := range o.sit.Steps {
		if s.Receipt.Result == nil || len(s.Receipt.Result.Refs) == 0 || !s.Receipt.Result.Refs[0].Opened {
			continue
		}
		if q, ok := passageOf(*s.Receipt.Result); ok {
			q.rank = rank
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
	return q, err == nil && len(q.lines) > 0
}

func textLines(text string) []string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// best narrows a passage to the window in which most words of the question meet. A comment counts more than code: it was
// written to explain.
func (q quote) best(terms []sought) quote {
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
	end := min(bestAt+quoteLines, len(q.lines))
	for bestAt < end-1 && strings.TrimSpace(q.lines[bestAt]) == "" {
		bestAt++
	}
	for end-1 > bestAt && strings.TrimSpace(q.lines[end-1]) == "" {
		end--
	}
	cut := q
	cut.lines, cut.score = slices.Clone(q.lines[bestAt:end]), bestScore
	if q.from > 0 {
		cut.from, cut.to = q.from+bestAt, q.from+end-1
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
