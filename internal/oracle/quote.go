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

// hit is a place that a search found.
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
	Own     int    `json:"own"`  // where the symbol begins, if its neighbours are shown above it; 0: at Start
	From    int    `json:"from"` // of a long definition, where the most relevant lines begin; 0: all of it is relevant
	rank    int    // from 1, in the search that found it
}

// rankedHits are the hits of all searches, best first, taken from the searches in turn. A hit without lines is a whole
// file, in which the words may be far apart: it comes last.
func (o offline) rankedHits() (all []hit) {
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
			found[i].source, found[i].rank = r.Refs[0].Source, i+1
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
	return append(o.readmeHit(), all...)
}

// readmeHit is the beginning of the README that the map of the folder names; none without a map or a README.
func (o offline) readmeHit() []hit {
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

// linesToOpen is the span of the hit, or as much of it around its line as may be read at once.
func (h hit) linesToOpen(most int) (start, end int) {
	if h.End-h.Start < most {
		return h.Start, h.End
	}
	start = max(h.Start, cmp.Or(h.From, h.Line)-most/2)
	return start, min(h.End, start+most-1)
}

// passage is a text that was opened or handed over.
type passage struct {
	source   tool.Source
	path     string
	url      string
	from, to int  // its lines, from 1; 0 if the source has none
	paged    bool // from and to are pages
	lines    []string
	hit      hit // the hit that led to it; zero if there is none
}

// openedPassages are the passages that were opened, in this order, and only the first of those with the same text.
func (o offline) openedPassages() (all []passage) {
	for _, s := range o.sit.Steps {
		p, ok := passageFrom(s.Receipt.Result)
		if !ok || slices.ContainsFunc(all, func(q passage) bool { return slices.Equal(q.lines, p.lines) }) {
			continue
		}
		for _, h := range o.rankedHits() {
			if h.Path == p.path && h.URL == p.url && (h.Start <= p.to && p.from <= h.End || h.Start == 0) {
				p.hit = h
				break
			}
		}
		all = append(all, p)
	}
	return all
}

// passageFrom reads the text from the result of a reader: each kind of source has a form of its own.
func passageFrom(r *tool.Result) (p passage, is bool) {
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

// mentions says whether the passage, its path or its title has a word.
func (p passage) mentions(term string) bool {
	return hasTerm(strings.ToLower(strings.Join(append(p.lines, p.path, p.hit.Title, p.hit.Symbol), "\n")), term)
}

// excerpt is as much of a passage as fits in so many rows: all of it, or the lines with most of what is sought. Of
// equal ones, those at the beginning of the definition come first, then those that the search named.
func (p passage) excerpt(rows int, s sought) passage {
	best, most := 0, -1.0
	has := s.inLines(p.lines)
	for at := range p.lines {
		score := s.worth(s.join(has[at : at+p.linesThatFit(at, rows)]...))
		switch line := p.from + at; {
		case p.paged:
		case line == cmp.Or(p.hit.Own, p.hit.Start):
			score += halfWord
		case line == p.hit.From:
			score += halfWord / 2
		}
		if score > most && strings.TrimSpace(p.lines[at]) != "" {
			best, most = at, score
		}
	}
	return p.cutToLines(best, best+p.linesThatFit(best, rows), rows)
}

// linesThatFit is how many lines, beginning with one, fit in so many rows; at least one.
func (p passage) linesThatFit(at, rows int) (n int) {
	for _, line := range p.lines[at:] {
		if rows -= rowsOf(line); rows < 0 {
			break
		}
		n++
	}
	return max(n, 1)
}

// cutToLines keeps a range of lines, without empty ones at its end. A first line that is longer than the rows is cut.
func (p passage) cutToLines(from, to, rows int) passage {
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

// Columns that a line of a passage has on a terminal of 80: in a single row, and in each of several rows.
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

// hasTerm says whether a text has every word of a term, in any inflected form: "closing" finds "closes".
func hasTerm(lowerText, term string) bool {
	for w := range strings.FieldsSeq(strings.ToLower(term)) {
		if !search.Holds(lowerText, search.Stem(w)) {
			return false
		}
	}
	return true
}

func signalXML(kind string, confidence float64, fields ...string) string {
	return fmt.Sprintf("<signal type=%q>%s<confidence>%g</confidence></signal>",
		kind, strings.Join(fields, ""), confidence)
}

func fieldXML(name, value string) string {
	return "<" + name + ">" + xmlText(value) + "</" + name + ">"
}

func listXML(name string, items []string) string {
	b := &strings.Builder{}
	for _, item := range items {
		b.WriteString(fieldXML("item", item))
	}
	return "<" + name + ">" + b.String() + "</" + name + ">"
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func xmlText(s string) string { return xmlEscapes.Replace(s) }
