package assistant

import "strings"

// Phrase is a piece of a line for people: a format in English, which a catalogue may have in other languages, and what
// fills it in.
type Phrase struct {
	Format string
	Values []any
}

// Clause is a part of a line: its phrases are divided by commas, and the clauses of a line by semicolons.
type Clause []Phrase

// Counted is the phrase for one, or that for another number, which it is filled in with.
func Counted(n int, one, many string) Phrase {
	if n == 1 {
		return Phrase{Format: one}
	}
	return Phrase{Format: many, Values: []any{n}}
}

// Line is a line of clauses.
type Line []Clause

// In gives the line, with each phrase filled in by say.
func (l Line) In(say func(format string, values ...any) string) string {
	clauses := make([]string, len(l))
	for i, c := range l {
		phrases := make([]string, len(c))
		for j, p := range c {
			phrases[j] = say(p.Format, p.Values...)
		}
		clauses[i] = strings.Join(phrases, ", ")
	}
	return strings.Join(clauses, "; ")
}
