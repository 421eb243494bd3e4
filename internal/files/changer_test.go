package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

const state = ".state"

func changerOf(t testing.TB, contents map[string]string) *Changer[int] {
	t.Helper()
	return &Changer[int]{Root: rootOf(t, contents), State: state, MaxFile: 1000, Receipts: 3, LockWait: time.Minute}
}

// appends is a change that appends to the file x, and results in its length.
func appends(key, text string) Change[int] {
	return Change[int]{
		Key: key, Action: "append", Digest: Hash([]byte(text)), Appends: true,
		Locate: func() (string, error) { return "x", nil },
		Apply: func(_ string, before File) ([]byte, int, error) {
			after := append(before.Content, text...)
			return after, len(after), nil
		},
	}
}

func (l *Changer[R]) text(t *testing.T) string {
	t.Helper()
	f := assert.Must(l.readFile("x"))(t)
	return string(f.Content)
}

func TestOnlyTheLastReceiptsAreKept(t *testing.T) {
	l := changerOf(t, map[string]string{"x": ""})
	for i := range 6 {
		assert.Must(l.Perform(t.Context(), appends(fmt.Sprint(i), "b")))(t)
		at := time.Unix(int64(i), 0) // file systems may not tell such quick writes apart
		assert.NoError(t, l.Root.Chtimes(fileForKey(l.receiptFolder(), fmt.Sprint(i)), at, at))
	}
	for i := range 6 {
		_, was, err := l.FindResult(t.Context(), appends(fmt.Sprint(i), "b"))
		assert.That(t, was == (i >= 3) && err == nil, "change %d: found %v, %v", i, was, err)
	}
}

func TestIntentKeepsItsFormOnDisk(t *testing.T) {
	l := changerOf(t, map[string]string{"x": "a"})
	c := appends("k", "b")
	c.Mark = "b"
	assert.Must(l.Perform(t.Context(), c))(t)
	raw, err := l.Root.ReadFile(fileForKey(state+"/ops", "k"))
	var got map[string]any
	assert.Require(t, err == nil && json.Unmarshal(raw, &got) == nil, "%v %v", err, string(raw))
	for name, want := range map[string]any{"tool": "append", "path": "x", "entry": "b", "size": 2.0, "result": 2.0,
		"after": Hash([]byte("ab"))} {
		assert.That(t, got[name] == want,
			"%s is %v, want %v: receipts of earlier builds could not be read", name, got[name], want)
	}
}

// shelved is a changer with a shelf.
func shelved(t *testing.T, texts map[string]string) *Changer[int] {
	l := changerOf(t, texts)
	l.Shelf = &Shelf{Folder: filepath.Join(t.TempDir(), "replaced"), MaxBytes: 1 << 20, MaxAge: time.Hour,
		Now: time.Now}
	return l
}

// at does something at the first coming of a step.
func (l *Changer[R]) at(step string, do func()) {
	l.Step = func(s string) {
		if s == step {
			l.Step = nil
			do()
		}
	}
}

// rewrite writes a file anew in place, as many editors do.
func rewrite(t *testing.T, l *Changer[int], text string) {
	t.Helper()
	f, err := l.Root.OpenFile("x", os.O_WRONLY|os.O_TRUNC, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	assert.NoError(t, err)
}

func TestTextThatChangedMeanwhileIsLeftAsItIs(t *testing.T) {
	l := shelved(t, map[string]string{"x": "a\n"})
	l.at("intent", func() { rewrite(t, l, "b\n") })
	_, err := l.Perform(t.Context(), appends("k", "c\n"))
	assert.That(t, reasonOf(err) == Changed, "error %v", err)
	got := l.text(t)
	assert.That(t, got == "b\n", "the file holds %q", got)
	all, err := l.Shelf.List(t.Context(), "")
	assert.That(t, err == nil && len(all) == 0, "a write that did not happen is on the shelf: %v, %v", all, err)
}

func TestShelfKeepsTextsOnceForItsOwnerAloneAndWithinItsBounds(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	s := &Shelf{Folder: filepath.Join(t.TempDir(), "replaced"), MaxBytes: 25, MaxAge: time.Hour, Now: func() time.Time {
		return now
	}}
	keep := func(id, text string) {
		t.Helper()
		now = now.Add(time.Minute)
		assert.NoError(t, s.Keep(t.Context(), Replaced{ID: id, Owner: "ada", Before: Hash([]byte(text))},
			[]byte(text)))
	}
	held := func() (ids string) {
		t.Helper()
		all := assert.Must(s.List(t.Context(), "ada"))(t)
		for _, r := range all {
			ids += r.ID
		}
		return ids
	}
	keep("a", "0123456789")
	keep("b", "0123456789")
	keep("c", "9876543210")
	got := held()
	assert.That(t, got == "cba", "%s, where a text of two writes is there once", got)
	keep("d", "abcdefghij")
	got = held()
	assert.That(t, got == "dc", "%s, want the last ones within the bound", got)
	if _, err := s.Text(Replaced{ID: "a", Before: Hash([]byte("0123456789"))}); !errors.Is(err, ErrNotKept) {
		t.Errorf("a text beyond the bound: %v", err)
	}
	now = now.Add(2 * time.Hour)
	keep("e", "x")
	got = held()
	assert.That(t, got == "edc", "%s: a write removes nothing by the clock, which may have leapt", got)
	now = now.Add(-3 * time.Hour)
	keep("f", "y")
	got = held()
	assert.That(t, got == "fedc", "%s: the last write is not the first one, since the clock was set back", got)
	now = now.Add(3 * time.Hour)
	assert.NoError(t, s.Expire(t.Context(), now))
	got = held()
	assert.That(t, got == "e", "%s, want what is not too old", got)
	if _, err := s.Text(Replaced{ID: "d", Before: Hash([]byte("abcdefghij"))}); !errors.Is(err, ErrNotKept) {
		t.Errorf("a text that is too old: %v", err)
	}
	if others, err := s.List(t.Context(), "bob"); err != nil || len(others) > 0 {
		t.Errorf("another sees %v, %v", others, err)
	}
	assert.Nil(t, filepath.WalkDir(s.Folder, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		assert.That(t, err != nil || info.Mode().Perm()&0o077 == 0, "%s can be read by others: %s", name, info.Mode())
		return err
	}))
}
