package search

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
)

// pieces are put together to texts and queries: forms of words, other spellings of them, and what stands between.
var pieces = []string{"cache", "Caching", "caches", "cachet", "réunion", "REUNIÃO", "reunia\u0303o", "e\u0301t", "ete",
	"Straße", "ﬁn", "fin", "ance", "™", "tm", "½", "1", "2", "x", "会议", "记录", "㍿", "社", "ກໜ", "ພາ", "ΟΔΟΣ", "οδος", "한",
	"한", "İ", "i", " ", " ", "\n", "-", "_", "\u200b", "\u0301", "…", "⒈", "\xff", "\xc3", strings.Repeat("ä", 40),
	strings.Repeat("long", 20), "runner", "running", "s"}

func drawText(t *rapid.T, label string, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, most).Draw(t, label), "")
}

// countEach is what Finder.Count is to find in running text: for each term, how often words answer it, by quality.
func countEach(q Query, text string) (counts map[match]int32, total int) {
	counts = map[match]int32{}
	for line := range strings.SplitSeq(text, "\n") {
		EachWord(line, func(w []byte) {
			total++
			if term, quality := q.bestTerm(word{string(w), Stem(string(w))}); quality > 0 {
				counts[match{term: uint8(term), quality: uint8(slices.Index(qualities[:], quality))}]++
			}
		})
	}
	return counts, total
}

func TestFinderCountsAsTheTokenizerDoesAndScansWithoutMissingAWord(t *testing.T) {
	check := func(t interface{ Errorf(string, ...any) }, query, text string) (found bool) {
		q := NewQuery(query)
		if q.Empty() {
			return false
		}
		f := q.Finder()
		e := f.Count(Document{Sections: []Section{{Lines: strings.Split(text, "\n")}}})
		want, total := countEach(q, text)
		if e.lengths[0] != total || len(e.matches) != len(want) {
			t.Errorf("%q in %q: %d words, %v, want %d, %v", query, text, e.lengths[0], e.matches, total, want)
		}
		for _, m := range e.matches {
			if want[match{term: m.term, quality: m.quality}] != m.count {
				t.Errorf("%q in %q: %v, want %v", query, text, e.matches, want)
			}
		}
		if e.Found() && !f.MayHold([]byte(text)) {
			t.Errorf("%q is in %q, and is not seen", query, text)
		}
		return e.Found()
	}
	found := 0
	for _, query := range pieces {
		for _, before := range pieces {
			for _, text := range pieces {
				if check(t, query, before+text) {
					found++
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, drawText(t, "query", 4), drawText(t, "text", 12))
		check(t, rapid.String().Draw(t, "any query"), rapid.String().Draw(t, "any text"))
	})
	assert.That(t, found >= len(pieces), "only %d texts hold a word of their query", found)
}

func TestScanPassesOverWhatHoldsNoWordThatAnswers(t *testing.T) {
	f := NewQuery("caching in Zürich").Finder()
	for text, want := range map[string]bool{
		"the CACHES": true, "zu\u0308rich": true, "a cachet": true, "ZÜRICH": true,
		"scaching, macache, zur, über den Fluß": false, "": false, "zu richten": false, "mözurich": true,
	} {
		assert.That(t, f.MayHold([]byte(text)) == want, "%q: %v", text, !want)
	}
	assert.That(t, slices.Equal(f.stems, []string{"cach", "zurich"}), "%q", f.stems)
}
