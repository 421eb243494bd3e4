package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/service/assistant"
)

func TestSourcesOfARunAreComparedWithTheirFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	text := "one\ntwo\nthe token SECRET\nfour \x1b[2J\nfive\nsix\nseven\neight\n"
	assert.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	s := &Service{config: Config{Redact: func(text string) string { return strings.ReplaceAll(text, "SECRET", "***") }}}
	read := assistant.Place{Cite: "a.go:3", File: file, Start: 3, End: 3, Hash: files.Hash([]byte(text)), Read: true,
		Cited: true}
	for name, c := range map[string]struct {
		change func(*assistant.Place)
		want   SourceState
	}{
		"as it was read": {func(*assistant.Place) {}, SourceSame},
		"changed": {func(p *assistant.Place) {
			p.Hash = files.Hash([]byte("before"))
		}, SourceChanged},
		"removed":                   {func(p *assistant.Place) { p.File += ".gone" }, SourceGone},
		"a folder by now":           {func(p *assistant.Place) { p.File = filepath.Dir(file) }, SourceGone},
		"never read":                {func(p *assistant.Place) { p.Read = false }, SourceUnread},
		"a page of the web":         {func(p *assistant.Place) { p.File = "" }, SourceKnown},
		"a file with no known hash": {func(p *assistant.Place) { p.Hash = "" }, SourceKnown},
	} {
		t.Run(name, func(t *testing.T) {
			p := read
			c.change(&p)
			got := s.checkSource(p, nil)
			assert.That(t, got.State == c.want, "%s, wanted %s", got.State, c.want)
		})
	}
	got := s.checkSource(read, nil)
	n := len(got.Lines)
	assert.Require(t, n == 6, "%d lines: %v", n, got.Lines)
	assert.Equalf(t, got.Lines[2], (Line{3, "the token ***", true}), "line 3")
	assert.Equalf(t, got.Lines[3], (Line{4, "four [2J", false}), "line 4")
}

// What no file shows by lines, or no longer does, is shown as the run read it: a page of a document, or lines of a file
// that is another by now.
func TestSourceThatItsFileDoesNotShowIsShownAsItWasRead(t *testing.T) {
	s := &Service{config: Config{Redact: func(text string) string { return strings.ReplaceAll(text, "SECRET", "***") }}}
	heard := []assistant.Passage{
		{Cite: "report.pdf pp. 2-3", Name: "report.pdf", Lines: []string{"two", "three"}},
		{Cite: "report.pdf p. 3", Name: "report.pdf", Lines: []string{"The bearing", "is SECRET."}},
		{Cite: "a.go:11-20", Name: "a.go", From: 11, Lines: strings.Split("11 12 13 14 15 16 17 18 19 20", " ")},
	}
	gone := filepath.Join(t.TempDir(), "a.go")
	for name, c := range map[string]struct {
		place assistant.Place
		want  []Line
	}{
		"a page": {assistant.Place{Cite: "report.pdf p. 3", Read: true},
			[]Line{{0, "The bearing", false}, {0, "is ***.", false}}},
		"a page that nobody read": {assistant.Place{Cite: "report.pdf p. 3"}, nil},
		"another page":            {assistant.Place{Cite: "report.pdf p. 9", Read: true}, nil},
		"lines of a file that is gone": {assistant.Place{Cite: "a.go:12", File: gone, Start: 12, End: 12, Read: true},
			[]Line{{11, "11", false}, {12, "12", true}, {13, "13", false}, {14, "14", false}, {15, "15", false}}},
		"lines that were not read": {assistant.Place{Cite: "a.go:21", File: gone, Start: 21, End: 21, Read: true},
			nil},
		"lines of a file of a like name": {assistant.Place{Cite: "data.go:12",
			File: gone, Start: 12, End: 12, Read: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Same(t, c.want, s.checkSource(c.place, heard).Lines)
		})
	}
}
