package oracle

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/tool"
)

func TestCitationsOfWhatWasReadAreMarkedAndOthersReported(t *testing.T) {
	var read []agent.Source
	for _, ref := range []tool.Ref{
		{Path: "auth/middleware.go", Start: 10, End: 30}, {Path: "Makefile", Start: 1, End: 9}, {Path: "internal/net/transport.go"},
		{Path: "Meeting notes (May).md", Start: 1, End: 9}, {Path: "Beschlüsse/Größe.md", Start: 1, End: 9},
		{URL: "https://go.example/release/"}, {URL: "https://wiki.example/Go_(game)"},
	} {
		read = append(read, agent.Source{Ref: ref, Cite: ref.String()})
	}
	texttest.PlayFile(t, "testdata/citations/read.txt", []string{"text", "cited", "unread"},
		func(t *testing.T, lines []texttest.Line) {
			said := map[string][]string{}
			for _, l := range lines {
				assert.Require(t, l.Words != "", "line %d begins with no known word", l.At)
				said[l.Words] = append(said[l.Words], strings.ReplaceAll(l.Rest, `\n`, "\n"))
			}
			a := Answer{Answer: said["text"][0], Sources: slices.Clone(read), Tried: []agent.SourceCalls{{Source: tool.Web}}}
			a.checkCitations(nil)
			var cited []string
			for _, s := range a.Sources {
				if s.Cited {
					cited = append(cited, s.Cite)
				}
			}
			assert.Same(t, said["cited"], cited)
			assert.Same(t, said["unread"], a.Unsupported)
		})
}

// Each place has one number, by which the answer's citations and the list of sources name it; what was only read comes
// behind, without one.
func TestCitedPlacesAreNumberedInTheOrderOfTheAnswer(t *testing.T) {
	lease := tool.Ref{Source: tool.Code, Path: "run/lease.go", Start: 1, End: 80, Hash: "sha256:1"}
	page := tool.Ref{Source: tool.Web, URL: "https://e.example/x"}
	report := tool.Ref{Source: tool.Code, Path: "report.pdf", Start: 3, End: 3, Paged: true}
	other := tool.Ref{Source: tool.Code, Path: "other.go", Start: 5, End: 9}
	a := Answer{Answer: "At run/lease.go:42 and `lease.go:7-9`, as https://e.example/x and report.pdf p. 3 say, not " +
		"gone.go:1.\nAgain ./run/lease.go:42, at 10:30."}
	for _, ref := range []tool.Ref{other, report, lease, page} {
		a.Sources = append(a.Sources, agent.Source{Ref: ref, Cite: ref.String()})
	}
	a.checkCitations(nil)
	want := []assistant.Citation{{Text: "run/lease.go:42", Number: 1, Read: true},
		{Text: "./run/lease.go:42", Number: 1, Read: true}, {Text: "lease.go:7-9", Number: 2, Read: true},
		{Text: "https://e.example/x", Number: 3, Read: true}, {Text: "report.pdf p. 3", Number: 4, Read: true},
		{Text: "gone.go:1", Number: 5}}
	assert.NoDiff(t, cmp.Diff(want, a.shownCitations()), "the citations (-want +got)")
	env, _ := json.Marshal(Env{CodeRoot: "/code"})
	outcome, _ := json.Marshal(a)
	in := func(path string) string { return filepath.Join("/code", filepath.FromSlash(path)) }
	wanted := []assistant.Place{
		{Number: 1, Cite: "run/lease.go:42", File: in("run/lease.go"), Start: 42, End: 42, Hash: "sha256:1",
			Read: true, Cited: true},
		{Number: 2, Cite: "run/lease.go:7-9", File: in("run/lease.go"), Start: 7, End: 9, Hash: "sha256:1",
			Read: true, Cited: true},
		{Number: 3, Cite: "https://e.example/x", Read: true, Cited: true},
		{Number: 4, Cite: "report.pdf p. 3", File: in("report.pdf"), Read: true, Cited: true},
		{Number: 5, Cite: "gone.go:1", Cited: true},
		{Cite: "other.go:5-9", File: in("other.go"), Start: 5, End: 9, Read: true},
	}
	assert.NoDiff(t, cmp.Diff(wanted, shownPlaces(&run.StartRecord{Env: env}, outcome)), "the places (-want +got)")
	a.Summarised = true
	c := a.shownCitations()
	assert.That(t, c == nil, "a summary of what was tried cites %v", c)
}

// A page of a document stands alone in what was read of several, and no line of a page passes for the head of another.
func TestPageIsFoundAmongThoseThatWereReadTogether(t *testing.T) {
	read := passage{source: tool.Vault, path: "report.pdf", from: 2, to: 3, paged: true}
	shown := "report.pdf, 9 pages\nPage 2, cited as report.pdf p. 2\n    Costs\n    Page 3, cited as report.pdf p. " +
		"3\n    12 EUR\nPage 3, cited as report.pdf p. 3\n    The bearing\n    \n    is new.\nLinked from: index.md\n"
	want := []assistant.Passage{
		{Cite: "report.pdf p. 2", Name: "report.pdf", Lines: []string{"Costs", "Page 3, cited as report.pdf p. 3",
			"12 EUR"}},
		{Cite: "report.pdf p. 3", Name: "report.pdf", Lines: []string{"The bearing", "", "is new."}},
	}
	assert.Same(t, want, pagePassages(read, shown))
	one := pagePassages(passage{path: "report.pdf", from: 3, to: 3, paged: true}, shown)
	assert.That(t, one == nil, "a page that was read alone is told twice: %v", one)
}
