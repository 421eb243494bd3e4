package search_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/text/search"
)

func TestTermsMeetWhatIsWrittenInAnotherCaseWithOtherAccentsAndBlanks(t *testing.T) {
	for text, query := range map[string]string{
		"Os Óculos\tde  AVÓ":    "oculos avo",
		"ÜBER den Fluß":         "uber FLUß",
		"100% of a_b, it's 'x'": "100% a_b it's",
		"東京に行きました":              "行き",
		"fine 👍 then":           "👍",
		"ﬁnance":                "finance",
	} {
		terms := search.Terms(query)
		assert.That(t, len(terms) != 0 && search.HasAll(search.Folded(text), terms), "%q is not found in %q", query, text)
	}
	assert.That(t, !search.HasAll(search.Folded("a plan"), search.Terms("plan lease")), "one of two words is enough")
}

func TestAQueryWithoutWordsHasNoTerms(t *testing.T) {
	for _, query := range []string{"", " \t\n", "\x00\x01", "\u0301"} {
		terms := search.Terms(query)
		assert.That(t, len(terms) == 0, "%q has %q", query, terms)
	}
	n := len(search.Terms(strings.Repeat("a b c d e f g ", 9) + "h i j k l m n"))
	assert.That(t, n == search.MostTerms, "%d terms", n)
}

// shown is an excerpt with its hits in brackets.
func shown(spans []search.Span) string {
	b := &strings.Builder{}
	for _, s := range spans {
		if s.Hit {
			b.WriteString("[" + s.Text + "]")
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func TestAnExcerptMarksTheWordsAsTheyAreWritten(t *testing.T) {
	for _, c := range []struct{ text, query, want string }{
		{"The Lease ends", "lease", "The [Lease] ends"},
		{"Á la carte\n\nà  la mode", "a", "[Á] l[a] c[a]rte [à] l[a] mode"},
		{"nothing of it", "lease", "nothing of it"},
		{"lease leased", "lease leased", "[lease] [leased]"},
		{"<b>lease</b>", "lease", "<b>[lease]</b>"},
		{strings.Repeat("before ", 40) + "lease" + strings.Repeat(" behind", 40), "lease",
			"… before [lease] behind behind behind behind …"},
	} {
		assert.Equalf(t, shown(search.Excerpt(c.text, search.Terms(c.query), 50)), c.want, "%q in %.40q", c.query, c.text)
	}
}

func TestAnExcerptOfAnyTextIsShortAndWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, query := rapid.String().Draw(t, "text"), rapid.StringN(0, 4, 8).Draw(t, "query")
		got := shown(search.Excerpt(text, search.Terms(query), 40))
		assert.Require(t, utf8.ValidString(got) || !utf8.ValidString(text), "%q is cut within a letter", got)
		assert.Require(t, !strings.ContainsAny(got, "\n\r\t\x00"), "%q has more than one line", got)
	})
}
