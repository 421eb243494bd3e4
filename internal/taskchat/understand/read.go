package understand

import (
	"regexp"
	"slices"
	"strings"

	"sibyl/internal/text"
)

// readCommands reads a message as commands, in the first language in which all of it is commands; that of the
// conversation comes first. nil if there is none.
func readCommands(words string, c Context) (code string, commands []Result) {
	order := grammars()
	if i := slices.IndexFunc(order, func(g *grammar) bool { return g.code == c.Language }); i > 0 {
		order = slices.Concat(order[i:i+1], order)
	}
	for _, g := range order {
		if commands := g.readMessage(words, c.Previous); commands != nil {
			return g.code, commands
		}
	}
	return "", nil
}

// readMessage reads commands; nil if there are none, or something else is said too.
func (g *grammar) readMessage(words string, previous Intent) (all []Result) {
	if listed := g.readList(words); listed != nil {
		return listed
	}
	for _, at := range text.Sentences(maskQuotations(words)) {
		s := words[at.From:at.To]
		if rest, _ := g.stripPoliteness(s); rest == "" {
			continue // politeness
		}
		for _, clause := range g.clauses(text.OneLine(s)) {
			results := g.readClause(clause)
			if results == nil {
				results = g.followUp(clause, previous)
			}
			if results == nil {
				return nil
			}
			previous = results[0].Intent
			all = append(all, results...)
		}
	}
	return all
}

// quotations are what stands between quotation marks, where no sentence and no clause ends.
var quotations = regexp.MustCompile(`"[^"]*"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|‘[^‘’']*[’']|(?:^|\s)'[^']*'`)

// maskQuotations replaces quotations by letters, so that the text keeps its length.
func maskQuotations(s string) string {
	return quotations.ReplaceAllStringFunc(s, func(q string) string { return strings.Repeat("x", len(q)) })
}

// clauseBreaks are where another command may begin.
var clauseBreaks = regexp.MustCompile(`(?i)(?:\s*;|,?\s+(?:and then|and|then|und dann|und|dann|e depois|e)\b|,)\s+`)

// clauses are the parts of a sentence that are commands each. What begins none belongs to the one before it; so does,
// behind a title, what may as well be words of it.
func (g *grammar) clauses(s string) (all []string) {
	ends := append(clauseBreaks.FindAllStringIndex(maskQuotations(s), -1), []int{len(s), len(s)})
	first, from := g.readClause(s[:ends[0][0]]), 0
	for i := 1; i < len(ends) && first != nil; i++ {
		next := g.readClause(s[ends[i-1][1]:ends[i][0]])
		if next != nil && (isCertain(next[0]) || next[0].Entities.Reference != nil && first[0].Entities.Title == "") {
			all, from, first = append(all, s[from:ends[i-1][0]]), ends[i-1][1], next
		}
	}
	return append(all, s[from:])
}

// followUp reads "and the third too": what was done last is wanted for another task.
func (g *grammar) followUp(clause string, previous Intent) []Result {
	s := strings.TrimRight(strings.TrimSpace(clause), ".!")
	short := g.follow.ReplaceAllString(s, "")
	if short == s || previous != Complete && previous != Delete {
		return nil
	}
	if ref := Refer(short); ref != nil && ref.Positions != nil {
		return oneResult(previous, Entities{Reference: ref}, "what was done last, for another task")
	}
	return nil
}

// bullets stand before the items of a list.
var bullets = regexp.MustCompile(`^(?:[-*•–]|\d{1,3}[.)])\s+`)

// readList reads a list of new tasks: "add these:" with a line for each.
func (g *grammar) readList(words string) (all []Result) {
	head, items, found := strings.Cut(words, ":\n")
	if !found {
		return nil
	}
	if head := g.readClause(head + ": x"); len(head) != 1 || head[0].Intent != Create || head[0].Entities.Title != "x" {
		return nil
	}
	for line := range strings.Lines(items) {
		if title := unquoted(bullets.ReplaceAllString(strings.TrimSpace(line), "")); title != "" {
			all = append(all, oneResult(Create, Entities{Title: title}, "a line of a list")...)
		}
	}
	return all
}
