package find

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/oracle"
)

const source = `package p

// Limit is how much.
const Limit = 3

// Long is long.
func Long() {
	a()
	b()
	c()
	d()
}
`

func corpusOf(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	assert.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(text), 0o600))
	return dir
}

func TestAPassageShowsAPlaceByItsNameOrThreeLines(t *testing.T) {
	files := os.DirFS(corpusOf(t, source))
	limit, long := Place{Path: "p.go", Start: 3, End: 4, Name: "Limit"}, Place{Path: "p.go",
		Start: 6, End: 12, Name: "Long"}
	for _, c := range []struct {
		p     Passage
		place Place
		want  bool
	}{
		{Passage{"p.go", []Lines{{4, 4}}}, limit, true},
		{Passage{"p.go", []Lines{{3, 3}}}, limit, false}, // the comment alone
		{Passage{"p.go", []Lines{{7, 7}}}, long, true},
		{Passage{"p.go", []Lines{{8, 9}}}, long, false},
		{Passage{"p.go", []Lines{{8, 10}}}, long, true},
		{Passage{"p.go", []Lines{{8, 8}, {10, 11}}}, long, true},
		{Passage{"q.go", []Lines{{1, 12}}}, long, false},
	} {
		assert.Equalf(t, c.p.Shows(files, []Place{c.place}), c.want, "%s shows %s", c.p, c.place.Name)
	}
}

// fixed is a finder that always gives the same.
func fixed(name string, passages ...Passage) Finder {
	return Finder{Name: name, Find: func(context.Context, string, Question) (Found, error) {
		return Found{Passages: passages}, nil
	}}
}

func TestOnlyTheFirstPassageAndOneOfFourCount(t *testing.T) {
	dir := corpusOf(t, source)
	q := Question{ID: "open-1", Corpus: "m@v1", Text: "how much", Kind: "value",
		Places: []Place{{Path: "p.go", Start: 3, End: 4, Name: "Limit"}}}
	for q.Frozen() {
		q.ID += "x"
	}
	right, wrong := Passage{"p.go", []Lines{{3, 4}}}, Passage{"p.go", []Lines{{1, 1}}}
	set := Set{Questions: []Question{q}, Folders: map[string]string{"m@v1": dir}, Failures: true}
	r := assert.Must(Run(t.Context(), set, fixed("third", wrong, wrong, right), fixed("first", right),
		fixed("fifth", wrong, wrong, wrong, wrong, right)))(t)
	for i, want := range [][2]int{{0, 1}, {1, 1}, {0, 0}} {
		if got := r.Tallies[i]; got.First.Hits != want[0] || got.Any.Hits != want[1] || got.First.Of != 1 {
			t.Errorf("%s: first %s, one of four %s", got.Finder, got.First, got.Any)
		}
	}
	var text bytes.Buffer
	err := r.WriteText(&text)
	assert.That(t, err == nil && strings.Contains(text.String(), "wanted p.go:3 Limit, got p.go 1-1; p.go 1-1; p.go 3-4"),
		"%v\n%s", err, &text)
}

func TestTheFrozenHalfShowsFiguresOnly(t *testing.T) {
	dir := corpusOf(t, source)
	q := Question{ID: "frozen-1", Corpus: "m@v1", Text: "how much", Kind: "value",
		Places: []Place{{Path: "p.go", Start: 3, End: 4, Name: "Limit"}}}
	for !q.Frozen() {
		q.ID += "x"
	}
	set := Set{Questions: []Question{q}, Folders: map[string]string{"m@v1": dir}, Failures: true}
	if r, err := Run(t.Context(), set, fixed("none")); err != nil || r.Tallies[0].First.Of != 0 {
		t.Errorf("a frozen question is asked in the open half: %+v, %v", r.Tallies, err)
	}
	set.Frozen = true
	r, err := Run(t.Context(), set, fixed("none"))
	assert.That(t, err == nil && r.Tallies[0].First.Of == 1 && len(r.Failures) == 0,
		"%+v, failures %v, %v", r.Tallies, r.Failures, err)
}

func TestWhatIsNotThereIsNamedAndLabelsThatDoNotFitAreRefused(t *testing.T) {
	q := Question{ID: "open-1", Corpus: "m@v1", Text: "how much", Kind: "value",
		Places: []Place{{Path: "p.go", Start: 3, End: 400, Name: "Limit"}}}
	set := Set{Questions: []Question{q}, Frozen: q.Frozen(), Folders: map[string]string{"m@v1": ""}}
	r, err := Run(t.Context(), set, fixed("none"))
	assert.That(t, err == nil && len(r.Missing) == 1 && r.Tallies[0].First.Of == 0, "%+v, %v", r, err)
	set.Folders["m@v1"] = corpusOf(t, source)
	_, err = Run(t.Context(), set, fixed("none"))
	assert.That(t, err != nil && strings.Contains(err.Error(), "p.go:3-400: the file has 12 lines"), "%v", err)
}

func TestTheDefinitionOnTopIsNoPassageOfItsOwn(t *testing.T) {
	a := oracle.Answer{StopReason: oracle.StopSatisfied,
		Answer: "`a.go:12` func A\n\n**A**, `a.go:10-20`:\n\n```\n`x.go:1`\n```\n\n`b.md:3-4`:\n"}
	got := Cited(a)
	p := got.Passages
	assert.That(t, len(p) == 2 && p[0].String() == "a.go 10-20" && p[1].String() == "b.md 3-4" && got.Claimed, "%v", got)
}

func TestThePartsOfOnePlaceAreOnePassage(t *testing.T) {
	got := Cited(oracle.Answer{
		Answer: "`a.go:10-12`:\n\n```\nx\n```\n\n…\n\n`a.go:40-50`:\n\n```\ny\n```\n\n`a.go:60-70`:\n"}).Passages
	assert.That(t, len(got) == 2 && got[0].String() == "a.go 10-12 40-50" && got[1].String() == "a.go 60-70", "%v", got)
}
