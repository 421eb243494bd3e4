package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

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
	if err != nil {
		t.Fatal(err)
	}
}

func TestTextThatChangedMeanwhileIsLeftAsItIs(t *testing.T) {
	l := shelved(t, map[string]string{"x": "a\n"})
	l.at("intent", func() { rewrite(t, l, "b\n") })
	if _, err := l.Perform(t.Context(), appends("k", "c\n")); reasonOf(err) != Changed {
		t.Errorf("error %v", err)
	}
	if got := l.text(t); got != "b\n" {
		t.Errorf("the file holds %q", got)
	}
	if all, err := l.Shelf.List(t.Context(), ""); err != nil || len(all) > 0 {
		t.Errorf("a write that did not happen is on the shelf: %v, %v", all, err)
	}
}

func TestShelfKeepsTextsOnceForItsOwnerAloneAndWithinItsBounds(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	s := &Shelf{Folder: filepath.Join(t.TempDir(), "replaced"), MaxBytes: 25, MaxAge: time.Hour, Now: func() time.Time {
		return now
	}}
	keep := func(id, text string) {
		t.Helper()
		now = now.Add(time.Minute)
		if err := s.Keep(t.Context(), Replaced{ID: id, Owner: "ada", Before: Hash([]byte(text))},
			[]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	held := func() (ids string) {
		t.Helper()
		all, err := s.List(t.Context(), "ada")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			ids += r.ID
		}
		return ids
	}
	keep("a", "0123456789")
	keep("b", "0123456789")
	keep("c", "9876543210")
	if got := held(); got != "cba" {
		t.Errorf("%s, where a text of two writes is there once", got)
	}
	keep("d", "abcdefghij")
	if got := held(); got != "dc" {
		t.Errorf("%s, want the last ones within the bound", got)
	}
	if _, err := s.Text(Replaced{ID: "a", Before: Hash([]byte("0123456789"))}); !errors.Is(err, ErrNotKept) {
		t.Errorf("a text beyond the bound: %v", err)
	}
	now = now.Add(2 * time.Hour)
	keep("e", "x")
	if got := held(); got != "edc" {
		t.Errorf("%s: a write removes nothing by the clock, which may have leapt", got)
	}
	now = now.Add(-3 * time.Hour)
	keep("f", "y")
	if got := held(); got != "fedc" {
		t.Errorf("%s: the last write is not the first one, since the clock was set back", got)
	}
	now = now.Add(3 * time.Hour)
	if err := s.Expire(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if got := held(); got != "e" {
		t.Errorf("%s, want what is not too old", got)
	}
	if _, err := s.Text(Replaced{ID: "d", Before: Hash([]byte("abcdefghij"))}); !errors.Is(err, ErrNotKept) {
		t.Errorf("a text that is too old: %v", err)
	}
	if others, err := s.List(t.Context(), "bob"); err != nil || len(others) > 0 {
		t.Errorf("another sees %v, %v", others, err)
	}
	err := filepath.WalkDir(s.Folder, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %s", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
