package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

// typist is a screen that types an answer when it is asked. What it waits for is in the order of the questions.
type typist struct {
	shown   bytes.Buffer
	answers [][2]string // part of a question, and the answer
	say     func(text string)
}

func (w *typist) Write(text []byte) (int, error) {
	n, err := w.shown.Write(text)
	if len(w.answers) > 0 && strings.Contains(string(text), w.answers[0][0]) {
		answer := w.answers[0][1]
		w.answers = w.answers[1:]
		w.say(answer)
	}
	return n, err
}

func TestInitStoresAKeyOnlyWhereItWorks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "canary-key-right" {
			http.Error(w, `{"type":"error","error":{"type":"authentication_error","message":"wrong key"}}`,
				http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[{"id":"claude"}]}`)
	}))
	defer server.Close()
	person, program := newTerminal(t)
	home := newHome(t)
	typing := func(text string) {
		assert.That(t, echoes(t, program) != strings.HasPrefix(text, "canary"), "%q is shown, or not", text)
		fmt.Fprint(person, text+"\n")
	}
	screen := &typist{say: typing, answers: [][2]string{{"name of a provider", "anthropic"},
		{"will not be shown", "canary-key-wrong"}, {"name of a provider", "anthropic"},
		{"will not be shown", "canary-key-right"}, {"Number or name", ""}, {"Number or path", "-"},
		{"Write this?", "y"}}}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, errors.New("nobody answered a question"))
	defer cancel()
	code := Main(ctx, Program{Build: "test"}, []string{"init"},
		[]string{"HOME=" + home, "SIBYL_DATA=" + home + "/sessions", "SIBYL_KEYS=file", "OLLAMA_HOST=127.0.0.1:1",
			"ANTHROPIC_BASE_URL=" + server.URL},
		Streams{In: program, Out: screen, Err: screen, InTTY: true, OutTTY: true, ErrTTY: true})
	shown := screen.shown.String()
	assert.That(t, code == ExitAnswered && strings.Contains(shown, "· this key does not work: ") &&
		!strings.Contains(shown, "canary"), "exit %d: %s", code, shown)
	assert.Equal(t, settingsIn(t, home),
		"model: anthropic:claude\nproviders:\n  anthropic:\n    base_url: "+server.URL+"\n")
	code, out, errs := sibyl(t, home, Streams{}, []string{"ANTHROPIC_BASE_URL=" + server.URL}, "config", "test",
		"anthropic")
	assert.That(t, code == ExitAnswered, "exit %d: %s%s", code, out, errs)
}

func TestConfigEditIsOfferedAgainForWhatDoesNotHold(t *testing.T) {
	for answer, want := range map[string]string{"": "max_turns: 14\n", "n": "max_turns: 12\n"} {
		person, program := newTerminal(t)
		home := t.TempDir()
		write(t, filepath.Join(home, ".config", "sibyl", "config.yaml"), "max_turns: 12\n")
		editor := filepath.Join(home, "editor")
		write(t, editor, `text=$(cat "$1")
			case $text in *999*) text="max_turns: 14" ;; *) text="max_turns: 999" ;; esac
			echo "$text" >"$1"`)
		screen := &typist{answers: [][2]string{{"Edit it again?", answer}}, say: func(text string) {
			fmt.Fprint(person, text+"\n")
		}}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, errors.New("nobody answered a question"))
		code := Main(ctx, Program{Build: "test"}, []string{"config", "edit"},
			[]string{"HOME=" + home, "SIBYL_DATA=" + home + "/sessions", "SIBYL_KEYS=file",
				"EDITOR=sh " + editor, "PATH=" + os.Getenv("PATH")},
			Streams{In: program, Out: screen, Err: screen, InTTY: true, OutTTY: true, ErrTTY: true, Width: 200})
		cancel()
		if got := settingsIn(t, home); got != want || (code == ExitAnswered) != (answer == "") ||
			!strings.Contains(screen.shown.String(), "config.yaml:1: max_turns is \"999\"") {
			t.Errorf("%q: exit %d, %q: %s", answer, code, got, screen.shown.String())
		}
	}
}
