package vault

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

var noon = time.Date(2025, 10, 5, 12, 0, 0, 0, time.UTC)

// folder makes a folder with the given files.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		writeFile(t, filepath.Join(dir, name), content)
	}
	return dir
}

func writeFile(t testing.TB, name, content string) {
	t.Helper()
	assert.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
	assert.NoError(t, os.WriteFile(name, []byte(content), 0o666))
}

func open(t testing.TB, dir string, adjust ...func(*Vault)) *Vault {
	t.Helper()
	v := assert.Must(Open(dir, nil, nil))(t)
	v.now = func() time.Time { return noon }
	for _, a := range adjust {
		a(v)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

func vaultOf(t testing.TB, files map[string]string) *Vault {
	t.Helper()
	return open(t, folder(t, files))
}

func toolNamed(v *Vault, name string) tool.Tool {
	for _, x := range v.Tools() {
		if x.Spec().Name == name {
			return x
		}
	}
	return nil
}

func encode(t testing.TB, args any) json.RawMessage {
	t.Helper()
	if raw, is := args.(string); is {
		return json.RawMessage(raw)
	}
	raw := assert.Must(json.Marshal(args))(t)
	return raw
}

type object map[string]any

func callTool(t testing.TB, v *Vault, name, key string, args any) (tool.Result, error) {
	t.Helper()
	return toolNamed(v, name).Call(t.Context(), tool.Call{Args: encode(t, args), Key: key})
}

func mustCall(t testing.TB, v *Vault, name string, args any) tool.Result {
	t.Helper()
	res, err := callTool(t, v, name, "", args)
	assert.NoErrorf(t, err, "%s", name)
	return res
}

func mustCallOnce(t testing.TB, v *Vault, name, key string, args any) tool.Result {
	t.Helper()
	res, err := callTool(t, v, name, key, args)
	assert.NoErrorf(t, err, "%s", name)
	return res
}

// cited are the places of a result, as an answer cites them.
func cited(res tool.Result) []string {
	list := []string{}
	for _, ref := range res.Refs {
		list = append(list, ref.String())
	}
	return list
}

// wantTexts wants a result to say all of this.
func wantTexts(t testing.TB, res tool.Result, texts ...string) {
	t.Helper()
	assert.Contains(t, "the text", res.Text, texts...)
}

// content is the part of a note that vault_read gave.
func content(t testing.TB, res tool.Result) string {
	t.Helper()
	var data ReadData
	assert.NoError(t, json.Unmarshal(res.Data, &data))
	got := (tool.Ref{Path: data.Path, Start: data.Start, End: data.End})
	assert.That(t, got.String() == res.Refs[0].String() && data.Title == res.Refs[0].Title,
		"the data are of %s, the place is %s", got, res.Refs[0])
	return data.Content
}

// wantError checks the kind of a failure, and that what it says holds every one of texts.
func wantError(t testing.TB, err error, kind tool.Kind, texts ...string) {
	t.Helper()
	var e *tool.Error
	assert.Require(t, errors.As(err, &e), "got %v, want a *tool.Error of kind %s", err, kind)
	assert.That(t, e.Kind == kind, "got kind %s (%v), want %s", e.Kind, err, kind)
	assert.Contains(t, "the error", err.Error(), texts...)
}

// contents reads every file of dir, leaving out Sibyl's own.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	assert.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p == stateDir {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			raw, err := os.ReadFile(filepath.Join(dir, p))
			files[p] = string(raw)
			return err
		}
		return nil
	}))
	return files
}

func TestOpenWithoutFolderSaysWhatToSet(t *testing.T) {
	for name, dir := range map[string]string{"not configured": "", "missing": filepath.Join(t.TempDir(), "gone")} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(dir, nil, nil)
			wantError(t, err, tool.Unavailable, "--vault", "`vault`")
		})
	}
	_, err := Open(filepath.Join(folder(t, map[string]string{"file": "x"}), "file"), nil, nil)
	wantError(t, err, tool.Unavailable, "--vault")
}

func TestOpenAndReadingLeaveTheFolderUntouched(t *testing.T) {
	v := vaultOf(t, map[string]string{"a.md": "text"})
	mustCall(t, v, "vault_search", object{"query": "text"})
	mustCall(t, v, "vault_read", object{"path": "a.md"})
	mustCall(t, v, "vault_list", object{})
	mustCall(t, v, "thread_list", object{})
	_, done, err := toolNamed(v, "vault_write").(tool.Finder).Found(t.Context(), tool.Call{
		Key: "k", Args: encode(t, object{"path": "b.md", "mode": "create", "content": "x"}),
	})
	assert.That(t, !done && err == nil, "Found = %v, %v", done, err)
	entries := assert.Must(os.ReadDir(v.root.Name()))(t)
	assert.That(t, len(entries) == 1, "the folder holds %v, want a.md alone", entries)
}

func TestClosedVaultIsUnavailable(t *testing.T) {
	v := vaultOf(t, map[string]string{"a.md": "text"})
	assert.NoError(t, v.Close())
	for name, args := range minimalArgs() {
		_, err := callTool(t, v, name, "k", args)
		wantError(t, err, tool.Unavailable, "closed")
	}
}

func TestVaultThatWasRemovedIsUnavailable(t *testing.T) {
	dir := folder(t, map[string]string{"vault/a.md": "text"})
	v := open(t, filepath.Join(dir, "vault"))
	if err := os.RemoveAll(filepath.Join(dir, "vault")); err != nil {
		t.Skip(err)
	}
	for name, args := range minimalArgs() {
		_, err := callTool(t, v, name, "k", args)
		wantError(t, err, tool.Unavailable, "--vault")
		assert.That(t, !strings.Contains(err.Error(), dir), "%s tells where the vault lies: %v", name, err)
	}
}

// minimalArgs are valid arguments for every tool.
func minimalArgs() map[string]object {
	return map[string]object{
		"vault_search": {"query": "x"}, "vault_read": {"path": "a.md"}, "vault_list": {},
		"vault_write": {"path": "b.md", "mode": "create", "content": "x"},
		"thread_push": {"thread": "t", "text": "x"}, "thread_read": {"thread": "t"},
		"thread_seek": {"query": "x"}, "thread_list": {},
	}
}

func TestSpecsDeclareEffectAndSearch(t *testing.T) {
	v := vaultOf(t, nil)
	once, search := []string{}, []string{}
	for _, x := range v.Tools() {
		spec := x.Spec()
		assert.That(t, spec.Source == tool.Vault && !spec.Foreign && spec.Description != "",
			"%s: wrong source, taint or description", spec.Name)
		if spec.Search {
			search = append(search, spec.Name)
		}
		_, finds := x.(tool.Finder)
		assert.That(t, finds == (spec.Effect == tool.Once), "%s: effect %s, but Finder is %v", spec.Name, spec.Effect, finds)
		if finds {
			once = append(once, spec.Name)
		}
	}
	assert.Same(t, []string{"vault_write", "thread_push"}, once)
	assert.Same(t, []string{"vault_search", "thread_seek"}, search)
}

func TestWrongArgumentsAreNamed(t *testing.T) {
	v := vaultOf(t, map[string]string{"a.md": "text", "threads/t.md": ""})
	tests := []struct {
		name, tool, args string
		says             []string
	}{
		{"query without a word", "vault_search", `{"query": "?!"}`, []string{"no word"}},
		{"neither path nor note", "vault_read", `{}`, []string{"either path or note"}},
		{"both path and note", "vault_read", `{"path": "a.md", "note": "a"}`, []string{"either path or note"}},
		{"note that is only a heading", "vault_read", `{"note": "[[#here]]"}`, []string{"names no note"}},
		{"section and lines", "vault_read", `{"path": "a.md", "section": "s", "start": 1}`, []string{"either section"}},
		{"end before start", "vault_read", `{"path": "a.md", "start": 3, "end": 2}`, []string{"end (2)"}},
		{"line after the end", "vault_read", `{"path": "a.md", "start": 9}`, []string{"no readable line 9",
			"lines 1-1"}},
		{"thread as a path", "thread_read", `{"thread": "../a"}`, []string{"not the name of a thread"}},
		{"entry after the end", "thread_read", `{"thread": "t", "from": 7}`, []string{"0 entries", "7"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := callTool(t, v, test.tool, "k", test.args)
			wantError(t, err, tool.InvalidArgs, test.says...)
		})
	}
}

func TestNothingHiddenOrOutsideIsReachable(t *testing.T) {
	outside := folder(t, map[string]string{"secret.md": "secret", "sub/secret.md": "secret"})
	dir := folder(t, map[string]string{
		"a.md": "public", ".sibyl/ops/x.md": "secret", ".obsidian/x.md": "secret", "sub/.hidden.md": "secret",
		"sub/b.md": "public", "image.png": "secret", "notes.txt": "secret", ".md": "secret",
	})
	for link, target := range map[string]string{
		"out.md": filepath.Join(outside, "secret.md"), "outdir": outside, "state.md": ".sibyl/ops/x.md",
		"statedir": ".sibyl", "in.md": "a.md",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	v := open(t, dir)
	res := mustCall(t, v, "vault_search", object{"query": "secret"})
	assert.That(t, res.Items == 0, "search found %s", res.Text)
	assert.Same(t, []string{"a.md", "sub/b.md"}, cited(mustCall(t, v, "vault_list", object{"recursive": true})))
	denied := []string{
		".sibyl/ops/x.md", ".sibyl/lock", ".obsidian/x.md", "sub/.hidden.md", "out.md", "outdir/secret.md", "state.md",
		"statedir/ops/x.md", "in.md", "/etc/passwd", "../x.md", "sub/../../x.md", "image.png", "notes.txt", ".md",
	}
	for _, p := range denied {
		_, err := callTool(t, v, "vault_read", "", object{"path": p})
		wantError(t, err, tool.Denied)
		if strings.HasSuffix(p, ".md") {
			_, err = callTool(t, v, "vault_write", "key of "+p, object{"path": p, "mode": "append", "content": "x"})
			wantError(t, err, tool.Denied)
		}
	}
	for _, p := range []string{"outdir/new.md", "statedir/new.md"} {
		_, err := callTool(t, v, "vault_write", p, object{"path": p, "mode": "create", "content": "x"})
		wantError(t, err, tool.Denied, "symbolic link")
	}
	for _, p := range []string{`sub\b.md`, "sub//b.md", "a\x00.md", "./a.md"} {
		_, err := callTool(t, v, "vault_read", "", object{"path": p})
		wantError(t, err, tool.InvalidArgs)
	}
	for _, f := range []string{"..", "/", ".sibyl", "sub/.hidden"} {
		for _, name := range []string{"vault_list", "vault_search"} {
			_, err := callTool(t, v, name, "", object{"folder": f, "query": "x"}.onlyKnown(name))
			if f == "/" { // the root of the vault, for people who write it so
				assert.That(t, err == nil, "%s of /: %v", name, err)
				continue
			}
			wantError(t, err, tool.Denied)
		}
	}
	assert.Same(t, map[string]string{"secret.md": "secret", "sub/secret.md": "secret"}, contents(t, outside))
}

// onlyKnown leaves out the arguments that the tool does not know.
func (o object) onlyKnown(name string) object {
	if name == "vault_list" {
		delete(o, "query")
	}
	return o
}

func TestEmptyVaultAnswersEmpty(t *testing.T) {
	v := vaultOf(t, nil)
	for name, args := range map[string]object{"vault_search": {"query": "x"}, "vault_list": {},
		"thread_seek": {"query": "x"}, "thread_list": {}} {
		res := mustCall(t, v, name, args)
		assert.That(t, res.Items == 0 && res.Text != "" && len(res.Refs) == 0, "%s: %+v", name, res)
	}
	_, err := callTool(t, v, "vault_read", "", object{"note": "x"})
	wantError(t, err, tool.NotFound)
}

func TestPipeNamedLikeANoteBlocksNobody(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "text"})
	if err := makePipe(filepath.Join(dir, "pipe.md")); err != nil {
		t.Skip(err)
	}
	v := open(t, dir)
	res := mustCall(t, v, "vault_search", object{"query": "text"})
	assert.That(t, res.Items == 1, "%v", res.Text)
	_, err := callTool(t, v, "vault_read", "", object{"path": "pipe.md"})
	wantError(t, err, tool.Denied)
	_, err = callTool(t, v, "vault_write", "k", object{"path": "pipe.md", "mode": "append", "content": "x"})
	wantError(t, err, tool.Denied)
}

func TestCancelledCallDoesNothing(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "text"})
	v := open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, args := range minimalArgs() {
		_, err := toolNamed(v, name).Call(ctx, tool.Call{Args: encode(t, args), Key: "k"})
		wantError(t, err, tool.Cancelled)
		assert.That(t, errors.Is(err, context.Canceled), "%s: %v does not wrap context.Canceled", name, err)
	}
	assert.Same(t, map[string]string{"a.md": "text"}, contents(t, dir))
}
