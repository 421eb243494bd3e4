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
)

// As the played model leaves the note.
const (
	blank   = "# Caching\n"
	written = blank + "- decided: no cache\n"
)

func TestWriteIsTakenBackOverHTTPByItsOwnerAlone(t *testing.T) {
	s := newServed(t)
	write := s.notes("ada")
	if got := s.note(); got != written {
		t.Fatalf("the note is %q", got)
	}
	for user, want := range map[string]int{"": http.StatusUnauthorized, "bob": http.StatusForbidden,
		"eve": http.StatusNotFound} {
		s.wants("by “"+user+"”", s.undoes(user, write), want, "")
	}
	if theirs := s.writes("eve"); len(theirs) > 0 || s.note() != written {
		t.Errorf("eve sees %v, and the note is %q", theirs, s.note())
	}
	s.wants("by a beginning of its id", s.undoes("ada", write[:4]), http.StatusNotFound, "GET /api/writes")
	s.wants("by ada", s.undoes("ada", write), http.StatusOK, `"done":true`)
	if got := s.note(); got != blank {
		t.Errorf("taken back, the note is %q", got)
	}
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
	if s.note() != both {
		t.Errorf("a refused undo changed the note to %q", s.note())
	}
	s.wants("eve's", s.undoes("eve", eves), http.StatusOK, `"done":true`)
	s.wants("ada's after it", s.undoes("ada", adas), http.StatusOK, `"done":true`)
	if got := s.note(); got != blank {
		t.Errorf("both taken back, the note is %q", got)
	}
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
		if r.status != http.StatusOK {
			t.Errorf("eve's write: %d %s", r.status, r.body)
		}
	})
	all.Wait()
	text := must(os.ReadFile(other))(t)
	lines := strings.Count(string(text), "no cache")
	if n := int(done.Load()); n > 1 || lines != 2-n {
		t.Errorf("taken back %d times, and of two lines there are %d", n, lines)
	}
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
		noError(t, os.Rename(name, moved))
		noError(t, in.place())
		s.wants(about, s.undoes("ada", write), http.StatusConflict, `"kind":"`+in.kind+`"`)
		if about != "it is gone" {
			noError(t, os.Remove(name))
		}
		noError(t, os.Rename(moved, name))
		if got := s.note(); got != written {
			t.Fatalf("%s: the note is %q", about, got)
		}
	}
	noError(t, os.Chmod(name, 0o400))
	s.wants("it is read-only", s.undoes("ada", write), http.StatusConflict, `"kind":"refused"`)
	away := s.vault + ".away"
	noError(t, os.Rename(s.vault, away))
	s.wants("its folder is away", s.undoes("ada", write), http.StatusConflict, `"kind":"refused"`)
	noError(t, os.Rename(away, s.vault))
	if got := s.note(); got != written {
		t.Errorf("the note is %q", got)
	}
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
	if ids := s.writes("ada"); len(ids) != 1 || ids[0] != lost {
		t.Errorf("after 31 days there are %v, and %s was made before", ids, first)
	}
	s.wants("after 31 days", s.undoes("ada", first), http.StatusNotFound, "not_found")
	texts := must(filepath.Glob(filepath.Join(shelf, "texts", "*")))(t)
	for _, text := range texts {
		content, err := os.ReadFile(text)
		if err != nil || string(content) == blank {
			t.Errorf("what the write replaced 31 days ago is still there: %v", err)
		}
		noError(t, os.Remove(text))
	}
	s.wants("whose text is lost", s.undoes("ada", lost), http.StatusGone, "not_kept")
}

// age has a record of a write be older.
func age(t *testing.T, name string, by time.Duration) {
	t.Helper()
	var record map[string]any
	noError(t, json.Unmarshal(read(t, name), &record))
	at := must(time.Parse(time.RFC3339Nano, record["at"].(string)))(t)
	record["at"] = at.Add(-by).Format(time.RFC3339Nano)
	text := must(json.Marshal(record))(t)
	write(t, name, string(text))
}
