package agent

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

func TestResultsThatAreCutAreShorterThanBefore(t *testing.T) {
	for _, over := range []int{1, 5, 30, 300} {
		messages := []model.Message{{Role: model.User, Text: "question"},
			{Role: model.ToolRole, Text: strings.Repeat("word", 600)}}
		tokens := Tokens(messages[0].Text) + Tokens(messages[1].Text)
		cut, left := cutToFit(messages, tokens, tokens-over)
		assert.That(t, left <= tokens-over, "%d tokens too many: %d of %d stay", over, left, tokens)
		got := Tokens(cut[0].Text) + Tokens(cut[1].Text)
		assert.That(t, got == left, "%d tokens are said to be %d", got, left)
	}
}

func TestTokensAreAQuarterOfTheCharactersRoundedUp(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "ãããã": 1, "🔮🔮🔮🔮🔮": 2} {
		assert.Equalf(t, Tokens(text), want, "%q", text)
	}
}
