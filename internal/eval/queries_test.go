package eval

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	evaldata "sibyl/eval"
	"sibyl/internal/oracle/classify"
)

func mustLoad(t *testing.T, name string) []Query {
	t.Helper()
	queries, err := LoadQueryFile(evaldata.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	return queries
}

// plain is a query as one compares it: case and closing punctuation make no difference.
func plain(q Query) string {
	return strings.Join(append(q.History, strings.Trim(strings.ToLower(q.Text), " .!?")), "\n")
}

func TestHalvesOfTheSetFollowTheHash(t *testing.T) {
	for i, q := range mustLoad(t, evaldata.Queries) {
		if q.Half != HalfOf(q.Text) {
			t.Errorf("query %d %q is in half %q, its hash says %q", i+1, q.Text, q.Half, HalfOf(q.Text))
		}
	}
}

// The vectors are of FNV-1a, 64 bits, as its authors publish them: af63dc4c8601ec8c for "a", 85944171f73967e8 for "foobar".
func TestHalfIsTheTopBitOfFNV1a(t *testing.T) {
	for query, want := range map[string]Half{"a": Test, "foobar": Test, "How does the auth middleware work?": Test, "where is the rate limiter configured": Dev} {
		if got := HalfOf(query); got != want {
			t.Errorf("HalfOf(%q) = %q, want %q", query, got, want)
		}
	}
}

func TestSetIsLargeAndCoversEveryClassInBothHalves(t *testing.T) {
	queries := mustLoad(t, evaldata.Queries)
	if len(queries) < 400 {
		t.Errorf("%d queries, want at least 400", len(queries))
	}
	counts := map[Half]map[classify.Type]int{Dev: {}, Test: {}}
	for _, q := range queries {
		counts[q.Half][q.Label]++
	}
	for half, perType := range counts {
		for _, typ := range classify.Types() {
			if perType[typ] < 30 {
				t.Errorf("%s holds %d queries of %s, want at least 30", half, perType[typ], typ)
			}
		}
	}
}

func TestNoQueryStandsTwiceAndNoneOfTheTestHalfIsTunedOn(t *testing.T) {
	seen := map[string]Half{}
	for _, name := range []string{evaldata.Queries, evaldata.PersonaQueries} {
		for _, q := range mustLoad(t, name) {
			if _, twice := seen[plain(q)]; twice {
				t.Errorf("%s: %q stands in the sets twice", name, q.Text)
			}
			seen[plain(q)] = q.Half
		}
	}
}

func TestPersonaSetIsForDevelopmentOnly(t *testing.T) {
	for _, q := range mustLoad(t, evaldata.PersonaQueries) {
		if q.Half != Dev {
			t.Errorf("%q is in half %q", q.Text, q.Half)
		}
	}
}

func TestLoadQueriesReadsEveryField(t *testing.T) {
	got, err := readSet(strings.NewReader("\n"+`{"query":"and in Rome?","label":"research","half":"dev","history":["weather in Paris?"],"note":"n"}`+"\n\n"), Query.check)
	if err != nil {
		t.Fatal(err)
	}
	want := []Query{{Text: "and in Rome?", Label: classify.Research, Half: Dev, History: []string{"weather in Paris?"}, Note: "n"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBadLineIsNamedWithItsNumber(t *testing.T) {
	good := `{"query":"q","label":"code","half":"dev"}` + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":         {good + "oops\n", "line 2: invalid character"},
		"unknown field":   {good + "\n" + `{"query":"q","label":"code","half":"dev","lable":1}`, `line 3: json: unknown field "lable"`},
		"two objects":     {`{"query":"q","label":"code","half":"dev"}{}`, "line 1: more than one JSON value"},
		"empty query":     {good + `{"query":" ","label":"code","half":"dev"}`, `line 2: "query" is empty`},
		"unknown label":   {good + `{"query":"q","label":"cod","half":"dev"}`, `line 2: "label" is "cod"; it must be one of [code documentation`},
		"unknown half":    {good + `{"query":"q","label":"code","half":"train"}`, `line 2: "half" is "train"; it must be "dev" or "test"`},
		"nothing":         {"\n\n", "the set is empty"},
		"overlong a line": {good + strings.Repeat("x", maxLine+1), "line 2: "},
	} {
		_, err := readSet(strings.NewReader(c.text), Query.check)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, c.want)
		}
	}
}

func TestMissingFileIsNamed(t *testing.T) {
	if _, err := LoadQueryFile(evaldata.Files, "nowhere.jsonl"); err == nil || !strings.Contains(err.Error(), "nowhere.jsonl") {
		t.Errorf("got %v", err)
	}
}
