package persona

import (
	"strings"

	"sibyl/internal/preset"
	"sibyl/internal/text"
	"sibyl/internal/text/markdown"
)

// about is what the front matter says, or else the first sentence that is no heading, in one line; "" where there is
// none.
func (p *Persona) about() string {
	for _, e := range p.Front {
		if e.Name == preset.AboutName && e.Text != "" {
			return oneLine(e.Text)
		}
	}
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
