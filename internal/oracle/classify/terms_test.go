package classify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

func TestTermsAreTheWordsWorthSearching(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"How does the auth middleware work?", []string{"auth", "middleware"}},
		{"What did we decide about caching?", []string{"decide", "caching"}},
		{"who calls `SessionStore.Load` and parse_header()?", []string{"calls", "SessionStore.Load", "parse_header()"}},
		{`What does "append mode" do in the loader?`, []string{"append mode", "loader"}},
		{"Fix the bug in src/auth/token.go:42", []string{"fix", "bug", "src/auth/token.go"}},
		{"Was haben wir über das Caching entschieden?", []string{"caching", "entschieden"}},
		{"Comment est-ce que le cache est vidé dans ce programme ?", []string{"cache", "vidé", "programme"}},
		{"¿Dónde se guarda la configuración de los usuarios?", []string{"guarda", "configuración", "usuarios"}},
		{"show me today's meeting notes, please", []string{"today", "meeting", "notes"}},
		{"the parser, the Parser and the PARSER", []string{"parser"}},
		{"how does it work?", nil},
		{"panic: the group is not registered", []string{"panic", "group", "registered"}},
		{"", nil},
	} {
		assert.NoDiff(t, cmp.Diff(c.want, Terms(c.text)), "%q", c.text)
	}
}

func TestTermsOfATraceAreItsNames(t *testing.T) {
	got := Terms("goroutine 1 [running]:\nstore.loadRow(0x1)\n\t/app/store/row.go:12 +0x1d\nwhy does this crash?")
	assert.Contains(t, "the words", strings.Join(got, "\n"), "/app/store/row.go", "crash")
}

func TestTermsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "subject%d ", i)
	}
	got := Terms(b.String())
	assert.That(t, len(got) == maxTerms, "got %d terms, want %d", len(got), maxTerms)
}
