package eval

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"sibyl/cmd/sibyl-eval/scores/train"
	evaldata "sibyl/eval"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/oracle/classify"
)

// plain is what two questions have in common that are one.
func plain(text string, history []string) string {
	return strings.ToLower(strings.Trim(text, " .!?")) + "\n" + strings.Join(history, "\n")
}

func TestFewQuestionsOfASetAreAmongTheLessons(t *testing.T) {
	lessons, err := train.Lessons(evaldata.Files, evaldata.Lessons+"/*.*")
	assert.Require(t, err == nil && len(lessons) >= 40_000, "%d lessons, %v", len(lessons), err)
	learned := map[string]bool{}
	for _, l := range lessons {
		learned[plain(l.Query.Text, l.Query.Previous)] = true
	}
	for _, name := range []string{evaldata.Queries, evaldata.EverydayQueries} {
		halves := assert.Must(LoadQueries(evaldata.Files, name))(t)
		known, all := 0, 0
		for _, half := range halves {
			for _, l := range half.Lessons {
				all++
				known += one(l.Labels[0] != classify.Conversational && learned[plain(l.Query.Text, l.Query.Previous)])
			}
		}
		if 20*known > all { // courtesies, and what everybody would ask
			t.Errorf("%s: %d of %d are among the lessons", name, known, all)
		}
	}
}

func TestHalvesOfTheSetsFollowTheHash(t *testing.T) {
	all := assert.Must(LoadSet(evaldata.Files, evaldata.EverydayQueries, Query.check))(t)
	for _, q := range all {
		if q.Half != HalfOf(q.Text) {
			t.Errorf("%q is in half %q, its hash says %q", q.Text, q.Half, HalfOf(q.Text))
		}
	}
}

func TestMissesAreToldOfSetsThatMayBeLookedAt(t *testing.T) {
	lessons := []train.Lesson{
		{Labels: []classify.Type{classify.Research}, Query: classify.Query{Text: "What's the weather in Paris?"}},
		{Labels: []classify.Type{classify.Action}, Query: classify.Query{Text: "How does the auth middleware work?"}},
		{Labels: []classify.Type{classify.Research}, Query: classify.Query{Text: "and in Rome?",
			Previous: []string{"What's the weather in Paris?"}}},
	}
	open, frozen := Classify(Questions{Name: "a", Open: true, Lessons: lessons}),
		Classify(Questions{Name: "b", Lessons: lessons})
	assert.That(t, open.Right.Hits == 2 && open.Right.Of == 3 && len(open.Misses) == 1 && len(frozen.Misses) == 0,
		"open %+v, frozen %+v", open, frozen)
	assert.That(t, open.Offered.Hits == 2 && open.Sources >= 1, "no note is offered with the question on code: %+v", open)
	var out strings.Builder
	err := (ClassReport{open, frozen}).WriteText(&out)
	assert.That(t, err == nil && strings.Count(out.String(), "action taken for code") == 1, "%v\n%s", err, out.String())
}

func TestBadLineOfQueriesIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		`{"query":" ","label":"code","half":"dev"}`:    `"query" is empty`,
		`{"query":"x","label":"poetry","half":"dev"}`:  `"label" is "poetry"`,
		`{"query":"x","label":"code","half":"middle"}`: `"half" is "middle"`,
		`{"query":"x","label":"code","weight":1}`:      "weight",
	} {
		_, err := LoadQueries(fstest.MapFS{"s": {Data: []byte(text)}}, "s")
		assert.That(t, err != nil && strings.Contains(err.Error(), "line 1") && strings.Contains(err.Error(), want),
			"%s: %v", text, err)
	}
}

func TestLessonsAreReadAndPatternsFilled(t *testing.T) {
	files := fstest.MapFS{
		"a.txt":      {Data: []byte("# note\ncode|documentation\twhere is it\\nand why\tbefore\n")},
		"b.patterns": {Data: []byte("$x: one | two\n$y: red | blue\ncode\tfind {x} in {y}\ncode\tfind {x}\n")},
		"c.md":       {Data: []byte("no lesson")},
	}
	all := assert.Must(train.Lessons(files, "*.*"))(t)
	first := all[0]
	assert.That(t, first.Query.Text == "where is it\nand why" && slices.Equal(first.Query.Previous, []string{"before"}) &&
		len(first.Labels) == 2, "%+v", first)
	var made []string
	for _, l := range all[1:] {
		made = append(made, l.Query.Text)
	}
	for _, want := range []string{"find one in ", "find two in ", "find one", "find two"} {
		assert.That(t, slices.ContainsFunc(made, func(m string) bool { return strings.HasPrefix(m, want) }),
			"%q is not among %q", want, made)
	}
	assert.That(t, len(made) <= 6, "a question is made twice: %q", made)
	_, err := train.Lessons(fstest.MapFS{"a.txt": {Data: []byte("poem\tx\n")}}, "*.*")
	assert.That(t, err != nil && strings.Contains(err.Error(), `a.txt:1: the label "poem"`), "%v", err)
}
