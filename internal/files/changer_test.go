package files

import (
	"encoding/json"
	"fmt"
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
