package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sibyl/internal/agent"
	"sibyl/internal/bert/berttest"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// actor is a server of one of the four protocols. Whatever it speaks, its model follows the same part: what it says
// depends on the question and on what was said since, so that a repeated request gets the same reply.
type actor struct {
	*modeltest.Server
	name, mood string
}

// protocols are what an actor may speak, each with the end of the address that a setting takes.
func protocols() map[string]string {
	return map[string]string{"openai": "/v1", "anthropic": "", "gemini": "", "ollama": ""}
}

// moods are the ways in which an actor may fail every request. The one without a name fails none.
func moods() map[string]modeltest.Answer {
	return map[string]modeltest.Answer{
		"":         {},
		"busy":     {Fail: model.RateLimit, RetryAfter: 2 * time.Minute}, // longer than is waited for
		"broken":   {Fail: model.Server},
		"wrongkey": {Fail: model.Auth},
		"hanging":  {Break: modeltest.Hang},
	}
}

func newActor(name, protocol, mood string) (*actor, error) {
	if _, ok := protocols()[protocol]; !ok {
		return nil, fmt.Errorf("nobody speaks %q", protocol)
	}
	if _, ok := moods()[mood]; !ok {
		return nil, fmt.Errorf("there is no mood %q", mood)
	}
	a := &actor{Server: modeltest.NewServer(nil), name: name, mood: mood}
	a.Models, a.KeyRefused = []string{name}, moods()[mood].Fail == model.Auth
	a.Play(func(r modeltest.Request) modeltest.Answer {
		if strings.HasSuffix(r.Path, "/v1/messages") != (protocol == "anthropic") {
			// the server speaks every protocol, an actor one
			return modeltest.Answer{Raw: &modeltest.Raw{Status: http.StatusNotFound}}
		}
		s, err := sceneOf([]byte(r.Body))
		if err != nil {
			return modeltest.Answer{Fail: model.Invalid}
		}
		return a.part(s)
	})
	return a, nil
}

// requests counts those for an answer.
func (a *actor) requests() (n int) {
	for _, r := range a.Requests() {
		if r.Body != "" {
			n++
		}
	}
	return n
}

// scene is where a conversation stands.
type scene struct {
	question string
	results  int  // of tools
	replies  int  // of the model
	tools    bool // may be called
	texts    int  // to embed
}

// sceneOf reads a request of any of the protocols: what differs between them are names.
func sceneOf(body []byte) (s scene, err error) {
	type piece struct {
		Type, Text string
		Response   json.RawMessage `json:"functionResponse"`
	}
	type message struct {
		Role    string
		Content json.RawMessage
		Parts   []piece
	}
	var req struct {
		Messages, Contents []message
		Tools              []json.RawMessage
		Choice             json.RawMessage `json:"tool_choice"`
		Config             json.RawMessage `json:"toolConfig"`
		Input              json.RawMessage
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return s, err
	}
	var texts []string
	if json.Unmarshal(req.Input, &texts) == nil {
		s.texts = len(texts)
	}
	s.tools = len(req.Tools) > 0 && !strings.Contains(strings.ToLower(string(req.Choice)+string(req.Config)), `"none"`)
	for _, m := range append(req.Messages, req.Contents...) {
		text, pieces := "", m.Parts
		if json.Unmarshal(m.Content, &text) == nil {
			pieces = []piece{{Text: text}}
		} else if len(m.Content) > 0 {
			if err := json.Unmarshal(m.Content, &pieces); err != nil {
				return s, err
			}
		}
		if m.Role == "assistant" || m.Role == "model" {
			s.replies++
			continue
		}
		for _, p := range pieces {
			switch {
			case m.Role == "tool", p.Type == "tool_result", p.Response != nil:
				s.results++
			case m.Role == "user" && p.Text != "" && !strings.HasPrefix(p.Text, "[control]"):
				_, s.question = agent.SplitNote(p.Text)
				s.results, s.replies = 0, 0
			}
		}
	}
	return s, nil
}

func signalText(kind, fields, confidence string) string {
	return "<signal type=\"" + kind + "\">" + fields + "<confidence>" + confidence + "</confidence></signal>"
}

// part says what the model says.
func (a *actor) part(s scene) modeltest.Answer {
	if a.mood != "" {
		return moods()[a.mood]
	}
	if s.texts > 0 {
		return modeltest.Answer{Vectors: slices.Repeat([][]float32{{1, 0.5}}, s.texts)}
	}
	says := func(pieces ...string) modeltest.Answer {
		known := 4000 + 10*s.replies // of what was sent before
		return modeltest.Answer{Chunks: pieces, Usage: model.Usage{InputTokens: known + 900, CachedTokens: known,
			OutputTokens: 100}}
	}
	reads := func(path string) modeltest.Answer {
		answer := says()
		answer.Calls = []model.ToolCall{{ID: fmt.Sprintf("call_%d", s.replies), Name: "code_read",
			Arguments: fmt.Sprintf("{\"path\":%q}", path)}}
		return answer
	}
	about := func(word string) bool { return strings.Contains(s.question, word) }
	switch {
	case about("wait for me") && s.tools: // which only the baseline offers for thanks
		return modeltest.Answer{Break: modeltest.Hang}
	case about("wait for me"):
		return says("You are welcome. ", signalText("context_sufficient", "<sources_found>0</sources_found>", "0.9"))
	case about("never stop") && s.tools:
		return says(signalText("need_turn", fmt.Sprintf("<reason>step %d of many</reason>", s.replies), "0.8"))
	case about("same reason") && s.tools:
		return says(signalText("need_turn", "<reason>once more</reason>", "0.8"))
	case about("go round") && s.tools:
		return reads("greet.go")
	case about("as much as you can") && s.results > 0:
		answer := says("It greets: `greet.go:4`. ", signalText("context_sufficient", "<sources_found>1</sources_found>",
			"0.9"))
		answer.Usage.InputTokens = 1_229_467
		return answer
	case !s.tools:
		return says("All that I have. ", signalText("partial_answer", "<missing>the rest</missing>", "0.6"))
	case about("say nothing") && s.replies < 2:
		return reads("greet.go")
	case about("say nothing"):
		return says("I think that it greets. ")
	case about("unsure"):
		return says("Perhaps it greets. ", signalText("context_sufficient", "<sources_found>0</sources_found>", "0.1"))
	case about("which Greet"):
		return says("There are two. Which of them do you mean? ",
			signalText("stuck", "<attempted>[\"greet.go\"]</attempted><blocker>two of them</blocker>", "0.9"))
	case about("lost"):
		return says(signalText("stuck", "<attempted>[\"greet.go\"]</attempted><blocker>no such thing</blocker>", "0.9"))
	case s.results == 0:
		return reads("greet.go")
	}
	return says("It greets by name, says "+a.name+": `greet.go", ":4`. ", signalText("context_sufficient",
		"<sources_found>1</sources_found>", "0.9"))
}

// troupe is the actors of one story, and what runs in its background.
type troupe struct {
	actors  map[string]*actor
	stopped []*exec.Cmd
}

type troupeKey struct{}

func (t *troupe) Close() {
	for _, a := range t.actors {
		a.Close()
	}
}

func troupeOf(ts *testscript.TestScript) *troupe { return ts.Value(troupeKey{}).(*troupe) }

func (t *troupe) actor(ts *testscript.TestScript, variable string) *actor {
	a := t.actors[variable]
	if a == nil {
		ts.Fatalf("there is no %s: there are %s", variable, slices.Sorted(maps.Keys(t.actors)))
	}
	return a
}

// plays starts an actor and puts its address into a variable.
func plays(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: plays VARIABLE PROTOCOL MODEL [MOOD]")
	}
	a, err := newActor(args[2], args[1], strings.Join(args[3:], ""))
	ts.Check(err)
	troupeOf(ts).actors[args[0]] = a
	ts.Setenv(args[0], a.BaseURL+protocols()[args[1]])
}

// leaves ends an actor: nothing answers at its address.
func leaves(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: leaves VARIABLE")
	}
	troupeOf(ts).actor(ts, args[0]).Close()
}

// asked wants an actor to have been asked so often.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: asked VARIABLE TIMES")
	}
	if n := strconv.Itoa(troupeOf(ts).actor(ts, args[0]).requests()); n != args[1] {
		ts.Fatalf("%s was asked %s times, not %s", args[0], n, args[1])
	}
}

// interrupt presses Ctrl-C on what runs in the background once an actor lets it wait.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: interrupt VARIABLE")
	}
	t := troupeOf(ts)
	select {
	case <-t.actor(ts, args[0]).Hanging():
	case <-time.After(time.Minute):
		ts.Fatalf("nobody waits for %s", args[0])
	}
	t.stopped = slices.Clone(ts.BackgroundCmds())
	for _, cmd := range t.stopped {
		ts.Check(cmd.Process.Signal(os.Interrupt))
	}
}

// ended wants what was interrupted, and waited for, to have exited with this code.
func ended(ts *testscript.TestScript, neg bool, args []string) {
	t := troupeOf(ts)
	if neg || len(args) != 1 || len(t.stopped) == 0 {
		ts.Fatalf("usage, after interrupt and wait: ended CODE")
	}
	for _, cmd := range t.stopped {
		if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != args[0] {
			ts.Fatalf("it exits %s, not %s", got, args[0])
		}
	}
}

// classifier writes a BERT model, which goes by words: see berttest.
func classifier(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: classifier FOLDER classification|zero-shot")
	}
	ts.Check(berttest.Write(ts.MkAbs(args[0]), args[1]))
}

// childless wants no process that serves the classifier of a folder to be left.
func childless(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: childless FOLDER")
	}
	processes, err := os.ReadDir("/proc")
	ts.Check(err)
	for _, p := range processes {
		line, err := os.ReadFile("/proc/" + p.Name() + "/cmdline")
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			continue // no process, or no more
		}
		if strings.Contains(string(line), ts.MkAbs(args[0])) {
			ts.Fatalf("process %s is left: %q", p.Name(), line)
		}
	}
}
