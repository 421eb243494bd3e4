package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

// answer quotes passages, each with its place; where the first is a definition that says what it does, that comes first of all.
func (o offline) answer(quotes []quote) model.Response {
	quotes = quotes[:min(len(quotes), mostQuotes)]
	b := &strings.Builder{}
	clear := o.sentences(quotes)
	lacking := o.lacking(quotes, len(clear) > 0)
	if o.sit.Class == string(classify.Action) {
		b.WriteString(noWriting + "\n\n")
	}
	if line := o.definitionLine(quotes[0]); line != "" && (lacking == "" || quotes[0].named) {
		b.WriteString(line + "\n\n")
	} else if lacking == "" {
		for _, line := range clear {
			b.WriteString(line + "\n\n")
		}
	}
	fmt.Fprintf(b, "%s that may answer it; no language model is in use:\n", agent.Counted(len(quotes), "passage"))
	for _, q := range quotes {
		b.WriteString("\n")
		if title := o.titleOf(q); title != "" {
			b.WriteString("**" + title + "**, ")
		}
		if q.head != nil {
			b.WriteString("`" + q.head.cite() + "`:\n\n" + q.head.fenced() + "\n\n…\n\n")
		}
		b.WriteString("`" + q.cite() + "`:\n\n" + q.fenced() + "\n")
	}
	if lacking != "" && strings.Contains(lacking, "“") {
		b.WriteString("\n" + lacking + ".\n")
	}
	for _, m := range o.mended() {
		fmt.Fprintf(b, "\nI read “%s”, which is in no file, as “%s”.\n", m.Word, m.As)
	}
	b.WriteString(strings.TrimPrefix(o.failures(), " "))
	if slices.Contains(o.attempted(), "web_search") && !slices.Contains(o.types(quotes), string(tool.Web)) {
		return say(b.String(), sig("partial_answer", 0.6, field("missing", "an answer from the web")))
	}
	if o.sit.Class == string(classify.Action) {
		return say(b.String(), sig("partial_answer", 0.5, field("missing", writer)))
	}
	if lacking != "" {
		return say(b.String(), sig("partial_answer", 0.5, field("missing", lacking), field("caveat", lacking)))
	}
	return say(b.String(), sig("context_sufficient", 0.5, field("sources_found", fmt.Sprint(len(quotes))), list("source_types", o.types(quotes))))
}

// definitionLine is a definition in one line: its place, and what its comment says first.
func (o offline) definitionLine(q quote) string {
	h, ok := o.hitOf(q)
	if !ok || h.Symbol == "" || q.source != tool.Code {
		return ""
	}
	top := q
	if q.head != nil {
		top = *q.head
	}
	above := max(0, min(cmp.Or(h.Own, h.Start)-top.from, len(top.lines)))
	var comment []string
	tagged := false // what follows tells of parameters and the like: “@param {string} name”
	for i, l := range top.lines[above:] {
		if isComment(l) {
			said := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(l), "/*#-;\""))
			if tagged = tagged || strings.HasPrefix(said, "@"); !tagged {
				comment = append(comment, said)
			}
			continue
		}
		if len(comment) == 0 {
			return ""
		}
		return fmt.Sprintf("`%s:%d` %s", top.path, top.from+above+i, firstSentence(comment, h.Kind, h.Symbol))
	}
	return ""
}

// mostSentence bounds the sentence in which a definition is told, in bytes.
const mostSentence = 240

// namedWithin is in how many of its first words a comment says what it is about.
const namedWithin = 3

// firstSentence is the first sentence of a comment, behind the kind of what it is about, and behind its name where the sentence does not begin with it.
func firstSentence(comment []string, kind, symbol string) string {
	text := strings.Join(comment, " ")
	for at := range text {
		rest := text[at:]
		if (strings.HasPrefix(rest, ". ") || rest == ".") && at > 0 || strings.HasPrefix(rest, "  ") && at > 0 {
			text = text[:at]
			break
		}
	}
	text = strings.TrimSuffix(tool.Clip(strings.TrimSpace(text), mostSentence), ".")
	words, name := strings.Fields(text), symbol[strings.LastIndexByte(symbol, '.')+1:]
	switch {
	case !slices.ContainsFunc(words[:min(len(words), namedWithin)], func(w string) bool { return strings.Trim(w, "`*():,'\"") == name }):
		return strings.TrimSpace(kind+" "+symbol) + ": " + text
	case strings.EqualFold(words[0], kind):
		return text
	}
	return strings.TrimSpace(kind + " " + text)
}

// lacking says what the passages lack to be claimed as an answer; "" where they lack nothing. No name may be missing from all of them, nor several
// words that are in no file. Beyond that it is enough that sentences clearly answer, or that the first defines what the question names, and no telling word is unseen; else one must
// hold enough of what the question says, the first must fit well by its search, and fewer than half of the telling words may be unseen.
func (o offline) lacking(quotes []quote, clear bool) string {
	if gone := o.nowhere(quotes); len(gone) > 0 {
		for i, w := range gone {
			gone[i] = "“" + w + "”"
		}
		return "No passage mentions " + agent.Listed(gone, "or")
	}
	first := quotes[0]
	said := 0.0
	for _, q := range quotes {
		said = max(said, o.said(q))
	}
	telling, gone := o.telling(), o.unseen(quotes)
	switch {
	case clear, first.named && len(gone) == 0:
		return ""
	case said < enoughWords || o.fitOf(first) < enoughFit || 2*len(gone) >= max(len(telling), 1) && len(gone) > 0:
		return "No passage holds most of what the question says"
	}
	return ""
}

// enoughWords is the part of what a question says, by the rarity of its words, that one passage must hold to be an answer.
const enoughWords = 0.27

// enoughFit is how well the first passage of an answer must fit, by its search.
const enoughFit = 0.35

// fitOf is how well a search says that its best hit fits, where the passage is one of its hits; enough where it does not say.
func (o offline) fitOf(q quote) float64 {
	if h, ok := o.hitOf(q); ok && h.fit > 0 {
		return h.fit
	}
	return enoughFit
}

// manifests list what a project depends on: they name much and explain nothing, so that their words count by this share only.
var manifests = strings.Fields(`
	go.mod go.sum package.json package-lock.json pnpm-lock.yaml yarn.lock requirements.txt pyproject.toml poetry.lock Cargo.toml
	Cargo.lock pom.xml build.gradle build.gradle.kts Gemfile Gemfile.lock composer.json composer.lock mix.exs`)

const manifestShare = 0.7

// said is the part of the question that a passage holds, 0 to 1.
func (o offline) said(q quote) float64 {
	all, held, text := 0.0, 0.0, o.wordsOf(q)
	for _, t := range o.sought(o.read()) {
		all += t.weight
		if holds(text, t.term) {
			held += t.weight
		}
	}
	if slices.Contains(manifests, path.Base(q.path)) {
		held *= manifestShare
	}
	return held / all
}

// wordsOf is all that a passage is known by, in lower case.
func (o offline) wordsOf(q quote) string {
	text := o.titleOf(q) + "\n" + q.path + "\n" + strings.Join(q.lines, "\n")
	if q.head != nil {
		text += "\n" + strings.Join(q.head.lines, "\n")
	}
	return strings.ToLower(text)
}

// unseen lists the telling words of the question that no passage holds.
func (o offline) unseen(quotes []quote) []string {
	var missing []string
	for _, t := range o.terms {
		if !search.IsGeneric(strings.ToLower(t)) && !slices.ContainsFunc(quotes, func(q quote) bool { return holds(o.wordsOf(q), t) }) {
			missing = append(missing, t)
		}
	}
	return missing
}

// beside says whether the passages miss the question: they hold no word that says what it is about, and most of these stand in no file at all.
func (o offline) beside(quotes []quote) bool {
	telling, gone := o.telling(), 0
	for _, t := range telling {
		if o.inNoFile(t) {
			gone++
		}
	}
	return gone > 0 && 2*gone >= len(telling) && len(o.unseen(quotes)) >= len(telling)
}

// mostGone bounds the words that an answer says are in no passage.
const mostGone = 3

// nowhere lists the words that no passage holds and that an answer could hardly do without: names, and, where they are several, what a search
// found in no file. Another word may stand for any single one.
func (o offline) nowhere(quotes []quote) (gone []string) {
	var plain []string
	for _, t := range o.unseen(quotes) {
		switch name := o.written(t); {
		case name != strings.ToLower(name):
			gone = append(gone, name)
		case o.inNoFile(t):
			plain = append(plain, name)
		}
	}
	if len(gone) > 0 || len(plain) > 1 {
		gone = append(gone, plain...)
	}
	return gone[:min(len(gone), mostGone)]
}

// written is a word as the question writes it within a sentence: a name keeps its capitals, a first word has none.
func (o offline) written(term string) string {
	at := strings.Index(strings.ToLower(o.sit.Question), strings.ToLower(term))
	if at < 0 || at+len(term) > len(o.sit.Question) {
		return term
	}
	as := o.sit.Question[at : at+len(term)]
	if before := strings.TrimRight(o.sit.Question[:at], " \t\n\"'“‘(¿"); before == "" || strings.ContainsAny(before[len(before)-1:], ".?!:") {
		if !isIdentifier(as) {
			return term
		}
	}
	return as
}

// inNoFile says whether a search told that it found a word nowhere.
func (o offline) inNoFile(term string) bool {
	for _, s := range o.sit.Steps {
		var data struct {
			Missing []string `json:"missing"`
		}
		if s.Receipt.Result != nil && json.Unmarshal(s.Receipt.Result.Data, &data) == nil &&
			slices.ContainsFunc(data.Missing, func(m string) bool { return strings.EqualFold(m, strings.TrimSuffix(term, "()")) }) {
			return true
		}
	}
	return false
}

// hitOf finds what a search said of a place.
func (o offline) hitOf(q quote) (hit, bool) {
	first := q.from
	if q.head != nil {
		first = q.head.from
	}
	for _, h := range o.hits() {
		if h.Path == q.path && h.URL == q.url && (h.Start <= q.to && first <= h.End || h.Start == 0) {
			return h, true
		}
	}
	return hit{}, false
}

// titleOf is what a search called the place.
func (o offline) titleOf(q quote) string {
	h, _ := o.hitOf(q)
	if h.Symbol != "" {
		return h.Symbol
	}
	return h.Title
}

func (o offline) types(quotes []quote) []string {
	var types []string
	for _, q := range quotes {
		if !slices.Contains(types, string(q.source)) {
			types = append(types, string(q.source))
		}
	}
	return types
}

// telling are the words that say what the question is about, without those in a class.
func (o offline) telling(class ...map[string]bool) (words []string) {
	for _, t := range classify.Terms(o.sit.Question) {
		low := strings.ToLower(t)
		if !search.IsGeneric(low) && !slices.ContainsFunc(class, func(c map[string]bool) bool { return c[low] }) {
			words = append(words, t)
		}
	}
	return words
}
