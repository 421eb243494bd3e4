package record

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"sibyl/internal/text"
	"sibyl/internal/text/markdown"
)

// view is a session as its page and its Markdown show it, in the words and the order of both.
type view struct {
	*Session
	Verdict    string
	Score      string // how it comes about; "" where no model judged
	Unexamined bool   // there is a detective, and it has judged no answer
	Audited    *Audit
	Standing   []clash
	Unsettled  []clash // found, and the witness could not be asked about it
	SummaryOf  []block
	Answers    []answer
	Passages   []shownPassage
}

// clash is a contradiction, with its two sides.
type clash struct {
	Contradiction
	Sides [2]side
}

// side is one of two quotations that clash.
type side struct {
	Words, Place string
	Answer       int // the sequence of the pair
}

// answer is a pair, with what is said of it.
type answer struct {
	*Pair
	Places []place
	By     string // who asked, answered and judged
}

// place is a citation, with the number of its passage.
type place struct {
	Citation
	Passage int
}

// shownPassage is a chunk that is cited, and the pairs that quote it.
type shownPassage struct {
	Chunk
	Number int
	Pieces []piece
	Pairs  []int
}

// piece is a part of a text, and whether it is quoted.
type piece struct {
	Text   string
	Quoted bool
}

// block is a line of a summary.
type block struct{ Kind, Text string }

func viewOf(s *Session, passages []Chunk) view {
	v := view{Session: s, Verdict: Verdict(s), Audited: s.Audit()}
	v.Unexamined = s.Judged() && s.JudgedPairs() == 0
	if a := v.Audited; a != nil {
		if s.Judged() && a.ConsistencyScore != nil {
			v.Score = Score(s.Pairs, a.Contradictions).String()
		}
		for _, c := range a.Contradictions[:min(len(a.Contradictions), mostContradictions)] {
			list := &v.Standing
			if c.Unconfirmed {
				list = &v.Unsettled
			}
			*list = append(*list, clashOf(s, c))
		}
		if a.Summary != v.Verdict {
			v.SummaryOf = blocks(a.Summary)
		}
	}
	for i, k := range passages {
		p := shownPassage{Chunk: k, Number: i + 1}
		var quoted []string
		for n, pair := range s.Pairs {
			for _, c := range pair.Citations {
				if k.is(c) {
					quoted = append(quoted, c.Quote)
					p.Pairs = append(p.Pairs, n+1)
				}
			}
		}
		p.Pairs = slices.Compact(p.Pairs)
		p.Pieces = pieces(k.Text, quoted)
		v.Passages = append(v.Passages, p)
	}
	for i := range s.Pairs {
		v.Answers = append(v.Answers, answerOf(&s.Pairs[i], passages))
	}
	return v
}

// utc is a time as files show it, to the second.
func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// mostShown is how many characters of an answer stand for words that are not said.
const mostShown = 400

func clashOf(s *Session, c Contradiction) clash {
	k := clash{Contradiction: c}
	for i, n := range c.Pairs {
		if n < 0 || n >= len(s.Pairs) {
			continue
		}
		k.Sides[i] = side{c.Words[i], "", n + 1}
		if c.Words[i] == "" {
			k.Sides[i].Words = text.Brief(s.Pairs[n].Answer, mostShown)
		}
		if p := c.Places[i]; p.Document != "" {
			k.Sides[i].Place = fmt.Sprintf("%s, page %d", p.Document, p.Page)
		}
	}
	return k
}

func answerOf(p *Pair, passages []Chunk) answer {
	a := answer{Pair: p}
	for _, c := range p.Citations {
		a.Places = append(a.Places, place{c, slices.IndexFunc(passages, func(k Chunk) bool { return k.is(c) }) + 1})
	}
	by := []string{"asked by " + p.ProviderUsed}
	if p.ProviderUsed == OfflineRules {
		by[0] = "asked by template"
	}
	if p.AnsweredBy != "" {
		by = append(by, "answered by "+p.AnsweredBy)
	}
	if score := p.GapAnalysis.CompletenessScore; score != nil {
		by = append(by, fmt.Sprintf("judged by %s: %d %% complete", p.AnalysedBy, *score))
	}
	a.By = strings.Join(by, ", ")
	return a
}

// pieces parts a text by what is quoted of it.
func pieces(content string, quoted []string) (all []piece) {
	marked := make([]bool, len(content))
	for _, q := range quoted {
		place, _ := text.Find(content, q)
		for i := place.From; i < place.To; i++ {
			marked[i] = true
		}
	}
	for from, i := 0, 1; i <= len(content); i++ {
		if i == len(content) || marked[i] != marked[from] {
			all = append(all, piece{content[from:i], marked[from]})
			from = i
		}
	}
	return all
}

// blocks are the lines of a summary as a reader sees them: headings, items of lists, and paragraphs.
func blocks(summary string) (all []block) {
	for line := range strings.Lines(summary) {
		line = strings.TrimSpace(line)
		_, heading, is := markdown.Heading(line)
		item, isItem := strings.CutPrefix(line, "- ")
		switch {
		case line == "":
		case is:
			all = append(all, block{"heading", markdown.Text(heading)})
		case isItem:
			all = append(all, block{"item", markdown.Text(item)})
		default:
			all = append(all, block{"paragraph", markdown.Text(line)})
		}
	}
	return all
}

// visible shows what a reader would not see, or what would make a text look like another: control characters, and those that turn the
// direction of writing. What joins letters and marks a direction stays.
func visible(content string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(content, "\r\n", "\n") {
		switch {
		case r == '\n' || r == '\t' || '\u200c' <= r && r <= '\u200f':
			b.WriteRune(r)
		case unicode.Is(unicode.Cf, r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
