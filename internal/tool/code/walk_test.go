package code

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// wide is a root with 41 files in several folders.
func wide(t *testing.T) *Root {
	t.Helper()
	files := map[string]string{"top.txt": "beacon"}
	for folder, n := range map[string]int{"big": 30, "mid": 6, "small": 2, ".hidden": 2} {
		for i := range n {
			files[fmt.Sprintf("%s/%02d/a.txt", folder, i)] = "beacon in " + folder
		}
	}
	r, _ := tree(t, files)
	return r
}

func searched(t *testing.T, r *Root, args string) (paths []string, beside string) {
	t.Helper()
	res, err := call(t, r, "code_search", args)
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range res.Refs {
		paths = append(paths, ref.Path)
	}
	if !strings.HasSuffix(strings.TrimSpace(res.Text), res.Beside) {
		t.Errorf("the text does not say so: %s", res.Text)
	}
	return paths, res.Beside
}

func TestFolderThatIsTooLargeIsSearchedInPartAndSaysSo(t *testing.T) {
	for what, lower := range map[string]func(*limits){
		"files": func(l *limits) { l.files = 20 }, "bytes": func(l *limits) { l.bytes = 100 }, "time": func(l *limits) { l.time = time.Nanosecond },
	} {
		r := wide(t)
		lower(&r.limits)
		paths, beside := searched(t, r, `{"query":"beacon","limit":50}`)
		if len(paths) > 20 || !strings.HasPrefix(beside, "This folder is too large to be searched whole") || !strings.Contains(beside, "--in") {
			t.Errorf("%s: %d places, %q", what, len(paths), beside)
		}
	}
}

func TestFolderThatIsNamedIsSearchedAlthoughTheWholeIsTooLarge(t *testing.T) {
	r := wide(t)
	r.limits.files = 12
	if paths, beside := searched(t, r, `{"query":"beacon","path":".hidden","limit":50}`); len(paths) != 2 || beside != "" {
		t.Errorf("%q, %q", paths, beside)
	}
}

func TestFolderThatFitsIsSearchedWholeAndNothingIsSaid(t *testing.T) {
	r := wide(t)
	r.limits.files = 41
	if paths, beside := searched(t, r, `{"query":"beacon","limit":50}`); len(paths) != 41 || beside != "" {
		t.Errorf("%d, %q", len(paths), beside)
	}
}

func TestFileThatVanishesDuringTheWalkIsCounted(t *testing.T) {
	r, dir := tree(t, map[string]string{"a.go": "needle", "b.go": "needle", "c/d.go": "needle"})
	procs := runtime.GOMAXPROCS(1) // one file after the other
	defer runtime.GOMAXPROCS(procs)
	skipped, err := r.walk(context.Background(), ".", func(f *found) {
		if f.path == "a.go" {
			if err := os.Remove(filepath.Join(dir, "b.go")); err != nil {
				t.Error(err)
			}
		}
		_, _ = f.read()
	})
	if err != nil || skipped.Unreadable != 1 {
		t.Errorf("%v, skipped %+v", err, skipped)
	}
}

func TestFolderThatBecomesAFileDuringTheWalkIsCounted(t *testing.T) {
	r, dir := tree(t, map[string]string{"c/d.go": "needle"})
	info, err := r.root.Lstat("c")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "c"), "needle")
	w := &walker{ctx: context.Background(), root: r, files: make(chan found)}
	if err := w.folder(&place{parent: r.root, path: "c", info: info}, 1); kind(err) == "" || w.skipped.Unreadable != 1 {
		t.Errorf("%v, skipped %+v", err, w.skipped)
	}
}

func TestWalkStopsSoonAfterItsContextEnds(t *testing.T) {
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("d%d/f%d.go", i%20, i)] = "needle"
	}
	r, _ := tree(t, files)
	ctx, cancel := context.WithCancel(context.Background())
	visits := make(chan string, len(files))
	_, err := r.walk(ctx, ".", func(f *found) {
		visits <- f.path
		cancel()
	})
	if !errors.Is(err, context.Canceled) || len(visits) > workers() {
		t.Errorf("%v after %d visits", err, len(visits))
	}
}

func TestWalkOfADeepTreeEnds(t *testing.T) {
	deep := strings.Repeat("d/", maxDepth+20)
	r, _ := tree(t, map[string]string{deep + "f.go": "needle", "d/f.go": "needle"})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "needle"})
	if d.Files != 1 || d.Skipped.Unreadable != 1 {
		t.Errorf("%d files, skipped %+v", d.Files, d.Skipped)
	}
}

func TestFolderWithManyFilesIsSearchedWhole(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("f%03d.go", i)] = "needle"
	}
	r, _ := tree(t, files)
	if d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "needle"}); d.Files != len(files) || d.Matched != len(files) {
		t.Errorf("%d of %d files", d.Files, len(files))
	}
}

func TestWhatTheSystemSaysOfItselfIsNotEntered(t *testing.T) {
	r := open(t, "/")
	entries, err := fs.ReadDir(os.DirFS("/"), ".")
	if err != nil {
		t.Fatal(err)
	}
	w := &walker{root: r}
	for _, e := range entries {
		if at := e.Name(); w.mayEnter(e, "", at, nil) && slices.Contains([]string{"proc", "sys", "dev"}, at) {
			t.Errorf("/%s is entered", at)
		}
	}
}
