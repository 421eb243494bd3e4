package eval

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	evaldata "sibyl/eval"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

func mustLoadOracle(t *testing.T) []OracleQuestion {
	t.Helper()
	questions := assert.Must(LoadOracleQuestions(evaldata.Files, evaldata.OracleQuestions))(t)
	return questions
}

func TestOracleSetHasEveryKindOfQuestionInBothHalves(t *testing.T) {
	counts := map[Half]map[classify.Type]int{Dev: {}, Test: {}}
	followUps, nothing, german := 0, 0, 0
	for _, q := range mustLoadOracle(t) {
		counts[q.Half][q.Type]++
		followUps += one(len(q.Previous) > 0)
		nothing += one(q.MustBePartial && (q.Type == classify.Code || q.Type == classify.Documentation))
		german += one(q.Lang == "de")
	}
	for half, types := range counts {
		for _, typ := range classify.Types() {
			assert.That(t, types[typ] != 0, "%s holds no %s question", half, typ)
		}
	}
	assert.That(t, followUps >= 6 && nothing >= 5 && german >= 5,
		"%d follow-ups, %d questions without an answer in the sources, %d in German", followUps, nothing, german)
}

func TestVaultOfTheSetIsLargeEnoughToSearchIn(t *testing.T) {
	notes := 0
	err := fs.WalkDir(evaldata.Files, evaldata.OracleVault, func(path string, d fs.DirEntry, err error) error {
		notes += one(strings.HasSuffix(path, ".md"))
		return err
	})
	assert.That(t, err == nil && notes >= 40, "%d notes, %v", notes, err)
}

func TestBadOracleLineIsNamedWithItsNumberAndId(t *testing.T) {
	const good = `{"id":"a","question":"hi","type":"conversational","half":"dev","lang":"en","places":[]}` + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":             {good + "oops", "set: line 2: "},
		"unknown field":       {`{"id":"a","quest":"hi"}`, `unknown field "quest"`},
		"two objects":         {strings.TrimSpace(good) + "{}", "more than one JSON value"},
		"id twice":            {good + "\n" + good, `line 3: "id" is "a"`},
		"unknown type":        {strings.Replace(good, "conversational", "chat", 1), `"type" "chat"`},
		"wrong half":          {strings.Replace(good, `"dev"`, `"test"`, 1), `"half" is "test"`},
		"code without places": {strings.Replace(good, "conversational", "code", 1), "must_be_partial"},
		"place without needle": {strings.Replace(good, "[]",
			`[{"source":"code","path":"a","start":1,"end":1,"need":"any"}]`, 1), "needle"},
		"nothing": {"\n", "the set is empty"},
	} {
		files := fstest.MapFS{"set": {Data: []byte(c.text)}}
		if _, err := LoadOracleQuestions(files, "set"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

func TestLabelThatDoesNotFitItsFileIsNamed(t *testing.T) {
	code := fstest.MapFS{"a.go": {Data: []byte("one\ntwo\nthree\n")}}
	place := func(path string, start, end int, needle string) []OracleQuestion {
		return []OracleQuestion{{ID: "q", Places: []Place{{Source: tool.Code, Path: path, Start: start, End: end,
			Need: All, Needle: needle}}}}
	}
	sources := map[tool.Source]fs.FS{tool.Code: code}
	err := CheckPlaces(place("a.go", 2, 3, "two"), sources)
	assert.That(t, err == nil, "a right label is refused: %v", err)
	for name, c := range map[string]struct {
		questions []OracleQuestion
		want      string
	}{
		"other lines":  {place("a.go", 2, 3, "one"), `q: place code a.go:2-3: these lines do not hold "one"`},
		"past the end": {place("a.go", 3, 4, "three"), "the file has 3 lines"},
		"no file":      {place("b.go", 1, 1, "one"), "b.go"},
		"no source": {[]OracleQuestion{
			{ID: "q", Places: []Place{{Source: tool.Vault, Path: "a.md", Start: 1, End: 1}}}},
			"that source is not there"},
	} {
		if err := CheckPlaces(c.questions, sources); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}
