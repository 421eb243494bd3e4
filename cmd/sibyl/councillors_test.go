package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// councillors is an OpenAI-compatible server whose model plays every oracle and chair: who it is, it knows by the request alone, so that a
// repeated request gets the same reply.
type councillors struct {
	*httptest.Server
	hearing chan struct{} // has a value for each request that hangs

	mu   sync.Mutex
	sent []councilRequest
	open []func() // end what hangs
}

// councilRequest is what such a model looks at.
type councilRequest struct {
	Messages []struct{ Role, Content string }
}

func newCouncillors() *councillors {
	c := &councillors{hearing: make(chan struct{}, 100)}
	c.Server = httptest.NewServer(c)
	return c
}

// Close ends what hangs and then the server.
func (c *councillors) Close() {
	c.mu.Lock()
	for _, end := range c.open {
		end()
	}
	c.mu.Unlock()
	c.Server.Close()
}

// requests gives those that were for an answer.
func (c *councillors) requests() []councilRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sent)
}

func (c *councillors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var answer modeltest.Answer
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		var req councilRequest
		if err := json.Unmarshal(body, &req); err != nil || len(req.Messages) == 0 {
			http.Error(w, "what is asked?", http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		c.sent = append(c.sent, req)
		c.mu.Unlock()
		answer = req.answer()
	}
	s := modeltest.NewServer(nil, answer)
	s.Models = []string{"council"}
	defer s.Close()
	c.mu.Lock()
	c.open = append(c.open, s.Close)
	c.mu.Unlock()
	if answer.Break == modeltest.Hang {
		c.hearing <- struct{}{}
	}
	s.ServeHTTP(w, r)
}

// first is the first message of a role.
func (r councilRequest) first(role string) string {
	for _, m := range r.Messages {
		if m.Role == role {
			return m.Content
		}
	}
	return ""
}

// opinions are what the oracles of the stories answer.
var opinions = map[string]string{
	"Skeptic":    "The rent of 3000 euros is not proven. Opinion 2.",
	"Optimist":   "The new office brings light and people. Opinion 1.",
	"Pragmatist": "Ask the landlord for a shorter lease. Opinion 3.",
}

// answer is what the model says to a request.
func (r councilRequest) answer() modeltest.Answer {
	says := func(pieces ...string) modeltest.Answer {
		return modeltest.Answer{Chunks: pieces, Usage: model.Usage{InputTokens: 100, OutputTokens: 20}}
	}
	told, asked := r.first("system"), r.first("user")
	switch {
	case strings.Contains(told, "You preside"):
		return says(presided)
	case strings.Contains(told, "Give what they said a name"):
		return says(`{"name":"Office in Lisbon"}`)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(asked, "# "), "\n")
	switch name {
	case "Broken":
		return modeltest.Answer{Fail: model.Invalid}
	case "Silent":
		return modeltest.Answer{Chunks: []string{"I think "}, Break: modeltest.Hang}
	}
	opinion := opinions[name]
	if opinion == "" {
		opinion = "I am " + name + ". Opinion 9."
	}
	begun, rest, _ := strings.Cut(opinion, " ")
	return says(begun+" ", rest)
}

// presided is what a chair makes of the opinions of Skeptic and Optimist.
const presided = `{"sentences":[
	{"text":"The rent of 3000 euros is not proven.","by":[{"oracle":"Skeptic","words":"3000 euros is not proven"}],"minority":false},
	{"text":"The office brings light and people.","by":[{"oracle":"Optimist","words":"brings light and people"}],"minority":true},
	{"text":"Both can be checked in a week.","by":[],"minority":false},
	{"text":"Bananas ripen faster beside apples.","by":[{"oracle":"Skeptic","words":"ripen faster beside apples"}],"minority":false}],
	"agree":[{"text":"Both speak of the office.","by":[{"oracle":"Skeptic","words":"The rent of"},{"oracle":"Optimist","words":"The new office"}]}],
	"differ":[{"text":"One doubts, the other hopes.","by":[{"oracle":"Skeptic","words":"is not proven"},{"oracle":"Optimist","words":"light and people"}]}],
	"overlooked":["Nobody speaks of the commute."]}`

type councillorsKey struct{}

// convene starts councillors and has the program use them: convene [gone].
func convene(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: convene")
	}
	c := newCouncillors()
	ts.Defer(c.Close)
	ts.Value(councillorsKey{}).(*sittings).last = c
	ts.Setenv("OPENAI_BASE_URL", c.URL+"/v1")
	ts.Setenv("OPENAI_MODEL", "council")
}

// sittings are the councillors of one story.
type sittings struct{ last *councillors }

// told writes what a model was sent: told FILE [PATTERN]. With a pattern it is the last request that has it somewhere, else all.
func told(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: told FILE [PATTERN]")
	}
	var text strings.Builder
	for _, r := range ts.Value(councillorsKey{}).(*sittings).last.requests() {
		var one strings.Builder
		for _, m := range r.Messages {
			fmt.Fprintln(&one, strings.TrimRight(m.Content, "\n"))
		}
		if len(args) == 2 {
			if !regexp.MustCompile(args[1]).MatchString(one.String()) {
				continue
			}
			text.Reset()
		}
		text.WriteString(one.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text.String()), 0o600))
}

// hush presses Ctrl-C on what runs in the background once a councillor lets it wait.
func hush(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: hush")
	}
	t := troupeOf(ts)
	select {
	case <-ts.Value(councillorsKey{}).(*sittings).last.hearing:
	case <-time.After(time.Minute):
		ts.Fatalf("nobody waits for a councillor")
	}
	t.stopped = slices.Clone(ts.BackgroundCmds())
	for _, cmd := range t.stopped {
		ts.Check(cmd.Process.Signal(os.Interrupt))
	}
}
