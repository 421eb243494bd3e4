package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const gateway = "providers: {gateway: {base_url: 'https://g.test/v1', "

func TestHeaderThatMayHoldASecretComesFromTheEnvironment(t *testing.T) {
	cfg, _ := mustLoad(t, gateway+"headers: {X-Team: search, X-Gateway-Token: $GATEWAY_TOKEN}}}", "GATEWAY_TOKEN="+canary)
	p := cfg.Providers["gateway"]
	got, err := p.Header()
	if diff := cmp.Diff(map[string]string{"X-Team": "search", "X-Gateway-Token": canary}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if shown := fmt.Sprintf("%+v %#v", cfg, cfg); strings.Contains(shown, canary) {
		t.Errorf("the settings show it: %s", shown)
	}
	if text := cfg.Redactor().String("it was " + canary); strings.Contains(text, canary) {
		t.Errorf("it is not redacted: %s", text)
	}
}

func TestHeaderOfAVariableThatIsNotSetIsAnErrorWhereItIsSent(t *testing.T) {
	cfg, _ := mustLoad(t, "ollama: {headers: {X-Gateway-Token: $GATEWAY_TOKEN}}")
	if got, err := cfg.Ollama.Header(); err == nil || !strings.Contains(err.Error(), "X-Gateway-Token") || !strings.Contains(err.Error(), "GATEWAY_TOKEN, which is not set") {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestSecretsAreRefusedInWhatIsSentWithRequests(t *testing.T) {
	keyLike := "sk-proj-" + strings.Repeat("c4n4ry", 8)
	for name, c := range map[string]struct{ file, says string }{
		"a header named like a key":       {"headers: {Api-Key: c4n4ry-of-a-key}", "$NAME here"},
		"authorization":                   {"headers: {Authorization: Basic c4n4ry-of-a-key}", "key_env or key_command"},
		"a cookie":                        {"headers: {Cookie: c4n4ry-of-a-key}", "$NAME here"},
		"what looks like a key":           {"headers: {X-Team: " + keyLike + "}", "looks like a key"},
		"a key behind the sign":           {"headers: {X-Team: $" + canary + "}", "name of an environment variable"},
		"no name of a header":             {"headers: {'X Team': a}", "not a valid header name"},
		"a header of two lines":           {"headers: {X-Team: \"a\\nb\"}", "one line"},
		"a header without a text":         {"headers: {X-Team: }", "one line"},
		"a header in parts":               {"headers: {X-Team: [a]}", "names and values"},
		"a text in place of headers":      {"headers: X-Team", "takes names and values, such as {X-Team"},
		"a key in the address":            {"query: {api_key: c4n4ry-of-a-key}", "key_env, key_command or headers"},
		"a field that looks like a key":   {"body: {x: {y: [" + keyLike + "]}}", "looks like a key"},
		"a field that JSON can't hold":    {"body: {x: .nan}", "not valid JSON"},
		"a field twice":                   {"body: {x: 1, x: 2}", "each name once"},
		"an effort that there is not":     {"think: hard", "on, off, low, medium or high"},
		"too little output":               {"max_output: 3", "from 256"},
		"a tiny window":                   {"window: 3", "from 1024"},
		"an API of another kind":          {"kind: gemini, api: chat", "only to the kind openai"},
		"keep_alive of another kind":      {"keep_alive: 5m", "only to the kind ollama"},
		"keep_alive without a unit":       {"kind: ollama, keep_alive: 5", "or forever"},
		"a report of another kind":        {"report: letter", "signals or tool"},
		"an API that there is not":        {"api: completions", "chat or responses"},
		"a list in place of names":        {"body: [a]", "takes names and values, such as {top_k"},
		"a name that is no text in query": {"query: {[a]: b}", "names and values"},
	} {
		_, err := newSetup(t, gateway+c.file+"}}").load()
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "c4n4ry") || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v; want it to say %q, and no secret", name, err, c.says)
		}
	}
}
