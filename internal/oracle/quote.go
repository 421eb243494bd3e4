package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

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
	var all []quote
	for rank, s := range o.sit.Steps {
		if s.Receipt.Result == nil || len(s.Receipt.Result.Refs) == 0 || !s.Receipt.Result.Refs[0].Opened {
			continue
		}
		q, ok := passageOf(*s.Receipt.Result)
		if !ok {
			continue
		}
		q = q.best(o.terms)
		if q.score > 0 {
			q.score -= float64(rank) * 0.01 // what the search ranked higher comes first among equals
			all = append(all, q)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].score > all[j].score })
	return all
}

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
func (q quote) best(terms []string) quote {
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

func windowScore(lines, terms []string) float64 {
	score := 0.0
	for _, t := range terms {
		best, seen := 0.0, 0
		for i, l := range lines {
			if !holds(l, t) {
				continue
			}
			seen++
			worth := 1 - float64(i)*0.01 // a window that begins with the word reads better
			if isComment(l) {
				worth += 0.5
			}
			best = max(best, worth)
		}
		score += best + 0.1*float64(min(seen, 5))
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

// holds says whether a line has a word, endings aside: "closing" finds "closes".
func holds(lowerLine, term string) bool {
	return strings.Contains(lowerLine, stem(strings.ToLower(term)))
}

func stem(w string) string {
	for _, end := range []string{"ing", "ions", "ion", "ed", "es", "s", "e"} {
		if cut := strings.TrimSuffix(w, end); cut != w && len(cut) >= 4 {
			return cut
		}
	}
	return w
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
