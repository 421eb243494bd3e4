package code

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
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
	r, _ := rootOf(t, map[string]string{
		"web/server.go": server, "db/db.go": "package db\n\ntype Server int\n",
		"db/x_test.go": "package db\n\nfunc Close() {}\n",
		"app/pool.py":  "class Pool:\n    def close_all(self):\n        pass\n",
		"README.md":    "# Server\n\nSee Close.\n",
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
		res := assert.Must(call(t, r, "code_symbol", string(encode(t, SymbolArgs{Symbol: c.symbol, Path: c.path}))))(t)
		listed, _, _ := strings.Cut(res.Text, "Used in:\n")
		var got []string
		for _, m := range regexp.MustCompile(`(?m)^(\S+:\d+)  \w+ .*, lines`).FindAllStringSubmatch(listed, -1) {
			got = append(got, m[1])
		}
		exact := !strings.HasPrefix(res.Text, "No definition") && !strings.HasPrefix(res.Text, "There is no definition")
		if diff := cmp.Diff(c.want, got); diff != "" || exact != c.exact {
			t.Errorf("%s in %q: exact %v, %s in\n%s", c.symbol, c.path, exact, diff, res.Text)
		}
	}
}

func TestDefinitionsAreShownAsFarAsThereIsRoom(t *testing.T) {
	many, long := map[string]string{}, map[string]string{"a.go": "package a\n\nfunc Open() {\n" +
		strings.Repeat("\tstep()\n", 200) + "}\n"}
	for i := range 30 {
		many[fmt.Sprintf("p%02d/p.go", i)] = "package p\n\n// Open opens.\nfunc Open(\n\tname string,\n) {\n}\n"
	}
	wide := map[string]string{}
	for i := range 3 {
		wide[fmt.Sprintf("p%d.go", i)] = "package p\n\nfunc Open() {\n" +
			strings.Repeat("\t// "+strings.Repeat("x", 490)+"\n", 78) + "}\n"
	}
	for _, c := range []struct {
		files map[string]string
		refs  int
		first string // place
		text  []string
	}{
		{many, maxDefinitions, "p00/p.go:3-7",
			[]string{"   3| // Open opens.\n   4| func Open(\n   5| \tname string,\n",
				"p19/p.go:4  func Open, lines 3-7\n    func Open(\n10 more;"}},
		{long, 1, "a.go:3-82", []string{"(122 lines more; go on with code_read from 83)"}},
		{wide, 3, "p0.go:3-20", []string{"(62 lines more; go on with code_read from 21)",
			"p2.go:3  func Open, lines 3-82\n   3| func Open() {\n"}},
	} {
		r, _ := rootOf(t, c.files)
		res := assert.Must(call(t, r, "code_symbol", `{"symbol":"Open"}`))(t)
		if got := cited(res); len(got) != c.refs || got[0] != c.first || !res.Truncated ||
			len(res.Text) > tool.MaxText || res.Refs[0].Hash == "" {
			t.Errorf("%d places, first %v, truncated %v, %d bytes", len(got), res.Refs[0], res.Truncated, len(res.Text))
		}
		assert.Contains(t, "the text", res.Text, c.text...)
	}
}

func TestUsesNameTheCallersAndNeitherDefinitionNorOwnComment(t *testing.T) {
	r, _ := rootOf(t, map[string]string{
		"lease.go": leaseGo,
		"drive.go": "package lease\n\n// Drive drives.\nfunc Drive() {\n\tAcquire()\n\tAcquireAll()\n}\n\n// " +
			"Acquire is what Drive begins with.\nvar f = Acquire\n",
		"lease_test.go": "package lease\n\nfunc TestAcquire() { Acquire() }\n",
		"notes.md":      "# Notes\n\nAcquire is called first.\n",
	})
	res, err := call(t, r, "code_symbol", `{"symbol":"acquire"}`)
	assert.NoError(t, err)
	want := []string{"lease.go:4-5", "drive.go:5", "drive.go:10", "lease_test.go:3", "drive.go:9", "notes.md:3"}
	got := cited(res)
	assert.That(t, slices.Equal(got, want) && strings.Contains(res.Text, "drive.go:5  in func Drive\n    Acquire()"),
		"the places are %q in\n%s", got, res.Text)
	files := map[string]string{"a.go": "package a\n\nfunc a() {\n" + strings.Repeat("\tfar.Away()\n", maxUses+5) +
		"}\n"}
	r, _ = rootOf(t, files)
	res, err = call(t, r, "code_symbol", `{"symbol":"far.Away"}`)
	assert.That(t, err == nil && len(res.Refs) == maxUses && res.Truncated &&
		strings.Contains(res.Text, "No definition of far.Away was found.") &&
		strings.Contains(res.Text, "5 more; restrict it with path."), "%d places, %v\n%s", len(res.Refs), err, res.Text)
}
