package classify

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

//go:embed testdata/questions.txt
var questions string

// least is how probable a type is at least whose source is offered.
const least = 0.1

// TestQuestionsAreTakenForWhatTheyAre reads the questions of testdata, in groups under their names.
func TestQuestionsAreTakenForWhatTheyAre(t *testing.T) {
	groups := strings.Split("\n"+questions, "\n# ")[1:]
	assert.Require(t, len(groups) >= 15, "%d groups", len(groups))
	for _, group := range groups {
		name, rows, _ := strings.Cut(group, "\n")
		t.Run(name, func(t *testing.T) {
			for row := range strings.Lines(rows) {
				if row = strings.TrimSpace(row); row != "" && !strings.HasPrefix(row, "//") {
					checkRow(t, row)
				}
			}
		})
	}
}

// checkRow checks a row: a type, perhaps after “perhaps” or “not”, and a question, perhaps with the one before it after
// “<”.
func checkRow(t *testing.T, row string) {
	t.Helper()
	kind, text, _ := strings.Cut(strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\u00ad`, "\u00ad", `\u200b`, "\u200b").
		Replace(row), ": ")
	text, before, follows := strings.Cut(text, " < ")
	q := Query{Text: text}
	if follows {
		previous, earlier, _ := strings.Cut(before, ": ")
		q.Previous, q.PreviousType = []string{earlier}, Type(previous)
	}
	how, kind, is := strings.Cut(kind, " ")
	if !is {
		how, kind = "", how
	}
	got, want := Classify(q), Type(kind)
	right := got.QueryType == want
	switch how {
	case "perhaps":
		right = got.Probabilities[want] >= least
	case "not":
		right = !right
	}
	assert.That(t, right && slices.Contains(types[:], want) && text != "",
		"%s: it is %s (%.2f); matches %v", row, got.QueryType, got.Confidence, got.Matches)
}
