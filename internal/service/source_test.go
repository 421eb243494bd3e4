package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/files"
	"sibyl/internal/service/assistant"
)

func TestSourcesOfARunAreComparedWithTheirFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	text := "one\ntwo\nthe token SECRET\nfour \x1b[2J\nfive\nsix\nseven\neight\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Service{config: Config{Redact: func(text string) string { return strings.ReplaceAll(text, "SECRET", "***") }}}
	read := assistant.Place{Cite: "a.go:3", File: file, Start: 3, End: 3, Hash: files.Hash([]byte(text)), Read: true, Cited: true}
	for name, c := range map[string]struct {
		change func(*assistant.Place)
		want   SourceState
	}{
		"as it was read":            {func(*assistant.Place) {}, SourceSame},
		"changed":                   {func(p *assistant.Place) { p.Hash = files.Hash([]byte("before")) }, SourceChanged},
		"removed":                   {func(p *assistant.Place) { p.File += ".gone" }, SourceGone},
		"a folder by now":           {func(p *assistant.Place) { p.File = filepath.Dir(file) }, SourceGone},
		"never read":                {func(p *assistant.Place) { p.Read = false }, SourceUnread},
		"a page of the web":         {func(p *assistant.Place) { p.File = "" }, SourceKnown},
		"a file with no known hash": {func(p *assistant.Place) { p.Hash = "" }, SourceKnown},
	} {
		t.Run(name, func(t *testing.T) {
			p := read
			c.change(&p)
			if got := s.checked(p); got.State != c.want {
				t.Errorf("%s, wanted %s", got.State, c.want)
			}
		})
	}
	got := s.checked(read)
	if n := len(got.Lines); n != 6 {
		t.Fatalf("%d lines: %v", n, got.Lines)
	}
	if l := got.Lines[2]; l != (Line{3, "the token ***", true}) {
		t.Errorf("line 3 is %+v", l)
	}
	if l := got.Lines[3]; l != (Line{4, "four [2J", false}) {
		t.Errorf("line 4 is %+v", l)
	}
}
