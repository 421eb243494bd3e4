package vault

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/tool"
)

func TestWriteModes(t *testing.T) {
	old := "# Old\nx"
	tests := []struct {
		name         string
		before       map[string]string
		args         object
		path, after  string
		start, lines int
	}{
		{"create", nil, object{"path": "a.md", "mode": "create", "content": "# A\nx"}, "a.md", "# A\nx\n", 1, 2},
		{"create in new folders", nil, object{"path": "x/y/a.md", "mode": "create", "content": "x\n"}, "x/y/a.md",
			"x\n", 1, 1},
		{"create with a decomposed name", nil, object{"path": "U\u0301nico.md", "mode": "create", "content": "x"},
			"\u00danico.md", "x\n", 1, 1},
		{"append ends the last line first", map[string]string{"a.md": old}, object{"path": "a.md", "mode": "append",
			"content": "y"}, "a.md", "# Old\nx\ny\n", 3, 3},
		{"append to an empty note", map[string]string{"a.md": ""}, object{"path": "a.md", "mode": "append",
			"content": "y"}, "a.md", "y\n", 1, 1},
		{"append keeps CRLF", map[string]string{"a.md": "x\r\ny"}, object{"path": "a.md", "mode": "append",
			"content": "1\n2\r\n"}, "a.md", "x\r\ny\r\n1\r\n2\r\n", 3, 4},
		{"append keeps unreadable bytes", map[string]string{"a.md": "\xff\n"}, object{"path": "a.md", "mode": "append",
			"content": "y"}, "a.md", "\xff\ny\n", 2, 2},
		{"append with a hash", map[string]string{"a.md": old}, object{"path": "a.md", "mode": "append", "content": "y",
			"base_hash": files.Hash([]byte(old))}, "a.md", "# Old\nx\ny\n", 3, 3},
		{"append to a decomposed name", map[string]string{"e\u0301/e\u0301.md": ""}, object{"path": "\u00e9/\u00e9.md",
			"mode": "append", "content": "y"}, "e\u0301/e\u0301.md", "y\n", 1, 1},
		{"append to a name that is not made any more", map[string]string{"Q: A/What? #1.MD": ""},
			object{"path": "Q: A/What? #1.MD", "mode": "append", "content": "y"}, "Q: A/What? #1.MD", "y\n", 1, 1},
		{"replace", map[string]string{"a.md": old}, object{"path": "a.md", "mode": "replace", "content": "z",
			"base_hash": files.Hash([]byte(old))}, "a.md", "z\n", 1, 1},
		{"replace by the same", map[string]string{"a.md": "z\n"}, object{"path": "a.md", "mode": "replace",
			"content": "z", "base_hash": files.Hash([]byte("z\n"))}, "a.md", "z\n", 1, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := folder(t, test.before)
			v := open(t, dir)
			res := mustCallOnce(t, v, "vault_write", "k", test.args)
			assert.Same(t, map[string]string{test.path: test.after}, contents(t, dir))
			hash := files.Hash([]byte(test.after))
			wantTexts(t, res, fmt.Sprintf("%s: lines %d-%d of %d.\nHash: %s\n",
				test.path, test.start, test.lines, test.lines, hash))
			wrote := tool.Ref{Source: tool.Vault, Path: test.path, Start: test.start, End: test.lines, Hash: hash}
			diff := cmp.Diff([]tool.Ref{wrote}, res.Refs)
			assert.That(t, diff == "" && res.Items == 1, "%v %v", diff, res.Items)
			read := mustCall(t, v, "vault_read", object{"path": test.path}).Refs[0]
			assert.That(t, read.Hash == hash && read.End == test.lines, "what is read is %+v", read)
		})
	}
}

// create are the arguments that create a note.
func create(path string) object { return object{"path": path, "mode": "create", "content": "x"} }

func TestRefusedWriteChangesNothing(t *testing.T) {
	long := strings.Repeat("n", 201)
	tests := []struct {
		name string
		args object
		kind tool.Kind
		says string
	}{
		{"create what exists", create("a.md"), tool.Conflict, "exists already"},
		{"append to nothing", object{"path": "b.md", "mode": "append", "content": "x"}, tool.NotFound,
			"use mode create"},
		{"replace nothing", object{"path": "b.md", "mode": "replace", "content": "x", "base_hash": files.Hash(nil)},
			tool.NotFound, "no note"},
		{"replace blindly", object{"path": "a.md", "mode": "replace", "content": "x"}, tool.InvalidArgs,
			"base_hash is missing"},
		{"replace what changed", object{"path": "a.md", "mode": "replace", "content": "x",
			"base_hash": files.Hash(nil)}, tool.Conflict, "changed since"},
		{"append to what changed", object{"path": "a.md", "mode": "append", "content": "x",
			"base_hash": files.Hash(nil)}, tool.Conflict, "changed since"},
		{"create with a hash", object{"path": "b.md", "mode": "create", "content": "x", "base_hash": files.Hash(nil)},
			tool.InvalidArgs, "no meaning"},
		{"garbled hash", object{"path": "a.md", "mode": "replace", "content": "x", "base_hash": "sha256:12"},
			tool.InvalidArgs, "64 hex"},
		{"unknown mode", object{"path": "b.md", "mode": "write", "content": "x"}, tool.InvalidArgs,
			"create, append or replace"},
		{"blank content", object{"path": "b.md", "mode": "create", "content": " \n"}, tool.InvalidArgs, "content"},
		{"NUL", object{"path": "b.md", "mode": "create", "content": "a\x00"}, tool.InvalidArgs, "NUL"},
		{"too much", object{"path": "b.md", "mode": "create", "content": strings.Repeat("x", maxContent+1)},
			tool.TooLarge, "in parts"},
		{"too much in the end", object{"path": "full.md", "mode": "append", "content": "x"}, tool.TooLarge, "4 MiB"},
		{"read-only note", object{"path": "fixed.md", "mode": "append", "content": "x"}, tool.Denied, "read-only"},
		{"no ending", create("b"), tool.InvalidArgs, ".md"},
		{"other ending", create("b.sh"), tool.InvalidArgs, ".md"},
		{"ending in capitals", create("b.MD"), tool.InvalidArgs, ".md"},
		{"no name", create("sub/.md"), tool.Denied, "hidden"},
		{"no path", object{"mode": "create", "content": "x"}, tool.InvalidArgs, "path is missing"},
		{"hidden folder", create(".sibyl/ops/b.md"), tool.Denied, "hidden"},
		{"out of the vault", create("../b.md"), tool.Denied, "leads out"},
		{"absolute", create("/b.md"), tool.Denied, "relative"},
		{"among the threads", create("threads/b.md"), tool.Denied, "thread_push"},
		{"among the threads in capitals", create("THREADS/x/b.md"), tool.Denied, "thread_push"},
		{"control character", create("b\nc.md"), tool.InvalidArgs, "control character"},
		{"reversed direction", create("b\u202edm.md"), tool.InvalidArgs, "control character"},
		{"character that links use", create("b#c.md"), tool.InvalidArgs, "#"},
		{"character that Windows refuses", create("a:b/c.md"), tool.InvalidArgs, ":"},
		{"device", create("sub/con.md"), tool.InvalidArgs, "reserved"},
		{"numbered device", create("Com1.x.md"), tool.InvalidArgs, "reserved"},
		{"space at the end", create("b .md"), tool.InvalidArgs, "space"},
		{"folder that ends with a dot", create("b./c.md"), tool.InvalidArgs, "dot"},
		{"long name", create(long + ".md"), tool.InvalidArgs, "at most 200"},
		{"deep path", create(strings.Repeat("d/", 16) + "b.md"), tool.InvalidArgs, "15 folders"},
		{"note as a folder", create("a.md/b.md"), tool.InvalidArgs, "not a folder"},
		{"other case of a note", create("A.md"), tool.Conflict, "a.md exists"},
		{"other case of a folder", create("Sub/new.md"), tool.Conflict, "sub exists"},
	}
	before := map[string]string{"a.md": "text", "sub/c.md": "text", "full.md": strings.Repeat("x", maxWritten-1) + "\n",
		"fixed.md": "text"}
	dir := folder(t, before)
	assert.NoError(t, os.Chmod(filepath.Join(dir, "fixed.md"), 0o444))
	v := open(t, dir)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := callTool(t, v, "vault_write", test.name, test.args)
			wantError(t, err, test.kind, test.says)
			_, done, err := toolNamed(v, "vault_write").(tool.Finder).Found(t.Context(),
				tool.Call{Key: test.name, Args: encode(t, test.args)})
			assert.That(t, !done && err == nil, "Found = %v, %v", done, err)
		})
	}
	assert.Same(t, before, contents(t, dir))
	wantNothingLeft(t, dir, receiptDir, intentDir)
}

func TestThreadsMadeByHandKeepTheirNames(t *testing.T) {
	dir := folder(t, map[string]string{"threads/Why?.md": "", "threads/e\u0301.md": ""})
	v := open(t, dir)
	for _, name := range []string{"why?", "\u00c9"} {
		mustCallOnce(t, v, "thread_push", name, object{"thread": name, "text": "x"})
		wantTexts(t, mustCall(t, v, "thread_read", object{"thread": name}), "1 entry")
	}
	got := contents(t, dir)
	assert.That(t, len(got) == 2, "%v", got)
}

func TestFoldedTwinOfAThreadFolderIsNoThreadFolder(t *testing.T) {
	v := vaultOf(t, map[string]string{"Threads/a.md": "x"})
	_, err := callTool(t, v, "thread_push", "k", object{"thread": "a", "text": "x"})
	wantError(t, err, tool.Conflict, "Threads stands")
}
