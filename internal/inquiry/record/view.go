package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"sibyl/internal/media/document"
	"sibyl/internal/text"
	"sibyl/internal/text/markdown"
)

// view is a session as both its page and its Markdown show it.
type view struct {
	*Session
	Verdict    string
	Score      string // its formula with the values; "" if no model judged
	Unexamined bool   // there is a detective, and it has judged no answer
	Audited    *Audit
	Standing   []clash
	Unsettled  []clash // found, but the witness could not be asked about it
	SummaryOf  []block
	Passages   []shownPassage
}

// clash is a contradiction, with its two sides.
type clash struct {
	Contradiction
	Sides []side
}

// side is one of two quotations that clash. Answer is the sequence of its pair.
type side struct {
	Words, Place string
	Answer       int
}

// shownPassage is a chunk that is cited, and the pairs that quote it.
type shownPassage struct {
	document.Chunk
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

func viewOf(s *Session, passages []document.Chunk) view {
	v := view{Session: s, Verdict: Verdict(s), Audited: s.Audit(), Unexamined: s.Judged() && s.JudgedPairs() == 0}
	if a := v.Audited; a != nil {
		if s.Judged() && a.ConsistencyScore != nil {
			v.Score = cmp.Or(a.Sum, Score(s.Pairs, a.Contradictions)).String()
		}
		for _, c := range a.Contradictions[:min(len(a.Contradictions), mostContradictions)] {
			list := &v.Standing
			if c.Unconfirmed {
				list = &v.Unsettled
			}
			*list = append(*list, clash{c, s.sides(c)})
		}
		if a.Summary != v.Verdict {
			v.SummaryOf = summaryBlocks(a.Summary)
		}
	}
	for _, k := range passages {
		p := shownPassage{Chunk: k}
		var quoted []string
		for n, pair := range s.Pairs {
			for _, c := range pair.Citations {
				if c.isOf(k) {
					quoted = append(quoted, c.Quote)
					p.Pairs = append(p.Pairs, n+1)
				}
			}
		}
		p.Pairs = slices.Compact(p.Pairs)
		p.Pieces = splitQuoted(k.Text, quoted)
		v.Passages = append(v.Passages, p)
	}
	return v
}

// templateFuncs are the functions of both templates.
func templateFuncs() map[string]any {
	return map[string]any{"time": utc, "by": creditLine, "anchor": func(hash string) string {
		return strings.TrimPrefix(hash, "sha256:")
	}}
}

// utc formats a time for files, to the second.
func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// mostShown bounds the characters of an answer that is shown because a quotation is missing.
const mostShown = 400

func (s *Session) sides(c Contradiction) (all []side) {
	for i, n := range c.Pairs {
		if n < 0 || n >= len(s.Pairs) {
			continue
		}
		all = append(all, side{Words: cmp.Or(c.Words[i], text.Brief(s.Pairs[n].Answer, mostShown)), Answer: n + 1,
			Place: c.Places[i].Where()})
	}
	return all
}

// creditLine names who asked, answered and judged a pair.
func creditLine(p Pair) string {
	all := []string{"asked by " + p.ProviderUsed}
	if p.ProviderUsed == OfflineRules {
		all[0] = "asked by template"
	}
	if p.AnsweredBy != "" {
		all = append(all, "answered by "+p.AnsweredBy)
	}
	if score := p.GapAnalysis.CompletenessScore; score != nil {
		all = append(all, fmt.Sprintf("judged by %s: %d %% complete", p.AnalysedBy, *score))
	}
	return strings.Join(all, ", ")
}

// splitQuoted splits a text into quoted and other pieces.
func splitQuoted(content string, quoted []string) (all []piece) {
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

// summaryBlocks splits a summary into its lines: headings, items of lists, and paragraphs.
func summaryBlocks(summary string) (all []block) {
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

// showInvisible replaces characters that hide or disguise text by their numbers: control characters, and those that
// turn the direction of writing. Characters that join letters or mark a direction stay.
func showInvisible(content string) string {
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
