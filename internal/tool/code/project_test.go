package code

import (
	"os"
	"path/filepath"
	"testing"
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
