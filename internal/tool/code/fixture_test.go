package code

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

// rootOf makes a root with the given files.
func rootOf(t testing.TB, files map[string]string) (*Root, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return open(t, dir), dir
}

func open(t testing.TB, dir string) *Root {
	t.Helper()
	r := assert.Must(Open(dir))(t)
	t.Cleanup(func() {
		err := r.Close()
		assert.That(t, err == nil, "%v", err)
	})
	return r
}

func write(t testing.TB, name, text string) {
	t.Helper()
	assert.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	assert.NoError(t, os.WriteFile(name, []byte(text), 0o644))
}

// call runs one of the root's tools with arguments as a model writes them.
func call(t testing.TB, r *Root, name, args string) (tool.Result, error) {
	t.Helper()
	registry := tool.NewSet(r.Tools()...)
	found, ok := registry.Get(name)
	assert.Require(t, ok, "there is no tool %s", name)
	res, err := found.Call(context.Background(), tool.Call{Args: json.RawMessage(args)})
	if err != nil {
		_, ok := errors.AsType[*tool.Error](err)
		assert.That(t, ok, "%s failed with a %T, not a *tool.Error: %v", name, err, err)
	}
	return res, err
}

// data calls a tool that must succeed and decodes its structured result.
func data[D any](t testing.TB, r *Root, name string, args any) (D, tool.Result) {
	t.Helper()
	var d D
	raw := assert.Must(json.Marshal(args))(t)
	res, err := call(t, r, name, string(raw))
	assert.NoErrorf(t, err, "%s %s", name, raw)
	assert.NoError(t, json.Unmarshal(res.Data, &d))
	return d, res
}

// kindOf gives the kind of a tool error, "" for none.
func kindOf(err error) tool.Kind {
	if te, ok := errors.AsType[*tool.Error](err); ok {
		return te.Kind
	}
	return ""
}

func hitPaths(d SearchData) []string {
	var paths []string
	for _, h := range d.Hits {
		paths = append(paths, h.Path)
	}
	return paths
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	raw := assert.Must(json.Marshal(v))(t)
	return raw
}
