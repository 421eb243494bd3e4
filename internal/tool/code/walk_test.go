package code

import (
	"context"
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
		said := strings.HasPrefix(res.Remark, "This folder is too large to be searched whole") &&
			strings.Contains(res.Remark, "--in") && strings.HasSuffix(res.Text, res.Remark+"\n")
		if n := len(d.Hits); said != c.says || n > c.most || !c.says && n < c.most {
			t.Errorf("%q with %+v: %d places, %q", c.path, r.limits, n, res.Remark)
		}
	}
}

func TestWhatChangesDuringTheWalkIsCounted(t *testing.T) {
	procs := runtime.GOMAXPROCS(1) // one file after the other
	defer runtime.GOMAXPROCS(procs)
	r, dir := rootOf(t, map[string]string{"a.go": "needle", "b.go": "needle", "c/d.go": "needle"})
	passed, err := r.walk(context.Background(), scope{start: "."}, func(at string, _ iter.Seq[piece]) {
		if at == "a.go" {
			err := os.Remove(filepath.Join(dir, "b.go"))
			assert.That(t, err == nil, "%v", err)
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
