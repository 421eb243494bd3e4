package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
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
