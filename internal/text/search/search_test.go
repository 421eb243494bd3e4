package search

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"Hello, World-wide_web 42!": "hello world wide web 42",
		"Reunião ÉTÉ Straße":        "reuniao ete straße",
		"don't":                     "don t",
		"会议记录 ok":                   "会议 议记 记录 录 ok",
		"字":                         "字",
		"Привет ΟΔΟΣ":               "привет οδοσ",
		"":                          "",
	} {
		assert.Equalf(t, strings.Join(Words(text), " "), want, "Words(%q)", text)
	}
	got := Words(strings.Repeat("x", 1000))
	assert.That(t, len(got) == 1 && len(got[0]) == MaxWord, "a long word gave %d words", len(got))
}

func TestWordsOfGermanAndPortugueseAreReadAsEnglish(t *testing.T) {
	for word, want := range map[string]string{
		"warteschlange": "queue", "aufgeraumt": "clean", "ausgegeben": "print/output/write",
		"gezeichnet": "draw/render", "zugriffstokens": "access token", "unbekannte": "unknown",
		"fehlermeldungen": "error", "conexoes": "connection", "haus": "", "gewitter": "",
	} {
		var parts []string
		for _, ways := range InEnglish(word) {
			parts = append(parts, strings.Join(ways, "/"))
		}
		got := strings.Join(parts, " ")
		assert.That(t, strings.HasPrefix(got, want) && (want != "" || got == ""), "%s is %q, not %q", word, got, want)
	}
	for word, want := range map[string]string{
		"rekursiv": "recursive", "statische": "static", "prioritat": "priority", "ignorieren": "ignor ignore ignorate",
		"kontext": "context", "token": "", "paket": "",
	} {
		assert.Equalf(t, strings.Join(Cognates(word), " "), want, "%s is spelt", word)
	}
}

func TestPartsOfIdentifiers(t *testing.T) {
	for name, want := range map[string]string{
		"idleConnTimeout": "idle conn timeout", "HTTPServer": "http server", "max_idle": "max idle",
		"base64Text": "base64 text", "URLs": "urls", "": "",
		"__init__": "init", "größeÄndern": "größeändern", "x": "x",
	} {
		assert.Equalf(t, strings.Join(Parts(name), " "), want, "%s", name)
	}
}

func TestFormsOfAWordShareTheirStem(t *testing.T) {
	for _, group := range [][]string{
		{"close", "closes", "closed", "closing"}, {"map", "maps", "mapping", "mapped"},
		{"run", "runs", "runner", "running"},
		{"connect", "connection", "connections", "connecting"}, {"policy", "policies"},
		{"cache", "caches", "cached", "caching"}, {"decide", "decides", "decided", "deciding"}, {"note", "notes"},
	} {
		for _, word := range group[1:] {
			assert.That(t, Stem(word) == Stem(group[0]),
				"stem of %s is %s, that of %s is %s", word, Stem(word), group[0], Stem(group[0]))
		}
	}
	for _, word := range []string{"process", "string", "bus", "red", "go", "not"} {
		assert.That(t, Stem(word) == word, "%s is cut to %s", word, Stem(word))
	}
	for rest, want := range map[string]bool{"": true, "ping": true, "PING": true, "s": true, "x": false, "ations": true,
		"aaaaaaaaaaaa": false} {
		assert.That(t, IsForm("stop", []byte(rest)) == want, "stop%s is a form: %v", rest, !want)
	}
}

func TestHoldsKeepsShortStemsToWholeWords(t *testing.T) {
	for _, c := range []struct {
		text, stem string
		want       bool
	}{
		{"trunk of a tree", "run", false}, {"a runner runs", "run", true}, {"running", "run", true},
		{"closeidleconn", "idle", true}, {"berichtsdatenbank", "datenbank", true},
		{"", "run", false}, {"ru", "run", false},
	} {
		assert.That(t, Holds(c.text, c.stem) == c.want, "%q holds %q: %v", c.text, c.stem, !c.want)
	}
}

func TestWordListsAreRead(t *testing.T) {
	for word, of := range map[string]func(string) bool{
		"the": IsStop, "nao": IsStop, "não": IsStop, "für": IsStop, "fur": IsStop, "explain": IsAsking,
		"function": IsWeak, "ändern": IsGeneric,
	} {
		assert.That(t, of(word), "%q is in no list", word)
	}
	assert.That(t, !IsStop("cache") && !IsStop("") && !IsStop("en:"), "a word of no list is taken for a stop word")
	for word, want := range map[string][]string{"configuration": {"cfg", "conf", "config"}, "conns": {"connection"},
		"libraries": {"lib"}, "zebra": nil} {
		assert.NoDiff(t, cmp.Diff(want, Abbreviations(word)), "%s", word)
	}
}

func TestRankingCountsRarityFieldsAndRepetition(t *testing.T) {
	assert.That(t, Rarity(100, 1) > Rarity(100, 50) && Rarity(10, 10) >= 0,
		"a rare term must say more than a frequent one, and none less than nothing")
	assert.That(t, Saturated(2, 1, 0.75) > Saturated(1, 1, 0.75) && Saturated(1, 2, 0.75) < Saturated(1, 1, 0.75) &&
		Saturated(1e9, 1, 0.75) <= 1, "repetition must count, less in a long text, and never more than 1")
	w := Weights{1, 3}
	got := w.Sum([]float64{2, 0.5})
	assert.That(t, got == 3.5 && w.Total() == 4, "sum %v of %v", got, w.Total())
}

// rank ranks documents of one line each, or with the heading before a colon.
func rank(query string, most int, documents ...[]string) (places [][2]int, scores []float64) {
	q := NewQuery(query)
	finder, entries := q.Finder(), []Entry(nil)
	for _, sections := range documents {
		var d Document
		for _, s := range sections {
			heading, text, has := strings.Cut(s, ": ")
			if !has {
				heading, text = "", s
			}
			d.Sections = append(d.Sections, Section{Heading: heading, Lines: []string{text}})
		}
		entries = append(entries, finder.Count(d))
	}
	for _, h := range Rank(q, entries, Others{}, most, func(a, b Hit) int { return a.Document - b.Document }) {
		places, scores = append(places, [2]int{h.Document, h.Section}), append(scores, h.Score)
	}
	return places, scores
}

func TestRankOrdersSections(t *testing.T) {
	for name, c := range map[string]struct {
		query string
		most  int
		texts [][]string
		want  [][2]int
	}{
		"both words before one": {"zebra lion", 9, [][]string{{"zebra"}, {"lion zebra"}, {"nothing"}},
			[][2]int{{1, 0}, {0, 0}}},
		"heading before text": {"zebra", 9, [][]string{{"a: about a zebra", "zebra: other"}},
			[][2]int{{0, 1}, {0, 0}}},
		"word, form, beginning": {"cache", 9, [][]string{{"cachet"}, {"caches"}, {"cache"}},
			[][2]int{{2, 0}, {1, 0}, {0, 0}}},
		"ties as they are told": {"zebra", 9, [][]string{{"zebra"}, {"zebra"}}, [][2]int{{0, 0}, {1, 0}}},
		"at most one of a document": {"zebra", 1, [][]string{{"zebra", "zebra zebra"}, {"zebra"}},
			[][2]int{{0, 1}, {1, 0}}},
		"stop words say nothing": {"what is the zebra",
			9, [][]string{{"what is the matter"}, {"zebra"}}, [][2]int{{1, 0}}},
		"nothing": {"zebra", 9, [][]string{{"lion"}, nil}, nil},
	} {
		got, _ := rank(c.query, c.most, c.texts...)
		assert.That(t, slices.Equal(got, c.want), "%s: %v, want %v", name, got, c.want)
	}
}

func TestFieldsOfTheWholeCountForEverySection(t *testing.T) {
	q := NewQuery("zebra")
	finder := q.Finder()
	titled := finder.Count(Document{Fields: []Field{{3, []string{"zebra"}}},
		Sections: []Section{{Lines: []string{"first"}}, {Lines: []string{"zebra"}}}})
	empty := finder.Count(Document{Fields: []Field{{1, []string{"zebra"}}}})
	hits := Rank(q, []Entry{titled, empty}, Others{}, 9, func(a, b Hit) int { return 0 })
	assert.That(t, len(hits) == 2 && hits[0].Document == 0 && hits[0].Section == 1 && hits[1].Section == -1 &&
		!math.IsNaN(hits[1].Score) && hits[1].Score > 0, "%+v", hits)
}

func TestDocumentsThatHoldNoWordCountByTheirNumberAndLength(t *testing.T) {
	q := NewQuery("zebra")
	long := Document{Sections: []Section{{Lines: []string{"a zebra and a long text beside it, of twelve words in all"}}}}
	other := Document{Sections: []Section{{Lines: []string{"nothing of that is told in twelve other words of this text"}}}}
	finder := q.Finder()
	noTies := func(a, b Hit) int { return 0 }
	hit, none := finder.Count(long), finder.Count(other)
	all := Rank(q, []Entry{hit, none, none, none}, Others{}, 9, noTies)
	told := Rank(q, []Entry{hit}, Others{Documents: 3, Sections: 3, Bytes: 3 * len(other.Sections[0].Lines[0])}, 9, noTies)
	assert.That(t, len(all) == 1 && len(told) == 1 && math.Abs(all[0].Score-told[0].Score) <= 0.02, "%v and %v", all, told)
	alone := Rank(q, []Entry{hit}, Others{}, 9, noTies)
	assert.That(t, alone[0].Score <= told[0].Score/2, "the others don't make the word rare: %v and %v", alone, told)
}
