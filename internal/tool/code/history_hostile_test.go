package code

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// hostileRoot makes a repository whose own settings name a program for all that settings can name one for. The program
// leaves a mark.
func hostileRoot(t *testing.T) (r *Root, mark string) {
	t.Helper()
	r, dir := committedRoot(t)
	bin := t.TempDir()
	mark = filepath.Join(bin, "ran")
	program := filepath.Join(bin, "evil")
	write(t, program, fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >> %q\ncat\n", mark))
	assert.NoError(t, os.Chmod(program, 0o700))
	hooks := filepath.Join(dir, ".git", "hooks")
	assert.NoError(t, os.MkdirAll(hooks, 0o700))
	for _, name := range []string{"post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-commit",
		"post-checkout"} {
		assert.NoError(t, os.Symlink(program, filepath.Join(hooks, name)))
	}
	write(t, filepath.Join(dir, ".gitattributes"),
		"* filter=evil=y diff=evil\n*.go filter=other diff=evil merge=evil\n")
	write(t, filepath.Join(dir, ".git", "info", "attributes"), "*.txt filter=third diff=evil\n")
	included := filepath.Join(dir, ".git", "more")
	write(t, included, fmt.Sprintf("[filter \"third\"]\n\tclean = %s\n\trequired = true\n", program))
	for name, value := range map[string]string{
		"core.fsmonitor": program, "core.hooksPath": hooks, "core.pager": program, "core.editor": program,
		"core.sshCommand": program, "core.askPass": program,
		"core.alternateRefsCommand": program, "core.attributesFile": filepath.Join(dir, ".gitattributes"),
		"pager.log": program, "pager.diff": program, "pager.blame": program, "pager.show": program,
		"diff.external": program, "diff.evil.command": program, "diff.evil.textconv": program,
		"diff.evil.cachetextconv": "false",
		"filter.evil=y.clean":     program, "filter.evil=y.smudge": program, "filter.evil=y.required": "true",
		"filter.other.process": program, "filter.other.required": "true",
		"gpg.program": program, "gpg.ssh.program": program, "log.showSignature": "true", "alias.log": "!" + program,
		"alias.diff": "!" + program, "credential.helper": "!" + program,
		"protocol.allow": "always", "protocol.ext.allow": "always", "remote.origin.url": "ext::" + program,
		"remote.origin.promisor": "true", "extensions.partialClone": "origin",
		"interactive.diffFilter": program, "diff.submodule": "log", "include.path": included, "color.ui": "always",
		"core.untrackedCache": "true", "core.repositoryformatversion": "1",
	} {
		gitIn(t, dir, "config", "--add", name, value)
	}
	write(t, filepath.Join(dir, "lease.go"), "package lease\n\n// Acquire waits long.\nfunc Acquire() {}\n")
	write(t, filepath.Join(dir, "sub", "note.txt"), "two\n")
	return r, mark
}

func TestHistoryRunsNoProgramOfTheRepository(t *testing.T) {
	r, mark := hostileRoot(t)
	for _, args := range []string{`{}`, `{"path":"lease.go","start":3,"end":3}`, `{"what":"diff"}`,
		`{"what":"diff","commit":"HEAD"}`, `{"what":"blame","path":"lease.go"}`,
		`{"what":"blame","path":"sub/note.txt"}`, `{"what":"blame","path":"lease.go","commit":"HEAD"}`} {
		res, err := call(t, r, "code_history", args)
		assert.That(t, err == nil && res.Items != 0, "%s: %v, %d items", args, err, res.Items)
		assert.That(t, !strings.Contains(res.Text, "\x1b"), "%s: the text is coloured: %q", args, res.Text)
		ran, err := os.ReadFile(mark)
		assert.Require(t, err != nil, "%s ran a program of the repository:\n%s", args, ran)
	}
	res, _ := call(t, r, "code_history", `{"what":"diff"}`)
	assert.That(t, strings.Contains(res.Text, "+// Acquire waits long.\n") && strings.Contains(res.Text, "+two\n"),
		"the diff is\n%s", res.Text)
}

func TestHistoryReadsNoOtherRepository(t *testing.T) {
	_, private := committedRoot(t)
	for name, lead := range map[string]func(t *testing.T, dir string){
		"a .git that names it": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, ".git"), "gitdir: "+filepath.Join(private, ".git")+"\n")
		},
		"a .git that is a link": func(t *testing.T, dir string) {
			link(t, filepath.Join(private, ".git"), filepath.Join(dir, ".git"))
		},
		"commondir": func(t *testing.T, dir string) {
			gitIn(t, dir, "init", "-q")
			write(t, filepath.Join(dir, ".git", "commondir"), filepath.Join(private, ".git")+"\n")
		},
		"alternates": func(t *testing.T, dir string) {
			gitIn(t, dir, "init", "-q")
			write(t, filepath.Join(dir, ".git", "objects", "info", "alternates"), filepath.Join(private, ".git",
				"objects")+"\n")
			write(t, filepath.Join(dir, ".git", "HEAD"), gitIn(t, private, "rev-parse", "HEAD")+"\n")
		},
		"objects that are a link": func(t *testing.T, dir string) {
			gitIn(t, dir, "init", "-q")
			objects := filepath.Join(dir, ".git", "objects")
			assert.NoError(t, os.RemoveAll(objects))
			link(t, filepath.Join(private, ".git", "objects"), objects)
			write(t, filepath.Join(dir, ".git", "HEAD"), gitIn(t, private, "rev-parse", "HEAD")+"\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := rootOf(t, map[string]string{"lease.go": "package lease\n"})
			lead(t, dir)
			for _, args := range []string{`{}`, `{"what":"diff"}`, `{"what":"diff","commit":"HEAD"}`} {
				res, err := call(t, r, "code_history", args)
				assert.That(t, err != nil, "%s was read:\n%s", args, res.Text)
			}
		})
	}
}

func TestHistoryShowsNoWorkingTreeOfAnotherFolder(t *testing.T) {
	r, dir := committedRoot(t)
	elsewhere := t.TempDir()
	write(t, filepath.Join(elsewhere, "lease.go"), "a private word\n")
	gitIn(t, dir, "config", "core.worktree", elsewhere)
	res, err := call(t, r, "code_history", `{"what":"diff"}`)
	assert.That(t, err == nil && !strings.Contains(res.Text, "private word"), "%v\n%s", err, res.Text)
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Skipf("no links here: %v", err)
	}
}
