package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
)

// serving is a server whose settings file is changed, with an operator.
type serving struct {
	*trial
	ctx                  context.Context
	file, address, token string
	said                 *watched
}

// watched keeps what is written, for whoever waits for it.
type watched struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// until waits until something holds, at most a minute.
func (s *serving) until(what string, holds func() bool) {
	s.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		assert.Require(s, time.Now().Before(end), "%s does not come; the server says %s", what, s.said)
	}
}

// asks sends a request, and gives the status and the answer; status 0: nobody is there.
func (s *serving) asks(method, path, body string) (int, map[string]any) {
	s.Helper()
	req := assert.Must(http.NewRequestWithContext(s.ctx, method, s.address+path, strings.NewReader(body)))(s)
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = res.Body.Close() }()
	var all map[string]any
	_ = json.NewDecoder(res.Body).Decode(&all) // some answers are empty
	return res.StatusCode, all
}

// again has it start again, and gives what it says of its settings then.
func (s *serving) again() map[string]any {
	s.Helper()
	_, before := s.asks("GET", "/api/settings", "")
	code, told := s.asks("POST", "/api/settings/apply", "")
	assert.Require(s, code == http.StatusAccepted, "%d %v", code, told)
	var now map[string]any
	s.until("the server with its settings", func() bool {
		code, now = s.asks("GET", "/api/settings", "")
		return code == http.StatusOK && now["opened"] != before["opened"]
	})
	return now
}

// writes adds lines to the settings file.
func (s *serving) writes(settings string) {
	write(s.T, s.file, settings)
}

func TestServerStartsAgainAtItsAddressWithChangedSettingsOrThoseBeforeAndLosesNoRun(t *testing.T) {
	asked := make(chan string, 100)
	var held atomic.Bool // the first answer, which never ends
	model := modeltest.NewServer(t)
	model.Models = []string{"played"}
	model.Play(func(r modeltest.Request) modeltest.Answer {
		asked <- r.Body
		if held.CompareAndSwap(false, true) {
			return modeltest.Answer{Break: modeltest.Hang}
		}
		return modeltest.Answer{Chunks: []string{"Quokkas sing softly."}}
	})
	h := newTrial(t)
	s := &serving{trial: h, file: filepath.Join(h.home, "sibyl", "config.yaml"), said: &watched{}}
	base := fmt.Sprintf("model: played:played\nproviders:\n  played: {base_url: %q}\nserver:\n  grace: 0s\n", model.BaseURL+"/v1")
	s.writes(base)
	var token strings.Builder
	code := h.main(t.Context(), strings.NewReader(""), &token, io.Discard, "user", "add", "ops", "--scope", "operate")
	assert.Require(t, code == ExitAnswered, "no user")
	s.token = strings.TrimSpace(token.String())
	ctx, stop := context.WithCancel(t.Context())
	s.ctx = t.Context()
	read, out := io.Pipe()
	over := make(chan int, 1)
	go func() { over <- h.main(ctx, strings.NewReader(""), out, s.said, "serve", "--listen", "127.0.0.1:0") }()
	first := assert.Must(bufio.NewReader(read).ReadString('\n'))(t)
	go func() { _, _ = io.Copy(io.Discard, read) }()
	s.address = strings.TrimSpace(strings.TrimPrefix(first, "listening at"))

	code, begun := s.asks("POST", "/api/runs", `{"assistant":"oracle","words":"How do quokkas sing?"}`)
	assert.Require(t, code == http.StatusCreated, "%d %v", code, begun)
	s.until("the question to the model", func() bool { return len(asked) > 0 })
	body := <-asked
	assert.Lacks(t, "the question", body, "in verse")
	code, told := s.asks("PUT", "/api/settings/instructions", `{"text":"Answer in verse."}`)
	assert.Require(t, code == http.StatusOK, "%d %v", code, told)
	now := s.again()
	assert.That(t, now["pending"] == false && now["failed"] == nil, "it is set up as %v", now)
	s.until("the answer to what was asked before", func() bool {
		_, run := s.asks("GET", fmt.Sprint("/api/runs/", begun["run"]), "")
		return run["status"] == "done"
	})

	answers := func(about string) {
		t.Helper()
		for len(asked) > 0 {
			<-asked
		}
		code, told := s.asks("POST", "/api/ask", `{"question":"How do quokkas dance?"}`)
		assert.Require(t, code == http.StatusOK, "%s: %d %v", about, code, told)
		assert.Require(t, len(asked) > 0, "%s: no model was asked: %v", about, told)
		assert.Contains(t, "the question with "+about, <-asked, "Answer in verse.")
	}
	answers("the changed settings")

	for about, one := range map[string]struct{ settings, why string }{
		"settings that can't be opened": {base + "prompts: /nowhere/at/all\n", "/nowhere/at/all"},
		"settings that can't be served": {base + "  tls_cert: /nowhere/cert\n  tls_key: /nowhere/key\n", "/nowhere/cert"},
	} {
		s.writes(one.settings)
		now := s.again()
		assert.That(t, strings.Contains(fmt.Sprint(now["failed"]), one.why), "%s: %v", about, now["failed"])
		answers(about)
	}
	n := strings.Count(s.said.String(), "can't be used")
	s.writes("nothing: [\n")
	code, told = s.asks("POST", "/api/settings/apply", "")
	assert.Require(t, code == http.StatusAccepted, "%d %v", code, told)
	s.until("that a file can't be read", func() bool {
		return strings.Count(s.said.String(), "can't be used") > n
	})
	s.until("the server", func() bool { code, _ := s.asks("GET", "/api/me", ""); return code == http.StatusOK })
	answers("a file that can't be read")

	stop()
	assert.Equal(t, <-over, ExitAnswered)
	l, err := net.Listen("tcp", strings.TrimPrefix(s.address, "http://"))
	assert.Require(t, err == nil, "the port is not free: %v", err)
	assert.Nil(t, l.Close())
}
