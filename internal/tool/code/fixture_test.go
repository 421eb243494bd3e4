package code

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

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
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// call runs one of the root's tools with arguments as a model writes them.
func call(t testing.TB, r *Root, name, args string) (tool.Result, error) {
	t.Helper()
	registry, err := tool.NewSet(r.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	found, ok := registry.Get(name)
	if !ok {
		t.Fatalf("there is no tool %s", name)
	}
	res, err := found.Call(context.Background(), tool.Call{Args: json.RawMessage(args)})
	if err != nil {
		if _, ok := errors.AsType[*tool.Error](err); !ok {
			t.Errorf("%s failed with a %T, not a *tool.Error: %v", name, err, err)
		}
	}
	return res, err
}

// data calls a tool that must succeed and decodes its structured result.
func data[D any](t testing.TB, r *Root, name string, args any) (D, tool.Result) {
	t.Helper()
	var d D
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	res, err := call(t, r, name, string(raw))
	if err != nil {
		t.Fatalf("%s %s: %v", name, raw, err)
	}
	if err := json.Unmarshal(res.Data, &d); err != nil {
		t.Fatal(err)
	}
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
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
