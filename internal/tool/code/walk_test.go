package code

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/redact/redacttest"
	"sibyl/internal/tool"
)

// wideRoot is a root with 41 files in several folders.
func wideRoot(t *testing.T) *Root {
	t.Helper()
	files := map[string]string{"top.txt": "beacon"}
	for folder, n := range map[string]int{"big": 30, "mid": 6, "small": 2, ".hidden": 2} {
		for i := range n {
			files[fmt.Sprintf("%s/%02d/a.txt", folder, i)] = "beacon in " + folder
		}
	}
	r, _ := rootOf(t, files)
	return r
}

func TestFolderThatIsTooLargeIsSearchedInPartAndSaysSo(t *testing.T) {
	for _, c := range []struct {
		path  string
		lower func(*limits)
		most  int
		says  bool
	}{
		{"", func(l *limits) { l.files = 20 }, 20, true},
		{"", func(l *limits) { l.bytes = 100 }, 20, true},
		{"", func(l *limits) { l.time = time.Nanosecond }, 20, true},
		{".hidden", func(l *limits) { l.files = 12 }, 2, false},
		{"", func(l *limits) { l.files = 41 }, 41, false},
	} {
		r := wideRoot(t)
		if err := os.Mkdir(filepath.Join(r.root.Name(), "_darcs"), 0o700); err != nil { // it is a project
			t.Fatal(err)
		}
		c.lower(&r.limits)
		d, res := data[SearchData](t, r, "code_search", SearchArgs{Query: "beacon", Path: c.path, Limit: 50})
		said := slices.ContainsFunc(res.Uncovered, func(u tool.Uncovered) bool { return u.Reason == tool.BeyondBound }) &&
			strings.Contains(res.Text, "Not looked at: 1 × beyond the bounds of a search (name a folder): what comes after ")
		if n := len(d.Hits); said != c.says || n > c.most || !c.says && n < c.most {
			t.Errorf("%q with %+v: %d places, %q", c.path, r.limits, n, res.Text)
		}
	}
}

func TestWhatChangesDuringTheWalkIsCounted(t *testing.T) {
	procs := runtime.GOMAXPROCS(1) // one file after the other
	defer runtime.GOMAXPROCS(procs)
	r, dir := rootOf(t, map[string]string{"a.go": "needle", "b.go": "needle", "c/d.go": "needle"})
	passed, err := r.walk(context.Background(), scope{start: "."}, func(at string, _ iter.Seq[piece]) {
		if at == "a.go" {
			assert.Nil(t, os.Remove(filepath.Join(dir, "b.go")))
		}
	})
	assert.That(t, err == nil && passed.counts[unreadable] == 1, "a file that vanished: %v, %+v", err, passed)
	info := assert.Must(r.root.Lstat("c"))(t)
	assert.NoError(t, os.RemoveAll(filepath.Join(dir, "c")))
	write(t, filepath.Join(dir, "c"), "needle")
	l := &lister{ctx: context.Background(), root: r, skipped: skipped{counts: map[string]int{}}}
	err = l.listFolder(&place{parent: r.root, path: "c", info: info}, 1)
	assert.That(t, kindOf(err) != "" && l.skipped.counts[unreadable] == 1,
		"a folder that became a file: %v, %+v", err, l.skipped)
}

func TestWalkStopsSoonAfterItsContextEnds(t *testing.T) {
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("d%d/f%d.go", i%20, i)] = "needle"
	}
	r, _ := rootOf(t, files)
	ctx, cancel := context.WithCancel(context.Background())
	visits := make(chan string, len(files))
	_, err := r.walk(ctx, scope{start: "."}, func(at string, _ iter.Seq[piece]) {
		visits <- at
		cancel()
	})
	assert.That(t, errors.Is(err, context.Canceled) && len(visits) <= workers(), "%v after %d visits", err, len(visits))
}

func TestWalkOfADeepTreeEnds(t *testing.T) {
	deep := strings.Repeat("d/", maxDepth+20)
	r, _ := rootOf(t, map[string]string{deep + "f.go": "needle", "d/f.go": "needle"})
	d, res := data[SearchData](t, r, "code_search", SearchArgs{Query: "needle"})
	assert.That(t, d.Files == 1 && strings.Contains(res.Text, "1 × unreadable entry: d/d"),
		"%d files: %s", d.Files, res.Text)
}

func TestWhatTheSystemSaysOfItselfIsNotEntered(t *testing.T) {
	r := open(t, "/")
	entries := assert.Must(fs.ReadDir(os.DirFS("/"), "."))(t)
	l := &lister{root: r, skipped: skipped{counts: map[string]int{}}}
	for _, e := range entries {
		if at := e.Name(); l.mayEnter(e, "", at, nil) && slices.Contains([]string{"proc", "sys", "dev"}, at) {
			t.Errorf("/%s is entered", at)
		}
	}
}

// wantNoSecret says which vectors a result of a tool gives away.
func wantNoSecret(t *testing.T, v redacttest.Vector, how string, res tool.Result) {
	t.Helper()
	for _, leak := range v.Leaks(res.Text + "\n" + string(res.Data)) {
		t.Errorf("%s, %s: %q is in\n%s", v.Name, how, leak, res.Text)
	}
}

func TestSecretsAreTakenOutBeforeLinesAreNumberedOrCut(t *testing.T) {
	for all := range slices.Chunk(redacttest.Vectors(t), 8) { // a search reads all files of a root
		files := map[string]string{}
		for i, v := range all {
			files[fmt.Sprintf("v%03d.md", i)] = v.Text + "\n"
			files[fmt.Sprintf("v%03d.go", i)] = fmt.Sprintf("package p\n\n// Holder%d holds.\nfunc Holder%d() {\n%s\n}\n",
				i, i, v.Text)
		}
		r, _ := rootOf(t, files)
		for i, v := range all {
			name, source := fmt.Sprintf("v%03d.md", i), fmt.Sprintf("v%03d.go", i)
			whole, res := data[ReadData](t, r, "code_read", ReadArgs{Path: name})
			wantNoSecret(t, v, "read whole", res)
			want := strings.Count(v.Text+"\n", "\n")
			assert.That(t, whole.Total == want, "%s has %d lines, want %d", v.Name, whole.Total, want)
			if len(v.Secrets) == 0 && !strings.Contains(strings.Join(whole.Lines, "\n"), strings.Split(v.Text, "\n")[0]) {
				t.Errorf("%s does not stay: %q", v.Name, whole.Lines)
			}
			for start := 2; start <= whole.Total; start++ {
				_, res = data[ReadData](t, r, "code_read", ReadArgs{Path: name, Start: start})
				wantNoSecret(t, v, fmt.Sprintf("read from line %d", start), res)
				_, res = data[ReadData](t, r, "code_read", ReadArgs{Path: name, Start: start, End: start})
				wantNoSecret(t, v, fmt.Sprintf("line %d alone", start), res)
			}
			for _, pattern := range []string{".", "[A-Za-z0-9+/]{20}", "END", "="} {
				_, res = data[SearchData](t, r, "code_search", SearchArgs{Query: pattern, Regex: true, Path: name,
					Limit: 50})
				wantNoSecret(t, v, "found by "+pattern, res)
			}
			_, res = data[SearchData](t, r, "code_search", SearchArgs{Query: fmt.Sprintf("what does Holder%d hold?", i)})
			wantNoSecret(t, v, "searched for", res)
			args, err := json.Marshal(map[string]any{"symbol": fmt.Sprintf("Holder%d", i)})
			assert.NoError(t, err)
			res, err = call(t, r, "code_symbol", string(args))
			assert.That(t, err == nil, "%s: %v", v.Name, err)
			wantNoSecret(t, v, "defined", res)
			_, res = data[ReadData](t, r, "code_read", ReadArgs{Path: source, Around: 5})
			assert.That(t, len(res.Refs) != 0, "%s was not read", source)
			wantNoSecret(t, v, "read around a line", res)
		}
		res := assert.Must(call(t, r, "repo_map", "{}"))(t)
		for _, v := range all {
			wantNoSecret(t, v, "mapped", res)
		}
	}
}

// A key may begin far above the lines that are read, and a token end behind what is shown of a line.
func TestSecretThatReachesBeyondWhatIsShownIsTakenOut(t *testing.T) {
	for _, v := range redacttest.Vectors(t) {
		if v.Name != "PEM: rsa private key" && v.Name != "npm token in .npmrc" {
			continue
		}
		for _, long := range []int{maxLine - 60, maxLine - 40, maxLine - 20, maxLine - 3} {
			r, _ := rootOf(t, map[string]string{"a.md": strings.Repeat("x", long) + " " + v.Text + "\n" +
				strings.Repeat("line\n", 5000)})
			_, res := data[ReadData](t, r, "code_read", ReadArgs{Path: "a.md"})
			shown := res.Text + string(res.Data)
			for _, secret := range v.Secrets {
				assert.That(t, !strings.Contains(v.Name, "npm") || !strings.Contains(shown, secret[:8]),
					"%s after %d: its beginning is shown", v.Name, long)
			}
			wantNoSecret(t, v, "in a long line", res)
		}
	}
}

// Whether a regular expression finds anything would otherwise tell a secret, character by character.
func TestNoSearchTellsWhetherItFitsASecret(t *testing.T) {
	secret := "hQ4w" + "Tz8kP2mN"
	r, _ := rootOf(t, map[string]string{"a.yaml": "password: " + secret + "\n"})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "password: " + secret[:6], Regex: true})
	assert.That(t, d.Matched == 0 && len(d.Hits) == 0, "%d files, %d hits", d.Matched, len(d.Hits))
}

// rootOf makes a root with the given files.
func rootOf(t testing.TB, files map[string]string) (*Root, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return open(t, dir), dir
}

func open(t testing.TB, dir string) *Root {
	t.Helper()
	r := assert.Must(Open(dir))(t)
	t.Cleanup(func() { assert.Nil(t, r.Close()) })
	return r
}

func write(t testing.TB, name, text string) {
	t.Helper()
	assert.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	assert.NoError(t, os.WriteFile(name, []byte(text), 0o644))
}

// call runs one of the root's tools with arguments as a model writes them.
func call(t testing.TB, r *Root, name, args string) (tool.Result, error) {
	t.Helper()
	registry := tool.NewSet(r.Tools()...)
	found, ok := registry.Get(name)
	assert.Require(t, ok, "there is no tool %s", name)
	res, err := found.Call(context.Background(), tool.Call{Args: json.RawMessage(args)})
	if err != nil {
		_, ok := errors.AsType[*tool.Error](err)
		assert.That(t, ok, "%s failed with a %T, not a *tool.Error: %v", name, err, err)
	}
	return res, err
}

// data calls a tool that must succeed and decodes its structured result.
func data[D any](t testing.TB, r *Root, name string, args any) (D, tool.Result) {
	t.Helper()
	var d D
	raw := assert.Must(json.Marshal(args))(t)
	res, err := call(t, r, name, string(raw))
	assert.NoErrorf(t, err, "%s %s", name, raw)
	assert.NoError(t, json.Unmarshal(res.Data, &d))
	return d, res
}

// kindOf gives the kind of a tool error, "" for none.
func kindOf(err error) tool.Kind {
	if te, ok := errors.AsType[*tool.Error](err); ok {
		return te.Kind
	}
	return ""
}

func hitPaths(d SearchData) []string {
	var paths []string
	for _, h := range d.Hits {
		paths = append(paths, h.Path)
	}
	return paths
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	raw := assert.Must(json.Marshal(v))(t)
	return raw
}
