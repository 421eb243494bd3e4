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
	"testing"
	"time"

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
	assert.Require(s.t, r.status == http.StatusOK && strings.Contains(r.body, `"state":"satisfied"`),
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
