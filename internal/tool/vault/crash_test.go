package vault

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/tool"
)

// A test binary started with these variables is a writer in a process of its own.
const (
	childVault = "VAULT_TEST_DIR"
	childStep  = "VAULT_TEST_STEP" // the process kills itself here
	childTool  = "VAULT_TEST_TOOL"
	childArgs  = "VAULT_TEST_ARGS"
	childKey   = "VAULT_TEST_KEY"
	childLimit = "VAULT_TEST_LIMIT" // bytes that a file may have: the disk is full after
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVault); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

func child(dir string) int {
	if limit := os.Getenv(childLimit); limit != "" {
		if err := limitFileSize(limit); err != nil {
			fmt.Println(err)
			return 3
		}
	}
	v, err := Open(dir, nil, nil)
	if err != nil {
		fmt.Println(err)
		return 3
	}
	v.writes.Step = func(step string) {
		if step == os.Getenv(childStep) {
			self, err := os.FindProcess(os.Getpid())
			if err == nil && self.Kill() == nil {
				select {}
			}
			panic("the process could not kill itself")
		}
	}
	call := tool.Call{Key: os.Getenv(childKey), Args: []byte(os.Getenv(childArgs))}
	if _, err := toolNamed(v, os.Getenv(childTool)).Call(context.Background(), call); err != nil {
		fmt.Println(err)
		return 2
	}
	return 0
}

func startChild(t testing.TB, env ...string) *exec.Cmd {
	t.Helper()
	self := assert.Must(os.Executable())(t)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// writes are the kinds of writes that can be cut short.
func writes() map[string]struct {
	tool   string
	args   object
	file   string
	effect string // what the write adds
} {
	type write = struct {
		tool   string
		args   object
		file   string
		effect string
	}
	return map[string]write{
		"create": {"vault_write", object{"path": "new/b.md", "mode": "create", "content": "EFFECT"},
			"new/b.md", "EFFECT\n"},
		"append": {"vault_write", object{"path": "a.md", "mode": "append", "content": "EFFECT"}, "a.md",
			"EFFECT\n"},
		"replace": {"vault_write", object{"path": "a.md", "mode": "replace", "content": "EFFECT",
			"base_hash": files.Hash([]byte("old\n"))}, "a.md", "EFFECT\n"},
		"first push":       {"thread_push", object{"thread": "new", "text": "EFFECT"}, "threads/new.md", "EFFECT\n"},
		"push":             {"thread_push", object{"thread": "log", "text": "EFFECT"}, "threads/log.md", "EFFECT\n"},
		"push, other case": {"thread_push", object{"thread": "LOG", "text": "EFFECT"}, "threads/log.md", "EFFECT\n"},
	}
}

func startingFiles() map[string]string {
	return map[string]string{"a.md": "old\n", "threads/log.md": "## 2025-01-01T00:00:00Z t-0000000000000001\n\nold\n"}
}

// steps are the places where a write can be cut short: those it names itself.
func steps() []string {
	return []string{"locked", "settled", "folder", "staged", "intent", "placed", "synced", "receipt"}
}

func TestEveryStepOfAWriteIsACrashPoint(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range writes() {
		v := open(t, folder(t, startingFiles()), func(v *Vault) {
			v.writes.Step = func(step string) { seen[step] = true }
		})
		mustCallOnce(t, v, w.tool, "k", w.args)
	}
	for _, step := range steps() {
		assert.That(t, seen[step], "no write comes by %q", step)
		delete(seen, step)
	}
	assert.That(t, len(seen) == 0, "no crash is tried at %v", seen)
}

func TestKilledWriterLeavesTheTruthAndOneEffect(t *testing.T) {
	for name, w := range writes() {
		for _, step := range steps() {
			t.Run(name+" at "+step, func(t *testing.T) {
				t.Parallel()
				dir := folder(t, startingFiles())
				out, err := startChild(t, childVault+"="+dir, childStep+"="+step, childTool+"="+w.tool, childArgs+"="+
					string(encode(t, w.args)), childKey+"=k").CombinedOutput()
				assert.Require(t, err != nil && !strings.Contains(string(out), "\n"), "the child was not killed: %v %s", err, out)
				checkAfterCrash(t, dir, w.tool, w.args, w.file, w.effect)
			})
		}
	}
}

// checkAfterCrash checks what the tools see, that Found tells the truth, and that calling again makes one effect.
func checkAfterCrash(t *testing.T, dir, name string, args object, file, effect string) {
	t.Helper()
	left := contents(t, dir)
	happened := strings.HasSuffix(left[file], effect)
	if before := startingFiles(); !happened {
		assert.NoDiff(t, cmp.Diff(before, left), "something was half done")
	}
	// One copy asks first, as a resumed run does; the other calls at once.
	other := t.TempDir()
	assert.NoError(t, os.CopyFS(other, os.DirFS(dir)))
	v := open(t, dir)
	_, done, err := find(t, v, name, "k", args)
	assert.That(t, done == happened && err == nil, "Found = %v, %v; the effect happened: %v", done, err, happened)
	for _, v := range []*Vault{v, open(t, other)} {
		first := mustCallOnce(t, v, name, "k", args)
		now := contents(t, v.root.Name())
		n := strings.Count(strings.Join(slices.Collect(maps.Values(now)), ""), "EFFECT")
		assert.That(t, n == 1, "the effect stands there %d times", n)
		for p, text := range startingFiles() {
			assert.That(t, args["mode"] == "replace" || strings.HasPrefix(now[p], text), "%s lost what it held: %q", p, now[p])
		}
		assert.Same(t, first, mustCallOnce(t, v, name, "k", args))
		res := mustCall(t, v, "vault_search", object{"query": "EFFECT"})
		assert.That(t, res.Items == 1, "litter was found: %s", res.Text)
		wantNothingLeft(t, v.root.Name(), intentDir)
	}
}

// wantNothingLeft wants these folders of the state to be empty, and no content to wait for its place.
func wantNothingLeft(t *testing.T, dir string, folders ...string) {
	t.Helper()
	for _, sub := range folders {
		left, err := os.ReadDir(filepath.Join(dir, sub))
		assert.That(t, err == nil && len(left) == 0, "%s holds %v (%v)", sub, left, err)
	}
	_, err := os.Lstat(filepath.Join(dir, stateDir, "content"))
	assert.That(t, err != nil, "a content still waits for its place")
}

func TestFullDiskChangesNothing(t *testing.T) {
	old := strings.Repeat("old\n", 100)
	for name, test := range map[string]struct {
		limit string
		args  object
	}{
		"in the content": {"2000", object{"path": "a.md", "mode": "append", "content": strings.Repeat("x", 5000)}},
		"in the intent":  {"600", object{"path": "a.md", "mode": "append", "content": strings.Repeat("x", 100)}},
		"in a new note":  {"600", object{"path": "new/b.md", "mode": "create", "content": strings.Repeat("x", 5000)}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"a.md": old})
			out, err := startChild(t, childVault+"="+dir, childLimit+"="+test.limit, childTool+"=vault_write",
				childArgs+"="+string(encode(t, test.args)), childKey+"=k").CombinedOutput()
			if strings.HasPrefix(string(out), "no limits") {
				t.Skip(string(out))
			}
			assert.Require(t, err != nil && strings.Contains(string(out), "no space left"), "%v: %s", err, out)
			assert.Same(t, map[string]string{"a.md": old}, contents(t, dir))
			wantNothingLeft(t, dir, intentDir, receiptDir)
			v := open(t, dir)
			_, done, err := find(t, v, "vault_write", "k", test.args)
			assert.That(t, !done && err == nil, "Found = %v, %v", done, err)
			mustCallOnce(t, v, "vault_write", "k", test.args) // with space again
		})
	}
}
