package oracle

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"sibyl/internal/document"
	"sibyl/internal/sentence"
	"sibyl/internal/text/markdown"
	"sibyl/internal/tool"
)

// sentences are the sentences of the notes among passages that give what the question asks for, a line with its place for each; none where
// something has none, or several.
func (o offline) sentences(quotes []quote) (lines []string) {
	language := sentence.LanguageOf(o.sit.Question)
	if language == "" {
		return nil
	}
	var notes []quote
	var texts []sentence.Text
	for _, q := range quotes {
		if q.source == tool.Vault || document.IsText(q.path) {
			notes = append(notes, q)
			name := strings.TrimSuffix(path.Base(q.path), path.Ext(q.path))
			texts = append(texts, sentence.Text{Name: name + " " + o.titleOf(q), Parts: []string{q.flowing()}})
		}
	}
	corpus := sentence.New(texts, "")
	var earlier []sentence.Exchange
	if o.earlier != "" {
		earlier = append(earlier, sentence.Exchange{Question: o.earlier})
	}
	for _, found := range corpus.Clear(corpus.Ask(o.sit.Question, language, earlier)) {
		in, text := notes[found.Part], texts[found.Part].Parts[0]
		before, after := strings.Join(in.lines, "\n")[:found.From], strings.Join(in.lines, "\n")[:found.To]
		in.from, in.to = in.from+strings.Count(before, "\n"), in.from+strings.Count(after, "\n")
		written := text[found.From:found.To]
		said := markdown.Text(strings.TrimLeft(written, "-*+> "))
		if strings.Contains(written, "<") || !isPlain(said) {
			return nil
		}
		lines = append(lines, fmt.Sprintf("`%s` %s", in.cite(), said))
	}
	return lines
}

// isPlain says whether a sentence of a note can stand outside a fence: it holds nothing that would be read there as a signal, as markup or as a
// citation of the answer.
func isPlain(said string) bool {
	return !strings.ContainsAny(said, "<`") && !strings.Contains(said, "://") && !strings.Contains(said, gitPlace) &&
		!slices.ContainsFunc(pathCite().FindAllString(said, -1), func(c string) bool {
			name, _, _, ok := splitCite(c)
			return ok && isPath(name)
		})
}

// flowing is the text of a note with running text in one line, byte for byte as long as its lines.
func (q quote) flowing() string {
	b := &strings.Builder{}
	goesOn := document.GoesOn(q.lines)
	for i, l := range q.lines {
		switch {
		case i == 0:
		case goesOn[i]:
			b.WriteByte(' ')
		default:
			b.WriteByte('\n')
		}
		if strings.HasPrefix(strings.TrimSpace(l), "|") { // a row of a table says nothing without its head
			l = strings.Repeat(" ", len(l))
		}
		b.WriteString(l)
	}
	return b.String()
}
