package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/cli"
)

// onWords calls do once it was given the words.
type onWords struct {
	bytes.Buffer
	words string
	do    func()
}

func (w *onWords) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if w.do != nil && strings.Contains(w.String(), w.words) {
		w.do()
		w.do = nil
	}
	return n, err
}

// broken is a part that ends the connection in its place.
const broken = "broken"

// pipedTurns serves a model that says the parts of its turns one after another. After each part it waits until more may
// come, at most ten seconds.
func pipedTurns(t *testing.T, turns ...[]string) (address string, goOn func()) {
	more := make(chan struct{}, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || len(turns) == 0 {
			http.NotFound(w, r)
			return
		}
		parts := turns[0]
		turns = turns[1:]
		w.Header().Set("Content-Type", "text/event-stream")
		for i, part := range parts {
			if i > 0 {
				select {
				case <-more:
				case <-r.Context().Done():
					return
				case <-time.After(10 * time.Second):
					t.Error("no more was asked for within 10 s")
					return
				}
			}
			if part == broken {
				panic(http.ErrAbortHandler)
			}
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", arguments(part))
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	return server.URL, func() { more <- struct{}{} }
}

// askPiped asks where no tool is offered, with standard output no terminal.
func askPiped(t *testing.T, address string, out io.Writer, args ...string) (code int, stderr string) {
	home := t.TempDir()
	t.Chdir(home)
	config := filepath.Join(home, "config.yaml")
	settings := "providers: {lab: {base_url: '" + address + "/v1'}}\nmodel: lab:m\n"
	assert.NoError(t, os.WriteFile(config, []byte(settings), 0o600))
	var errs bytes.Buffer
	code = cli.Main(t.Context(), cli.Program{Build: "test"},
		append([]string{"--config", config, "ask", "--no-web"}, args...),
		[]string{"HOME=" + home, "SIBYL_DATA=" + home, "SIBYL_KEYS=file", "OLLAMA_HOST=127.0.0.1:1"},
		cli.Streams{In: strings.NewReader(""), Out: out, Err: &errs})
	return code, errs.String()
}

func TestPipedAnswerComesLineByLine(t *testing.T) {
	for begins, lines := range map[string]string{
		"Good morning\nis bonjour.\nGood":          "Good morning\nis bonjour.\n",
		"\n\n  Good morning\r\n is bonjour.\nGood": "Good morning\n is bonjour.\n",
	} {
		address, goOn := pipedTurns(t, []string{begins, " night\nis bonne nuit."})
		out := &onWords{words: lines, do: goOn}
		code, errs := askPiped(t, address, out, "Translate good morning and good night into French.")
		assert.That(t, code == cli.ExitAnswered, "exit %d: %s", code, errs)
		assert.Equal(t, out.String(), lines+"Good night\nis bonne nuit.\n")
	}
}

func TestPipedAnswerThatIsReplacedIsToldAndFollows(t *testing.T) {
	address, goOn := pipedTurns(t, []string{"I will look.\nThen I", broken}, []string{"It is bonjour."})
	out := &onWords{words: "I will look.\n", do: goOn}
	code, errs := askPiped(t, address, out, "-q", "Translate good morning into French.")
	assert.That(t, code == cli.ExitAnswered && strings.Contains(errs, "the text so far is not the answer"), "exit %d: %s", code,
		errs)
	assert.Equal(t, out.String(), "I will look.\nIt is bonjour.\n")
}

func TestPipedAnswerAsJSONOrCodeComesWhole(t *testing.T) {
	for _, flag := range []string{"--json", "--code"} {
		address, goOn := pipedTurns(t, []string{"It is\nthis:\n\n```\nx\n```\n\nSo"})
		goOn()
		out := &onWords{}
		_, errs := askPiped(t, address, out, flag, "Translate x into y.")
		assert.That(t, !strings.HasPrefix(out.String(), "It is"), "%s: %s%s", flag, out.String(), errs)
	}
}
