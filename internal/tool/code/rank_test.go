package code

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"sibyl/internal/behaviour/assert"
)

// function is a file with one function, under a comment.
func function(comment, name, body string) string {
	return "package p\n\n// " + comment + "\nfunc " + name + "() {\n" + body + "}\n"
}

// In the texts, searches stand above the files that they are over: “question => what the first hit is in”, or “question
// ==> all that is shown, in any order”.
func TestTheBestHitIsTheOneThatAnswersAndShortPassagesAreShownTogether(t *testing.T) {
	texts := assert.Must(filepath.Glob("testdata/search/*.txtar"))(t)
	assert.That(t, len(texts) >= 20, "only %d texts", len(texts))
	for _, text := range texts {
		a := assert.Must(txtar.ParseFile(text))(t)
		files := map[string]string{}
		for _, f := range a.Files {
			files[f.Name] = string(f.Data)
		}
		r, _ := rootOf(t, files)
		for line := range strings.Lines(string(a.Comment)) {
			found := firstHit
			question, want, is := strings.Cut(strings.TrimSpace(line), " => ")
			if !is {
				found = shown
				question, want, is = strings.Cut(strings.TrimSpace(line), " ==> ")
			}
			if is {
				d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: question})
				assert.That(t, found(d) == want, "%s: %s finds %q, not %q", text, question, found(d), want)
			}
		}
	}
}

// firstHit is what the best hit is in.
func firstHit(d SearchData) string {
	if len(d.Hits) == 0 {
		return ""
	}
	return d.Hits[0].Path + " " + d.Hits[0].Symbol
}

// shown are the places with their lines and, of a longer one, those that are best.
func shown(d SearchData) string {
	var places []string
	for _, h := range d.Hits {
		place := fmt.Sprintf("%s %d-%d", h.Path, h.Start, h.End)
		if h.From != h.Start || h.To != h.End {
			place += fmt.Sprintf(", best %d-%d", h.From, h.To)
		}
		places = append(places, place)
	}
	return strings.Join(slices.Sorted(slices.Values(places)), "; ")
}

func TestRarityIsThatOfDefinitions(t *testing.T) {
	// Both words stand in two files each, but nearly every definition of one of them holds “frame”.
	var b strings.Builder
	b.WriteString("package p\n")
	for i := range 30 {
		fmt.Fprintf(&b, "\n// draw%d draws a frame.\nfunc draw%d() {\n}\n", i, i)
	}
	r, _ := rootOf(t, map[string]string{
		"draw.go": b.String(), "a.go": function("paint paints a frame.", "paint", ""),
		"b.go": function("align moves a cursor.", "align", ""), "c.go": function("blink shows a cursor.", "blink", ""),
	})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "frame cursor"})
	got := d.Hits[0].Path
	assert.That(t, got == "b.go" || got == "c.go", "first is %s", got)
}
