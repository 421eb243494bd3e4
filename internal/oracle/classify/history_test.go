package classify

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

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
