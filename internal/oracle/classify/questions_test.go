package classify

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestWithoutHistoryNothingIsInherited(t *testing.T) {
	alone := Classify(Query{Text: "and in Rome?"})
	for name, q := range map[string]Query{
		"type without a question": {Text: "and in Rome?", PreviousType: Code},
		"conversation before it":  {Text: "and in Rome?", Previous: []string{"thanks"}, PreviousType: Conversational},
		"unknown type":            {Text: "and in Rome?", Previous: []string{"?"}, PreviousType: "poetry"},
		"question without a type": {Text: "and in Rome?", Previous: []string{"How does it work?"}},
	} {
		if got := Classify(q); got.QueryType != alone.QueryType || got.Confidence != alone.Confidence {
			t.Errorf("%s: got %s %.2f, want %s %.2f as without history", name, got.QueryType, got.Confidence,
				alone.QueryType, alone.Confidence)
		}
	}
}

func TestTopicShift(t *testing.T) {
	parser := []string{"How does the config parser handle comments?"}
	for _, c := range []struct {
		name     string
		previous []string
		text     string
		want     bool
	}{
		{"no earlier question", nil, "What's the weather in Paris?", false},
		{"another subject", parser, "What's the weather in Paris?", true},
		{"a word in common", parser, "does the parser keep line numbers?", false},
		{"another form of a word", parser, "where is a comment parsed?", false},
		{"a part of an identifier", parser, "who calls parseConfig?", false},
		{"a pronoun", parser, "who wrote it?", false},
		{"an elliptic follow-up", parser, "and in the server?", false},
		{"thanks", parser, "Thanks, that helps!", false},
		{"about the answer", parser, "can you say that again?", false},
		{"a subject from two questions ago", []string{"how does the parser work", "and its tests?"},
			"does the parser recover", false},
		{"a subject from long ago", []string{"how does the parser work", "price of gold", "weather in Rome",
			"who won the election"}, "does the parser recover", true},
	} {
		assert.Equalf(t, TopicShift(c.previous, c.text), c.want, "%s: TopicShift(%q, %q)", c.name, c.previous, c.text)
	}
}

func TestQuestionThatNamesNothingOutsideIsAnUnsureGuessAboutTheWorld(t *testing.T) {
	torn, plain := Classify(Query{Text: "how do I fold the frobnicator"}),
		Classify(Query{Text: "how do I get a visa for Japan"})
	assert.That(t, torn.Probabilities[Code] >= 0.1,
		"a thing that both know is named, and only %v is left for code and notes", torn.Probabilities)
	assert.That(t, plain.QueryType == Research && plain.Confidence > torn.Probabilities[Research],
		"a country is named: got %s with %.2f", plain.QueryType, plain.Confidence)
}

func TestContinuesTellsFollowUpsFromWholeQuestions(t *testing.T) {
	for question, want := range map[string]bool{
		"and how do I make it wait longer?": true, "what about the server?": true,
		"How long does the poller sleep?": false,
	} {
		assert.Equalf(t, Continues(question), want, "Continues(%q)", question)
	}
}

func TestTermsAreTheWordsWorthSearching(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"How does the auth middleware work?", []string{"auth", "middleware"}},
		{"What did we decide about caching?", []string{"decide", "caching"}},
		{"who calls `SessionStore.Load` and parse_header()?", []string{"calls", "SessionStore.Load", "parse_header()"}},
		{`What does "append mode" do in the loader?`, []string{"append mode", "loader"}},
		{"Fix the bug in src/auth/token.go:42", []string{"fix", "bug", "src/auth/token.go"}},
		{"Was haben wir über das Caching entschieden?", []string{"caching", "entschieden"}},
		{"Comment est-ce que le cache est vidé dans ce programme ?", []string{"cache", "vidé", "programme"}},
		{"¿Dónde se guarda la configuración de los usuarios?", []string{"guarda", "configuración", "usuarios"}},
		{"show me today's meeting notes, please", []string{"today", "meeting", "notes"}},
		{"the parser, the Parser and the PARSER", []string{"parser"}},
		{"how does it work?", nil},
		{"panic: the group is not registered", []string{"panic", "group", "registered"}},
		{"", nil},
	} {
		assert.NoDiff(t, cmp.Diff(c.want, Terms(c.text)), "%q", c.text)
	}
}

func TestTermsOfATraceAreItsNames(t *testing.T) {
	got := Terms("goroutine 1 [running]:\nstore.loadRow(0x1)\n\t/app/store/row.go:12 +0x1d\nwhy does this crash?")
	assert.Contains(t, "the words", strings.Join(got, "\n"), "/app/store/row.go", "crash")
}

func TestTermsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "subject%d ", i)
	}
	got := Terms(b.String())
	assert.That(t, len(got) == maxTerms, "got %d terms, want %d", len(got), maxTerms)
}
