package bert_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bert"
)

func TestExcerptIsCleanBoundedAndKeepsHeadAndTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		n := rapid.IntRange(0, 60).Draw(t, "n")
		got, whole := bert.Excerpt(text, n), bert.Excerpt(text, 1<<20)
		assert.Require(t, utf8.ValidString(got) && !strings.ContainsFunc(got, unicode.IsControl), "%q is not clean", got)
		head, tail, cut := strings.Cut(got, " … ")
		switch size := utf8.RuneCountInString(whole); {
		case size <= n && got != whole:
			t.Fatalf("%q was changed to %q without need", whole, got)
		case size > n && utf8.RuneCountInString(got) != n:
			t.Fatalf("%q was cut to %q, not to %d characters", whole, got, n)
		case size > n && n > 3 && !cut:
			t.Fatalf("%q is cut without a sign: %q", whole, got)
		case size > n && n > 3 && !strings.Contains(whole, "…") && (!strings.HasPrefix(whole, head) ||
			!strings.HasSuffix(whole, tail)):
			t.Fatalf("%q is not the head and tail of %q", got, whole)
		}
	})
}

func TestQuestionWithoutTextStartsNoChild(t *testing.T) {
	line := newLifeline(t)
	_, err := start(t, trained(t), line.env()).Classify(t.Context(), " \x00\n", labels)
	fails(t, err, "no text")
	line.none(t)
}
