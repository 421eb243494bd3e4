package eval

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	evaldata "sibyl/eval"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

func mustLoadOracle(t *testing.T) []OracleQuestion {
	t.Helper()
	questions, err := LoadOracleQuestions(evaldata.Files, evaldata.OracleQuestions)
	if err != nil {
		t.Fatal(err)
	}
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
			if types[typ] == 0 {
				t.Errorf("%s holds no %s question", half, typ)
			}
		}
	}
	if followUps < 6 || nothing < 5 || german < 5 {
		t.Errorf("%d follow-ups, %d questions without an answer in the sources, %d in German", followUps, nothing, german)
	}
}

func TestNoOracleQuestionIsOneThatTheClassifierIsTunedOn(t *testing.T) {
	tuned := map[string]bool{}
	for _, name := range []string{evaldata.Queries, evaldata.PersonaQueries} {
		for _, q := range mustLoad(t, name) {
			tuned[plain(q)] = true
		}
	}
	for _, q := range mustLoadOracle(t) {
		// Courtesies and the requirement's own example are in every set.
		if q.Type != classify.Conversational && q.ID != "doc-caching" && tuned[plain(Query{Text: q.Text, History: q.Previous})] {
			t.Errorf("%s: %q is in a set that rules are tuned on", q.ID, q.Text)
		}
	}
}

func TestVaultOfTheSetIsLargeEnoughToSearchIn(t *testing.T) {
	notes := 0
	err := fs.WalkDir(evaldata.Files, evaldata.OracleVault, func(path string, d fs.DirEntry, err error) error {
		notes += one(strings.HasSuffix(path, ".md"))
		return err
	})
	if err != nil || notes < 40 {
		t.Errorf("%d notes, %v", notes, err)
	}
}

func TestBadOracleLineIsNamedWithItsNumberAndId(t *testing.T) {
	const good = `{"id":"a","question":"hi","type":"conversational","half":"dev","lang":"en","places":[]}` + "\n"
	place := func(p string) string {
		return `{"id":"b","question":"hi","type":"code","half":"dev","lang":"en","places":[` + p + `]}`
	}
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":               {good + "oops", "set: line 2: "},
		"unknown field":         {`{"id":"a","quest":"hi"}`, `unknown field "quest"`},
		"two objects":           {strings.TrimSpace(good) + "{}", "more than one JSON value"},
		"no id":                 {`{"question":"hi"}`, `"id" is ""`},
		"id twice":              {good + "\n" + good, `line 3: "id" is "a"`},
		"unknown type":          {strings.Replace(good, "conversational", "chat", 1), `"type" is "chat"`},
		"wrong half":            {strings.Replace(good, `"dev"`, `"test"`, 1), `"half" is "test"`},
		"answer and no answer":  {strings.Replace(place(`{"source":"code","path":"a","start":1,"end":1,"need":"all","needle":"x"}`), `"lang"`, `"must_be_partial":true,"lang"`, 1), "must_be_partial"},
		"code without places":   {place(""), `"places" is empty`},
		"place without source":  {place(`{"source":"web","path":"a","start":1,"end":1,"need":"all","needle":"x"}`), `"source" is "web"`},
		"place outside":         {place(`{"source":"code","path":"../a","start":1,"end":1,"need":"all","needle":"x"}`), "relative"},
		"place of no lines":     {place(`{"source":"code","path":"a","start":2,"end":1,"need":"all","needle":"x"}`), "lines count from 1"},
		"place without need":    {place(`{"source":"code","path":"a","start":1,"end":1,"needle":"x"}`), `"need" is ""`},
		"place without needle":  {place(`{"source":"code","path":"a","start":1,"end":1,"need":"any"}`), `"needle" is empty`},
		"nothing":               {"\n", "the set is empty"},
		"question without text": {strings.Replace(good, `"hi"`, `" "`, 1), `"question" is empty`},
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
		return []OracleQuestion{{ID: "q", Places: []Place{{Source: tool.Code, Path: path, Start: start, End: end, Need: All, Needle: needle}}}}
	}
	sources := map[tool.Source]fs.FS{tool.Code: code}
	if err := CheckPlaces(place("a.go", 2, 3, "two"), sources); err != nil {
		t.Errorf("a right label is refused: %v", err)
	}
	for name, c := range map[string]struct {
		questions []OracleQuestion
		want      string
	}{
		"other lines":  {place("a.go", 2, 3, "one"), `q: place code a.go:2-3: these lines do not hold "one"`},
		"past the end": {place("a.go", 3, 4, "three"), "the file has 3 lines"},
		"no file":      {place("b.go", 1, 1, "one"), "b.go"},
		"no source":    {[]OracleQuestion{{ID: "q", Places: []Place{{Source: tool.Vault, Path: "a.md", Start: 1, End: 1}}}}, "that source is not there"},
	} {
		if err := CheckPlaces(c.questions, sources); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}
