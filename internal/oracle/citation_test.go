package oracle

import (
	"slices"
	"testing"

	"sibyl/internal/agent"
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
		{Path: "Meeting notes (May).md", Start: 1, End: 9}, {Path: "Beschlüsse/Größe.md", Start: 1, End: 9}, {URL: release}, {URL: game},
	} {
		read = append(read, agent.Source{Ref: ref, Cite: ref.String()})
	}
	for name, c := range map[string]struct {
		text               string
		cited, unsupported []string
	}{
		"a line":                           {"It checks (`auth/middleware.go:12`).", []string{middleware}, nil},
		"the first and the last line":      {"auth/middleware.go:10, auth/middleware.go:30.", []string{middleware}, nil},
		"a range":                          {"See auth/middleware.go:12-15.", []string{middleware}, nil},
		"a range with a dash":              {"See auth/middleware.go:12–15.", []string{middleware}, nil},
		"a range that begins before":       {"See auth/middleware.go:1-12.", []string{middleware}, nil},
		"a line and a column":              {"See auth/middleware.go:12:4.", []string{middleware}, nil},
		"a page of a document":             {"See report.pdf p. 3 and e.g. p. 4, other.docx pp. 3-4.", nil, []string{"report.pdf p. 3", "other.docx pp. 3-4"}},
		"the end of a path":                {"In middleware.go:12.", []string{middleware}, nil},
		"a path from here":                 {"In ./auth/middleware.go:12.", []string{middleware}, nil},
		"the end of a name":                {"In ware.go:12.", nil, []string{"ware.go:12"}},
		"a line after what was read":       {"In auth/middleware.go:31.", nil, []string{"auth/middleware.go:31"}},
		"a line before what was read":      {"In auth/middleware.go:9.", nil, []string{"auth/middleware.go:9"}},
		"a range the wrong way round":      {"In auth/middleware.go:31-2.", nil, []string{"auth/middleware.go:31-2"}},
		"any line of a file that was read": {"In transport.go:999.", []string{transport}, nil},
		"a file without an ending":         {"In Makefile:3 and cmd/Makefile:3.", []string{makefile}, []string{"cmd/Makefile:3"}},
		"a hit that was not opened":        {"In auth/session.go:5.", nil, []string{"auth/session.go:5"}},
		"the same unread place twice":      {"In x/y.go:5 and x/y.go:5.", nil, []string{"x/y.go:5"}},
		"one read and one unread":          {"auth/middleware.go:12 against x/y.go:5", []string{middleware}, []string{"x/y.go:5"}},
		"a note with blanks in its name":   {"Decided in `Meeting notes (May).md:3`.", []string{meeting}, nil},
		"unread lines of such a note":      {"Decided in Meeting notes (May).md:30.", nil, []string{"Meeting notes (May).md:30"}},
		"letters that are not English":     {"Siehe Beschlüsse/Größe.md:4-6.", []string{size}, nil},
		"an address":                       {"Out since May: https://go.example/release/.", []string{release}, nil},
		"an address without its slash":     {"Out since May (https://go.example/release).", []string{release}, nil},
		"a part of a page":                 {"See https://go.example/release/#may!", []string{release}, nil},
		"an address in Markdown":           {"[Go](https://go.example/release/), a language", []string{release}, nil},
		"an address with brackets in it":   {"See [Go](https://wiki.example/Go_(game)).", []string{game}, nil},
		"an address that was not opened":   {"See https://go.example/release/notes.", nil, []string{"https://go.example/release/notes"}},
		"the port of an address":           {"See https://go.example:8080/a.html:3", nil, []string{"https://go.example:8080/a.html:3"}},
		"an hour":                          {"At 10:30, or 10:30-11:30.", nil, nil},
		"a ratio and a server":             {"1.5:1 on 127.0.0.1:8080 and localhost:8080, 3/4:2.", nil, nil},
		"a key and its value":              {"Set retries:3 and max_turns:30.", nil, nil},
		"text in a fence":                  {"It logs:\n```text\nx/y.go:5: https://evil.example\n```\nin auth/middleware.go:12", []string{middleware}, nil},
		"text in a longer fence":           {"~~~~\nx/y.go:5\n~~~\nx/y.go:6\n~~~~~\nauth/middleware.go:12", []string{middleware}, nil},
		"text in a quoted fence":           {"> ```\n> x/y.go:5\n> ```\nauth/middleware.go:12", []string{middleware}, nil},
		"a line that only begins like one": {"`` x/y.go:5 ``", nil, []string{"x/y.go:5"}},
		"a number no file has":             {"In x/y.go:99999999999999999999.", nil, nil},
		"nothing":                          {"I know it by heart.", nil, nil},
	} {
		a := Answer{Answer: c.text, Sources: slices.Clone(read), Tried: []agent.Tried{{Source: tool.Web}}}
		a.cite()
		var cited []string
		for _, s := range a.Sources {
			if s.Cited {
				cited = append(cited, s.Cite)
			}
		}
		if !slices.Equal(cited, c.cited) || !slices.Equal(a.Unsupported, c.unsupported) {
			t.Errorf("%s: %q are cited, and %q not read; want %q and %q", name, cited, a.Unsupported, c.cited, c.unsupported)
		}
	}
}
