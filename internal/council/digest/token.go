package digest

import (
	"strings"

	"sibyl/internal/words"
)

// token is a word, a number or a sign of a text.
type token = words.Token

const (
	lineEnd      = words.LineEnd
	paragraphEnd = "\n\n"
)

// tokens takes a text apart. White space is left out, but for the ends of lines; several of them are one.
func tokens(text string) []token {
	list := words.Form{InWords: "'’", InFigures: ".,:/"}.Tokens(text)
	kept := list[:0]
	for _, t := range list {
		if n := len(kept); t.Norm == lineEnd && n > 0 && !kept[n-1].Word && strings.HasPrefix(kept[n-1].Norm, lineEnd) {
			kept[n-1].Norm = paragraphEnd
			continue
		}
		kept = append(kept, t)
	}
	return kept
}

// connects is how many tokens a connective of a list has that begins at i. The Portuguese “é” is no “e”.
func (l *language) connects(name string, list []token, i int) int {
	if i < len(list) && list[i].Norm == "e" && list[i].To-list[i].From > 1 {
		return 0
	}
	return l.words[name].At(list, i)
}
