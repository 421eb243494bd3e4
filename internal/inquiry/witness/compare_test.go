package witness

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/prompts"
)

func TestValuesOfOnePropertyDifferUnlessTheySayTheSame(t *testing.T) {
	for _, one := range []struct {
		first, second Stated
		differ        bool
	}{
		{Stated{"date of the closure", "4 March 2021"}, Stated{"Date of the closure", "5 March 2021"}, true},
		{Stated{"crew of the ship", "12"}, Stated{"crew of the ship", "fourteen"}, true},
		{Stated{"número de votos", "unânime"}, Stated{"número de votos", "três contra"}, true},
		{Stated{"cost of the repair", "2.4 million"}, Stated{"cost of the inspection", "40,000"}, false},
		{Stated{"hours of support", "8 to 17"}, Stated{"hours of support", "between 8 and 17"}, false},
		{Stated{"place of the rust", "three joints"}, Stated{"place of the rust", "joints"}, false},
		{Stated{"name of the owner", "Anna Berg"}, Stated{"name of the owner", "“Anna Berg”"}, false},
		{Stated{"name of the owner", "Anna Berg"}, Stated{"name of the owner", ""}, false},
	} {
		c := Comparison{First: one.first, Second: one.second}
		assert.Equalf(t, c.Differs(), one.differ, "%v and %v", one.first, one.second)
	}
}

const (
	closed = "The bridge was closed on 4 March 2021 after an inspection."
	shut   = "On 5 March 2021 the bridge was closed to all traffic."
	writes = "Anna Berg wrote three pages on rust."
)

// reports are two documents that name two dates of one closure.
func reports(t testing.TB, replies ...modeltest.Turn) (*documentWitness, *modeltest.Scripted) {
	comparing := string(assert.Must(prompts.FS.ReadFile("inquiry/compare.md"))(t))
	m := modeltest.Script(t, replies...).As("local:reads", true)
	w := over(t, Options{Hypothesis: "The bridge was closed in March.", Model: m, Prompt: "Choose.", Comparing: comparing},
		closed+" "+writes, "Snow fell for a week. "+shut)
	return w.(*documentWitness), m
}

func chooses(words string) modeltest.Turn {
	return modeltest.Say(fmt.Sprintf(`{"quotations":[{"passage":1,"words":%q}],"search":[]}`, words))
}

func reads(property, other, first, second string) modeltest.Turn {
	return modeltest.Say(fmt.Sprintf(`{"first":{"property":%q,"value":%q},"second":{"property":%q,"value":%q},"kind":"date"}`,
		property, first, other, second))
}

func TestWhatAnotherDocumentSaysDifferentlyOfTheSameThingIsQuotedToo(t *testing.T) {
	const date = "date of the closure"
	w, m := reports(t, chooses(closed), reads(date, date, "4 March 2021", "5 March 2021"))
	a := answer(t, w, "When was the bridge closed?", "en")
	assert.Equal(t, a.Text, closed+" "+shut)
	assert.Require(t, len(a.Citations) == 2 && len(a.Compared) == 1, "%+v", a)
	assert.Equal(t, a.Compared[0].Description(), date+": 4 March 2021, 5 March 2021")
	asked := m.Requests()[1].Messages
	assert.Equal(t, asked[len(asked)-1].Text, "First: "+closed+" Second: "+shut)
}

func TestStatementsThatAgreeOrAreOnOtherThingsChangeNoAnswer(t *testing.T) {
	w, _ := reports(t, chooses(closed), reads("date of the closure", "date of the reopening", "4 March 2021", "5 March 2021"))
	a := answer(t, w, "When was the bridge closed?", "en")
	assert.Equal(t, a.Text, closed)
	assert.That(t, len(a.Compared) == 1 && !a.Compared[0].Differs(), "%+v", a.Compared)
}

func TestStatementsAreComparedOnceAndOnlyWithThoseLikeThem(t *testing.T) {
	for name, one := range map[string]struct {
		chosen  string
		earlier []Exchange
	}{
		"nothing like it":               {writes, nil},
		"compared in an earlier answer": {closed, []Exchange{{Question: "What was closed?", Answer: closed}}},
	} {
		t.Run(name, func(t *testing.T) {
			w, m := reports(t, chooses(one.chosen))
			a := answer(t, w, "Who inspected the bridge when it was closed?", "en", one.earlier...)
			assert.That(t, a.Text == one.chosen && len(m.Requests()) == 1 && len(a.Notes) == 0, "%+v", a)
		})
	}
}

func TestModelThatFailsToCompareLeavesTheAnswerAndIsTold(t *testing.T) {
	w, _ := reports(t, chooses(closed), modeltest.Turn{Err: &model.Error{Kind: model.Overloaded}})
	a := answer(t, w, "When was the bridge closed?", "en")
	assert.Equal(t, a.Text, closed)
	assert.That(t, len(a.Notes) == 1 && strings.Contains(a.Notes[0].Text, "could not all be compared"), "%+v", a.Notes)
}
