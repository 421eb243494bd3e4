package agent

import (
	"strings"
	"testing"

	"sibyl/internal/model"
)

func TestResultsThatAreCutAreShorterThanBefore(t *testing.T) {
	for _, over := range []int{1, 5, 30, 300} {
		messages := []model.Message{{Role: model.User, Text: "question"},
			{Role: model.ToolRole, Text: strings.Repeat("word", 600)}}
		tokens := Tokens(messages[0].Text) + Tokens(messages[1].Text)
		cut, left := cutToFit(messages, tokens, tokens-over)
		if left > tokens-over {
			t.Errorf("%d tokens too many: %d of %d stay", over, left, tokens)
		}
		if got := Tokens(cut[0].Text) + Tokens(cut[1].Text); got != left {
			t.Errorf("%d tokens are said to be %d", got, left)
		}
	}
}

func TestTokensAreAQuarterOfTheCharactersRoundedUp(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "ãããã": 1, "🔮🔮🔮🔮🔮": 2} {
		if got := Tokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
