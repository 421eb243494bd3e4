package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"sibyl/internal/behaviour/assert"
)

const canary = "canary-value-0123456789"

func TestSecretIsShownByNothingButReveal(t *testing.T) {
	cfg := Config{
		Web:       Web{Password: NewSecret(canary)},
		Providers: map[string]Provider{"a": {KeySource: KeySource{EnvKey: NewSecret(canary)}}},
	}
	nested := struct {
		P *Provider
		S []Secret
		M map[Secret]any
		I any
		u Secret
	}{&Provider{KeySource: KeySource{EnvKey: NewSecret(canary)}}, []Secret{NewSecret(canary)},
		map[Secret]any{NewSecret(canary): 1}, NewSecret(canary), NewSecret(canary)}
	var shown []string
	for _, v := range []any{NewSecret(canary), cfg, &cfg, nested, []any{cfg}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %v"} {
			if verb == "%T %v" {
				shown = append(shown, fmt.Sprintf(verb, v, v))
				continue
			}
			shown = append(shown, fmt.Sprintf(verb, v))
		}
		asJSON, err := json.Marshal(v)
		assert.Require(t, err == nil || strings.Contains(err.Error(), "unsupported type"), "%v", err)
		asYAML := assert.Must(yaml.Marshal(v))(t)
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v)
		shown = append(shown, string(asJSON), string(asYAML), log.String())
	}
	shown = append(shown, fmt.Errorf("wrapped: %w, %v", errors.New("x"), NewSecret(canary)).Error(),
		NewSecret(canary).String())
	for _, s := range shown {
		assert.That(t, !strings.Contains(s, "canary") && !strings.Contains(strings.ToLower(s), fmt.Sprintf("%x", "canary")),
			"shown: %s", s)
	}
	asJSON, _ := json.Marshal(NewSecret(canary))
	assert.That(t, string(asJSON) == `"[secret]"`, "as JSON: %s", asJSON)
	assert.That(t, NewSecret(canary).Reveal() == canary, "Reveal does not give the text")
}

// with is a Config with one provider, called a.
func with(k KeySource) Config {
	return Config{Providers: map[string]Provider{"a": {BaseURL: "https://api.test/v1", KeySource: k}}}
}

// shelf is a key store.
type shelf map[string]string

func (s shelf) Key(_ context.Context, name string) (Secret, error) { return NewSecret(s[name]), nil }

func TestKeyComesFromTheEnvironmentBeforeTheCommandBeforeTheStore(t *testing.T) {
	command := script(t, "echo of-the-command")
	for _, c := range []struct {
		source     KeySource
		want, from string
	}{
		{KeySource{EnvKey: NewSecret(canary), KeyEnv: "X", KeyCommand: command, Stored: true}, canary, FromEnvironment},
		{KeySource{KeyEnv: "X", KeyCommand: command, Stored: true}, "of-the-command", FromCommand},
		{KeySource{KeyEnv: "X", Stored: true}, "of-the-store", FromStore},
		{KeySource{Stored: true}, "of-the-store", FromStore},
		{KeySource{}, "", ""},
	} {
		cfg := with(c.source)
		key, err := cfg.Key(t.Context(), "a", shelf{"a": "of-the-store"})
		if from, _ := cfg.KeyOrigin("a"); err != nil || key.Reveal() != c.want || from != c.from {
			t.Errorf("key = %q from %q, error %v; want %q from %q", key.Reveal(), from, err, c.want, c.from)
		}
	}
}

func TestMissingKeySaysWhatToSet(t *testing.T) {
	_, err := with(KeySource{KeyEnv: "OPENAI_API_KEY"}).Key(t.Context(), "a", nil)
	assert.That(t, err != nil && strings.Contains(err.Error(), "set OPENAI_API_KEY") &&
		strings.Contains(err.Error(), "sibyl config set-key a"), "error = %v", err)
	unnamed := with(KeySource{KeyEnv: "a1b2c3d4e5f60718293a4b5c6d7e8f90"})
	_, err = unnamed.Key(t.Context(), "a", nil)
	assert.That(t, err != nil && strings.Contains(err.Error(), "https://api.test/v1") &&
		!strings.Contains(err.Error(), "a1b2c3"), "error = %v", err)
	unnamed.StoredProblem = errors.New("keys.age is damaged")
	_, err = unnamed.Key(t.Context(), "a", nil)
	assert.That(t, errors.Is(err, unnamed.StoredProblem), "with a store that can't be read: error = %v", err)
}

// script writes a program for /bin/sh and returns the command that runs it.
func script(t *testing.T, body string) []string {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("this system has no /bin/sh")
	}
	path := filepath.Join(t.TempDir(), "key.sh")
	assert.NoError(t, os.WriteFile(path, []byte(body), 0o600))
	return []string{"/bin/sh", path}
}

// endChild ends the process that a script left behind and noted in a file.
func endChild(t *testing.T, file string) {
	t.Helper()
	noted, err := os.ReadFile(file)
	if err != nil {
		return
	}
	var pid int
	assert.Must(fmt.Sscan(string(noted), &pid))(t)
	if child, err := os.FindProcess(pid); err == nil {
		_ = child.Kill()
	}
}

func TestKeyCommandPrintsTheKeyAndNothingOfItsOutputIsShown(t *testing.T) {
	for _, c := range []struct{ name, body, wrong string }{
		{"one line", "echo " + canary, ""},
		{"no line end", "printf %s " + canary, ""},
		{"line end of DOS", `printf '%s\r\n' ` + canary, ""},
		{"words on stderr", "echo warning >&2; echo " + canary, ""},
		{"a child left alive", "echo " + canary + "; sleep 60 & echo $! >" + "\"$0.pid\"", ""},
		{"its argument, without a shell", `test "$1" = '$(echo no); ` + canary + `' && echo ` + canary, ""},
		{"status", "echo " + canary + "; echo " + canary + " >&2; exit 3", "status 3"},
		{"nothing", "exit 0", "printed nothing"},
		{"only line ends", `printf '\n\n'`, "printed nothing"},
		{"two lines", "echo " + canary + "; echo " + canary, "more than one line"},
		{"control characters", `printf 'a\033[2J` + canary + `'`, "more than one line"},
		{"without end", "while :; do echo " + canary + "; done", "more than 65536 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := append(script(t, c.body), "$(echo no); "+canary)
			t.Cleanup(func() { endChild(t, command[1]+".pid") })
			key, err := with(KeySource{KeyCommand: command}).Key(t.Context(), "a", nil)
			switch {
			case c.wrong == "" && (err != nil || key.Reveal() != canary):
				t.Errorf("key = %q, error %v", key.Reveal(), err)
			case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong) ||
				strings.Contains(err.Error(), "canary") || key.Reveal() != ""):
				t.Errorf("key = %q, error = %v, want one with %q", key.Reveal(), err, c.wrong)
			}
		})
	}
	_, err := with(KeySource{KeyCommand: []string{"/no/such/program", canary}}).Key(t.Context(), "a", nil)
	assert.That(t, err != nil && strings.Contains(err.Error(), "/no/such/program") &&
		!strings.Contains(err.Error(), "canary"), "error = %v", err)
}

func TestKeyCommandThatHangsIsEnded(t *testing.T) {
	command := script(t, "exec sleep 60")
	_, err := runKeyCommand(t.Context(), command, 30*time.Millisecond)
	assert.That(t, errors.Is(err, context.DeadlineExceeded), "error = %v", err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = with(KeySource{KeyCommand: command}).Key(ctx, "a", nil)
	assert.That(t, errors.Is(err, context.Canceled), "error = %v", err)
}

func TestRedactorKnowsEverySecretOfTheSettings(t *testing.T) {
	cfg := Config{
		Web: Web{Password: NewSecret("password-of-the-search"), Brave: KeySource{EnvKey: NewSecret("key-of-brave-0")},
			Tavily: KeySource{EnvKey: NewSecret("key-of-tavily-0")}},
		Providers: map[string]Provider{"a": {KeySource: KeySource{EnvKey: NewSecret("key-of-a-01234")}},
			"b": {KeySource: KeySource{EnvKey: NewSecret("key-of-b-01234")}}, "c": {}},
	}
	got := cfg.Redactor(NewSecret("key-of-a-command")).String(
		"password-of-the-search, key-of-brave-0, key-of-tavily-0, key-of-a-01234, key-of-b-01234, key-of-a-command, words")
	want := "[redacted], [redacted], [redacted], [redacted], [redacted], [redacted], words"
	assert.That(t, got == want, "got %q", got)
}
