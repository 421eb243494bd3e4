package code

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sibyl/internal/behaviour/assert"
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
				assert.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
				assert.NoError(t, os.WriteFile(at, nil, 0o600))
			}
			assert.Equalf(t, IsProject(dir), c.want, "it holds %v, and is taken for a project", c.files)
		})
	}
}

func TestTheHomeFolderIsNoProject(t *testing.T) {
	dir := t.TempDir()
	assert.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o600))
	t.Setenv("HOME", dir)
	t.Setenv("USERPROFILE", dir)
	assert.That(t, !IsProject(dir), "it is taken for one, and would be searched with every question")
	assert.That(t, !IsProject(filepath.Join(dir, "none")), "so is a folder that is not there")
}

func TestHiddenFoldersAreReadInAProjectAlone(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"letter.txt": "needle", ".cache/a.txt": "needle", ".profile": "needle",
		"old/.cache/b.txt": "needle", "app/go.mod": "module app\n", "app/.github/ci.yml": "needle",
		"app/in/.hidden/c.txt": "needle"})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "needle"})
	got := hitPaths(d)
	slices.Sort(got)
	want := []string{".profile", "app/.github/ci.yml", "app/in/.hidden/c.txt", "letter.txt"}
	assert.Same(t, want, got)
	for name, open := range map[string]bool{".cache/a.txt": false, "old/.cache/b.txt": false, "app/.github/ci.yml": true,
		"app/in/.hidden/c.txt": true} {
		_, err := call(t, r, "code_read", string(encode(t, ReadArgs{Path: name})))
		assert.That(t, (err == nil) == open, "%s: %v", name, err)
	}
}
