package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/config"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
)

// The trial assistant, whole: its options, its leaf, its description and its tree.

type riddleOptions struct {
	Tone  string `json:"tone,omitempty" enum:"kind,dark" doc:"how it sounds"`
	Lines int    `json:"lines,omitempty" flag:",l" min:"1" max:"9" default:"2" doc:"lines at most"`
}

type riddleGiven struct {
	Words string `port:"words"`
	Tone  string `port:"tone"`
	Lines int    `port:"lines"`
}

type riddleMade struct {
	Answer string `port:"answer,optional"`
}

func riddle(journal.Store) ([]*assistant.Assistant, error) {
	leaves, ports, err := bt.Declare[riddleGiven, riddleMade](bt.Func("Riddle", "makes a riddle",
		func(i riddleGiven, o *riddleMade) error {
			o.Answer = fmt.Sprintf("A %s riddle of %d lines about %s.", i.Tone, i.Lines, i.Words)
			return nil
		}))
	made := &run.Assistant{Name: "riddle", Leaves: leaves, Options: ports,
		Open: func(context.Context, *run.View) (map[string]run.Performer, func(), error) { return nil, nil, nil },
		Outcome: func(_ *run.View, e run.Ending) run.Outcome {
			var m riddleMade
			e.Tree.Read(e.State, &m)
			return run.Outcome{Status: journal.Done, Reason: "made", Result: m}
		}}
	return []*assistant.Assistant{{
		Assistant: made, About: "makes riddles", Tree: "riddle", Options: schema.Of[riddleOptions](),
		Tool: &assistant.Tool{Name: "riddle", Title: "Make a riddle", Description: "Makes a riddle about something.",
			Words: "about", Waits: true},
		Begin: assistant.BeginWith(func(_ context.Context, r assistant.Request, o riddleOptions) (run.Spec, error) {
			return run.Spec{Title: r.Words, Given: riddleGiven{r.Words, o.Tone, o.Lines}}, nil
		}),
		Show: func(raw json.RawMessage) (s assistant.Shown, err error) {
			var m riddleMade
			err = json.Unmarshal(raw, &m)
			s.Answer = m.Answer
			return s, err
		}}}, err
}

const riddleTree = `<root BTCPP_format="4" main_tree_to_execute="Riddle"><BehaviorTree ID="Riddle">
	<Riddle words="{words}" tone="{tone}" lines="{lines}" answer="{answer}"/></BehaviorTree></root>`

// trial is the program with the trial assistant.
type trial struct {
	*testing.T
	home string
	also func(journal.Store) ([]*assistant.Assistant, error)
}

func newTrial(t *testing.T) *trial {
	h := &trial{t, t.TempDir(), riddle}
	write(t, filepath.Join(h.home, "riddle.xml"), riddleTree)
	return h
}

func (h *trial) main(ctx context.Context, in io.Reader, out, errs io.Writer, args ...string) int {
	environ := []string{"HOME=" + h.home, "XDG_CONFIG_HOME=" + h.home, "SIBYL_DATA=" + filepath.Join(h.home, "data"),
		"SIBYL_TREES=" + h.home}
	return Main(ctx, Program{Build: "test", Also: h.also}, args, environ, Streams{In: in, Out: out, Err: errs})
}

// says runs a command, and gives what it prints.
func (h *trial) says(code int, args ...string) string {
	h.Helper()
	var out bytes.Buffer
	got := h.main(h.Context(), strings.NewReader(""), &out, &out, args...)
	assert.That(h, got == code, "%v ends with %d, not %d: %s", args, got, code, &out)
	return out.String()
}

func (h *trial) has(about, text string, parts ...string) {
	h.Helper()
	assert.Contains(h, about, text, parts...)
}

func TestFifthAssistantIsThereForEveryWayInWithoutALineElsewhere(t *testing.T) {
	h := newTrial(t)
	h.has("the help", h.says(ExitAnswered, "riddle", "--help"), "Makes riddles", "--tone TONE", "how it sounds",
		"-l, --lines N", "--json", "--session", "--over-limit")
	h.has("the list of commands", h.says(ExitAnswered, "help", "all"), "riddle", "Makes riddles")
	h.has("completion", h.says(ExitAnswered, "__complete", "riddle", "--tone", ""), "kind", "dark")
	h.has("an answer", h.says(ExitAnswered, "riddle", "-q", "--tone", "dark", "a", "door"),
		"A dark riddle of 2 lines about a door.")
	h.has("an answer as JSON", h.says(ExitAnswered, "riddle", "-q", "--json", "-l", "9", "a door"),
		`"Answer":"A  riddle of 9 lines about a door."`)
	h.has("a wrong flag", h.says(ExitUsage, "riddle", "--lines", "10", "a door"), "--lines",
		"must be a whole number from 1 to 9")
	h.has("the list of runs", h.says(ExitAnswered, "run", "list"), "a door")

	var out bytes.Buffer
	h.main(t.Context(), strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"riddle","arguments":{"about":"tea","tone":"kind"}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"riddle","arguments":{"about":"tea","tone":"loud"}}}
`), &out, &out, "mcp")
	h.has("MCP", out.String(), `"name":"riddle"`,
		`"tone":{"type":"string","description":"how it sounds","enum":["kind","dark"]}`,
		"A kind riddle of 2 lines about tea.", "tone must be kind or dark")
}

func TestFifthAssistantIsServed(t *testing.T) {
	h := newTrial(t)
	var token bytes.Buffer
	code := h.main(t.Context(), strings.NewReader(""), &token, io.Discard, "user", "add", "ada")
	assert.Require(t, code == ExitAnswered, "no user")
	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	over := make(chan int)
	go func() {
		over <- h.main(ctx, strings.NewReader(""), write, io.Discard, "serve", "--listen", "127.0.0.1:0")
	}()
	first := assert.Must(bufio.NewReader(read).ReadString('\n'))(t)
	go func() { _, _ = io.Copy(io.Discard, read) }()
	address := strings.TrimSpace(strings.TrimPrefix(first, "listening at"))
	ask := func(method, path, body string) string {
		t.Helper()
		req := assert.Must(http.NewRequestWithContext(ctx, method, address+path, strings.NewReader(body)))(t)
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token.String()))
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		assert.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		all := assert.Must(io.ReadAll(res.Body))(t)
		return string(all)
	}
	h.has("the description of the API", ask("GET", "/openapi.json", ""), `"RiddleOptions"`, "how it sounds")
	h.has("the list of assistants, which the page has", ask("GET", "/api/assistants", ""), `"riddle"`, "makes riddles",
		"how it sounds")
	h.has("a wrong option", ask("POST", "/api/runs", `{"assistant":"riddle","words":"tea","options":{"tone":"loud"}}`),
		"Tone must be kind or dark")
	h.has("a run", ask("POST", "/api/runs", `{"assistant":"riddle","words":"tea","options":{"tone":"dark"}}`), `"run"`)
	stop()
	<-over
}

// An option of the Oracle is one line: whoever adds one sees it everywhere.
func TestEachOptionOfTheOracleIsAFlagAnOptionOfHTTPAndASetting(t *testing.T) {
	h := newTrial(t)
	help := h.says(ExitAnswered, "ask", "--help")
	settings := map[string]bool{}
	for _, hint := range config.Hints(nil, nil) {
		settings[hint.Name] = true
	}
	described := schema.Of[oracle.Options]()
	for _, f := range described.Fields {
		if name, _ := f.Flag(); name != "" {
			h.has("the help", help, "--"+name, f.Doc)
		}
		if f.Name != "" {
			h.has("the schema", string(described.JSON()), `"`+f.Name+`"`, f.Doc[:5])
		}
		path := f.Tag.Get("setting")
		assert.That(t, path == "" || settings[path], "there is no setting %s", path)
	}
}
