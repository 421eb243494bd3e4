package persona

import (
	"strings"

	"sibyl/internal/text"
	"sibyl/internal/text/markdown"
)

// about is the first sentence of an oracle's file that is no heading, in one line; "" where it has none.
func (p *Persona) about() string {
	var paragraph []string
	for line := range strings.Lines(p.Content) {
		_, _, heading := markdown.Heading(line)
		words := strings.TrimSpace(line)
		if words != "" && !heading && !strings.Contains(words, p.Placeholder) {
			paragraph = append(paragraph, words)
		} else if len(paragraph) > 0 {
			break
		}
	}
	said := text.OneLine(strings.Join(paragraph, " "))
	for _, s := range text.Sentences(said) {
		return said[s.From:s.To]
	}
	return ""
}
