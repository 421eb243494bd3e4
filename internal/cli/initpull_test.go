package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

// scriptedOllama is an Ollama that has models, loads others in the lines that a real one streams, and answers questions
// by a call of a tool.
type scriptedOllama struct {
	*httptest.Server
	mu     sync.Mutex
	names  []string
	pulled []string
	says   string        // where it is not empty, what is said of the loading
	stops  bool          // it loads half of a model, and waits for the client to go
	half   chan struct{} // closed then
	noTool bool
}

func newScriptedOllama(t *testing.T, names ...string) *scriptedOllama {
	t.Helper()
	o := &scriptedOllama{names: names, half: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/tags", o.list)
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"capabilities":["completion","tools"],"model_info":{"general.architecture":"q","q.context_length":32768}}`)
	})
	mux.HandleFunc("POST /api/chat", o.chat)
	mux.HandleFunc("POST /api/pull", o.pull)
	o.Server = httptest.NewServer(mux)
	t.Cleanup(o.Close)
	return o
}

func (o *scriptedOllama) list(w http.ResponseWriter, _ *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	models := []map[string]string{}
	for _, name := range o.names {
		models = append(models, map[string]string{"name": name, "model": name})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"models": models})
}

func (o *scriptedOllama) chat(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	message := `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look_up","arguments":{"topic":"leap year"}}}]}`
	if o.noTool {
		message = `{"role":"assistant","content":"366"}`
	}
	fmt.Fprintf(w, `{"model":"m","message":%s,"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":3}`+
		"\n", message)
}

func (o *scriptedOllama) pull(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Model string }
	_ = json.NewDecoder(r.Body).Decode(&asked)
	o.mu.Lock()
	o.pulled = append(o.pulled, asked.Model)
	o.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-ndjson")
	if o.says != "" {
		fmt.Fprint(w, o.says)
		return
	}
	fmt.Fprintln(w, `{"status":"pulling manifest"}`)
	if strings.Contains(asked.Model, "nothing") {
		fmt.Fprintln(w, `{"error":"pull model manifest: file does not exist"}`)
		return
	}
	fmt.Fprintln(w, `{"status":"pulling aa","digest":"sha256:aa","total":4000000000}`)
	fmt.Fprintln(w, `{"status":"pulling aa","digest":"sha256:aa","total":4000000000,"completed":2000000000}`)
	if o.stops {
		_ = http.NewResponseController(w).Flush()
		close(o.half)
		<-r.Context().Done()
		return
	}
	fmt.Fprintln(w, `{"status":"pulling aa","digest":"sha256:aa","total":4000000000,"completed":4000000000}`)
	fmt.Fprintln(w, `{"status":"pulling bb","digest":"sha256:bb","total":1000,"completed":1000}`)
	fmt.Fprintln(w, `{"status":"verifying sha256 digest"}`)
	o.mu.Lock()
	o.names = append(o.names, asked.Model)
	o.mu.Unlock()
	fmt.Fprintln(w, `{"status":"success"}`)
}

// initWith calls ‘sibyl init’ on a machine with 16 GB.
func initWith(t *testing.T, home, ollama, typed string, terminal bool, args ...string) (code int, screen string) {
	t.Helper()
	return initOn(t.Context(), Streams{InTTY: terminal, OutTTY: terminal, ErrTTY: terminal, Memory: 16e9}, home, ollama,
		typed, args...)
}

func TestInitLoadsALocalModelThatFitsTheMemory(t *testing.T) {
	home, ollama := newHome(t), newScriptedOllama(t)
	code, screen := initWith(t, home, ollama.URL, "\n\n-\n\n", true)
	for _, want := range []string{"No model is available.", "which has 16 GB of memory. ",
		"1 GB for each billion parameters, and 5 GB beside.", "  1  qwen3:8b         8 billion parameters\n",
		"Number, or any name that Ollama knows [1]: ", "qwen3:8b  [====", "100 %  4.0 GB of 4.0 GB",
		"ollama:qwen3:8b answered in", "calls tools", "  model: ollama:qwen3:8b\n", "Written."} {
		assert.That(t, strings.Contains(screen, want) || strings.Contains(strings.Join(strings.Fields(screen), " "), want),
			"%q is missing:\n%s", want, screen)
	}
	assert.That(t, !strings.Contains(screen, "gpt-oss:20b"), "a model that does not fit is offered:\n%s", screen)
	got := settingsIn(t, home)
	assert.That(t, code == ExitAnswered && got == "model: ollama:qwen3:8b\n", "exit %d, settings %q", code, got)
}

func TestModelsAreOfferedByTheMemoryThatTheirParametersAndAContextTake(t *testing.T) {
	for memory, want := range map[uint64]string{
		0: "gpt-oss:120b", 1e9: "", 6e9: "", 7e9: "qwen3:1.7b", 8e9: "llama3.2:3b", 9e9: "qwen3:4b", 13e9: "qwen3:8b",
		16e9:     "qwen3:8b",
		16 << 30: "qwen3:8b", 24e9: "qwen3:14b", 32e9: "gpt-oss:20b", 64e9: "qwen3:30b", 128e9: "gpt-oss:120b",
	} {
		got := ""
		if all := fitting(memory); len(all) > 0 {
			got = all[0].name
		}
		assert.That(t, got == want, "%d bytes: %q, not %q", memory, got, want)
	}
	for i, m := range localModels() {
		if _, size, _ := strings.Cut(m.name, ":"); size != fmt.Sprintf("%gb", m.billions) {
			t.Errorf("%s does not say that it has %g billion parameters", m.name, m.billions)
		}
		assert.That(t, i == 0 || m.billions < localModels()[i-1].billions, "%s is not smaller than the one before", m.name)
	}
}

func TestInitSaysThatNoLocalModelFitsASmallMachine(t *testing.T) {
	home, ollama := newHome(t), newScriptedOllama(t)
	_, screen := initOn(t.Context(), Streams{InTTY: true, Memory: 2e9}, home, ollama.URL, "local\nnone\n-\n")
	want := "this machine has 2 GB of memory, and qwen3:1.7b wants about 7 GB"
	assert.That(t, strings.Contains(screen, want) && len(ollama.pulled) == 0,
		"%q is missing, or %q was loaded:\n%s", want, ollama.pulled, screen)
}

func TestInitSaysWhatAModelWithoutToolsCantDo(t *testing.T) {
	home, ollama := newHome(t), newScriptedOllama(t, "plain:1b")
	ollama.noTool = true
	_, screen := initWith(t, home, ollama.URL, "", false, "--yes")
	assert.That(t, strings.Contains(screen, "ollama:plain:1b answered in") && strings.Contains(screen, "called no tool"),
		"%v", screen)
}

func TestInitWithoutATerminalLoadsAModelOnlyWherePullSaysSo(t *testing.T) {
	for _, c := range []struct {
		args   []string
		code   int
		says   string
		pulled string
		want   string
	}{
		{[]string{"--yes"}, ExitAnswered, "‘sibyl init --yes --pull’ loads qwen3:8b", "", ""},
		{[]string{"--yes", "--pull"}, ExitAnswered, "qwen3:8b: 50 % of 4.0 GB\n", "qwen3:8b",
			"model: ollama:qwen3:8b\n"},
		{[]string{"--yes", "--pull", "-m", "ollama:tiny:1b"}, ExitAnswered, "tiny:1b: 100 %", "tiny:1b",
			"model: ollama:tiny:1b\n"},
		{[]string{"--yes", "-m", "ollama:tiny:1b"}, ExitUsage, "--pull -m ollama:tiny:1b’ loads it", "", ""},
		{[]string{"--yes", "--pull", "-m", "ollama:nothing"}, ExitFailed, "file does not exist", "nothing", ""},
		{[]string{"--yes", "--pull", "-m", "openai:gpt"}, ExitUsage, "--pull loads models with Ollama", "", ""},
	} {
		home, ollama := newHome(t), newScriptedOllama(t)
		if c.args[len(c.args)-1] == "ollama:tiny:1b" && c.code == ExitUsage {
			ollama.names = []string{"other"}
		}
		code, screen := initWith(t, home, ollama.URL, "", false, c.args...)
		got := settingsIn(t, home)
		assert.That(t, code == c.code && strings.Contains(screen, c.says) && strings.Join(ollama.pulled, " ") == c.pulled &&
			got == c.want, "%q: exit %d, loaded %q, settings %q:\n%s", c.args, code, ollama.pulled, got, screen)
	}
}

func TestInitSaysHowOllamaIsInstalledWhereItDoesNotAnswer(t *testing.T) {
	t.Setenv("PATH", "")
	home := newHome(t)
	code, screen := initWith(t, home, "127.0.0.1:1", "local\n\nnone\n-\n", true)
	assert.That(t, code == ExitAnswered && strings.Count(screen, "https://ollama.com/download") == 2 &&
		settingsIn(t, home) == "", "exit %d:\n%s", code, screen)
	for system, want := range map[string]string{"linux": "curl ", "darwin": "brew ", "windows": "winget "} {
		assert.That(t, strings.HasPrefix(installLine(system), want), "%s: %s", system, installLine(system))
	}
}

func TestLoadingAModelStopsAtCtrlC(t *testing.T) {
	home, ollama := newHome(t), newScriptedOllama(t)
	ollama.stops = true
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		<-ollama.half
		stop()
	}()
	code, screen := initOn(ctx, Streams{Memory: 16e9}, home, ollama.URL, "", "--yes", "--pull")
	assert.That(t, code == ExitStopped && strings.Contains(screen, "‘sibyl init’ goes on from there") &&
		settingsIn(t, home) == "", "exit %d:\n%s", code, screen)
}

func TestServerThatCountsWronglyWhileItLoadsBreaksNothing(t *testing.T) {
	of := func(total, done string) string {
		return `{"status":"\u001b[2Jpulling","digest":"sha256:` + total + done + `","total":` + total +
			`,"completed":` + done + "}\n"
	}
	tooMany := &strings.Builder{}
	for n := range 2000 {
		tooMany.WriteString(of(fmt.Sprint(n+1), "1"))
	}
	for about, says := range map[string]string{
		"more than there is": of("10", "1000000"),
		"less than nothing":  of("10", "-1000000"),
		"beyond all numbers": of("9223372036854775807", "9223372036854775807") + of("9223372036854775806",
			"9223372036854775806"),
		"too many layers": tooMany.String(),
		"no end":          of("10", "5"),
		"no JSON":         "<html>",
	} {
		home, ollama := newHome(t), newScriptedOllama(t)
		ollama.says = says
		code, screen := initWith(t, home, ollama.URL, "", true, "--yes", "--pull")
		assert.That(t, code == ExitFailed && settingsIn(t, home) == "" && !strings.Contains(screen, "\x1b[2J"),
			"%s: exit %d:\n%q", about, code, screen)
	}
}

func TestBarTellsHowFarHowFastAndHowLong(t *testing.T) {
	at := model.PullProgress{Status: "pulling", Done: 2.2e9, Total: 5.2e9}
	for width, want := range map[int]string{
		80: "qwen3:8b  [==========              ]  42 %  2.2 GB of 5.2 GB  10 MB/s  5m0s left",
		40: "qwen3:8b  42 %  2.2 GB of 5.2 GB  10 M…",
	} {
		got := pulledLine("qwen3:8b", at, 100e6, 10*time.Second, width)
		assert.That(t, len([]rune(got)) <= width && strings.HasPrefix(got, want[:20]),
			"%d columns: %q, not %q", width, got, want)
	}
	assert.Equal(t, pulledLine("m", model.PullProgress{Status: "pulling manifest"}, 0, 0, 60), "m  pulling manifest")
}

func TestInitKeepsTheAddressThatThisShellAloneKnows(t *testing.T) {
	home := newHome(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/models") {
			fmt.Fprint(w, `{"data":[{"id":"only"}]}`)
			return
		}
		fmt.Fprint(w, `{"choices":[{"message":{"content":"366"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	}))
	defer server.Close()
	code, out, errs := sibyl(t, home, Streams{}, []string{"OLLAMA_HOST=127.0.0.1:1", "OPENAI_BASE_URL=" + server.URL +
		"/v1"}, "init", "--yes")
	want := "model: openai:only\nproviders:\n  openai:\n    base_url: " + server.URL + "/v1\n"
	got := settingsIn(t, home)
	assert.That(t, code == ExitAnswered && got == want, "exit %d, settings %q: %s%s", code, got, out, errs)
}
