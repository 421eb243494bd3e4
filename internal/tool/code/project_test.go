package code

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAFolderIsAProjectByWhatStandsAtItsTop(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  bool
	}{
		"version control":     {[]string{".git/HEAD", "letter.txt"}, true},
		"a worktree":          {[]string{".git"}, true},
		"a build file":        {[]string{"pom.xml"}, true},
		"source":              {[]string{"notes.txt", "sort.PY"}, true},
		"letters":             {[]string{"letter.txt", "holiday.jpg", "README.md", "list.json"}, false},
		"source further down": {[]string{"old/sort.py"}, false},
		"a folder that is called like a build file": {[]string{"Makefile/letter.txt"}, false},
		"nothing": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range c.files {
				at := filepath.Join(dir, f)
				if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := IsProject(dir); got != c.want {
				t.Errorf("it holds %v, and is taken for a project: %v", c.files, got)
			}
		})
	}
}

func TestTheHomeFolderIsNoProject(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", dir)
	t.Setenv("USERPROFILE", dir)
	if IsProject(dir) {
		t.Error("it is taken for one, and would be searched with every question")
	}
	if IsProject(filepath.Join(dir, "none")) {
		t.Error("so is a folder that is not there")
	}
}

func TestHiddenFoldersAreReadInAProjectAlone(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"letter.txt": "needle", ".cache/a.txt": "needle", ".profile": "needle",
		"old/.cache/b.txt": "needle", "app/go.mod": "module app\n", "app/.github/ci.yml": "needle",
		"app/in/.hidden/c.txt": "needle"})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "needle"})
	got := hitPaths(d)
	slices.Sort(got)
	want := []string{".profile", "app/.github/ci.yml", "app/in/.hidden/c.txt", "letter.txt"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, open := range map[string]bool{".cache/a.txt": false, "old/.cache/b.txt": false, "app/.github/ci.yml": true,
		"app/in/.hidden/c.txt": true} {
		if _, err := call(t, r, "code_read", string(encode(t, ReadArgs{Path: name}))); (err == nil) != open {
			t.Errorf("%s: %v", name, err)
		}
	}
}
