package code

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
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

func TestWrongArgumentsAreNamedWithTheRightOnes(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"a.go": "package a\n"})
	for _, c := range []struct{ tool, args, want string }{
		{"code_search", `{"query":"?!"}`, "there is no word to look for"},
		{"code_search", `{"query":"(","regex":true}`, "no regular expression"},
		{"code_search", `{"query":"x*","regex":true}`, "matches every line"},
		{"code_search", `{"query":"` + strings.Repeat("word ", 1000) + `"}`, "query has 5000 bytes"},
		{"code_symbol", `{"symbol":" "}`, "symbol is missing"},
		{"code_symbol", `{"symbol":"Server."}`, "there is no symbol"},
		{"repo_map", `{"depth":9}`, "depth must be a whole number from 1 to 8"},
	} {
		_, err := call(t, r, c.tool, c.args)
		assert.That(t, kindOf(err) == tool.InvalidArgs && strings.Contains(err.Error(), c.want),
			"%s %s: %v, want %q", c.tool, c.args, err, c.want)
	}
}

// everyCall has arguments for each tool that find something in a folder with a.go, under git.
var everyCall = map[string]string{
	"code_search": `{"query":"alpha"}`, "code_symbol": `{"symbol":"alpha"}`, "code_read": `{"path":"a.go"}`,
	"repo_map": `{}`, "code_history": `{}`,
}

func TestEveryToolOnlyReadsMayBeCalledAtTheSameTimeAndStopsWithItsContext(t *testing.T) {
	r, dir := rootOf(t, map[string]string{"a.go": "package a\n\nvar alpha int\n"})
	commitAll(t, dir)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancelLate := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancelLate()
	tools := r.Tools()
	errs := make(chan error, 10*len(tools))
	for range 10 {
		for _, tl := range tools {
			go func() {
				res, err := tl.Call(context.Background(), tool.Call{Args: json.RawMessage(everyCall[tl.Spec().Name])})
				if err == nil && res.Items == 0 && tl.Spec().Name != "repo_map" {
					err = fmt.Errorf("%s found nothing", tl.Spec().Name)
				}
				errs <- err
			}()
		}
	}
	for range cap(errs) {
		err := <-errs
		assert.Nil(t, err)
	}
	for _, tl := range tools {
		spec := tl.Spec()
		assert.That(t, spec.Source == tool.Code && spec.Effect == tool.Repeatable && !spec.Foreign && spec.Description != "",
			"%+v", spec)
		args := json.RawMessage(everyCall[spec.Name])
		_, err := tl.Call(cancelled, tool.Call{Args: args})
		assert.That(t, kindOf(err) == tool.Cancelled, "%s, cancelled: %v", spec.Name, err)
		_, err = tl.Call(late, tool.Call{Args: args})
		assert.That(t, kindOf(err) == tool.Timeout, "%s, too late: %v", spec.Name, err)
	}
}

func TestChecksumsLicencesAndOldChangesAreNoAnswers(t *testing.T) {
	for at, below := range map[string]string{
		"go.sum": "go.mod", "web/package-lock.json": "web/package.json", "LICENSE": "README.md",
		"COPYING.txt": "notes.txt", "docs/CHANGELOG.md": "docs/manual.md",
	} {
		low, high := rankOfPath(at, false), rankOfPath(below, false)
		assert.That(t, low < high, "%s ranks %.2f, %s %.2f", at, low, below, high)
	}
	assert.That(t, rankOfPath("history.go", false) == 1, "source code is taken for a list of changes by its name")
}
