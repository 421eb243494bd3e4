package inquiry

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestPlainWishesForAnInquiryAreOfferedInTheirLanguage(t *testing.T) {
	for words, want := range map[string]string{
		"investigate whether the bridge was safe": "Begin an inquiry?",
		"Untersuche, ob die Brücke sicher war":    "Eine Befragung beginnen?",
		"prüf bitte, ob die Brücke sicher war":    "Eine Befragung beginnen?",
		"investigue se a ponte era segura":        "Começar um inquérito?",
		"investigate the failing test":            "",
		"did they investigate whether it works":   "",
		"investigate whether":                     "",
	} {
		assert.Equalf(t, wishes().Offers(words), want, "%s", words)
	}
}
