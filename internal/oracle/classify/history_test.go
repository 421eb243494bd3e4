package classify

import "testing"

func TestEllipticFollowUpInheritsTheType(t *testing.T) {
	for _, c := range []struct {
		earlier, text string
		previous      Type
	}{
		{"How does the auth middleware work?", "and in the server?", Code},
		{"What did we decide about caching?", "and about logging?", Documentation},
		{"What's the weather in Paris?", "and in Rome?", Research},
		{"why did we choose Postgres?", "what about Redis?", Documentation},
		{"How does the queue work?", "who wrote it?", Code},
	} {
		got := Classify(Query{Text: c.text, Previous: []string{c.earlier}, PreviousType: c.previous})
		if got.QueryType != c.previous {
			t.Errorf("%q after %q: got %s, want %s", c.text, c.earlier, got.QueryType, c.previous)
		}
	}
}

func TestFollowUpWithASubjectOfItsOwnIsJudgedByIt(t *testing.T) {
	got := Classify(Query{Text: "and what's the weather in Rome?", Previous: []string{"How does the parser work?"}, PreviousType: Code})
	if got.QueryType != Research {
		t.Errorf("got %s, want research", got.QueryType)
	}
}

func TestAChangeIsNeverInherited(t *testing.T) {
	got := Classify(Query{Text: "and in the glossary?", Previous: []string{"Add NATS to the handbook"}, PreviousType: Action})
	if got.QueryType != Documentation {
		t.Errorf("got %s, want documentation: the same source, but nothing to write", got.QueryType)
	}
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
			t.Errorf("%s: got %s %.2f, want %s %.2f as without history", name, got.QueryType, got.Confidence, alone.QueryType, alone.Confidence)
		}
	}
}

func TestTalkAboutTheAnswerIsConversationWhateverCameBefore(t *testing.T) {
	for _, text := range []string{"why?", "can you say that again?", "thanks", "are you sure?", "shorter please"} {
		got := Classify(Query{Text: text, Previous: []string{"How does the parser work?"}, PreviousType: Code})
		if got.QueryType != Conversational {
			t.Errorf("%q: got %s, want conversational", text, got.QueryType)
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
		{"a subject from two questions ago", []string{"how does the parser work", "and its tests?"}, "does the parser recover", false},
		{"a subject from long ago", []string{"how does the parser work", "price of gold", "weather in Rome", "who won the election"}, "does the parser recover", true},
	} {
		if got := TopicShift(c.previous, c.text); got != c.want {
			t.Errorf("%s: TopicShift(%q, %q) = %v, want %v", c.name, c.previous, c.text, got, c.want)
		}
	}
}
