package code

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

const pool = `// Package pool keeps connections.
package pool

// Pool holds idle connections until someone needs one.
type Pool struct {
	idleConns []conn
}

// closeIdle closes every connection that has been idle for too long.
func (p *Pool) closeIdle() {
	for _, c := range p.idleConns {
		c.close()
	}
}

func unrelated() {
	println("nothing to see")
}
`

func TestSearchFindsTheDefinitionWhereTheTermsMeet(t *testing.T) {
	r, _ := rootOf(t, map[string]string{
		"pool/pool.go": pool, "pool/other.go": "package pool\n\nfunc idle() {}\n",
		"doc.md": "# Close\n\nWe close at six.\n",
	})
	d, res := data[SearchData](t, r, "code_search", SearchArgs{Query: "How does the pool close idle connections?"})
	want := Hit{
		Path: "pool/pool.go", Line: 9, Text: "// closeIdle closes every connection that has been idle for too long.",
		Start: 4, End: 14,
		Own: 9, Head: 10, From: 4, To: 14, Symbol: "Pool.closeIdle", Kind: "method", Score: 1,
	}
	assert.Same(t, want, d.Hits[0])
	if !strings.HasPrefix(res.Text, "pool/pool.go:9  in method Pool.closeIdle, lines 4-14\n    // closeIdle closes") {
		t.Errorf("text: %s", res.Text)
	}
	ref := res.Refs[0]
	assert.That(t, !ref.Opened && ref.String() == "pool/pool.go:9" && ref.Source == tool.Code, "reference %+v", ref)
	assert.That(t, res.Items == len(d.Hits) && d.Files == 3,
		"%d items, %d hits, %d files", res.Items, len(d.Hits), d.Files)
}

func TestSearchSaysWhatIsNowhere(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"a.go": "package a\n\nvar frob int\n"})
	d, res := data[SearchData](t, r, "code_search", SearchArgs{Query: "frob quux"})
	diff := cmp.Diff([]string{"quux"}, d.Missing)
	assert.That(t, diff == "" && strings.Contains(res.Text, "found nowhere: quux"), "%s %s", diff, res.Text)
	d, res = data[SearchData](t, r, "code_search", SearchArgs{Query: "quux zork"})
	assert.That(t, len(d.Hits) == 0 && res.Items == 0 && strings.HasPrefix(res.Text, "Nothing found for: quux, zork."),
		"%+v %s", d, res.Text)
}

func TestSearchOfAnEmptyRootFindsNothing(t *testing.T) {
	r, _ := rootOf(t, nil)
	for _, args := range []SearchArgs{{Query: "word"}, {Query: "w.rd", Regex: true}} {
		d, res := data[SearchData](t, r, "code_search", args)
		assert.That(t, d.Files == 0 && res.Items == 0, "%+v", d)
	}
	res, err := call(t, r, "code_symbol", `{"symbol":"x"}`)
	assert.That(t, err == nil && res.Items == 0, "%v, %+v", err, res)
	res = callMap(t, r, `{}`)
	assert.That(t, res.Text == r.name+": 0 files\n", "%q", res.Text)
}

func TestScopeRestrictsTheSearch(t *testing.T) {
	text := "needle\n"
	r, _ := rootOf(t, map[string]string{"a/x.go": text, "a/y.py": text, "a/b/z.go": text, "ab/x.go": text,
		"p.proto": text, "Makefile": text, "q.weird": text})
	for _, c := range []struct {
		path string
		want []string
	}{
		{"", []string{"Makefile", "a/b/z.go", "a/x.go", "a/y.py", "ab/x.go", "p.proto", "q.weird"}},
		{"a", []string{"a/b/z.go", "a/x.go", "a/y.py"}},
		{"a/", []string{"a/b/z.go", "a/x.go", "a/y.py"}},
		{"a/x.go", []string{"a/x.go"}},
		{"*.go", []string{"a/b/z.go", "a/x.go", "ab/x.go"}},
		{"a/*.go", []string{"a/x.go"}},
		{"a/**/*.go", []string{"a/b/z.go", "a/x.go"}},
	} {
		d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "needle", Path: c.path})
		got := hitPaths(d)
		slices.Sort(got)
		assert.NoDiff(t, cmp.Diff(c.want, got), "path %q", c.path)
	}
	_, err := call(t, r, "code_search", `{"query":"needle","path":"nowhere/*.go"}`)
	assert.That(t, kindOf(err) == tool.NotFound, "a missing folder: %v", err)
}

func TestSearchSkipsWhatItMust(t *testing.T) {
	r, dir := rootOf(t, map[string]string{
		"ok.go": "needle", "bin.dat": "needle\x00", ".env": "needle", "lost.go": "needle\x00",
		"x.pem":      "needle",
		".gitignore": "out/\n*.log\n!keep.log\n", "out/a.go": "needle", "a.log": "needle", "keep.log": "needle",
		"sub/.gitignore": "local.go\n", "sub/local.go": "needle", "sub/utf8.go": "needle \xff\xfe",
	})
	write(t, filepath.Join(dir, "big.txt"), "needle")
	assert.NoError(t, os.Truncate(filepath.Join(dir, "big.txt"), maxScanned+1))
	d, res := data[SearchData](t, r, "code_search", SearchArgs{Query: "needle"})
	got := hitPaths(d)
	slices.Sort(got)
	assert.Same(t, []string{"keep.log", "ok.go", "sub/utf8.go"}, got)
	for _, want := range []string{"Skipped: 1 × binary file, 2 × file that may hold secrets.",
		"1 × too large to be searched: big.txt", "1 × in an encoding that can't be read (save it as UTF-8): lost.go"} {
		assert.That(t, strings.Contains(res.Text, want), "%q is not in %q", want, res.Text)
	}
}

func TestRegexFindsLines(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"a.go": "package a\n\nfunc Close() {}\n\nfunc CloseAll() {\n\tClose()\n}\r\n",
		"b.txt": "fun  Close\n"})
	for _, c := range []struct {
		expr string
		want []string
	}{
		{`^func Close\w+`, []string{"a.go:5"}},
		{`func\s+Close\(`, []string{"a.go:3"}},
		{`(?i)^FUN`, []string{"a.go:3", "a.go:5", "b.txt:1"}},
		{`\}$`, []string{"a.go:3", "a.go:7"}}, // one place for each definition
		{`c\nlose`, nil},
		{`fun[^c]+`, []string{"b.txt:1"}},
	} {
		d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: c.expr, Regex: true})
		var got []string
		for _, h := range d.Hits {
			got = append(got, fmt.Sprintf("%s:%d", h.Path, h.Line))
		}
		slices.Sort(got)
		slices.Sort(c.want)
		assert.NoDiff(t, cmp.Diff(c.want, got), "%s", c.expr)
	}
}

func TestSearchIsTheSameHoweverItIsScheduled(t *testing.T) {
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("d%d/f%d.go", i%7, i)] = fmt.Sprintf(
			"package f\n\n// F%d finds a needle in the hay.\nfunc F%d() {}\n", i, i)
	}
	r, _ := rootOf(t, files)
	first := ""
	for _, procs := range []int{1, 2, 8, 8} {
		old := runtime.GOMAXPROCS(procs)
		_, res := data[SearchData](t, r, "code_search", SearchArgs{Query: "needle hay", Limit: 50})
		runtime.GOMAXPROCS(old)
		if first == "" {
			first = string(res.Data)
		}
		if string(res.Data) != first {
			t.Fatalf("with %d goroutines: %s", procs, cmp.Diff(first, string(res.Data)))
		}
	}
}

func TestOneFileCannotFillTheHits(t *testing.T) {
	var b strings.Builder
	b.WriteString("package a\n")
	for i := range 40 {
		fmt.Fprintf(&b, "\n\n\n\nfunc needle%d() {}\n", i)
	}
	r, _ := rootOf(t, map[string]string{"a.go": b.String(), "b.go": "package b // has a needle\n"})
	d, res := data[SearchData](t, r, "code_search", SearchArgs{Query: "needle"})
	n := len(d.Hits)
	assert.That(t, n == hitsPerFile+1 && res.Truncated, "%d hits, truncated %v", n, res.Truncated)
	d, _ = data[SearchData](t, r, "code_search", SearchArgs{Query: "needle", Path: "a.go"})
	assert.That(t, len(d.Hits) == 10, "%d hits in the one file asked for", len(d.Hits))
}

func TestALineThatNamesThePackageIsNoPassage(t *testing.T) {
	r, _ := rootOf(t, map[string]string{
		"tide/level.go": "// Copyright of the harbour.\n\npackage tide\n\nimport \"math\"\n\n// Level is how high " +
			"the tide stands.\nfunc Level() float64 { return math.Pi }\n",
		"tide/doc.go":    "// Package tide tells when the water rises.\npackage tide\n",
		"tide/gauge.go":  "package tide\n\nvar gauges = 3\n",
		"tide/Moon.java": "package tide;\n\nclass Moon {}\n",
	})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "How does the tide package work?", Limit: 20})
	var found []string
	for _, h := range d.Hits {
		found = append(found, fmt.Sprintf("%s:%d", h.Path, h.Line))
	}
	slices.Sort(found)
	want := []string{"tide/doc.go:1", "tide/level.go:7"}
	assert.That(t, slices.Equal(found, want), "%q, want %q", found, want)
	d, _ = data[SearchData](t, r, "code_search", SearchArgs{Query: "^package tide", Regex: true, Limit: 20})
	assert.That(t, len(d.Hits) == 4, "who asks for these lines gets %d of 4", len(d.Hits))
}

func TestSearchFindsTwoWordsWrittenAsOne(t *testing.T) {
	r, _ := rootOf(t, map[string]string{
		"server.md": "# Server\n\n## Backup and restore\n\nCopy the file.\n",
		"data.go":   "package data\n\n// data is my data, up to date and read back.\ntype data struct{ data []byte }\n",
	})
	for _, question := range []string{"how do I back up my data?", "does it back up the data"} {
		d, res := data[SearchData](t, r, "code_search", SearchArgs{Query: question})
		assert.That(t, len(d.Hits) != 0 && d.Hits[0].Path == "server.md", "%s\n%s", question, res.Text)
	}
	_, res := data[SearchData](t, r, "code_search", SearchArgs{Query: "how do I roll over?"})
	assert.That(t, !strings.Contains(res.Text, "rollover"), "a word that nobody wrote is told: %s", res.Text)
}

func TestLongPathsAndLinesKeepTheTextBounded(t *testing.T) {
	files := map[string]string{}
	long := strings.Repeat("long-folder-name-", 12)
	for i := range 60 {
		files[fmt.Sprintf("%[1]s/%[1]s/%[1]s/%[1]s/%[1]s/f%[2]d.go", long, i)] = fmt.Sprintf("package p%d // ", i) +
			strings.Repeat("needle ", 60) + "\n"
	}
	r, _ := rootOf(t, files)
	_, res := data[SearchData](t, r, "code_search", SearchArgs{Query: "needle", Limit: 50})
	assert.That(t, len(res.Text) <= tool.MaxText && res.Items >= 40 && res.Truncated && len(res.Data) <= 4*tool.MaxText,
		"%d items, %d bytes of text, %d of data, truncated %v", res.Items, len(res.Text), len(res.Data), res.Truncated)
}
