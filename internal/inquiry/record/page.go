package record

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
)

//go:embed page.css
var style string

// page writes an evidence page.
type page struct {
	s        *Session
	w        words
	passages []passage
}

// at is a time as pages show it.
func at(t time.Time) markup {
	t = t.UTC()
	return el(`time datetime="`+t.Format(time.RFC3339Nano)+`"`, t.Format("2006-01-02 15:04:05"))
}

// to links a pair by its sequence.
func (p *page) to(sequence int) markup {
	return el(fmt.Sprintf(`a href="#pair-%d"`, sequence), fmt.Sprintf(p.w.pair, sequence))
}

// toAll links pairs.
func (p *page) toAll(sequences []int) markup {
	var all []any
	for i, n := range sequences {
		if i > 0 {
			all = append(all, ", ")
		}
		all = append(all, p.to(n))
	}
	return join(all...)
}

func (p *page) language() string { return cmp.Or(p.s.Language, "en") }

// PagePolicy is the content security policy of evidence pages: no scripts, and nothing that lies elsewhere.
func PagePolicy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

// head is everything before the body.
func (p *page) head() string {
	return `<!DOCTYPE html>
<html lang="` + p.language() + `">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="` + PagePolicy() + `">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
` + generatorMark + fmt.Sprint(pageForm) + `">
` + string(el("title", p.w.title, ": ", p.s.Hypothesis.Text)) + "\n<style>" + style + "</style>\n</head>\n<body>\n"
}

// foot is what stands between the body and what is carried.
func (p *page) foot(digest string) string {
	return "<footer>\n" + string(el("p", p.w.verify)) + "\n<p>" + string(join(p.w.digest)) + ": " + digestMark + digest + "</code></p>\n</footer>\n"
}

// section is a part of the page with its heading.
func section(id, heading string, content ...any) markup {
	return join(markup("<section id=\""+id+"\">\n"), el("h2", heading), markup("\n"), join(content...), markup("\n</section>\n"))
}

func (p *page) body() markup {
	w := p.w
	return join(p.header(), markup("<main>\n"),
		section("score", w.score, p.score()),
		section("summary", w.summary, p.summary()),
		section("contradictions", w.contradictions, p.contradictions()),
		section("gaps", w.gaps, p.gaps()),
		section("pairs", w.pairs, p.pairs()),
		section("timeline", w.timeline, p.timeline()),
		section("documents", w.documents, p.documents()),
		section("trail", w.trail, p.trail()),
		markup("</main>\n"))
}

func (p *page) header() markup {
	s, w := p.s, p.w
	facts := []any{}
	fact := func(name string, value ...any) {
		if v := join(value...); v != "" {
			facts = append(facts, el("dt", name), el("dd", v), markup("\n"))
		}
	}
	fact(w.hypothesis, at(s.Hypothesis.CreatedAt))
	fact(w.began, at(s.StartTime))
	if s.EndTime != nil {
		fact(w.ended, at(*s.EndTime))
	} else if s.Status == Running {
		fact(w.ended, w.runs)
	}
	fact(w.state, or(w.statuses, s.Status))
	fact(w.limit, len(s.Pairs), " / ", s.IterationLimit)
	fact(w.detective, s.Detective)
	if !s.Witness.isZero() {
		fact(w.witness, s.Witness.Name, " (", or(w.witnessKind, s.Witness.Kind), ")")
	}
	fact(w.session, el("code", s.ID))
	fact(w.run, s.Run)
	return join(markup("<header>\n"), el(`p class="kind"`, w.title), "\n", said("h1", s.Hypothesis.Text), "\n",
		el(`p class="verdict"`, w.verdict(s)), "\n", el("dl", "\n", join(facts...)), markup("\n</header>\n"))
}

// score shows how the score comes about.
func (p *page) score() markup {
	a, w := p.s.Audit(), p.w
	if a == nil {
		return el("p", w.noAudit)
	}
	var note markup
	sum := a.Sum
	if sum == (Sum{}) {
		sum = Score(p.s.Pairs, a.Contradictions)
		note = el("p", w.noSum, " ", fmt.Sprintf(w.stated, points(a.ConsistencyScore), sum.Score))
	}
	rows := [][]any{
		{w.start, "", sum.Base},
		{w.contradictions, fmt.Sprintf("%d × %d", len(a.Contradictions), perContradiction), minus(fmt.Sprint(sum.Contradictions))},
		{w.gaps, p.weights(), minus(fmt.Sprint(sum.Gaps))},
		{w.half, fmt.Sprintf(w.mean, p.mean()), minus(w.number(sum.Shortfall))},
		{el("strong", w.score), w.rounded, el("strong", sum.Score)},
	}
	return join(note, table([]string{w.term, w.sum, w.points}, rows))
}

func minus(n string) string {
	if n == "0" {
		return n
	}
	return "−" + n
}

// weights says how many gaps of each severity are open, and what each costs.
func (p *page) weights() string {
	var parts []string
	for _, severity := range []Severity{High, Medium, Low} {
		n := 0
		for _, g := range Remaining(p.s.Pairs) {
			if g.Severity == severity {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d × %d (%s)", n, penalties[severity], p.w.severities[severity]))
		}
	}
	return cmp.Or(strings.Join(parts, " + "), p.w.none)
}

// mean says what the pairs lack of a completeness of 100.
func (p *page) mean() string {
	var parts []string
	for _, pair := range p.s.Pairs {
		parts = append(parts, fmt.Sprint(100-points(pair.GapAnalysis.CompletenessScore)))
	}
	return cmp.Or(strings.Join(parts, ", "), "100")
}

func (p *page) summary() markup {
	if a := p.s.Audit(); a != nil {
		by := markup("")
		if a.By != "" {
			by = el("p", p.w.by, ": ", a.By)
		}
		return join(el("div", "\n", formatted(a.Summary)), "\n", by)
	}
	return el("p", p.w.noAudit)
}

func (p *page) contradictions() markup {
	a, w := p.s.Audit(), p.w
	if a == nil {
		return el("p", w.noAudit)
	}
	if len(a.Contradictions) == 0 {
		return el("p", w.noContradictions)
	}
	var all []markup
	for i, c := range a.Contradictions {
		var sides []markup
		for side, n := range c.Pairs {
			pair := p.s.Pairs[n]
			sides = append(sides, el(`div class="side"`, el("p", p.to(n+1)), said("p", excerpt(pair.Question, "")), said("blockquote", excerpt(pair.Answer, c.Words[side]), c.Words[side]),
				p.context(&pair, c.Words[side])), "\n")
		}
		clash := join(w.noClash)
		if c.Words != ([2]string{}) {
			clash = join(el("q", c.Words[0]), " / ", el("q", c.Words[1]))
		}
		stands := join(w.unsettle)
		if c.Settled > 0 {
			stands = join(w.settled, " ", p.to(c.Settled), ".")
		}
		all = append(all, el(fmt.Sprintf(`article id="contradiction-%d"`, i+1), "\n", el("h3", i+1, ". ", c.Description), "\n",
			el("p", w.category, ": ", or(w.kinds, c.Kind), ". ", w.clash, ": ", clash, ". ", stands), "\n",
			el(`div class="sides"`, "\n", sides)), "\n")
	}
	return join(all)
}

func (p *page) gaps() markup {
	w := p.w
	ledger := Ledger(p.s.Pairs)
	if len(ledger) == 0 {
		return el("p", w.noGaps)
	}
	var rows [][]any
	for i, e := range ledger {
		state := el("strong", w.open)
		if e.Closed > 0 {
			state = join(w.closed, " ", p.to(e.Closed))
		}
		id := cmp.Or(e.Gap.ID, fmt.Sprint(i+1))
		rows = append(rows, []any{id, or(w.categories, e.Gap.Category), or(w.severities, e.Gap.Severity), e.Gap.Aspect, said("div", e.Gap.Description),
			p.to(e.First), p.toAll(e.Asked), state})
	}
	return table([]string{"", w.category, w.severity, w.aspect, w.description, w.firstSeen, w.asks, w.state}, rows)
}

func (p *page) pairs() markup {
	if len(p.s.Pairs) == 0 {
		return el("p", p.w.noPairs)
	}
	var all []markup
	for i := range p.s.Pairs {
		all = append(all, p.pair(&p.s.Pairs[i]), "\n")
	}
	return join(all)
}

func (p *page) pair(pair *Pair) markup {
	w := p.w
	var facts []markup
	fact := func(name, value string) {
		if value != "" {
			facts = append(facts, el("li", name, ": ", value))
		}
	}
	fact(w.strategy, pair.Strategy)
	fact(w.aspect, pair.Aspect)
	fact(w.follows, strings.Join(pair.Follows, ", "))
	fact(w.asked, pair.ProviderUsed)
	fact(w.answered, pair.AnsweredBy)
	fact(w.analysed, pair.AnalysedBy)
	if len(pair.About) > 0 {
		var sequences []int
		for _, n := range pair.About {
			sequences = append(sequences, n+1)
		}
		facts = append(facts, el("li", w.about, ": ", p.toAll(sequences)))
	}
	answer := said("blockquote", pair.Answer)
	if pair.Answer == "" {
		answer = el("p", w.noAnswer)
	}
	var beside []any
	if pair.NotInDocuments {
		beside = append(beside, el("p", w.notInDocuments))
	}
	return el(fmt.Sprintf(`article id="pair-%d"`, pair.Sequence), "\n", el("h3", fmt.Sprintf(w.pair, pair.Sequence), " · ", at(pair.Timestamp)), "\n",
		el(`p class="label"`, w.question), said("p", pair.Question), "\n", el(`p class="label"`, w.answer), answer, "\n",
		join(beside...), p.citations(pair), p.analysis(pair), el(`ul class="facts"`, facts))
}

// citations are the places that an answer quotes.
func (p *page) citations(pair *Pair) markup {
	var all []markup
	for _, c := range pair.Citations {
		n := slices.IndexFunc(p.passages, func(k passage) bool { return k.is(c) })
		all = append(all, join(p.w.quoted, " ", el(fmt.Sprintf(`a href="#passage-%d"`, n+1), p.place(c.Document, c.Page, c.Chunk)),
			said("blockquote", c.Quote)))
	}
	return bullets(all)
}

func (p *page) analysis(pair *Pair) markup {
	w, a := p.w, pair.GapAnalysis
	follow := w.noFollowUp
	if a.RequiresFollowUp {
		follow = w.followUp
	}
	var gaps []markup
	for _, g := range a.Gaps {
		gaps = append(gaps, join(or(w.categories, g.Category), ", ", or(w.severities, g.Severity), ": ", said("span", g.Description)))
	}
	open := bullets(gaps)
	if len(gaps) == 0 {
		open = el("p", w.none)
	}
	return join(el("p", w.completeness, ": ", el("strong", points(a.CompletenessScore)), " / 100. ", follow), "\n", el(`p class="label"`, w.openAfter), open, "\n")
}

func (p *page) timeline() markup {
	type moment struct {
		at   time.Time
		what markup
	}
	s, w := p.s, p.w
	all := []moment{{s.StartTime, join(w.began)}}
	for i := range s.Pairs {
		all = append(all, moment{s.Pairs[i].Timestamp, join(p.to(i+1), ": ", said("span", s.Pairs[i].Question))})
	}
	for i, e := range s.AuditTrail {
		all = append(all, moment{e.Timestamp, el(fmt.Sprintf(`a href="#event-%d"`, i+1), or(w.events, e.Event))})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return a.at.Compare(b.at) })
	if s.EndTime != nil {
		all = append(all, moment{*s.EndTime, join(w.over, ": ", or(w.statuses, s.Status))})
	}
	var rows [][]any
	for _, m := range all {
		rows = append(rows, []any{at(m.at), m.what})
	}
	return table([]string{w.time, w.event}, rows)
}

func (p *page) documents() markup {
	w := p.w
	var parts []any
	if docs := p.s.Witness.Documents; len(docs) > 0 {
		var rows [][]any
		for _, d := range docs {
			rows = append(rows, []any{d.Name, d.Pages, d.Chunks, el("code", d.Hash), d.Error})
		}
		parts = append(parts, table([]string{w.document, w.pages, w.chunks, w.hash, w.problem}, rows), markup("\n"))
	}
	parts = append(parts, el("h3", w.passages), markup("\n"))
	if len(p.passages) == 0 {
		parts = append(parts, el("p", w.noCitations))
	}
	for i, k := range p.passages {
		parts = append(parts, el(fmt.Sprintf(`article id="passage-%d"`, i+1), "\n", el("h4", p.place(k.Document, k.Page, k.Chunk)), p.passage(k), el(`p class="label"`, w.citing, ": ", p.citing(k)),
			el(`p class="label"`, w.chunk, ": ", el("code", k.Hash)), el(`p class="label"`, w.document, ": ", el("code", k.DocumentHash))), markup("\n"))
	}
	return join(parts...)
}

// passage shows the text of a chunk, with all that is quoted of it marked.
func (p *page) passage(k passage) markup {
	if k.Text == "" {
		return ""
	}
	var quotes []string
	for _, pair := range p.s.Pairs {
		for _, c := range pair.Citations {
			if k.is(c) {
				quotes = append(quotes, c.Quote)
			}
		}
	}
	return said("blockquote", k.Text, quotes...)
}

// citing links the pairs whose answers quote a chunk.
func (p *page) citing(k passage) markup {
	var sequences []int
	for i, pair := range p.s.Pairs {
		if slices.ContainsFunc(pair.Citations, k.is) {
			sequences = append(sequences, i+1)
		}
	}
	return p.toAll(sequences)
}

// context shows the passages that an answer quotes, those with the words that clash alone if there are such.
func (p *page) context(pair *Pair, words string) markup {
	with := func(c Citation) bool { return words != "" && strings.Contains(c.Quote, words) }
	one := slices.ContainsFunc(pair.Citations, with)
	var all []markup
	for i, k := range p.passages {
		var quotes []string
		for _, c := range pair.Citations {
			if k.is(c) && (!one || with(c)) {
				quotes = append(quotes, c.Quote)
			}
		}
		if len(quotes) > 0 && k.Text != "" {
			all = append(all, el(`p class="label"`, el(fmt.Sprintf(`a href="#passage-%d"`, i+1), p.place(k.Document, k.Page, k.Chunk))), said("blockquote", k.Text, quotes...), "\n")
		}
	}
	return join(all)
}

// place says where a chunk stands.
func (p *page) place(document string, page, chunk int) markup {
	return join(document, ", ", p.w.page, " ", page, ", ", p.w.chunk, " ", chunk)
}

func (p *page) trail() markup {
	w := p.w
	if len(p.s.AuditTrail) == 0 {
		return el("p", w.noTrail)
	}
	var rows [][]any
	for i, e := range p.s.AuditTrail {
		rows = append(rows, []any{el(fmt.Sprintf(`span id="event-%d"`, i+1), at(e.Timestamp)), or(w.events, e.Event), e.FromProvider, e.ToProvider, said("span", e.Reason)})
	}
	return table([]string{w.time, w.event, w.from, w.to, w.reason}, rows)
}
