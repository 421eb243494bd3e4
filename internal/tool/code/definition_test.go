package code

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/tool"
)

const server = `package web

// Server serves.
type Server struct {
	idle, busy int
	// Addr is where.
	Addr string
}

// Close ends it.
func (s *Server) Close() error { return nil }

type client struct{}

func (client) Close() error { s.Close(); return nil }
`

func TestDefinitionIsFoundBySymbol(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"web/server.go": server, "db/db.go": "package db\n\ntype Server int\n", "db/x_test.go": "package db\n\nfunc Close() {}\n",
		"app/pool.py": "class Pool:\n    def close_all(self):\n        pass\n", "README.md": "# Server\n\nSee Close.\n",
	})
	for _, c := range []struct {
		symbol, path string
		want         []string
		exact        bool
	}{
		{"Server", "", []string{"db/db.go:3", "web/server.go:4", "README.md:1"}, true},
		{"web.Server", "", []string{"web/server.go:4"}, true},
		{"Server.Close", "", []string{"web/server.go:11"}, true},
		{"(*Server).Close", "", []string{"web/server.go:11"}, true},
		{"web.Server.Close()", "", []string{"web/server.go:11"}, true},
		{"Close", "", []string{"web/server.go:11", "web/server.go:15", "db/x_test.go:3"}, true},
		{"Close", "db", []string{"db/x_test.go:3"}, true},
		{"Close", "*_test.go", []string{"db/x_test.go:3"}, true},
		{"Server.busy", "", []string{"web/server.go:5"}, true},
		{"Server.addr", "", []string{"web/server.go:7"}, false},
		{"server", "", []string{"db/db.go:3", "web/server.go:4", "README.md:1"}, false},
		{"Pool::closeAll", "", []string{"app/pool.py:2"}, false},
		{"Other.Close", "", []string{"web/server.go:11", "web/server.go:15", "db/x_test.go:3"}, false},
		{"Nothing", "", nil, false},
		{"x", "", nil, false},
	} {
		d, res := data[DefinitionData](t, r, "code_definition", DefinitionArgs{Symbol: c.symbol, Path: c.path})
		var got []string
		for _, def := range d.Definitions {
			got = append(got, fmt.Sprintf("%s:%d", def.Path, def.Line))
		}
		if diff := cmp.Diff(c.want, got); diff != "" || d.Exact != c.exact || res.Items != len(c.want) {
			t.Errorf("%s in %q: exact %v, %d items, %s", c.symbol, c.path, d.Exact, res.Items, diff)
		}
	}
}

func TestShownDefinitionIsCitableAndListedOnesAreNot(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("p%02d/p.go", i)] = "package p\n\n// Open opens.\nfunc Open(\n\tname string,\n) {\n}\n"
	}
	r, _ := tree(t, files)
	d, res := data[DefinitionData](t, r, "code_definition", DefinitionArgs{Symbol: "Open"})
	if len(d.Definitions) != maxDefinitions || !res.Truncated || !strings.Contains(res.Text, "10 more;") {
		t.Errorf("%d definitions, truncated %v", len(d.Definitions), res.Truncated)
	}
	if diff := cmp.Diff([]string{"// Open opens.", "func Open(", "\tname string,", ") {", "}"}, d.Definitions[0].Lines); diff != "" {
		t.Error(diff)
	}
	for i, ref := range res.Refs {
		if shown := i < shownTexts; ref.Opened != shown || (ref.Hash != "") != shown || ref.Start != 3 || ref.End != 7 {
			t.Errorf("reference %d: %+v", i, ref)
		}
	}
}

func TestLongDefinitionIsShownInPart(t *testing.T) {
	r, _ := tree(t, map[string]string{"a.go": "package a\n\nfunc long() {\n" + strings.Repeat("\tstep()\n", 200) + "}\n"})
	d, res := data[DefinitionData](t, r, "code_definition", DefinitionArgs{Symbol: "long"})
	if def := d.Definitions[0]; len(def.Lines) != shownLines || def.End != 204 || !res.Truncated {
		t.Errorf("%d lines, end %d, truncated %v", len(def.Lines), def.End, res.Truncated)
	}
	if ref := res.Refs[0]; ref.End != 82 || !strings.Contains(res.Text, "go on with code_read from 83") {
		t.Errorf("%+v\n%s", ref, res.Text[len(res.Text)-80:])
	}
}

func TestWideDefinitionsKeepToMaxText(t *testing.T) {
	wide := strings.Repeat("\t// "+strings.Repeat("x", 490)+"\n", 78)
	files := map[string]string{}
	for i := range 3 {
		files[fmt.Sprintf("p%d.go", i)] = "package p\n\nfunc wide() {\n" + wide + "}\n"
	}
	r, _ := tree(t, files)
	d, res := data[DefinitionData](t, r, "code_definition", DefinitionArgs{Symbol: "wide"})
	if len(res.Text) > tool.MaxText {
		t.Errorf("%d bytes", len(res.Text))
	}
	for i, def := range d.Definitions {
		if shown := len(def.Lines) > 0; shown != res.Refs[i].Opened || shown != strings.Contains(res.Text, fmt.Sprintf("p%d.go:3  func wide, lines 3-82\n   3| ", i)) {
			t.Errorf("definition %d: shown %v, reference %+v", i, shown, res.Refs[i])
		}
	}
}
