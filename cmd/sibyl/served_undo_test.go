package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
)

// As the played model leaves the note.
const (
	blank   = "# Caching\n"
	written = blank + "- decided: no cache\n"
)

func TestWriteIsTakenBackOverHTTPByItsOwnerAlone(t *testing.T) {
	s := newServed(t)
	write := s.notes("ada")
	got := s.note()
	assert.Require(t, got == written, "the note is %q", got)
	for user, want := range map[string]int{"": http.StatusUnauthorized, "bob": http.StatusForbidden,
		"eve": http.StatusNotFound} {
		s.wants("by “"+user+"”", s.undoes(user, write), want, "")
	}
	theirs := s.writes("eve")
	assert.That(t, len(theirs) == 0 && s.note() == written, "eve sees %v, and the note is %q", theirs, s.note())
	s.wants("by a beginning of its id", s.undoes("ada", write[:4]), http.StatusNotFound, "GET /api/writes")
	s.wants("by ada", s.undoes("ada", write), http.StatusOK, `"done":true`)
	assert.Equalf(t, s.note(), blank, "taken back, the note")
	s.wants("twice", s.undoes("ada", write), http.StatusOK, `"done":false`)
	if got := s.note(); got != blank || len(s.writes("ada")) != 1 {
		t.Errorf("taken back twice, the note is %q, and there are %d writes", got, len(s.writes("ada")))
	}
}

func TestUndoOverHTTPLeavesWhatAnotherUserWroteSince(t *testing.T) {
	s := newServed(t)
	adas, eves := s.notes("ada"), s.notes("eve")
	both := s.note()
	s.wants("before eve's later one", s.undoes("ada", adas), http.StatusConflict, `"kind":"changed"`)
	assert.That(t, s.note() == both, "a refused undo changed the note to %q", s.note())
	s.wants("eve's", s.undoes("eve", eves), http.StatusOK, `"done":true`)
	s.wants("ada's after it", s.undoes("ada", adas), http.StatusOK, `"done":true`)
	assert.Equalf(t, s.note(), blank, "both taken back, the note")
}

func TestUndoOverHTTPIsDoneOnceHoweverManyAskAndWhileOthersWrite(t *testing.T) {
	s := newServed(t)
	write := s.notes("ada")
	other := filepath.Join(s.vault, "caching.md")
	var done atomic.Int32
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if r := s.undoes("ada", write); r.status == http.StatusOK && strings.Contains(r.body, `"done":true`) {
				done.Add(1)
			} else if r.status != http.StatusOK && r.status != http.StatusConflict { // a write came first
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
	all.Go(func() {
		r := s.asks("eve", http.MethodPost, "/api/ask",
			map[string]any{"question": "Add a note to caching.md that we use no cache",
				"options": map[string]any{"vault": "notes"}})
		assert.That(t, r.status == http.StatusOK, "eve's write: %d %s", r.status, r.body)
	})
	all.Wait()
	text := assert.Must(os.ReadFile(other))(t)
	lines := strings.Count(string(text), "no cache")
	n := int(done.Load())
	assert.That(t, n <= 1 && lines == 2-n, "taken back %d times, and of two lines there are %d", n, lines)
}

func TestUndoOverHTTPOfANoteThatCannotBeWrittenIsRefusedAndChangesNothing(t *testing.T) {
	s := newServed(t)
	write := s.notes("ada")
	name, moved := filepath.Join(s.vault, "caching.md"), filepath.Join(t.TempDir(), "moved.md")
	for about, in := range map[string]struct {
		place func() error
		kind  string
	}{
		"it is gone":   {func() error { return nil }, "changed"},
		"it is a link": {func() error { return os.Symlink(moved, name) }, "refused"},
		"it is a pipe": {func() error { return syscall.Mkfifo(name, 0o600) }, "refused"},
		"a folder":     {func() error { return os.Mkdir(name, 0o700) }, "refused"},
	} {
		assert.NoError(t, os.Rename(name, moved))
		assert.NoError(t, in.place())
		s.wants(about, s.undoes("ada", write), http.StatusConflict, `"kind":"`+in.kind+`"`)
		if about != "it is gone" {
			assert.NoError(t, os.Remove(name))
		}
		assert.NoError(t, os.Rename(moved, name))
		got := s.note()
		assert.Require(t, got == written, "%s: the note is %q", about, got)
	}
	assert.NoError(t, os.Chmod(name, 0o400))
	s.wants("it is read-only", s.undoes("ada", write), http.StatusConflict, `"kind":"refused"`)
	away := s.vault + ".away"
	assert.NoError(t, os.Rename(s.vault, away))
	s.wants("its folder is away", s.undoes("ada", write), http.StatusConflict, `"kind":"refused"`)
	assert.NoError(t, os.Rename(away, s.vault))
	assert.Equalf(t, s.note(), written, "the note")
}

func TestWriteIsTakenBackOverHTTPForThirtyDaysAndIsNotKeptAfter(t *testing.T) {
	s := newServed(t)
	first := s.notes("ada")
	lost := s.notes("ada")
	shelf := filepath.Join(s.data, "replaced")
	age(t, filepath.Join(shelf, "writes", first+".json"), 31*24*time.Hour)
	marks := fmt.Appendf(nil, `{"settled":%[1]q,"marked":%[1]q,"looked":%[1]q}`, time.Now().Format(time.RFC3339))
	write(t, app.MarksFile(s.data), string(marks))
	s.sibyl(t, "", "ask", "--config", s.config, "Add a note to caching.md that we use no cache", "--vault", s.vault)
	ids := s.writes("ada")
	assert.That(t, len(ids) == 1 && ids[0] == lost, "after 31 days there are %v, and %s was made before", ids, first)
	s.wants("after 31 days", s.undoes("ada", first), http.StatusNotFound, "not_found")
	texts := assert.Must(filepath.Glob(filepath.Join(shelf, "texts", "*")))(t)
	for _, text := range texts {
		content, err := os.ReadFile(text)
		assert.That(t, err == nil && string(content) != blank, "what the write replaced 31 days ago is still there: %v", err)
		assert.NoError(t, os.Remove(text))
	}
	s.wants("whose text is lost", s.undoes("ada", lost), http.StatusGone, "not_kept")
}

// age has a record of a write be older.
func age(t *testing.T, name string, by time.Duration) {
	t.Helper()
	var record map[string]any
	assert.NoError(t, json.Unmarshal(read(t, name), &record))
	at := assert.Must(time.Parse(time.RFC3339Nano, record["at"].(string)))(t)
	record["at"] = at.Add(-by).Format(time.RFC3339Nano)
	text := assert.Must(json.Marshal(record))(t)
	write(t, name, string(text))
}
