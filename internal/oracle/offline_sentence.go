package oracle

import (
	"fmt"
	"path"
	"strings"

	"sibyl/internal/document"
	"sibyl/internal/sentence"
	"sibyl/internal/tool"
)

// sentenceLine is the sentence of the notes among passages that gives what the question asks for, in one line with its place; "" where none does,
// or where several would.
func (o offline) sentenceLine(quotes []quote) string {
	language := sentence.LanguageOf(o.sit.Question)
	if language == "" {
		return ""
	}
	var notes []quote
	var texts []sentence.Text
	for _, q := range quotes {
		if q.source == tool.Vault {
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
	asked := corpus.Ask(o.sit.Question, language, earlier)
	found := corpus.Answers(asked, nil)
	if !asked.Definite() || len(found) != 1 {
		return ""
	}
	in, text := notes[found[0].Part], texts[found[0].Part].Parts[0]
	first := in.from + strings.Count(strings.Join(in.lines, "\n")[:found[0].From], "\n")
	last := in.from + strings.Count(strings.Join(in.lines, "\n")[:found[0].To], "\n")
	place := tool.Ref{Path: in.path, URL: in.url, Start: first, End: last}.String()
	return fmt.Sprintf("`%s` %s", place, text[found[0].From:found[0].To])
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
		b.WriteString(l)
	}
	return b.String()
}
