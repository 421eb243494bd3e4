package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/cli"
)

// poison stands in what attacks bring, so that it can be seen where they arrive.
const poison = "POISON-7c1f"

// arguments is a value as JSON.
func arguments(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// report writes a signal with one field.
func report(kind, field, text string) string {
	return `<` + `signal type="` + kind + `"><` + field + `>` + text + `</` + field +
		`><confidence>0.8</confidence></` + `signal>`
}

// steering are the ways by which text steers a terminal: escape sequences, their one-byte forms, bells and titles, and
// what turns the direction of writing. Each has its poison in plain letters, which may be shown.
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

// ownSequences are those by which the program itself paints and takes back what it showed, and links of rendered
// Markdown.
var ownSequences = regexp.MustCompile("\x1b\\[[0-9;]*m|\r\x1b\\[[0-9]+A\x1b\\[J|\r\x1b\\[J|\r\x1b\\[K")

// links are those that the renderer makes of Markdown.
var links = regexp.MustCompile("\x1b\\]8;[^\x1b\x07]*(?:\x07|\x1b\\\\)")

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
		delta["content"] = s.first + report("need_turn", "reason", s.first+" look")
		delta["tool_calls"] = []any{map[string]any{"index": 0, "id": "call_1", "type": "function",
			"function": map[string]any{"name": "code_read", "arguments": `{"path":"poison.txt"}`}}}
	case s.echo:
		delta["content"] = heard + s.then + report("partial_answer", "missing", s.then)
	default:
		delta["content"] = s.then + report("partial_answer", "missing", s.then)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []map[string]any{{"index": 0, "delta": delta}, {"index": 0, "delta": map[string]any{},
		"finish_reason": finish}} {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", arguments(map[string]any{"model": "m", "choices": []any{choice}}))
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// terminal runs commands of the whole program on a terminal, one after another over the same data, and returns what was
// written.
func terminal(t *testing.T, s spoken, file string, commands ...[]string) string {
	t.Helper()
	code, notes, data := t.TempDir(), t.TempDir(), t.TempDir()
	assert.NoError(t, os.WriteFile(filepath.Join(code, "poison.txt"), []byte(file), 0o600))
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	environ := []string{"HOME=" + data, "SIBYL_DATA=" + filepath.Join(data, "data"), "OLLAMA_HOST=127.0.0.1:1",
		"OPENAI_BASE_URL=" + server.URL + "/v1", "OPENAI_MODEL=m", "FORCE_HYPERLINK=" + os.Getenv("FORCE_HYPERLINK")}
	var shown bytes.Buffer
	for _, args := range commands {
		if args[0] == "ask" {
			args = append(args, "--in", code, "--vault", notes)
		}
		cli.Main(t.Context(), cli.Program{Build: "test"}, args, environ,
			cli.Streams{In: strings.NewReader(""), Out: &shown, Err: &shown, OutTTY: true, ErrTTY: true, Width: 100,
				Height: 40})
	}
	return shown.String()
}

// inert checks that nothing on the screen steers it, and that the attack did arrive there.
func inert(t *testing.T, shown string) {
	t.Helper()
	assert.That(t, strings.Contains(shown, poison), "the attack did not arrive:\n%q", shown)
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
				inert(t, terminal(t, spoken{first: text, then: text}, "x", []string{"ask", asking},
					[]string{"ask", "--trace", asking},
					[]string{"explain", "last"}, []string{"session", "list"}, []string{"session", "show", "last"},
					[]string{"run", "list"}, []string{"audit", "last"}))
			})
			t.Run("in the question", func(t *testing.T) {
				inert(t, terminal(t, spoken{first: "a", then: "b"}, "x", []string{"ask", poison + text + asking},
					[]string{"explain", "last"},
					[]string{"session", "list"}, []string{"session", "show", "last"}, []string{"run", "list"},
					[]string{"audit", "last"}))
			})
			if name != "the direction" {
				t.Run("in an error of the provider", func(t *testing.T) {
					inert(t, terminal(t, spoken{fails: text}, "x", []string{"ask", asking}))
				})
			}
		})
	}
}

func TestEntitiesOfMarkdownDoNotSteerTheTerminal(t *testing.T) {
	for name, text := range map[string]string{
		"decimal": "&#27;[2J", "hexadecimal": "&#x1b;[2J", "upper case": "&#X1B;[2J", "without its end": "&#27[2J",
		"a title": "&#27;]0;x&#7;", "one byte": "&#xc2;&#155;2J",
		"direction": "&#8238;", "twice": "&amp;#27;[2J", "in a link": "[x](http://e.example/&#27;[2J)",
		"in code": "`&#27;[2J`", "in a table": "| a |\n|--|\n| &#27;[2J |",
		"in HTML": "<b>&#27;[2J</b>", "in the text of a picture": "![&#27;[2J](x)", "in a heading": "# &#27;[2J",
		"in a fence": "```\n&#27;[2J\n```"} {
		t.Run(name, func(t *testing.T) {
			shown := terminal(t, spoken{then: poison + "\n\n" + text + "\n\n"}, "x", []string{"ask", asking},
				[]string{"session", "show", "last"})
			inert(t, links.ReplaceAllString(shown, ""))
		})
	}
}

// Links of an answer are words on the screen of a terminal that is not known for links: no sequence makes one that can
// be clicked, whatever its scheme.
func TestLinksOfAnAnswerAreNoLinksOfTheTerminal(t *testing.T) {
	for _, link := range []string{"[x](javascript:alert(1))", "[x](https://e.example/)", "![x](data:text/html,x)",
		"<https://e.example/>", "[x][r]\n\n[r]: javascript:y"} {
		shown := terminal(t, spoken{then: poison + " " + link + "\n\n"}, "x", []string{"ask", asking},
			[]string{"session", "show", "last"})
		inert(t, shown)
		assert.That(t, !links.MatchString(shown), "%s became a link of the terminal: %q", link, shown)
	}
}

func TestTerminalThatLinksLeadsToTheWebAndToFilesThatThereAre(t *testing.T) {
	answer := poison + " [x](javascript:alert(1)) [y](https://e.example/) ![x](data:text/html,x) " +
		"[p](file:///etc/passwd) `poison.txt:1` `none.txt:1` \x1b]8;;file:///etc/passwd\x07\n\n"
	shown := terminal(t, spoken{then: answer}, "x", []string{"ask", asking})
	assert.Require(t, !links.MatchString(shown), "a terminal that is not known for it has links: %q", shown)
	t.Setenv("FORCE_HYPERLINK", "1")
	for _, link := range links.FindAllString(terminal(t, spoken{then: answer}, "x", []string{"ask", asking}), -1) {
		at := strings.TrimSuffix(strings.TrimPrefix(link, "\x1b]8;;"), "\x07")
		assert.That(t, at == "" || at == "https://e.example/" || (strings.HasPrefix(at, "file://") &&
			strings.HasSuffix(at, "/poison.txt")), "the terminal leads to %q", at)
	}
}

func TestExportHoldsNoPictureAndNoHTMLOfAStranger(t *testing.T) {
	answer := poison + " ![x](https://e.example/p.png?d=1) <" +
		"img src=https://e.example/q.png> [run](javascript:alert(1))\n\n"
	shown := terminal(t, spoken{then: answer}, "x", []string{"ask", asking + " ![q](https://e.example/r.png)"},
		[]string{"session", "export", "last"})
	_, export, found := strings.Cut(shown, "\nSession ")
	assert.Require(t, found && strings.Contains(export, poison), "there is no export:\n%s", shown)
	plain := strings.ReplaceAll(export, `\![`, "")
	assert.Lacks(t, "the export", plain, "![", "<"+"img", "[run](javascript")
}

func TestNothingButOwnSequencesReachesATerminal(t *testing.T) {
	for name, text := range steering() {
		for _, size := range []int{1, 3, 1000} {
			var shown bytes.Buffer
			w := cli.Calmed(&shown)
			for piece := range slices.Chunk([]byte("\x1b[1mä\x1b[22m"+text+"ß"), size) {
				assert.Must(w.Write(piece))(t)
			}
			rest := ownSequences.ReplaceAllString(shown.String(), "")
			at := steers.FindString(strings.ReplaceAll(rest, "\r", ""))
			assert.That(t, at == "" && strings.Contains(rest, "ä") && strings.HasSuffix(rest, "ß"),
				"%s, in pieces of %d bytes: %q is shown", name, size, shown.String())
		}
	}
}

func TestWhatIsWrittenForProgramsDoesNotSteerATerminal(t *testing.T) {
	for name, text := range steering() {
		t.Run(name, func(t *testing.T) {
			inert(t, terminal(t, spoken{first: text, then: text}, "x", []string{"ask", "--json", asking},
				[]string{"session", "export", "last"}, []string{"session", "show", "last", "--json"},
				[]string{"explain", "last", "--json"}, []string{"audit", "last", "--json"}))
			inert(t, terminal(t, spoken{fails: text}, "x", []string{"ask", asking}))
		})
	}
}
