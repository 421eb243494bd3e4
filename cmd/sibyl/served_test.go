package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
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

// served is the real server in a process of its own, with the tokens of its users.
type served struct {
	*story
	t      *testing.T
	config string
	url    string
	tokens map[string]string
}

// reply is what the server answers.
type reply struct {
	status int
	body   string
}

// newServed serves a folder of notes to ada, eve and bob, who may only read. All of them name it notes; mine is ada's
// alone.
func newServed(t *testing.T) *served {
	t.Helper()
	s := &served{story: newStory(t), t: t, tokens: map[string]string{}}
	s.config = filepath.Join(s.data, "served.yaml")
	write(t, s.config, fmt.Sprintf("server:\n  listen: 127.0.0.1:0\n  folders: {notes: %q, ada/mine: %q}\n",
		s.vault, t.TempDir()))
	for _, user := range []string{"ada", "eve", "bob"} {
		scope := map[bool]string{true: "read", false: "write"}[user == "bob"]
		out, _ := s.sibyl(t, "", "user", "add", user, "--scope", scope)
		s.tokens[user] = strings.TrimSpace(string(out))
	}
	s.serve()
	return s
}

// serve starts the server, which ends with the test.
func (s *served) serve() {
	s.t.Helper()
	cmd := exec.Command("sibyl", "serve", "--config", s.config)
	cmd.Env = s.environ()
	log := &bytes.Buffer{}
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	assert.NoError(s.t, err)
	s.t.Cleanup(func() {
		err := cmd.Process.Signal(os.Interrupt)
		ended := cmd.Wait()
		assert.That(s.t, err == nil && ended == nil, "the server ends with %v, %v:\n%s", err, ended, log)
	})
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // else the line never comes
	defer late.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	s.url = strings.TrimSpace(strings.TrimPrefix(line, "listening at "))
	assert.Require(s.t, err == nil && strings.HasPrefix(s.url, "http://127.0.0.1:"), "the server says %q, %v", line, err)
}

// asks sends a request of a user, with a body if there is one.
func (s *served) asks(user, method, path string, body any) (r reply) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	var sent bytes.Buffer
	if body != nil {
		assert.NoError(s.t, json.NewEncoder(&sent).Encode(body))
	}
	req := assert.Must(http.NewRequestWithContext(ctx, method, s.url+path, &sent))(s.t)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if user != "" {
		req.Header.Set("Authorization", "Bearer "+s.tokens[user])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Error(err)
		return r
	}
	text, err := io.ReadAll(resp.Body)
	ended := resp.Body.Close()
	assert.That(s.t, err == nil && ended == nil, "%v %v", err, ended)
	return reply{resp.StatusCode, string(text)}
}

// notes has a user get a note written, and gives the id of that write.
func (s *served) notes(user string) string {
	s.t.Helper()
	r := s.asks(user, http.MethodPost, "/api/ask",
		map[string]any{"question": "Add a note to caching.md that we use no cache",
			"options": map[string]any{"vault": "notes"}})
	assert.Require(s.t, r.status == http.StatusOK && strings.Contains(r.body, `"cause":"satisfied"`),
		"%s gets no note written: %d %s", user, r.status, r.body)
	ids := s.writes(user)
	assert.Require(s.t, len(ids) != 0, "%s has no write", user)
	return ids[0]
}

// writes are the ids of a user's writes, the latest first.
func (s *served) writes(user string) (ids []string) {
	s.t.Helper()
	var all struct{ Writes []struct{ ID string } }
	r := s.asks(user, http.MethodGet, "/api/writes", nil)
	assert.Require(s.t, r.status == http.StatusOK && json.Unmarshal([]byte(r.body), &all) == nil,
		"the writes of %s: %d %s", user, r.status, r.body)
	for _, w := range all.Writes {
		ids = append(ids, w.ID)
	}
	return ids
}

func (s *served) undoes(user, write string) reply {
	s.t.Helper()
	return s.asks(user, http.MethodPost, "/api/writes/"+write+"/undo", nil)
}

// wants checks an answer, and that it tells nothing of where the notes lie.
func (s *served) wants(about string, r reply, status int, text string) {
	s.t.Helper()
	assert.That(s.t, r.status == status && strings.Contains(r.body, text),
		"%s: %d %s, want %d with %s", about, r.status, r.body, status, text)
	assert.Lacks(s.t, about, r.body, s.vault, s.data, "no cache")
}

func (s *served) note() string {
	s.t.Helper()
	return string(read(s.t, filepath.Join(s.vault, "caching.md")))
}

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
	var ids []string
	for range 100 { // a question removes as much as it has time for, which on a busy machine may be nothing
		s.sibyl(t, "", "ask", "--config", s.config, "Add a note to caching.md that we use no cache", "--vault", s.vault)
		if ids = s.writes("ada"); len(ids) == 1 {
			break
		}
	}
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
