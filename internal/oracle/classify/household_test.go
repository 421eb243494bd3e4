package classify

import "testing"

func TestItWithNothingBeforeItIsTheProgram(t *testing.T) {
	checkOffered(t, []labelled{
		{"does it clean up after a crash", Code},
		{"what does it do with symbolic links?", Code},
		{"can I use it from two terminals at the same time?", Code},
		{"what time is it in Lima?", Research},
		{"how long does it take to walk a mile", Research},
		{"what is Docker and how does it work", Research},
	})
}

func TestAWayToHandleAProgramIsAskedOfTheProgramAtHand(t *testing.T) {
	checkOffered(t, []labelled{
		{"How do I skip the second step?", Code},
		{"how can I run just one of the tests?", Code},
		{"is there an option to print less?", Code},
		{"Wie kann ich die Warnung abschalten?", Code},
		{"how do I change a light bulb", Research},
		{"how do I parse JSON in Go", Research},
		{"how do I use the requests library to upload a file", Research},
		{"how do I clear the cache of Firefox", Research},
	})
}

func TestWhatPeopleMayDoAndDidIsWrittenDown(t *testing.T) {
	checkOffered(t, []labelled{
		{"Who may sign the invoices?", Documentation},
		{"Wer muss der Freigabe zustimmen?", Documentation},
		{"What do I do when the importer hangs?", Documentation},
		{"Do we name branches by ticket or by topic?", Documentation},
		{"Which customers want a paper bill?", Documentation},
		{"What went wrong in the February outage?", Documentation},
		{"Since when do we keep the pictures elsewhere?", Documentation},
		{"what should I do when a wasp stings me", Research},
		{"where do we validate the address", Code},
	})
}

func TestNamingAThreadAsTheSourceIsNoOrder(t *testing.T) {
	checkTypes(t, []labelled{
		{"According to the thread, why did the printers fail?", Documentation},
		{"Why was that not added to the thread?", Documentation},
		{"Add that to the thread.", Action},
		{"Lege eine Notiz über den Besuch an.", Action},
		{"How can I see the default value?", Code},
	})
}

func TestFollowUpAboutItKeepsTheTypeOfTheQuestionBefore(t *testing.T) {
	for _, c := range []struct {
		before   string
		previous Type
		question string
		want     Type
	}{
		{"How long does the poller sleep?", Code, "and how do I make it wait longer?", Code},
		{"Who signed the contract?", Documentation, "and when was that?", Documentation},
		{"Como funciona o cache?", Code, "e como desligo isso?", Code},
	} {
		got := Classify(Query{Text: c.question, Previous: []string{c.before}, PreviousType: c.previous})
		if got.QueryType != c.want {
			t.Errorf("%q after %q: got %s, want %s; matches %v", c.question, c.before, got.QueryType, c.want, got.Matches)
		}
	}
}

func TestQuestionThatNamesNothingOutsideIsAnUnsureGuessAboutTheWorld(t *testing.T) {
	torn, plain := Classify(Query{Text: "how do I fold the frobnicator"}), Classify(Query{Text: "how do I get a visa for Japan"})
	if torn.Probabilities[Code] < 0.1 {
		t.Errorf("a thing that both know is named, and only %v is left for code and notes", torn.Probabilities)
	}
	if plain.QueryType != Research || plain.Confidence <= torn.Probabilities[Research] {
		t.Errorf("a country is named: got %s with %.2f", plain.QueryType, plain.Confidence)
	}
}

func TestContinuesTellsFollowUpsFromWholeQuestions(t *testing.T) {
	for question, want := range map[string]bool{
		"and how do I make it wait longer?": true, "what about the server?": true, "How long does the poller sleep?": false,
	} {
		if got := Continues(question); got != want {
			t.Errorf("Continues(%q) = %v", question, got)
		}
	}
}
