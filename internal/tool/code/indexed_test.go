package code

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sibyl/internal/index"
	"sibyl/internal/redact/redacttest"
	"sibyl/internal/text/search"
)

// cache stands between a root and its cache file, as the program has it.
type cache struct{ *index.Cache }

func (c cache) Read(ctx context.Context, use func(Kept) error) error {
	return c.Cache.Read(ctx, func(v *index.View) error { return use(v) })
}

func (c cache) Build(ctx context.Context, add func(Builder) error) error {
	return c.Cache.Build(ctx, func(b *index.Build) error { return add(b) })
}

// indexedRoot opens a folder with an index in a store.
func indexedRoot(t testing.TB, dir, store string) *Root {
	t.Helper()
	r := open(t, dir)
	r.UseIndex(IndexUse{Index: cache{index.NewCaches(store, index.DefaultBound).Open("code", dir)}})
	r.indexed.always = true
	return r
}

// built brings the index of a root up to date.
func built(t testing.TB, r *Root) *Root {
	t.Helper()
	if err := r.BuildIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// calm keeps a root from building behind its searches.
func calm(r *Root) *Root {
	r.indexed.build.close()
	return r
}

// aged sets the times of all that is in a folder back, so that a change shows.
func aged(t testing.TB, dir string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chtimes(name, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mixedFiles are of every kind that a search treats in its own way.
func mixedFiles() map[string]string {
	all := map[string]string{
		"net/transport.go":   "package net\n\n// Transport keeps idle connections.\ntype Transport struct {\n\tidleConnTimeout int // how long\n}\n\nfunc (t *Transport) closeIdleConns() { t.idle_conn_timeout() }\n",
		"net/waitgroup.go":   "package net\n\nvar WaitGroup, wait_group, WAIT__GROUP = 1, 2, 3\n\nconst maxConns = 7\n",
		"doc/notes.md":       "# Connections\n\nIdle ones are closed after a time-out.\n\n## Größe\n\nDie Größe der URLs, HTTPServer, base64Text --flag x--y.\n",
		"py/pool.py":         "class Pool:\n    def close_idle(self):\n        return self.conns\n",
		"deploy/config.txt":  "token: gh" + "p_" + strings.Repeat("a1B2c3D4", 5)[:36] + "\nidle connections are closed\n",
		"binary.dat":         "idle\x00connection",
		"big.txt":            strings.Repeat("idle connection\n", 200_000),
		".env":               "IDLE_CONNECTION=secret",
		".gitignore":         "ignored/\n*.tmp\n",
		"ignored/a.go":       "package ignored // idle connection",
		"b.tmp":              "idle connection",
		"sub/.gitignore":     "*.log\n!keep.log\n",
		"sub/a.log":          "idle connection",
		"sub/keep.log":       "idle connection kept",
		"Caps/HTTPServer.go": "package caps\n\n// HTTPServer closes connections.\ntype HTTPServer struct{}\n",
		"empty.txt":          "",
	}
	for i := range 30 {
		all[fmt.Sprintf("many/f%d.go", i)] = fmt.Sprintf("package many\n\n// F%d closes conn %d.\nfunc F%d(idleConn int) { closeConn(idleConn) }\n", i, i, i)
	}
	return all
}

// someSearches are questions of every kind.
func someSearches() []SearchArgs {
	var all []SearchArgs
	for _, query := range []string{"How are idle connections closed?", "closeIdleConns", "waitgroup", "wait_group", "WaitGroup", "Größe", "conn", "Transport.idleConnTimeout", "net/transport.go",
		"http server", "url", "flag", "many/f7.go", "caps", "a1B2c3D4a1B2c3D4 token", "the of and", "nowhereatall", "idle time-out", "base64", "zz"} {
		all = append(all, SearchArgs{Query: query, Limit: 50})
	}
	return append(all, SearchArgs{Query: "idle connection", Path: "net", Limit: 5}, SearchArgs{Query: "idle connection", Path: "*.go", Limit: 50}, SearchArgs{Query: "idle conn", Path: "**/*.md", Limit: 9},
		SearchArgs{Query: "idle connection", Lang: "go", Limit: 50}, SearchArgs{Query: "idle connection", Lang: ".log", Limit: 9}, SearchArgs{Query: "id.e", Regex: true, Limit: 20},
		SearchArgs{Query: "idle", Terms: []string{"connection", "HTTPServer"}, Limit: 50})
}

// same holds that a root with an index finds what one without does.
func same(t *testing.T, when string, with, without *Root, searches []SearchArgs) {
	t.Helper()
	for _, args := range searches {
		want, _ := data[SearchData](t, without, "code_search", args)
		got, _ := data[SearchData](t, with, "code_search", args)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %+v: with the index (+) and without (-):\n%s", when, args, diff)
		}
	}
}

func TestTheIndexChangesNoResult(t *testing.T) {
	r, dir := tree(t, mixedFiles())
	if err := os.Symlink("net/transport.go", filepath.Join(dir, "link.go")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	aged(t, dir)
	store := t.TempDir()
	same(t, "no index yet", indexedRoot(t, dir, t.TempDir()), r, someSearches()[:3])
	same(t, "built", built(t, indexedRoot(t, dir, store)), r, someSearches())
	again := indexedRoot(t, dir, store)
	same(t, "opened again", again, r, someSearches())
	if held := heldPaths(t, again); len(held) < 38 || slices.Contains(held, "deploy/config.txt") || slices.Contains(held, "ignored/a.go") {
		t.Errorf("the index holds %q: want all that is searched, but for what has a secret in it", held)
	}
}

func TestTheIndexChangesNoResultOverThisProgram(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "internal")
	store := t.TempDir()
	same(t, "this program", built(t, indexedRoot(t, dir, store)), open(t, dir), []SearchArgs{{Query: "How are leases acquired when a process is dead?", Limit: 50},
		{Query: "journal.Store", Limit: 50}, {Query: "retry policy of a model", Lang: "go", Limit: 20}, {Query: "HTTP", Limit: 20}, {Query: "internal/run", Limit: 20}})
}

// heldPaths are the files that the index holds as they are.
func heldPaths(t *testing.T, r *Root) (paths []string) {
	t.Helper()
	if err := r.indexed.index.Read(t.Context(), func(k Kept) error {
		there, err := r.indexed.survey(t.Context(), k)
		for _, f := range there.held {
			paths = append(paths, f.path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestAProcessThatStaysHasLookedBeforeItIsAsked(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system tells of no changes")
	}
	dir, store := t.TempDir(), t.TempDir()
	for name, text := range mixedFiles() {
		write(t, filepath.Join(dir, name), text)
	}
	aged(t, dir)
	first := built(t, indexedRoot(t, dir, store))
	r, err := Open(dir)
	must(t, err)
	t.Cleanup(func() { _ = r.Close() }) // it was only read
	r.UseIndex(IndexUse{Index: first.indexed.index, Folder: dir})
	x := r.indexed
	last := func() *survey {
		x.work.Wait()
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.last
	}
	looked := last()
	if looked == nil {
		t.Fatal("nothing was looked at")
	}
	ask := func() { data[SearchData](t, r, "code_search", SearchArgs{Query: "idle connection"}) }
	if ask(); last() != looked {
		t.Error("the first search looked again")
	}
	looked.began = looked.began.Add(-trustedFor * 2 / 3)
	if ask(); last() == looked {
		t.Error("what will not hold for long was not renewed")
	}
}

func TestWhatChangedSinceIsFoundAsItIs(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string){
		"nothing": func(*testing.T, string) {},
		"a file": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "net/waitgroup.go"), "package net\n\nfunc IdleConnection() {}\n")
		},
		"a file, of the same size and time": func(t *testing.T, dir string) {
			if runtime.GOOS != "linux" {
				t.Skip("nothing shows it there")
			}
			name := filepath.Join(dir, "py/pool.py")
			write(t, name, strings.Replace(mixedFiles()["py/pool.py"], "close_idle", "shut__idle", 1))
			aged(t, name)
		},
		"a file, twice at once, of the same size": func(t *testing.T, dir string) {
			name, text := filepath.Join(dir, "py/pool.py"), mixedFiles()["py/pool.py"]
			write(t, name, strings.Replace(text, "close_idle", "shut__idle", 1))
			write(t, name, strings.Replace(text, "close_idle", "idle_conns", 1))
		},
		"a folder by another": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "other/f7.go"), "package many\n\nfunc IdleConnection() {}\n")
			must(t, os.Rename(filepath.Join(dir, "many"), filepath.Join(t.TempDir(), "many")))
			must(t, os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "many")))
		},
		"a folder by a link to it": func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "many"), filepath.Join(dir, "real")))
			if err := os.Symlink("real", filepath.Join(dir, "many")); err != nil {
				t.Skip(err)
			}
		},
		"a folder that was elsewhere": func(t *testing.T, dir string) {
			from := filepath.Join(t.TempDir(), "from")
			write(t, filepath.Join(from, "deep/idle.go"), "package deep\n\nfunc IdleConnection() {}\n")
			aged(t, from)
			must(t, os.Rename(from, filepath.Join(dir, "net/from")))
		},
		"a file in what was elsewhere": func(t *testing.T, dir string) {
			from := filepath.Join(t.TempDir(), "from")
			write(t, filepath.Join(from, "idle.go"), "package from\n")
			must(t, os.Rename(from, filepath.Join(dir, "net/from")))
			write(t, filepath.Join(dir, "net/from/idle.go"), "package from\n\nfunc IdleConnection() {}\n")
		},
		"a new file": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "net/new.go"), "package net // idle connection\n")
		},
		"a new folder": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "x/y/new.go"), "package net // idle connection\n")
		},
		"removed": func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, "many"))) },
		"renamed": func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "many"), filepath.Join(dir, "idle")))
		},
		"swapped": func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "net/transport.go"), filepath.Join(dir, "t")))
			must(t, os.Rename(filepath.Join(dir, "net/waitgroup.go"), filepath.Join(dir, "net/transport.go")))
			must(t, os.Rename(filepath.Join(dir, "t"), filepath.Join(dir, "net/waitgroup.go")))
		},
		"more is ignored":       func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".gitignore"), "ignored/\n*.tmp\nmany/\n") },
		"less is ignored below": func(t *testing.T, dir string) { write(t, filepath.Join(dir, "sub/.gitignore"), "# nothing\n") },
		"now a secret": func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "many/f3.go"), filepath.Join(dir, "many/.netrc")))
		},
		"a link": func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "many/f4.go")))
			if err := os.Symlink("f5.go", filepath.Join(dir, "many/f4.go")); err != nil {
				t.Skip(err)
			}
		},
		"unreadable": func(t *testing.T, dir string) {
			if os.Getuid() == 0 || runtime.GOOS == "windows" {
				t.Skip("everything can be read")
			}
			must(t, os.Chmod(filepath.Join(dir, "many"), 0))
			t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "many"), 0o755) })
		},
		"all": func(t *testing.T, dir string) {
			for name := range mixedFiles() {
				must(t, os.RemoveAll(filepath.Join(dir, name)))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := tree(t, mixedFiles())
			aged(t, dir)
			store := t.TempDir()
			stays := indexedRoot(t, dir, store)
			stays.indexed.watch = newWatch(dir)
			same(t, "before", calm(built(t, stays)), r, someSearches()[:2])
			change(t, dir)
			same(t, "in the same process", stays, r, someSearches())
			same(t, "in another process", calm(indexedRoot(t, dir, store)), r, someSearches())
			aged(t, dir)
			same(t, "built again", built(t, indexedRoot(t, dir, store)), r, someSearches())
			same(t, "in the same process again", stays, r, someSearches()[:4])
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWordsOfTheIndexHoldWhatAScanFinds(t *testing.T) {
	pieces := []string{"idle", "Conn", "connection", "_", "__", "-", "--", " ", "\n", ".", "Wait", "Group", "URLs", "HTTP", "Server", "größe", "GRÖSSE", "x", "7", "base64", "ing", "s", "closed", "CLOSE", "\xff", "cfg"}
	queries := []string{"idle connections closed", "WaitGroup idle_conn", "HTTPServer urls größe", "config base64 closing x7"}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "text"), ""))
		s := lookup{query: parseQuery(rapid.SampledFrom(queries).Draw(t, "query"), nil)}
		s.finder = newScanner(s.query.terms)
		count := func(text []byte) []int32 {
			counts := make([]int32, len(s.query.terms))
			if found := s.tallyOf("", append(text, make([]byte, search.Padding)...)[:len(text)]); found != nil {
				copy(counts, found.terms)
			}
			return counts
		}
		byWord := make([]int32, len(s.query.terms))
		eachWord(text, func(word []byte) {
			line := append(append([]byte("a\n"), word...), "\nb\n"...)
			for _, w := range s.wordsIn(append(line, make([]byte, search.Padding)...)[:len(line)], 0) {
				if w.number != 1 {
					t.Fatalf("%q was found in line %d", word, w.number)
				}
				for _, c := range w.terms {
					byWord[c.term] += c.count
				}
			}
		})
		if want := count(slices.Clone(text)); !slices.Equal(byWord, want) {
			t.Fatalf("%q: by words %v, by a scan %v", text, byWord, want)
		}
	})
}

func TestTheIndexHoldsNoSecret(t *testing.T) {
	files, all := map[string]string{".env": "PASSWORD=correcthorsebatterystaple", "ignored.txt": "correcthorsebatterystaple", ".gitignore": "ignored.txt\n",
		"known.txt": "the correcthorsebatterystaple"}, redacttest.Vectors(t)
	for i, v := range all {
		files[fmt.Sprintf("v%03d.md", i)] = v.Text + "\n"
	}
	_, dir := tree(t, files)
	aged(t, dir)
	store := t.TempDir()
	r := open(t, dir)
	r.UseIndex(IndexUse{Index: cache{index.NewCaches(store, index.DefaultBound).Open("code", dir)},
		Private: func(content []byte) bool { return strings.Contains(string(content), "correcthorsebattery") }})
	if held := heldPaths(t, built(t, r)); len(held) == 0 || slices.Contains(held, "known.txt") {
		t.Errorf("the index holds %q", held)
	}
	kept, err := os.ReadDir(store)
	must(t, err)
	for _, e := range kept {
		content, err := os.ReadFile(filepath.Join(store, e.Name()))
		must(t, err)
		for _, v := range all {
			for _, leak := range v.Leaks(string(content)) {
				t.Errorf("%s: %q is in the index", v.Name, leak)
			}
		}
		if strings.Contains(string(content), "correcthorsebattery") {
			t.Error("a secret that the program knows, or the content of a file that is never read, is in the index")
		}
		if info, err := e.Info(); err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", e.Name(), info.Mode().Perm())
		}
	}
}

func TestAnOutlineIsKeptWhole(t *testing.T) {
	var defs []definition
	for name, text := range mixedFiles() {
		defs = append(defs, outline(newSource(name, []byte(text)))...)
	}
	filled := definition{}
	for i := range reflect.TypeFor[definition]().NumField() { // a field that is added must be kept as well
		switch f := reflect.NewAt(reflect.TypeFor[definition]().Field(i).Type, unsafe.Pointer(reflect.ValueOf(&filled).Elem().Field(i).UnsafeAddr())).Elem(); f.Kind() {
		case reflect.Int:
			f.SetInt(int64(i + 10))
		case reflect.String:
			f.SetString(fmt.Sprint("text ", i))
		case reflect.Bool:
			f.SetBool(true)
		default:
			t.Fatalf("the form of an outline has no place for a %s", f.Kind())
		}
	}
	defs = append(defs, filled)
	note := encodeOutline(defs)
	got, ok := decodeOutline(note)
	if diff := cmp.Diff(defs, got, cmp.AllowUnexported(definition{})); !ok || diff != "" {
		t.Error(diff)
	}
	for cut := range len(note) {
		if _, ok := decodeOutline(note[:cut]); ok {
			t.Errorf("%d of %d bytes are taken for a whole outline", cut, len(note))
		}
	}
	if defs, ok := decodeOutline(encodeOutline(nil)); !ok || defs == nil {
		t.Error("a file without definitions would be parsed again and again")
	}
}

func TestAMemoryIsKeptWholeOrNotAtAll(t *testing.T) {
	m := &memory{plan: &plan{made: time.Unix(1<<31, 0), seen: 7, tops: []string{"c"}, out: map[string]bool{"c/d": true}}, folders: map[string]*folderMemory{
		".": {stamp: 1 << 63, rules: 3, ignores: true, skipped: Skipped{Secret: 1, Links: 2, Unreadable: 3}, folders: []string{"a", "ü b"},
			files: []fileMemory{{name: "a.go", stamp: 5, size: 1 << 40, kind: held, segment: 7, text: 70_000}, {name: "b", stamp: 9, kind: withheld}, {name: "c", kind: noText, size: 4}}},
		"a": {folders: []string{}, files: []fileMemory{}},
	}}
	text := m.encode()
	compare := cmp.AllowUnexported(memory{}, folderMemory{}, fileMemory{}, plan{})
	if diff := cmp.Diff(m, decodeMemory(text), compare); diff != "" {
		t.Error(diff)
	}
	for cut := range len(text) {
		if got := decodeMemory(text[:cut]); len(got.folders) > 0 {
			t.Errorf("%d of %d bytes are taken for a memory", cut, len(text))
		}
	}
	text[0]++
	if got := decodeMemory(text); len(got.folders) > 0 {
		t.Error("one of another form is taken for a memory")
	}
}

func TestAnIndexOfAnotherFormIsBuiltAnew(t *testing.T) {
	plain, dir := tree(t, mixedFiles())
	aged(t, dir)
	store := t.TempDir()
	must(t, index.NewCaches(store, index.DefaultBound).Open("code", dir).Build(t.Context(), func(b *index.Build) error {
		for range 100 {
			b.Word([]byte("idle"))
			b.Text(nil)
		}
		return b.Commit(t.Context(), []byte{catalogueForm + 1, 1, 2, 3})
	}))
	same(t, "of another form", calm(indexedRoot(t, dir, store)), plain, someSearches()[:5])
	r := built(t, indexedRoot(t, dir, store))
	same(t, "built anew", r, plain, someSearches())
	must(t, r.indexed.index.Read(t.Context(), func(k Kept) error {
		for segment, texts := range k.Texts() {
			if texts == 100 {
				t.Errorf("segment %d of the other form stays", segment)
			}
		}
		return nil
	}))
}

// formsSum is that of the outlines and words of this form, as hex.
const formsSum = "58700d14835fe354"

func TestAFormOfTheIndexIsNamed(t *testing.T) {
	sum := sha256.New()
	fmt.Fprint(sum, catalogueForm, languagesText)
	for _, name := range slices.Sorted(maps.Keys(mixedFiles())) {
		text := []byte(mixedFiles()[name])
		_, _ = sum.Write(encodeOutline(outline(newSource(name, text)))) // a hash never fails to write
		eachWord(text, func(word []byte) { _, _ = sum.Write(append(word, 0)) })
	}
	if got := hex.EncodeToString(sum.Sum(nil))[:16]; got != formsSum {
		t.Errorf("files are indexed otherwise than in form %d: raise catalogueForm, and set formsSum to %q", catalogueForm, got)
	}
}
