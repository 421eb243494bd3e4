package index

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

// childFolder is set where the test program is to add to an index until it is killed.
const childFolder = "SIBYL_TEST_INDEX_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childFolder); dir != "" {
		addForEver(dir)
	}
	goleak.VerifyTestMain(m)
}

// addForEver commits a text, says so, and goes on adding without an end.
func addForEver(dir string) {
	err := NewCaches(dir, DefaultBound).Open("code", "/root").Build(context.Background(), func(b *Build) error {
		add(b, "first", "committed words")
		if err := b.Commit(context.Background(), []byte("first")); err != nil {
			return err
		}
		fmt.Println("committed")
		for n := 0; ; n++ {
			add(b, "more", fmt.Sprintf("word%d", n))
			if n%1000 == 0 {
				if _, err := b.db.Exec(`BEGIN; INSERT INTO notes (id, piece) VALUES (77, zeroblob(100000))`); err != nil {
					return err
				}
				if _, err := b.db.Exec(`ROLLBACK`); err != nil {
					return err
				}
			}
		}
	})
	fmt.Println(err)
	os.Exit(1)
}

// add adds a text of words.
func add(b *Build, note, text string) (segment, number uint32) {
	for w := range strings.FieldsSeq(text) {
		b.Word([]byte(w))
	}
	return b.Text([]byte(note))
}

func cacheIn(t testing.TB, dir string) *Cache {
	c := NewCaches(dir, DefaultBound).Open("code", "/root")
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// build adds texts, and commits them with a catalogue.
func build(t testing.TB, c *Cache, catalogue string, texts ...string) {
	t.Helper()
	must(t, c.Build(t.Context(), func(b *Build) error {
		for i, text := range texts {
			add(b, fmt.Sprint("note ", i), text)
		}
		return b.Commit(t.Context(), []byte(catalogue))
	}))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// content is what a reading finds, in words.
func content(ctx context.Context, c *Cache) (catalogue string, lines []string, err error) {
	err = c.Read(ctx, func(v *View) error {
		catalogue = string(v.Catalogue())
		type part struct {
			segment uint32
			first   int
			text    []byte
		}
		var parts []part
		if err := v.Words(func(segment uint32, first int, text []byte) { parts = append(parts, part{segment, first, text}) }); err != nil {
			return err
		}
		for _, p := range parts {
			segment, first, text := p.segment, p.first, p.text
			words := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			numbers := make([]int, len(words))
			for n := range words {
				numbers[n] = first + n
			}
			notes := map[uint32]string{}
			if err := v.Places(segment, numbers, func(word int, text, count uint32) {
				notes[text] = ""
				lines = append(lines, fmt.Sprintf("%s %d.%d ×%d", words[word-first], segment, text, count))
			}); err != nil {
				return err
			}
			if err := v.Notes(segment, slices.Sorted(maps.Keys(notes)), func(text uint32, note []byte) { notes[text] = string(note) }); err != nil {
				return err
			}
			for text, note := range notes {
				lines = append(lines, fmt.Sprintf("note %d.%d %s", segment, text, note))
			}
		}
		return nil
	})
	slices.Sort(lines)
	return catalogue, slices.Compact(lines), err
}

func TestWhatIsCommittedIsRead(t *testing.T) {
	c := cacheIn(t, filepath.Join(t.TempDir(), "a", "b"))
	if _, _, err := content(t.Context(), c); !errors.Is(err, ErrNone) {
		t.Errorf("before anything is kept: %v", err)
	}
	build(t, c, "one", "idle conn idle", "conn")
	build(t, c, "two", "idle")
	build(t, c, "three")
	catalogue, got, err := content(t.Context(), c)
	must(t, err)
	want := []string{"conn 1.0 ×1", "conn 1.1 ×1", "idle 1.0 ×2", "idle 2.0 ×1", "note 1.0 note 0", "note 1.1 note 1", "note 2.0 note 0"}
	if diff := cmp.Diff(want, got); diff != "" || catalogue != "three" {
		t.Errorf("catalogue %q, %s", catalogue, diff)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, want := range map[string]os.FileMode{c.store.dir: 0o700, filepath.Dir(c.store.dir): 0o700, c.path: 0o600, c.path + "-wal": 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, error %v, want mode %o", name, info, err, want)
		}
	}
}

func TestWhatIsNotCommittedIsNotRead(t *testing.T) {
	c := cacheIn(t, t.TempDir())
	build(t, c, "one", "idle")
	_, before, _ := content(t.Context(), c)
	must(t, c.Build(t.Context(), func(b *Build) error {
		add(b, "lost", "lost")
		if _, during, err := content(t.Context(), c); err != nil || !slices.Equal(during, before) {
			t.Errorf("while something is added: %q, error %v", during, err)
		}
		return nil
	}))
	if _, after, err := content(t.Context(), c); err != nil || !slices.Equal(after, before) {
		t.Errorf("%q, error %v", after, err)
	}
}

func TestJoinedSegmentsHoldTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := NewCaches(t.TempDir(), DefaultBound).Open("code", "/root")
		defer func() { _ = c.Close() }() // nothing is left to be said of it
		type place struct{ segment, text uint32 }
		texts, at := map[string]string{}, map[string]place{}
		must(t, c.Build(t.Context(), func(b *Build) error {
			for n := range rapid.IntRange(1, 9).Draw(rt, "commits") {
				for i := range rapid.IntRange(1, 80).Draw(rt, "texts") {
					note := fmt.Sprintf("t%d.%d", n, i)
					texts[note] = strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "Idle", "idle", fmt.Sprint("w", i)}), 0, 5).Draw(rt, "words"), " ")
					segment, number := add(b, note, texts[note])
					at[note] = place{segment, number}
				}
				if err := b.Commit(t.Context(), nil); err != nil {
					return err
				}
				for note := range texts {
					if rapid.IntRange(0, 3).Draw(rt, "gone") == 0 {
						delete(texts, note)
						delete(at, note)
					}
				}
				live := map[place]bool{}
				for _, p := range at {
					live[p] = true
				}
				into, moved, err := b.Merge(t.Context(), rapid.Bool().Draw(rt, "finally"), func(segment, text uint32) bool { return live[place{segment, text}] })
				if err != nil || moved == nil {
					return err
				}
				for note, p := range at {
					if numbers := moved[p.segment]; numbers != nil {
						at[note] = place{into, numbers[p.text]}
					}
				}
				if err := b.Commit(t.Context(), nil); err != nil {
					return err
				}
			}
			return nil
		}))
		_, got, err := content(t.Context(), c)
		must(t, err)
		for note, text := range texts {
			p := at[note]
			counts := map[string]int{}
			for w := range strings.FieldsSeq(text) {
				counts[w]++
			}
			if len(counts) > 0 {
				if line := fmt.Sprintf("note %d.%d %s", p.segment, p.text, note); !slices.Contains(got, line) {
					rt.Fatalf("%q is not there", line)
				}
			}
			for w, n := range counts {
				if line := fmt.Sprintf("%s %d.%d ×%d", w, p.segment, p.text, n); !slices.Contains(got, line) {
					rt.Fatalf("%q is not there", line)
				}
			}
		}
	})
}

func TestManySmallAdditionsAreJoined(t *testing.T) {
	c := cacheIn(t, t.TempDir())
	for n := range 40 {
		must(t, c.Build(t.Context(), func(b *Build) error {
			add(b, "", fmt.Sprint("word", n))
			if err := b.Commit(t.Context(), nil); err != nil {
				return err
			}
			_, moved, err := b.Merge(t.Context(), false, func(uint32, uint32) bool { return true })
			if err != nil || moved == nil {
				return err
			}
			return b.Commit(t.Context(), nil)
		}))
	}
	must(t, c.Read(t.Context(), func(v *View) error {
		if len(v.segments) > 3*fanIn {
			t.Errorf("40 texts are in %d segments", len(v.segments))
		}
		return nil
	}))
	if _, got, err := content(t.Context(), c); err != nil || len(got) != 80 {
		t.Errorf("%d words and notes, error %v, want 40 of each", len(got), err)
	}
}

func TestOneProcessAddsAndOneThatIsKilledLosesNothingThatWasCommitted(t *testing.T) {
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childFolder+"="+dir)
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	killed := false
	kill := func() {
		if !killed {
			_ = child.Process.Kill()
			_, _ = io.Copy(io.Discard, out)
			_ = child.Wait() // it was killed
			killed = true
		}
	}
	defer kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "committed\n" {
		t.Fatalf("the other process says %q, error %v", line, err)
	}
	c := cacheIn(t, dir)
	want := []string{"committed 1.0 ×1", "note 1.0 first", "words 1.0 ×1"}
	check := func(when string) {
		if catalogue, got, err := content(t.Context(), c); err != nil || catalogue != "first" || !slices.Equal(got, want) {
			t.Errorf("%s: catalogue %q, %q, error %v", when, catalogue, got, err)
		}
	}
	check("while another process adds")
	if err := c.Build(t.Context(), func(*Build) error { return nil }); !errors.Is(err, ErrBusy) {
		t.Errorf("adding meanwhile: %v", err)
	}
	if _, _, err := c.store.Clear(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("removing it meanwhile: %v", err)
	}
	kill()
	check("after it was killed")
	build(t, c, "second", "more")
	if catalogue, got, err := content(t.Context(), c); err != nil || catalogue != "second" || len(got) != 5 {
		t.Errorf("added after: %q, error %v", got, err)
	}
}

func TestFullDiskLosesNothingThatWasCommitted(t *testing.T) {
	c := cacheIn(t, t.TempDir())
	build(t, c, "one", "idle")
	err := c.Build(t.Context(), func(b *Build) error {
		if _, err := b.db.Exec(`PRAGMA max_page_count = 10`); err != nil {
			return err
		}
		for n := range 50_000 {
			add(b, "some note on it", fmt.Sprint("word", n))
		}
		return b.Commit(t.Context(), []byte("two"))
	})
	if code(err) != 13 { // SQLITE_FULL
		t.Errorf("error is %v", err)
	}
	if catalogue, got, err := content(t.Context(), c); err != nil || catalogue != "one" || len(got) != 2 {
		t.Errorf("catalogue %q, %q, error %v", catalogue, got, err)
	}
	build(t, c, "three", "conn")
}

func TestFilesStayWithinTheBound(t *testing.T) {
	store := NewCaches(t.TempDir(), 800_000)
	text := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "word%d ", i)
		}
		return b.String()
	}
	now := time.Now()
	for i, root := range []string{"/a", "/b", "/c"} {
		c := store.Open("code", root)
		build(t, c, "", text(8000))
		must(t, c.Close())
		used := now.Add(time.Duration(i-10) * time.Hour)
		if root == "/a" { // was used last
			used = now
		}
		must(t, os.Chtimes(c.path, used, used))
	}
	d := store.Open("code", "/d")
	build(t, d, "", text(8000))
	must(t, d.Close())
	all, err := store.List(t.Context())
	must(t, err)
	var roots []string
	total := int64(0)
	for _, k := range all {
		roots = append(roots, k.Root)
		total += k.Bytes
	}
	slices.Sort(roots)
	if !slices.Contains(roots, "/a") || !slices.Contains(roots, "/d") || slices.Contains(roots, "/b") || total > store.bound {
		t.Errorf("%q are kept, %d bytes", roots, total)
	}
	err = d.Build(t.Context(), func(b *Build) error {
		add(b, "", text(100_000))
		return b.Commit(t.Context(), nil)
	})
	if !errors.Is(err, ErrFull) {
		t.Errorf("over the bound by itself: %v", err)
	}
	if err := d.Build(t.Context(), func(*Build) error { t.Error("more may be added"); return nil }); !errors.Is(err, ErrFull) {
		t.Errorf("and again: %v", err)
	}
}

func TestFilesAreListedAndRemoved(t *testing.T) {
	store := NewCaches(t.TempDir(), DefaultBound)
	if all, err := store.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%v, error %v", all, err)
	}
	for _, root := range []string{"/a", "/b"} {
		c := store.Open("code", root)
		build(t, c, "", "idle", "conn")
		must(t, c.Close())
	}
	must(t, os.WriteFile(filepath.Join(store.dir, "other.db"), []byte("no index"), 0o600))
	all, err := store.List(t.Context())
	a := slices.IndexFunc(all, func(k Kept) bool { return k.Root == "/a" })
	if err != nil || len(all) != 3 || a < 0 || all[a].Texts != 2 || all[a].Kind != "code" || all[a].Bytes < 1000 || !slices.ContainsFunc(all, func(k Kept) bool { return k.Root == "" }) {
		t.Errorf("%+v, error %v", all, err)
	}
	if n, bytes, err := store.Clear(t.Context(), "/a"); n != 1 || bytes < 1000 || err != nil {
		t.Errorf("%d removed, %d bytes, error %v", n, bytes, err)
	}
	if n, _, err := store.Clear(t.Context()); n != 2 || err != nil {
		t.Errorf("%d removed, error %v", n, err)
	}
}

func TestWithoutAPlaceThereIsNoIndex(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	c := cacheIn(t, filepath.Join(file, "below"))
	if err := c.Build(t.Context(), func(*Build) error { return nil }); err == nil {
		t.Error("something is kept below a file")
	}
	if _, _, err := content(t.Context(), c); !errors.Is(err, ErrNone) {
		t.Errorf("error is %v", err)
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	c := cacheIn(t, t.TempDir())
	build(t, c, "one", "idle")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := content(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if _, _, err := content(t.Context(), c); err != nil {
		t.Errorf("after it: %v", err)
	}
}
