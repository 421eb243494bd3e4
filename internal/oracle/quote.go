package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sibyl/internal/media/document"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

// hit is a place that a search named.
type hit struct {
	source  tool.Source
	Path    string `json:"path"`
	URL     string `json:"url"`
	Title   string `json:"title"`
	Heading string `json:"heading"`
	Symbol  string `json:"symbol"`
	Line    int    `json:"line"`
	Start   int    `json:"start"` // 0: the whole file
	End     int    `json:"end"`
	Own     int    `json:"own"`  // where the symbol begins, its neighbours standing above it; 0: at Start
	From    int    `json:"from"` // of a long definition, the lines that say most; 0: all of it is to be read
}

// hits gathers what the searches found, best first, those of several searches in turn. What names no lines is a whole
// file, of which the words may stand in no one place: it comes last.
func (o offline) hits() (all []hit) {
	var lists [][]hit
	longest := 0
	for _, s := range o.sit.Steps {
		var data struct {
			Hits    []hit `json:"hits"`
			Results []hit `json:"results"`
		}
		r := s.Receipt.Result
		if r == nil || len(r.Refs) == 0 || r.Refs[0].Opened || json.Unmarshal(r.Data, &data) != nil {
			continue
		}
		found := append(data.Hits, data.Results...)
		for i := range found {
			found[i].source = r.Refs[0].Source
		}
		lists = append(lists, found)
		longest = max(longest, len(found))
	}
	for rank := range longest {
		for _, l := range lists {
			if rank < len(l) {
				all = append(all, l[rank])
			}
		}
	}
	whole := func(h hit) int {
		if h.URL == "" && h.Start == 0 {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b hit) int { return cmp.Compare(whole(a), whole(b)) })
	return append(o.readme(), all...)
}

// readme is the beginning of the README that a map of the folder names; none where there is no map, or no README.
func (o offline) readme() []hit {
	for _, s := range o.sit.Steps {
		var data struct {
			Path string `json:"readme_path"`
		}
		r := s.Receipt.Result
		if s.Call.Name == mapTool && r != nil && json.Unmarshal(r.Data, &data) == nil && data.Path != "" {
			return []hit{{source: tool.Code, Path: data.Path, Start: 1, End: readContext}}
		}
	}
	return nil
}

// around is the hit's own span, or as much of it as is read at once around its line.
func (h hit) around() (start, end int) {
	if h.End-h.Start < readContext {
		return h.Start, h.End
	}
	start = max(h.Start, cmp.Or(h.From, h.Line)-readContext/2)
	return start, min(h.End, start+readContext-1)
}

// passage is a text that was opened, or handed over.
type passage struct {
	source   tool.Source
	path     string
	url      string
	from, to int  // its lines, from 1; 0 where a source has none
	paged    bool // from and to are pages
	lines    []string
	found    hit // what the search said of it; zero where none did
}

// places are the passages that were opened, in this order. Of copies of one text, the first stands for all.
func (o offline) places() (all []passage) {
	for _, s := range o.sit.Steps {
		p, ok := passageOf(s.Receipt.Result)
		if !ok || slices.ContainsFunc(all, func(q passage) bool { return slices.Equal(q.lines, p.lines) }) {
			continue
		}
		for _, h := range o.hits() {
			if h.Path == p.path && h.URL == p.url && (h.Start <= p.to && p.from <= h.End || h.Start == 0) {
				p.found = h
				break
			}
		}
		all = append(all, p)
	}
	return all[:min(len(all), mostPlaces)]
}

// passageOf reads the text of a result that opened something: each kind of source has a shape of its own.
func passageOf(r *tool.Result) (p passage, is bool) {
	if r == nil || len(r.Refs) == 0 || !r.Refs[0].Opened {
		return p, false
	}
	var data struct {
		Start   int             `json:"start"`
		Lines   json.RawMessage `json:"lines"`   // of code; of a note their number
		Content string          `json:"content"` // of a note
		Text    string          `json:"text"`    // of a page of the web
	}
	ref := r.Refs[0]
	p = passage{source: ref.Source, path: ref.Path, url: ref.URL, paged: ref.Paged}
	if json.Unmarshal(r.Data, &data) != nil {
		return p, false
	}
	if ref.Source != tool.Code || json.Unmarshal(data.Lines, &p.lines) != nil {
		p.lines = document.Lines(data.Content + data.Text)
	}
	switch p.from = data.Start; {
	case p.paged:
		p.to = ref.End
	case p.from > 0:
		p.to = p.from + len(p.lines) - 1
	}
	return p, len(p.lines) > 0
}

func (p passage) cite() string {
	return tool.Ref{Path: p.path, URL: p.url, Start: p.from, End: p.to, Paged: p.paged}.String()
}

func (p passage) fenced() string { return assistant.Passage{Name: p.path, Lines: p.lines}.Fenced() }

// holds says whether the passage, its path and its title hold a word.
func (p passage) holds(term string) bool {
	return holds(strings.ToLower(strings.Join(append(p.lines, p.path, p.found.Title, p.found.Symbol), "\n")), term)
}

// within is as much of a passage as stands in so many rows: all of it, or the lines in which most of the terms meet.
// Where several are alike, those where the definition begins go first, then those that the search named.
func (p passage) within(rows int, terms []string) passage {
	best, most := 0, -1
	for at := range p.lines {
		score := 0
		end := at + p.fitting(at, rows)
		lower := strings.ToLower(strings.Join(p.lines[at:end], "\n"))
		for _, t := range terms {
			if holds(lower, t) {
				score += 4
			}
		}
		switch line := p.from + at; {
		case p.paged:
		case line == cmp.Or(p.found.Own, p.found.Start):
			score += 2
		case line == p.found.From:
			score++
		}
		if score > most && strings.TrimSpace(p.lines[at]) != "" {
			best, most = at, score
		}
	}
	return p.part(best, best+p.fitting(best, rows), rows)
}

// fitting is how many lines from one on stand in so many rows, at least one.
func (p passage) fitting(at, rows int) (n int) {
	for _, line := range p.lines[at:] {
		if rows -= rowsOf(line); rows < 0 {
			break
		}
		n++
	}
	return max(n, 1)
}

// part is the passage of some of the lines, without empty ones at its end. One line alone that is longer than the rows
// is cut.
func (p passage) part(from, to, rows int) passage {
	for to-1 > from && strings.TrimSpace(p.lines[to-1]) == "" {
		to--
	}
	p.lines = slices.Clone(p.lines[from:to])
	if first := p.lines[0]; rowsOf(first) > rows {
		cut := string([]rune(first)[:rows*brokenColumns-2])
		p.lines[0] = cut[:max(strings.LastIndexByte(cut, ' '), 1)] + " …"
	}
	if p.from > 0 && !p.paged {
		p.from, p.to = p.from+from, p.from+to-1
	}
	return p
}

// Columns of a terminal of 80 that a line of a passage takes: in one row, and in each of several, which end with a
// word.
const (
	rowColumns    = 78
	brokenColumns = 70
)

func rowsOf(line string) int {
	columns := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
	if columns <= rowColumns {
		return 1
	}
	return (columns + brokenColumns - 1) / brokenColumns
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

func sig(kind string, confidence float64, fields ...string) string {
	return fmt.Sprintf("<signal type=%q>%s<confidence>%g</confidence></signal>",
		kind, strings.Join(fields, ""), confidence)
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
