package code

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/index"
)

// fakeIndex counts what is asked of it, and holds nothing.
type fakeIndex struct{ builds int }

func (f *fakeIndex) Read(context.Context, func(Kept) error) error { return index.ErrNone }

func (f *fakeIndex) Build(context.Context, func(Builder) error) error {
	f.builds++
	return errors.New("it is full")
}

func (f *fakeIndex) Close() error { return nil }

func TestNothingIsBuiltWhileASearchIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeIndex{}
		b := newBuilder(&indexed{index: fake})
		first, second := b.pause(), b.pause()
		b.want()
		synctest.Wait()
		first()
		synctest.Wait()
		if fake.builds != 0 {
			t.Error("it builds while there is a search")
		}
		second()
		synctest.Wait()
		if fake.builds != 1 {
			t.Errorf("built %d times after the searches, want once", fake.builds)
		}
		third := b.pause()
		b.want()
		b.close() // which must not wait for the search
		third()
		b.want()
		synctest.Wait()
		if fake.builds != 1 {
			t.Error("it builds after it was closed")
		}
	})
}

func TestAnIndexIsBuiltBehindTheFirstSearch(t *testing.T) {
	_, dir := tree(t, mixedFiles())
	aged(t, dir)
	r := indexedRoot(t, dir, t.TempDir())
	data[SearchData](t, r, "code_search", SearchArgs{Query: "idle connection"})
	r.indexed.build.work.Wait()
	if held := heldPaths(t, r); len(held) < 38 {
		t.Errorf("the index holds %q", held)
	}
}

func TestASmallFolderIsNotIndexed(t *testing.T) {
	_, dir := tree(t, mixedFiles())
	aged(t, dir)
	store := t.TempDir()
	r := indexedRoot(t, dir, store)
	r.indexed.always = false
	data[SearchData](t, r, "code_search", SearchArgs{Query: "idle connection"})
	r.indexed.build.work.Wait()
	if kept, err := os.ReadDir(store); err != nil || len(kept) > 0 {
		t.Errorf("%v is kept, error %v", kept, err)
	}
}

// stopping is an index whose building is stopped after some texts.
type stopping struct {
	cache
	after int
	stop  func()
}

func (s *stopping) Build(ctx context.Context, add func(Builder) error) error {
	return s.cache.Build(ctx, func(b Builder) error { return add(&stoppingBuilder{b, s}) })
}

type stoppingBuilder struct {
	Builder
	index *stopping
}

func (b *stoppingBuilder) Text(note []byte) (segment, text uint32) {
	if b.index.after--; b.index.after == 0 {
		b.index.stop()
	}
	return b.Builder.Text(note)
}

func TestABuildThatIsStoppedGoesOnNextTime(t *testing.T) {
	plain, dir := tree(t, mixedFiles())
	aged(t, dir)
	store := t.TempDir()
	x := &stopping{cache: cache{index.NewCaches(store, index.DefaultBound).Open("code", dir)}, after: 10}
	r := open(t, dir)
	r.UseIndex(IndexUse{Index: x})
	x.stop = r.indexed.build.cancel
	r.indexed.always = true
	data[SearchData](t, r, "code_search", SearchArgs{Query: "idle connection"})
	r.indexed.build.work.Wait()
	again := indexedRoot(t, dir, store)
	if held := heldPaths(t, again); len(held) != 10 {
		t.Errorf("after it was stopped, %d files are held, want 10", len(held))
	}
	same(t, "half of it is built", calm(indexedRoot(t, dir, store)), plain, someSearches())
	if held := heldPaths(t, built(t, again)); len(held) < 38 {
		t.Errorf("it did not go on: %q", held)
	}
}

func TestASearchOfWhatIsWatchedDoesNotWalk(t *testing.T) {
	plain, dir := tree(t, mixedFiles())
	aged(t, dir)
	r := calm(built(t, indexedRoot(t, dir, t.TempDir())))
	if r.indexed.watch = newWatch(dir); r.indexed.watch == nil {
		t.Skip("the system tells nothing here")
	}
	r.indexed.watch.within = time.Minute
	look := func() (there *survey) {
		t.Helper()
		must(t, r.indexed.index.Read(t.Context(), func(k Kept) (err error) {
			there, err = r.indexed.survey(t.Context(), k)
			return err
		}))
		return there
	}
	look()
	first, second := look(), look()
	if first != second {
		t.Error("it walks although nothing changed")
	}
	write(t, filepath.Join(dir, "net", "waitgroup.go"), strings.Repeat("// idle connection\n", 9))
	third := look()
	if third == second {
		t.Error("it does not walk although a file changed")
	}
	same(t, "a file changed", r, plain, someSearches()[:3])
	write(t, filepath.Join(dir, "net", "new", "other.go"), "// idle connection\n")
	same(t, "a new folder", r, plain, someSearches()[:3])
	write(t, filepath.Join(dir, "net", "new", "other.go"), "// idle connections\n")
	same(t, "in the new folder", r, plain, someSearches()[:3])
	must(t, os.Rename(filepath.Join(dir, "net", "new"), filepath.Join(dir, "moved")))
	write(t, filepath.Join(dir, "moved", "other.go"), "// idle connection, moved\n")
	same(t, "in a folder that was moved", r, plain, someSearches()[:3])
	r.indexed.watch.failed = true
	if fourth := look(); fourth == look() {
		t.Error("a watch that failed is trusted")
	}
	same(t, "the watch failed", r, plain, someSearches()[:3])
}

func TestAWatchWithoutAnAnswerIsNotTrusted(t *testing.T) {
	_, dir := tree(t, mixedFiles())
	w := newWatch(dir)
	if w == nil {
		t.Skip("the system tells nothing here")
	}
	defer w.close()
	w.within = 0
	must(t, w.notify.Remove(w.signals))
	if _, told := w.changes(t.Context()); told {
		t.Error("it is taken for told although nothing was said")
	}
}
