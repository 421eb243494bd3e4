package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"
)

const state = ".state"

func ledgerOf(t testing.TB, contents map[string]string) *Ledger[int] {
	t.Helper()
	return &Ledger[int]{Root: rootOf(t, contents), State: state, MaxFile: 1000, Receipts: 3, LockWait: time.Minute}
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

func (l *Ledger[R]) text(t *testing.T) string {
	t.Helper()
	f, err := l.read("x")
	if err != nil {
		t.Fatal(err)
	}
	return string(f.Content)
}

func TestChangeIsMadeOncePerKey(t *testing.T) {
	l := ledgerOf(t, map[string]string{"x": "a"})
	for range 2 {
		if got, err := l.Perform(t.Context(), appends("k", "b")); got != 2 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
	}
	if got, was, err := l.Found(t.Context(), appends("k", "b")); got != 2 || !was || err != nil {
		t.Errorf("Found = %d, %v, %v", got, was, err)
	}
	if _, was, err := l.Found(t.Context(), appends("other", "b")); was || err != nil {
		t.Errorf("another key: %v, %v", was, err)
	}
	if _, err := l.Perform(t.Context(), appends("k", "c")); reasonOf(err) != KeyReused {
		t.Errorf("the key for another change: %v", err)
	}
	if got := l.text(t); got != "ab" {
		t.Errorf("the file holds %q", got)
	}
}

// crash ends a change at a step as a crash does: only the lock is given back.
func crash(t *testing.T, l *Ledger[int], step string, c Change[int]) {
	t.Helper()
	type crashed struct{}
	l.Step = func(s string) {
		if s == step {
			panic(crashed{})
		}
	}
	defer func() {
		l.Step = nil
		if _, ok := recover().(crashed); !ok {
			t.Fatalf("no step %q", step)
		}
	}()
	_, _ = l.Perform(t.Context(), c)
}

func TestCrashAtAnyStepIsSettled(t *testing.T) {
	for _, step := range []string{"locked", "settled", "folder", "staged", "intent", "placed", "synced", "receipt"} {
		l := ledgerOf(t, map[string]string{"x": "a"})
		crash(t, l, step, appends("k", "b"))
		happened := l.text(t) == "ab"
		if _, was, err := l.Found(t.Context(), appends("k", "b")); was != happened || err != nil {
			t.Errorf("%s: Found = %v, %v; it happened: %v", step, was, err, happened)
		}
		if got, err := l.Perform(t.Context(), appends("k", "b")); got != 2 || err != nil || l.text(t) != "ab" {
			t.Errorf("%s: %d, %v, %q", step, got, err, l.text(t))
		}
		if left, err := List(l.Root, l.intents()); err != nil || len(left) > 0 {
			t.Errorf("%s: intents are left: %v (%v)", step, left, err)
		}
		if _, err := l.Root.Lstat(l.content()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the staged content is left: %v", step, err)
		}
	}
}

func TestMarkTellsThatAChangeTookEffect(t *testing.T) {
	for mark, want := range map[string]Reason{"#k": 0, "": Unclear} {
		l := ledgerOf(t, map[string]string{"x": "a"})
		c := appends("k", "b #k")
		c.Mark = mark
		crash(t, l, "placed", c)
		if err := l.Root.WriteFile("x", []byte("edited b #k"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, was, err := l.Found(t.Context(), c); was != (want == 0) || reasonOf(err) != want {
			t.Errorf("mark %q: %v, %v", mark, was, err)
		}
	}
}

func TestBoundsOfAFileAreKept(t *testing.T) {
	l := ledgerOf(t, map[string]string{"x": "a"})
	if _, err := l.Perform(t.Context(), appends("k", string(make([]byte, 1000)))); reasonOf(err) != TooLarge {
		t.Errorf("too much: %v", err)
	}
	if err := l.Root.Chmod("x", 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Perform(t.Context(), appends("k", "b")); reasonOf(err) != ReadOnly {
		t.Errorf("read-only: %v", err)
	}
}

func TestOnlyTheLastReceiptsAreKept(t *testing.T) {
	l := ledgerOf(t, map[string]string{"x": ""})
	for i := range 6 {
		if _, err := l.Perform(t.Context(), appends(fmt.Sprint(i), "b")); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(i), 0) // file systems may not tell such quick writes apart
		if err := l.Root.Chtimes(keyFile(l.receipts(), fmt.Sprint(i)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		if _, was, err := l.Found(t.Context(), appends(fmt.Sprint(i), "b")); was != (i >= 3) || err != nil {
			t.Errorf("change %d: found %v, %v", i, was, err)
		}
	}
}

func TestIntentKeepsItsFormOnDisk(t *testing.T) {
	l := ledgerOf(t, map[string]string{"x": "a"})
	c := appends("k", "b")
	c.Mark = "b"
	if _, err := l.Perform(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	raw, err := l.Root.ReadFile(keyFile(state+"/ops", "k"))
	var got map[string]any
	if err != nil || json.Unmarshal(raw, &got) != nil {
		t.Fatal(err, string(raw))
	}
	for name, want := range map[string]any{"tool": "append", "path": "x", "entry": "b", "size": 2.0, "result": 2.0, "after": Hash([]byte("ab"))} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v: receipts of earlier builds could not be read", name, got[name], want)
		}
	}
}
