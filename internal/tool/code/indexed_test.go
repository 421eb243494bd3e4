package code

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sibyl/internal/index"
)

// cache stands between a root and its cache file, as the program has it.
type cache struct{ *index.Cache }

func (c cache) Read(ctx context.Context, use func(Kept) error) error {
	return c.Cache.Read(ctx, func(v *index.View) error { return use(v) })
}

func (c cache) Build(ctx context.Context, add func(Builder) error) error {
	return c.Cache.Build(ctx, func(b *index.Build) error { return add(b) })
}

// indexedRoot opens a folder with an index in a store.
func indexedRoot(t testing.TB, dir, store string) *Root {
	t.Helper()
	r := open(t, dir)
	r.UseIndex(cache{index.NewStore(store, index.DefaultBound).Open("code", dir)})
	return r
}

// built brings the index of a root up to date.
func built(t testing.TB, r *Root) *Root {
	t.Helper()
	if err := r.indexed.build.update(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// aged sets the times of all that is in a folder back, so that a change shows.
func aged(t testing.TB, dir string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chtimes(name, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
}
