package oracle_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sibyl/internal/cli"
)

// steering are the ways by which text steers a terminal: escape sequences, their one-byte forms, bells and titles, and what turns
// the direction of writing. Each has its poison in plain letters, which may be shown.
func steering() map[string]string {
	return map[string]string{
		"clearing the screen":    "\x1b[2J\x1b[H" + poison,
		"the title":              "\x1b]0;" + poison + "\x07",
		"the clipboard":          "\x1b]52;c;" + poison + "\x1b\\",
		"a link":                 "\x1b]8;;http://evil.example\x1b\\" + poison + "\x1b]8;;\x1b\\",
		"the one-byte forms":     "\u009b2J\u009d0;" + poison + "\u009c\u0090q\u009c",
		"going back":             "\r" + poison + "\b\b\b",
		"the direction":          "\u202e" + poison + "\u2066\u2069\u200f",
		"a string to print":      "\x1bP" + poison + "\x1b\\\x05",
		"an unfinished sequence": poison + "\x1b[",
	}
}

// ownSequences are those by which the program itself paints and takes back what it showed, and links of rendered Markdown.
var ownSequences = regexp.MustCompile("\x1b\\[[0-9;]*m|\r\x1b\\[[0-9]+A\x1b\\[J|\r\x1b\\[J")

// steers finds what would steer a terminal.
var steers = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]")

// spoken is a server whose model says what a test wants.
type spoken struct {
	first, then string // what it says before and after a tool has answered; it calls code_read first if first is empty
	echo        bool   // it repeats what the tool said, too
	fails       string // it answers with this message of an error
}

func (s spoken) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.fails != "" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":`+arguments(s.fails)+`,"type":"invalid_request_error"}}`)
		return
	}
	var req struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	heard := ""
	for _, m := range req.Messages {
		if m.Role == "tool" {
			heard += m.Content
		}
	}
	delta, finish := map[string]any{}, "stop"
	switch {
	case heard == "":
		finish = "tool_calls"
		delta["content"] = s.first + needTurn(s.first+" look")
		delta["tool_calls"] = []any{map[string]any{"index": 0, "id": "call_1", "type": "function",
			"function": map[string]any{"name": "code_read", "arguments": `{"path":"poison.txt"}`}}}
	case s.echo:
		delta["content"] = heard + s.then + partial(s.then)
	default:
		delta["content"] = s.then + partial(s.then)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []map[string]any{{"index": 0, "delta": delta}, {"index": 0, "delta": map[string]any{}, "finish_reason": finish}} {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", arguments(map[string]any{"model": "m", "choices": []any{choice}}))
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// terminal runs commands of the whole program on a terminal, one after another over the same data, and returns what was written.
func terminal(t *testing.T, s spoken, file string, commands ...[]string) string {
	t.Helper()
	g := newGround(t)
	g.file("code/poison.txt", file)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	environ := []string{"HOME=" + g.dir, "SIBYL_DATA=" + filepath.Join(g.dir, "data"), "OLLAMA_HOST=127.0.0.1:1", "OPENAI_BASE_URL=" + server.URL + "/v1", "OPENAI_MODEL=m"}
	var shown bytes.Buffer
	for _, args := range commands {
		if args[0] == "ask" {
			args = append(args, "--in", g.code, "--vault", g.notes)
		}
		cli.Main(t.Context(), cli.Program{Build: "test"}, args, environ,
			cli.Streams{In: strings.NewReader(""), Out: &shown, Err: &shown, OutTTY: true, ErrTTY: true, Width: 100, Height: 40})
	}
	return shown.String()
}

// inert checks that nothing on the screen steers it, and that the attack did arrive there.
func inert(t *testing.T, shown string) {
	t.Helper()
	if !strings.Contains(shown, poison) {
		t.Errorf("the attack did not arrive:\n%q", shown)
	}
	rest := ownSequences.ReplaceAllString(shown, "")
	for _, at := range steers.FindAllStringIndex(rest, 3) {
		t.Errorf("the terminal is steered: %q", rest[max(0, at[0]-60):min(len(rest), at[1]+60)])
	}
}

// asking is the question of these tests.
const asking = "How does the function in poison.txt work?"

func TestNothingThatIsReadOrSaidSteersTheTerminal(t *testing.T) {
	for name, text := range steering() {
		t.Run(name, func(t *testing.T) {
			t.Run("in a file that the model repeats", func(t *testing.T) {
				inert(t, terminal(t, spoken{echo: true}, text, []string{"ask", asking}))
			})
			t.Run("in the words of the model", func(t *testing.T) {
				inert(t, terminal(t, spoken{first: text, then: text}, "x", []string{"ask", asking}, []string{"ask", "--trace", asking},
					[]string{"explain", "last"}, []string{"session", "list"}, []string{"session", "show", "last"}, []string{"run", "list"}, []string{"audit", "last"}))
			})
			t.Run("in the question", func(t *testing.T) {
				inert(t, terminal(t, spoken{first: "a", then: "b"}, "x", []string{"ask", poison + text + asking}, []string{"explain", "last"},
					[]string{"session", "list"}, []string{"session", "show", "last"}, []string{"run", "list"}, []string{"audit", "last"}))
			})
			if name != "the direction" {
				t.Run("in an error of the provider", func(t *testing.T) {
					inert(t, terminal(t, spoken{fails: text}, "x", []string{"ask", asking}))
				})
			}
		})
	}
}
