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

// number is one that is no part of a name.
var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^\pL\pN_])[0-9]`) })

// figure is the line with its place that holds a number and at least two thirds of the words that say what the question
// is about; "" where it asks for no number, default or date, or no line holds one. What code says is no date.
func (o offline) figure(places []passage) (line string) {
	asked := strings.FieldsFunc(strings.ToLower(o.sit.Question), func(r rune) bool { return !unicode.IsLetter(r) })
	asksNumber, asksDate := slices.ContainsFunc(asked, search.AsksNumber), slices.ContainsFunc(asked, search.AsksDate)
	telling := slices.DeleteFunc(slices.Clone(o.terms), func(t string) bool {
		low := strings.ToLower(t)
		return search.IsGeneric(low) || search.IsAsking(low) || search.AsksNumber(low) || search.AsksDate(low)
	})
	least := max(1, (2*len(telling)+2)/3)
	for _, p := range places {
		if p.from == 0 || !asksNumber && (!asksDate || p.isCode()) {
			continue
		}
		for i, raw := range p.lines {
			for _, said := range p.sayings(raw) {
				held := 0
				for _, t := range telling {
					if holds(strings.ToLower(said), t) {
						held++
					}
				}
				if held >= least && number().MatchString(said) {
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

// sayings are the sentences of a line, or the line of code, as far as they can stand outside a fence.
func (p passage) sayings(line string) (all []string) {
	if p.isCode() {
		if line = text.Brief(line, listColumns); isHarmless(line) {
			all = append(all, spanCode(line))
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
