package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// endpointOf is a home whose settings name an endpoint that lists models, and answers no question.
func endpointOf(t *testing.T, names ...string) (home, settings string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			http.Error(w, `{"error":{"message":"no such thing"}}`, http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"data":[{"id":"%s"}]}`, strings.Join(names, `"},{"id":"`))
	}))
	t.Cleanup(server.Close)
	home, settings = t.TempDir(), "model: work\nproviders:\n  work:\n    base_url: "+server.URL+"/v1\n"
	write(t, filepath.Join(home, ".config", "sibyl", "config.yaml"), settings)
	return home, settings
}

func TestAnEndpointWithSeveralModelsIsAskedAboutOnceAtATerminal(t *testing.T) {
	home, settings := endpointOf(t, "big", "small", "tiny")
	at := Streams{In: strings.NewReader("sma\n"), InTTY: true, ErrTTY: true}
	_, _, errs := sibyl(t, home, at, nil, "ask", "--in", home, "How does it work?")
	want := "Which model of work should answer?\n  1  big\n  2  small\n  3  tiny\nNumber " +
		"or name: · saved as providers.work.model in "
	assert.That(t, strings.Contains(errs, want) && strings.Contains(errs, "work:small"), "%s", errs)
	assert.Equal(t, settingsIn(t, home), settings+"    model: small\n")
	at.In = strings.NewReader("")
	_, _, errs = sibyl(t, home, at, nil, "ask", "--in", home, "How does it work?")
	assert.That(t, !strings.Contains(errs, "Which model") && strings.Contains(errs, "work:small"), "%v", errs)
}

func TestAnEndpointWithSeveralModelsIsAnErrorThatListsThemWhereNobodyChooses(t *testing.T) {
	home, settings := endpointOf(t, "a", "b", "c", "d", "e")
	for _, at := range []Streams{{}, {In: strings.NewReader("none of them\n"), InTTY: true, ErrTTY: true},
		{In: strings.NewReader(""), InTTY: true, ErrTTY: true}} {
		code, _, errs := sibyl(t, home, at, nil, "ask", "--in", home, "How does it work?")
		want := "work has 5 models (a, b, c, d, …): name one with -m work:a, or for all questions with ‘sibyl config " +
			"set providers.work.model a’; ‘sibyl models’ lists them\n"
		assert.That(t, code == ExitUsage && strings.HasSuffix(errs, want), "exit %d: %s", code, errs)
		assert.Equal(t, settingsIn(t, home), settings)
	}
}

func TestEveryCommandThatAsksAModelHasItChosenInTheSameWay(t *testing.T) {
	for name, args := range map[string][]string{
		"chat":        {"chat", "remind me to paint the bridge"},
		"council ask": {"council", "ask", "skeptic"},
		"investigate": {"investigate", "The bridge was closed.", "--limit", "5", "--witness", "offline:rules"},
	} {
		t.Run(name, func(t *testing.T) {
			home, settings := endpointOf(t, "big", "small")
			if code, _, errs := sibyl(t, home, Streams{}, nil, "council", "say",
				"Shall we paint the bridge?"); code != ExitAnswered {
				t.Fatal(errs)
			}
			_, _, errs := sibyl(t, home, Streams{In: strings.NewReader("2\n"), InTTY: true, ErrTTY: true}, nil, args...)
			assert.That(t, strings.Contains(errs, "Which model of work should answer?\n  1  big\n  2  small\n") &&
				settingsIn(t, home) == settings+"    model: small\n", "%s", errs)
			code, _, errs := sibyl(t, home, Streams{In: strings.NewReader("2\n"), InTTY: true}, nil,
				append(args, "--json")...)
			assert.That(t, !strings.Contains(errs, "Which model"), "exit %d, for a program: %s", code, errs)
		})
	}
}

func TestConversationOverTasksGoesOnWithTheLinesBehindAChoice(t *testing.T) {
	home, _ := endpointOf(t, "big", "small")
	_, _, errs := sibyl(t, home, Streams{In: strings.NewReader("show my tasks\nsmall\nshow my tasks again\n\n"),
		InTTY: true, ErrTTY: true}, nil, "chat")
	n := strings.Count(errs, "Which model")
	assert.That(t, n == 1 && strings.Count(errs, "> ") == 3, "asked %d times: %s", n, errs)
}

// sibyl runs a command line in a fresh home folder and returns its exit code and what it wrote.
func sibyl(t *testing.T, home string, s Streams, environ []string, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if s.In == nil {
		s.In = strings.NewReader("")
	}
	s.Out, s.Err = &stdout, &stderr
	environ = append([]string{"HOME=" + home, "SIBYL_DATA=" + filepath.Join(home, "sessions"), "SIBYL_KEYS=file",
		"OLLAMA_HOST=127.0.0.1:1"}, environ...)
	code = Main(t.Context(), Program{Build: "test"}, args, environ, s)
	return code, stdout.String(), stderr.String()
}

func TestConfigTestAsksTheSearchServerForOneResult(t *testing.T) {
	asked := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Query().Get("q")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"results":[{"title":"a","url":"https://a.test"},{"title":"b","url":"https://b.test"}]}`)
	}))
	defer server.Close()
	code, out, stderr := sibyl(t, t.TempDir(), Streams{}, []string{"SIBYL_SEARXNG_URL=" + server.URL}, "config",
		"test", "web")
	assert.That(t, code == ExitAnswered && strings.HasPrefix(out, "ok  web") &&
		strings.Contains(out, "searxng gave 1 result\n"), "exit %d: %s%s", code, out, stderr)
	assert.That(t, <-asked != "", "nothing was searched for")
}

// A client's settings name either a program that answers, or an address and a token.
func TestSettingsOfClientsInTheDocsWork(t *testing.T) {
	text := assert.Must(os.ReadFile("../../docs/mcp.md"))(t)
	started, asked := 0, 0
	for _, block := range strings.Split(string(text), "```json\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		type server struct {
			Command, URL string
			Args         []string
			Headers      map[string]string
		}
		var settings struct {
			MCPServers, Servers map[string]server
		}
		err := json.Unmarshal([]byte(block), &settings)
		assert.Require(t, err == nil, "%s\n%v", block, err)
		s := settings.Servers["sibyl"]
		if settings.MCPServers != nil {
			s = settings.MCPServers["sibyl"]
		}
		switch {
		case s.Command == "sibyl":
			started++
			out, errs := &bytes.Buffer{}, &bytes.Buffer{}
			home := t.TempDir()
			code := Main(t.Context(), Program{Build: "test"}, append(s.Args, "--data", home),
				[]string{"HOME=" + home, "XDG_CONFIG_HOME=" + home}, Streams{Out: out, Err: errs,
					In: strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n")})
			assert.That(t, code == ExitAnswered && strings.Contains(out.String(), `"serverInfo":{"name":"sibyl"`) &&
				errs.Len() == 0, "%v: %d %s %s", s.Args, code, out, errs)
		case s.URL == "http://127.0.0.1:7333/mcp" && strings.HasPrefix(s.Headers["Authorization"], "Bearer $"):
			asked++
		default:
			t.Errorf("these settings name no server:\n%s", block)
		}
	}
	assert.That(t, started >= 2 && asked >= 3, "%d settings start a program, and %d name an address", started, asked)
}

// An inquiry that a program begins over standard streams is not lost when its input ends.
func TestInquiryBegunOverStandardStreamsGoesOnAfterTheirEnd(t *testing.T) {
	home, papers := t.TempDir(), filepath.Join(t.TempDir(), "papers")
	write(t, filepath.Join(papers, "bridge.txt"),
		"The Oder bridge was closed on 3 May 2021. It was closed because of corrosion.\n")
	run := func(in string, args ...string) (int, string, string) {
		out, errs := &bytes.Buffer{}, &bytes.Buffer{}
		code := Main(t.Context(), Program{Build: "test"}, append(args, "--data", home),
			[]string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "SIBYL_MODEL=offline"},
			Streams{Out: out, Err: errs, In: strings.NewReader(in)})
		return code, out.String(), errs.String()
	}
	code, out, errs := run(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"investigate","arguments":{"hypothesis":"The bridge was closed because of corrosion","witness":"papers","limit":5}}}`+"\n", "mcp", "--documents", papers)
	assert.Require(t, code == ExitAnswered && strings.Contains(out, `"success":true`) && !strings.Contains(out, papers) &&
		errs == "", "%d %s %s", code, out, errs)
	var all []struct{ ID, Status, Run string }
	list := func() string {
		_, out, errs := run("", "inquiry", "list", "--json")
		err := json.Unmarshal([]byte(out), &all)
		assert.Require(t, err == nil && len(all) == 1, "%v in %s %s", err, out, errs)
		return all[0].Status
	}
	if list() == "running" { // it was left in the middle
		_, out, errs := run("", "run", "resume", all[0].Run)
		assert.Require(t, list() != "running", "resumed, it goes on: %s %s", out, errs)
	}
	status := list()
	assert.That(t, status == "completed" || status == "limit-reached", "it ended as %s", status)
	for wrong, why := range map[string]string{papers + "-gone": "--documents: there is no folder",
		filepath.Join(papers, "bridge.txt"): "is not a folder"} {
		code, _, errs := run("", "mcp", "--documents", wrong)
		assert.That(t, code == ExitUsage && strings.Contains(errs, why), "%s: %d %s", wrong, code, errs)
	}
}
