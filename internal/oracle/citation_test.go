package oracle

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/tool"
)

func TestCitationsOfWhatWasReadAreMarkedAndOthersReported(t *testing.T) {
	const (
		middleware = "auth/middleware.go:10-30"
		makefile   = "Makefile:1-9"
		transport  = "internal/net/transport.go"
		meeting    = "Meeting notes (May).md:1-9"
		size       = "Beschlüsse/Größe.md:1-9"
		release    = "https://go.example/release/"
		game       = "https://wiki.example/Go_(game)"
	)
	var read []agent.Source
	for _, ref := range []tool.Ref{
		{Path: "auth/middleware.go", Start: 10, End: 30}, {Path: "Makefile", Start: 1, End: 9}, {Path: transport},
		{Path: "Meeting notes (May).md", Start: 1, End: 9}, {Path: "Beschlüsse/Größe.md", Start: 1, End: 9},
		{URL: release}, {URL: game},
	} {
		read = append(read, agent.Source{Ref: ref, Cite: ref.String()})
	}
	for name, c := range map[string]struct {
		text               string
		cited, unsupported []string
	}{
		"a line": {"It checks (`auth/middleware.go:12`).", []string{middleware}, nil},
		"the first and the last line": {"auth/middleware.go:10, auth/middleware.go:30.",
			[]string{middleware}, nil},
		"a range":                    {"See auth/middleware.go:12-15.", []string{middleware}, nil},
		"a range with a dash":        {"See auth/middleware.go:12–15.", []string{middleware}, nil},
		"a range that begins before": {"See auth/middleware.go:1-12.", []string{middleware}, nil},
		"a line and a column":        {"See auth/middleware.go:12:4.", []string{middleware}, nil},
		"a page of a document": {"See report.pdf p. 3 and e.g. p. 4, other.docx pp. 3-4.", nil,
			[]string{"report.pdf p. 3", "other.docx pp. 3-4"}},
		"the end of a path":                {"In middleware.go:12.", []string{middleware}, nil},
		"a path from here":                 {"In ./auth/middleware.go:12.", []string{middleware}, nil},
		"the end of a name":                {"In ware.go:12.", nil, []string{"ware.go:12"}},
		"a line after what was read":       {"In auth/middleware.go:31.", nil, []string{"auth/middleware.go:31"}},
		"a line before what was read":      {"In auth/middleware.go:9.", nil, []string{"auth/middleware.go:9"}},
		"a range the wrong way round":      {"In auth/middleware.go:31-2.", nil, []string{"auth/middleware.go:31-2"}},
		"any line of a file that was read": {"In transport.go:999.", []string{transport}, nil},
		"a file without an ending": {"In Makefile:3 and cmd/Makefile:3.", []string{makefile},
			[]string{"cmd/Makefile:3"}},
		"a hit that was not opened":   {"In auth/session.go:5.", nil, []string{"auth/session.go:5"}},
		"the same unread place twice": {"In x/y.go:5 and x/y.go:5.", nil, []string{"x/y.go:5"}},
		"one read and one unread": {"auth/middleware.go:12 against x/y.go:5", []string{middleware},
			[]string{"x/y.go:5"}},
		"a note with blanks in its name": {"Decided in `Meeting notes (May).md:3`.", []string{meeting}, nil},
		"unread lines of such a note": {"Decided in Meeting notes (May).md:30.", nil,
			[]string{"Meeting notes (May).md:30"}},
		"letters that are not English":   {"Siehe Beschlüsse/Größe.md:4-6.", []string{size}, nil},
		"an address":                     {"Out since May: https://go.example/release/.", []string{release}, nil},
		"an address without its slash":   {"Out since May (https://go.example/release).", []string{release}, nil},
		"a part of a page":               {"See https://go.example/release/#may!", []string{release}, nil},
		"an address in Markdown":         {"[Go](https://go.example/release/), a language", []string{release}, nil},
		"an address with brackets in it": {"See [Go](https://wiki.example/Go_(game)).", []string{game}, nil},
		"an address that was not opened": {"See https://go.example/release/notes.", nil,
			[]string{"https://go.example/release/notes"}},
		"the port of an address": {"See https://go.example:8080/a.html:3", nil,
			[]string{"https://go.example:8080/a.html:3"}},
		"an hour":              {"At 10:30, or 10:30-11:30.", nil, nil},
		"a ratio and a server": {"1.5:1 on 127.0.0.1:8080 and localhost:8080, 3/4:2.", nil, nil},
		"a key and its value":  {"Set retries:3 and max_turns:30.", nil, nil},
		"text in a fence": {
			"It logs:\n```text\nx/y.go:5: https://evil.example\n```\nin auth/middleware.go:12", []string{middleware},
			nil},
		"text in a longer fence": {"~~~~\nx/y.go:5\n~~~\nx/y.go:6\n~~~~~\nauth/middleware.go:12",
			[]string{middleware}, nil},
		"text in a quoted fence": {"> ```\n> x/y.go:5\n> ```\nauth/middleware.go:12", []string{middleware},
			nil},
		"a line that only begins like one": {"`` x/y.go:5 ``", nil, []string{"x/y.go:5"}},
		"a number no file has":             {"In x/y.go:99999999999999999999.", nil, nil},
		"nothing":                          {"I know it by heart.", nil, nil},
	} {
		a := Answer{Answer: c.text, Sources: slices.Clone(read), Tried: []agent.SourceCalls{{Source: tool.Web}}}
		a.checkCitations(nil)
		var cited []string
		for _, s := range a.Sources {
			if s.Cited {
				cited = append(cited, s.Cite)
			}
		}
		assert.That(t, slices.Equal(cited, c.cited) && slices.Equal(a.Unsupported, c.unsupported),
			"%s: %q are cited, and %q not read; want %q and %q", name, cited, a.Unsupported, c.cited, c.unsupported)
	}
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
