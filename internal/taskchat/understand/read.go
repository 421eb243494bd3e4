package understand

import (
	"regexp"
	"slices"
	"strings"

	"sibyl/internal/text"
)

// read reads a message as commands, in the first language in which all of it is some, that of the conversation first;
// nil if it is not.
func read(words string, c Context) (code string, commands []Result) {
	order := grammars()
	if i := slices.IndexFunc(order, func(g *grammar) bool { return g.code == c.Language }); i > 0 {
		order = slices.Concat(order[i:i+1], order)
	}
	for _, g := range order {
		if commands := g.message(words, c.Previous); commands != nil {
			return g.code, commands
		}
	}
	return "", nil
}

// message reads commands; nil if there are none, or something else is said too.
func (g *grammar) message(words string, previous Intent) (all []Result) {
	if listed := g.lines(words); listed != nil {
		return listed
	}
	for _, at := range text.Sentences(veiled(words)) {
		s := words[at.From:at.To]
		if rest, _ := g.bare(s); rest == "" {
			continue // politeness
		}
		for _, clause := range g.clauses(text.OneLine(s)) {
			results := g.command(clause)
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

// veiled is a text of the same length with letters for its quotations.
func veiled(s string) string {
	return quotations.ReplaceAllStringFunc(s, func(q string) string { return strings.Repeat("x", len(q)) })
}

// cuts are where another command may begin.
var cuts = regexp.MustCompile(`(?i)(?:\s*;|,?\s+(?:and then|and|then|und dann|und|dann|e depois|e)\b|,)\s+`)

// clauses are the parts of a sentence that are commands each. What begins none belongs to the one before it; so does,
// behind a title, what may as well be words of it.
func (g *grammar) clauses(s string) (all []string) {
	ends := append(cuts.FindAllStringIndex(veiled(s), -1), []int{len(s), len(s)})
	first, from := g.command(s[:ends[0][0]]), 0
	for i := 1; i < len(ends) && first != nil; i++ {
		next := g.command(s[ends[i-1][1]:ends[i][0]])
		if next != nil && (certain(next[0]) || next[0].Entities.Reference != nil && first[0].Entities.Title == "") {
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
		return one(previous, Entities{Reference: ref}, "what was done last, for another task")
	}
	return nil
}

// bullets stand before the items of a list.
var bullets = regexp.MustCompile(`^(?:[-*•–]|\d{1,3}[.)])\s+`)

// lines reads a list of new tasks: "add these:" with a line for each.
func (g *grammar) lines(words string) (all []Result) {
	head, items, found := strings.Cut(words, ":\n")
	if !found {
		return nil
	}
	if head := g.command(head + ": x"); len(head) != 1 || head[0].Intent != Create || head[0].Entities.Title != "x" {
		return nil
	}
	for line := range strings.Lines(items) {
		if title := unquoted(bullets.ReplaceAllString(strings.TrimSpace(line), "")); title != "" {
			all = append(all, one(Create, Entities{Title: title}, "a line of a list")...)
		}
	}
	return all
}
