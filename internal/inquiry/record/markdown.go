package record

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"sibyl/internal/text/markdown"
)

// Markdown tells a session in Markdown, in its language: what came of it first, then each finding with links to its pairs, then the pairs. Texts of others
// are escaped, but for the summary, which is Markdown itself; it stands in a quotation, is inert, and has no pictures. Rules that the session breaks are not
// asked; a contradiction that points at no pair is left without its answers, and those beyond the bound are left out.
func Markdown(s Session) []byte {
	m := telling{s: &s, w: wordsOf(s.Language)}
	m.head()
	m.audit()
	m.gaps()
	m.line("## %s", m.w.pairs)
	if len(s.Pairs) == 0 {
		m.line("%s", m.w.noPairs)
	}
	for i := range s.Pairs {
		m.pair(&s.Pairs[i])
	}
	m.line("## %s", m.w.trail)
	for _, e := range s.AuditTrail {
		m.item("%s: %s%s. %s", moment(e.Timestamp), or(m.w.events, e.Event), switched(e), escaped(e.Reason))
	}
	if len(s.AuditTrail) == 0 {
		m.line("%s", m.w.noTrail)
	}
	m.close()
	return []byte(strings.TrimSpace(m.out.String()) + "\n")
}

func switched(e TrailEntry) string {
	if e.FromProvider == "" && e.ToProvider == "" {
		return ""
	}
	return " (" + escaped(e.FromProvider) + " → " + escaped(e.ToProvider) + ")"
}

type telling struct {
	s    *Session
	w    words
	out  strings.Builder
	list bool // the last line is an item of a list
}

// line adds a block with an empty line after it.
func (m *telling) line(format string, args ...any) {
	m.close()
	fmt.Fprintf(&m.out, format+"\n\n", args...)
}

// item adds an item of a list.
func (m *telling) item(format string, args ...any) {
	m.list = true
	fmt.Fprintf(&m.out, "- "+format+"\n", args...)
}

// close ends a list.
func (m *telling) close() {
	if m.list {
		m.list = false
		m.out.WriteString("\n")
	}
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// to links a pair by its heading.
func (m *telling) to(sequence int) string {
	name := fmt.Sprintf(m.w.pair, sequence)
	return "[" + name + "](#" + strings.ReplaceAll(strings.ToLower(name), " ", "-") + ")"
}

func (m *telling) toAll(sequences []int) string {
	var all []string
	for _, n := range sequences {
		all = append(all, m.to(n))
	}
	return strings.Join(all, ", ")
}

// escaped is a text as Markdown that shows it as it is, in one line.
func escaped(text string) string { return part(strings.TrimSpace(text)) }

// part is escaped for a part of a line: white space at its ends stays, as one space.
func part(text string) string {
	var b strings.Builder
	after := false // white space
	for _, r := range visible(text) {
		if unicode.IsSpace(r) {
			if !after {
				b.WriteByte(' ')
			}
			after = true
			continue
		}
		after = false
		if strings.ContainsRune("\\`*_[]<>|#&~!$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// quoted is a text of several lines as a quotation.
func quoted(text string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(visible(text))) {
		line = escaped(line)
		// What would begin a list, or end a heading.
		mark := strings.TrimLeft(line, "0123456789")
		if mark != "" && (len(mark) < len(line) && strings.ContainsRune(".)", rune(mark[0])) || len(mark) == len(line) && strings.ContainsRune("+-=", rune(mark[0]))) {
			line = strings.TrimSuffix(line, mark) + `\` + mark
		}
		lines = append(lines, strings.TrimSpace("> "+line))
	}
	return strings.Join(lines, "\n")
}

func (m *telling) head() {
	s, w := m.s, m.w
	m.line("# %s", escaped(s.Hypothesis.Text))
	m.line("%s", w.verdict(s))
	m.item("%s: %s", w.began, moment(s.StartTime))
	if s.EndTime != nil {
		m.item("%s: %s", w.ended, moment(*s.EndTime))
	}
	if s.Detective != "" {
		m.item("%s: %s", w.detective, escaped(s.Detective))
	}
	if !s.Witness.isZero() {
		m.item("%s: %s (%s)", w.witness, escaped(s.Witness.Name), escaped(or(w.witnessKind, s.Witness.Kind)))
	}
	m.item("%s: %s", w.session, escaped(s.ID))
	for _, d := range s.Witness.Documents {
		if d.Error != "" {
			m.item("%s: %s: %s", w.problem, escaped(d.Name), escaped(d.Error))
		}
	}
}

func (m *telling) audit() {
	a, w := m.s.Audit(), m.w
	if a == nil {
		return
	}
	m.line("## %s", w.summary)
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(visible(a.Summary))) {
		lines = append(lines, strings.TrimRight("> "+strings.ReplaceAll(line, "![", `!\[`), " \n"))
	}
	m.line("%s", markdown.Inert(strings.Join(lines, "\n")))
	m.line("## %s", w.score)
	sum := a.Sum
	if sum == (Sum{}) {
		sum = Score(m.s.Pairs, a.Contradictions)
		m.line("%s "+w.stated, w.noSum, points(a.ConsistencyScore), sum.Score)
	}
	p := page{s: m.s, w: w}
	m.line("| %s | %s | %s |\n|---|---|---:|\n| %s | | %d |\n| %s | %d × %d | %s |\n| %s | %s | %s |\n| %s | %s | %s |\n| **%s** | %s | **%d** |",
		w.term, w.sum, w.points, w.start, sum.Base,
		w.contradictions, len(a.Contradictions), perContradiction, minus(fmt.Sprint(sum.Contradictions)),
		w.gaps, p.weights(), minus(fmt.Sprint(sum.Gaps)),
		w.half, fmt.Sprintf(w.mean, p.mean()), minus(w.number(sum.Shortfall)),
		w.score, w.rounded, sum.Score)
	m.line("## %s", w.contradictions)
	if len(a.Contradictions) == 0 {
		m.line("%s", w.noContradictions)
	}
	for i, c := range a.Contradictions[:min(len(a.Contradictions), mostContradictions)] {
		m.contradiction(i+1, c)
	}
}

func (m *telling) contradiction(n int, c Contradiction) {
	w := m.w
	stands := w.unsettle
	if c.Settled > 0 {
		stands = w.settled + " " + m.to(c.Settled) + "."
	}
	m.line("%d. **%s** %s", n, escaped(c.Description), stands)
	for side, at := range c.Pairs {
		if at < 0 || at >= len(m.s.Pairs) {
			continue
		}
		answer := excerpt(m.s.Pairs[at].Answer, c.Words[side])
		before, after, found := strings.Cut(answer, c.Words[side])
		told := escaped(answer)
		if c.Words[side] != "" && found {
			told = strings.TrimSpace(part(before) + "**" + escaped(c.Words[side]) + "**" + part(after))
		}
		m.item("%s: “%s”", m.to(at+1), told)
	}
}

func (m *telling) gaps() {
	w := m.w
	m.line("## %s", w.gaps)
	ledger := Ledger(m.s.Pairs)
	if len(ledger) == 0 {
		m.line("%s", w.noGaps)
	}
	for _, e := range ledger {
		state := w.open
		if e.Closed > 0 {
			state = w.closed + " " + m.to(e.Closed)
		}
		asked := ""
		if len(e.Asked) > 0 {
			asked = "; " + w.asks + ": " + m.toAll(e.Asked)
		}
		m.item("**%s** (%s, %s): %s: %s%s", escaped(e.Gap.Description), or(w.categories, e.Gap.Category), or(w.severities, e.Gap.Severity), m.to(e.First), state, asked)
	}
}

func (m *telling) pair(p *Pair) {
	w := m.w
	m.line("### "+w.pair, p.Sequence)
	m.line("**%s**", escaped(p.Question))
	if strings.TrimSpace(p.Answer) == "" {
		m.line("%s", w.noAnswer)
	} else {
		m.line("%s", quoted(p.Answer))
	}
	if p.NotInDocuments {
		m.line("%s", w.notInDocuments)
	}
	for _, c := range p.Citations {
		m.item("%s %s, %s %d, %s %d: “%s”", w.quoted, escaped(c.Document), w.page, c.Page, w.chunk, c.Chunk, escaped(c.Quote))
	}
	m.line("%s: %d / 100. %s: %s%s", w.completeness, points(p.GapAnalysis.CompletenessScore), w.asked, escaped(p.ProviderUsed), cmp.Or(aspect(p, w), "."))
}

// aspect says what a question is about.
func aspect(p *Pair, w words) string {
	if p.Aspect == "" {
		return ""
	}
	return ". " + w.aspect + ": " + escaped(p.Aspect) + "."
}
