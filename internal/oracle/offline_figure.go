package oracle

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"sibyl/internal/text"
	"sibyl/internal/text/markdown"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

// numberPattern matches a number that is not part of a name.
var numberPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^\pL\pN_])[0-9]`) })

// figureLine is the line, with its place, that has a number and the most topic terms, at least two thirds of them; ""
// if there is none, or the question asks for no number, default or date. Numbers in code are no dates.
func (o offline) figureLine(places []passage) (line string) {
	asked := strings.FieldsFunc(strings.ToLower(o.sit.Question), func(r rune) bool { return !unicode.IsLetter(r) })
	asksNumber, asksDate := slices.ContainsFunc(asked, search.AsksNumber), slices.ContainsFunc(asked, search.AsksDate)
	topicTerms := slices.DeleteFunc(slices.Clone(o.terms), func(t string) bool {
		low := strings.ToLower(t)
		return search.IsGeneric(low) || search.IsAsking(low) || search.AsksNumber(low) || search.AsksDate(low)
	})
	least := max(1, (2*len(topicTerms)+2)/3)
	for _, p := range places {
		if p.from == 0 || !asksNumber && (!asksDate || p.isCode()) {
			continue
		}
		for i, raw := range p.lines {
			for _, said := range p.quotable(raw) {
				held := 0
				for _, t := range topicTerms {
					if hasTerm(strings.ToLower(said), t) {
						held++
					}
				}
				if held >= least && numberPattern().MatchString(said) {
					place := tool.Ref{Path: p.path, Start: p.from, Paged: p.paged}
					if !p.paged {
						place.Start += i
					}
					line, least = "`"+place.String()+"` "+said, held+1
				}
			}
		}
	}
	return line
}

// quotable are the sentences of a line, or the line of code, that can be shown outside a fence.
func (p passage) quotable(line string) (all []string) {
	if p.isCode() {
		if line = text.Brief(line, listColumns); isHarmless(line) {
			all = append(all, codeSpan(line))
		}
		return all
	}
	line = markdown.Text(strings.TrimLeft(line, "-*+> \t"))
	for _, s := range text.Sentences(line) {
		if said := line[s.From:s.To]; isPlain(said) {
			all = append(all, text.Brief(said, 2*listColumns))
		}
	}
	return all
}
