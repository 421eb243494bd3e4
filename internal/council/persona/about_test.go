package persona

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestOracleIsTellingOfItselfByItsFirstSentence(t *testing.T) {
	for content, want := range map[string]string{
		"# Ada\n\nYou are Dr. Ada, who\ndoubts. You ask.\n":     "You are Dr. Ada, who doubts.",
		"# Ada\n## Who\n{{CONTEXT}}\n\nAsk first! Then go.":     "Ask first!",
		"No title, and one line":                                "No title, and one line",
		"# Ada\n\n{{CONTEXT}}\n":                                "",
		"# Ada\nBefore the placeholder.\n{{CONTEXT}}\nAfter it": "Before the placeholder.",
	} {
		assert.Equalf(t, (&Persona{Content: content, Placeholder: "{{CONTEXT}}"}).about(), want, "%q is about", content)
	}
}
