package cli

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// ollamaWith is an Ollama that has models.
func ollamaWith(t *testing.T, names ...string) string {
	t.Helper()
	return newScriptedOllama(t, names...).URL
}

// newHome is a home folder with notes in it, and a project that is none.
func newHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{"texts/notes/.obsidian/app.json", "texts/notes/one.md", "texts/notes/two.md",
		"code/.git/HEAD", "code/docs/1.md", "code/docs/2.md", "code/docs/3.md", "code/docs/4.md", "code/docs/5.md",
		"mixed/a.md", "mixed/b.txt"} {
		write(t, filepath.Join(home, name), "text\n")
	}
	return home
}

func write(t *testing.T, path, text string) {
	t.Helper()
	assert.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// initAt calls ‘sibyl init’ as at a terminal where somebody types, and returns all that is on the screen.
func initAt(t *testing.T, home, ollama, typed string, args ...string) (code int, screen string) {
	t.Helper()
	return initOn(t.Context(), at80, home, ollama, typed, args...)
}

// at80 is a terminal of 80 columns.
var at80 = Streams{InTTY: true, OutTTY: true, ErrTTY: true, Width: 80}

// initOn calls ‘sibyl init’ on a terminal, or where there is none.
func initOn(
	ctx context.Context, s Streams, home, ollama, typed string, args ...string,
) (code int, screen string) {
	var shown bytes.Buffer
	s.In, s.Out, s.Err = strings.NewReader(typed), &shown, &shown
	code = Main(ctx, Program{Build: "test"}, append([]string{"init"}, args...),
		[]string{"HOME=" + home, "SIBYL_DATA=" + filepath.Join(home, "sessions"), "SIBYL_KEYS=file", "OLLAMA_HOST=" +
			ollama, "PATH="}, s)
	return code, testLine.ReplaceAllString(strings.ReplaceAll(shown.String(), home, "HOME"), "answered in N.N s")
}

func settingsIn(t *testing.T, home string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, ".config", "sibyl", "config.yaml"))
	if os.IsNotExist(err) {
		return ""
	}
	assert.NoError(t, err)
	return strings.ReplaceAll(string(text), home, "HOME")
}

// testLine tells what the test of a model showed, however long it took.
var testLine = regexp.MustCompile(`answered in [0-9]\.[0-9] s`)

func TestInitIsReadAtEveryWidth(t *testing.T) {
	t.Setenv("PATH", "") // git is found, or not, as the machine has it
	names := []string{"llama3.1:8b", "qwen3:4b"}
	for i := range 9 {
		names = append(names, fmt.Sprintf("mistral-small:%d", i))
	}
	for _, width := range []int{60, 80, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			at := at80
			at.Width = width
			code, screen := initOn(t.Context(), at, newHome(t), ollamaWith(t, names...), "mis\n3\n\n\n")
			assert.That(t, code == ExitAnswered, "exit %d", code)
			for line := range strings.Lines(screen) {
				n := len([]rune(strings.TrimRight(line, "\n")))
				assert.That(t, n < width || strings.Contains(line, "HOME") || strings.Contains(line, "]: ") ||
					strings.Contains(line, "] "), "%d columns: %s", n, line)
			}
			golden(t, fmt.Sprintf("init.%d", width), screen)
		})
	}
}

func TestPickerIsReadAtEveryWidth(t *testing.T) {
	for _, width := range []int{60, 80, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			home, _ := endpointOf(t, "a-model-with-a-long-name-of-its-own-for-tools", "small", "small-instruct", "tiny",
				"e", "f", "g", "h", "i", "j", "k")
			_, _, errs := sibyl(t, home, Streams{In: strings.NewReader("small-\n"), InTTY: true, ErrTTY: true,
				Width: width}, nil, "ask", "-q", "--in", home, "How does it work?")
			screen, _, _ := strings.Cut(errs, "· saved")
			golden(t, fmt.Sprintf("picker.%d", width), screen)
		})
	}
}

func TestInitAsksNothingThatIsKnownAndThenWritesNothing(t *testing.T) {
	home, ollama := newHome(t), ollamaWith(t, "llama3.1:8b", "qwen3:4b")
	file := filepath.Join(home, ".config", "sibyl", "config.yaml")
	write(t, file, "# mine\nmodel: ollama:qwen3:4b # the small one\nmax_turns: 7\n")
	if code, screen := initAt(t, home, ollama, "\ny\n"); code != ExitAnswered ||
		strings.Contains(screen, "Which model") {
		t.Fatalf("exit %d: %s", code, screen)
	}
	want := "# mine\nmodel: ollama:qwen3:4b # the small one\nmax_turns: 7\nvault: HOME/texts/notes\n"
	if got := settingsIn(t, home); got != want {
		t.Fatal(cmp.Diff(want, got))
	}
	code, screen := initAt(t, home, ollama, "")
	assert.That(t, code == ExitAnswered && strings.HasSuffix(screen, "There is nothing to write.\n") &&
		settingsIn(t, home) == want, "exit %d: %s", code, screen)
}

func TestInitTakesNumbersPartsOfNamesAndPaths(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"2\n-\n\n", "model: ollama:qwen3:4b\n"},
		{"QWEN\n-\n\n", "model: ollama:qwen3:4b\n"},
		{"ollama\n2\n-\n\n", "model: ollama:qwen3:4b\n"},
		{"none\n~/code\ny\n", "vault: HOME/code\n"},
		{"none\n~/nowhere\n1\n\n", "vault: HOME/texts/notes\n"},
		{"mistral:large\n9\nollama:qwen3\n-\n\n", "model: ollama:qwen3:4b\n"},
		{"none\n-\n", ""},
		{"\n\nn\n", ""},
		{"\n\n", ""}, // and the end of the input before the last answer
		{"", ""},
	} {
		home := newHome(t)
		code, screen := initAt(t, home, ollamaWith(t, "llama3.1:8b", "qwen3:4b"), c.typed)
		got := settingsIn(t, home)
		assert.That(t, got == c.want, "%q: exit %d, %q, want %q: %s", c.typed, code, got, c.want, screen)
	}
}

func TestInitWithoutAPersonTakesTheFirstModelThatCallsATool(t *testing.T) {
	server := modeltest.NewServer(nil)
	defer server.Close()
	server.Models = []string{"a-plain", "b-silent", "c-tools", "d-tools"}
	server.Play(func(r modeltest.Request) modeltest.Answer {
		switch name := r.Model; {
		case strings.HasSuffix(name, "tools"):
			return modeltest.Answer{Calls: []model.ToolCall{{ID: "1", Name: "look_up", Arguments: `{"topic":"years"}`}}}
		case name == "b-silent":
			return modeltest.Answer{Fail: model.Invalid}
		}
		return modeltest.Answer{Chunks: []string{"366"}}
	})
	environ := []string{"OPENAI_BASE_URL=" + server.BaseURL + "/v1"}
	home := t.TempDir()
	code, out, errs := sibyl(t, home, Streams{}, environ, "init", "--yes")
	assert.That(t, code == ExitAnswered && strings.Contains(settingsIn(t, home), "model: openai:c-tools\n") &&
		strings.Contains(errs, "openai:a-plain called no tool") && strings.Contains(errs, "openai:b-silent does not answer"),
		"exit %d: %s%s", code, out, errs)
	for typed, want := range map[string]string{"a-pl\n\nd-\n-\n\n": "openai:d-tools", "a-pl\ny\n-\n\n": "openai:a-plain"} {
		home = t.TempDir()
		at := at80
		at.In = strings.NewReader(typed)
		_, out, errs = sibyl(t, home, at, environ, "init")
		assert.That(t, strings.Contains(settingsIn(t, home), "model: "+want+"\n") &&
			strings.Contains(out, "--  test"), "%q: %s%s", typed, out, errs)
	}
}

func TestInitThatIsNotAnsweredWritesNothingAndSaysSo(t *testing.T) {
	code, screen := initAt(t, newHome(t), ollamaWith(t, "llama3.1:8b"), "\n")
	assert.That(t, code == ExitStopped && strings.Contains(screen, "· nothing was written\n"), "exit %d: %s", code, screen)
}

func TestInitAsksForAModelThatAnswersWhereTheOneThatIsSetDoesNot(t *testing.T) {
	home := newHome(t)
	write(t, filepath.Join(home, ".config", "sibyl", "config.yaml"), "model: ollama:gone\nvault: /notes\n")
	code, screen := initAt(t, home, ollamaWith(t, "qwen3:4b"), "\n\n")
	assert.That(t, code == ExitAnswered && strings.Contains(screen, "ollama:gone is set, but ollama has no model gone"),
		"exit %d: %s", code, screen)
	assert.Equal(t, settingsIn(t, home), "model: ollama:qwen3:4b\nvault: /notes\n")
}

func TestInitShowsAFewOfManyModelsAndProposesNone(t *testing.T) {
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("big-%02d", i))
	}
	home := newHome(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"data":[{"id":"%s"}]}`, strings.Join(names, `"},{"id":"`))
	}))
	defer server.Close()
	write(t, filepath.Join(home, ".config", "sibyl", "config.yaml"), "providers:\n  work:\n    base_url: "+server.URL+
		"/v1\n    local: false\n")
	code, screen := initAt(t, home, "127.0.0.1:1", "\nbig-2\n3\n1\n\n")
	assert.That(t, code == ExitAnswered && strings.Contains(screen,
		"  9  work:big-08\n     and 21 more: type a part of the name\nNumber or name (or openai") &&
		!strings.Contains(screen, "have a key) ["), "exit %d: %s", code, screen)
	assert.That(t, strings.Contains(screen, "Questions about your notes will send passages of them to work.\n"),
		"%v", screen)
	got := settingsIn(t, home)
	assert.That(t, strings.Contains(got, "\nmodel: work:big-22\n"), "%v", got)
}

func TestInitWithoutATerminalAsksNothing(t *testing.T) {
	home := newHome(t)
	ollama := []string{"OLLAMA_HOST=" + ollamaWith(t, "llama3.1:8b", "qwen3:4b")}
	for _, c := range []struct {
		args []string
		code int
		says string
		want string
	}{
		{[]string{"init"}, ExitUsage, "use --yes, and say what you want", ""},
		{[]string{"init", "--yes", "--model", "ollama:gone"}, ExitUsage,
			"--model ollama:gone: ollama has no model gone", ""},
		{[]string{"init", "--yes", "--model", "openai:big"}, ExitUsage,
			"openai can't be used: not set up: set OPENAI_API_KEY", ""},
		{[]string{"init", "--yes", "--vault", filepath.Join(home, "nowhere")}, ExitUsage, "there is no folder", ""},
		{[]string{"init", "--yes"}, ExitAnswered, "", "model: ollama:llama3.1:8b\n"},
		{[]string{"init", "--yes"}, ExitAnswered, "", "model: ollama:llama3.1:8b\n"},
		{[]string{"init", "--yes", "-m", "ollama:qwen3:4b", "--vault", home + "/mixed"}, ExitAnswered, "",
			"model: ollama:qwen3:4b\nvault: HOME/mixed\n"},
	} {
		code, out, errs := sibyl(t, home, Streams{}, ollama, c.args...)
		if got := settingsIn(t, home); code != c.code || !strings.Contains(errs, c.says) || got != c.want {
			t.Errorf("%q: exit %d, settings %q: %s%s", c.args, code, got, out, errs)
		}
	}
}
