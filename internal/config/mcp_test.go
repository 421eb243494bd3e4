package config

import (
	"strings"
	"testing"
)

func TestServersThatCannotBeReachedAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"neither way":       {"a: {timeout: 5s}", "needs either a command or a url"},
		"both ways":         {"a: {command: [x], url: 'https://a.test'}", "needs either a command or a url"},
		"key of a command":  {"a: {command: [x], key_env: KEY}", "pass variables to a command with env"},
		"env of a url":      {"a: {url: 'https://a.test', env: [KEY]}", "for a url, use key_env"},
		"password in a url": {"a: {url: 'https://u:" + canary + "@a.test'}", "contains a user or password"},
		"value for a name":  {"a: {command: [x], env: ['" + canary + "']}", "must be the name of an environment variable"},
		"words as command":  {"a: {command: run it}", "takes a list, such as [npx"},
		"capital":           {"A: {command: [x]}", "may contain only lower-case letters"},
		"two underscores":   {"a__b: {command: [x]}", "single _"},
		"pin":               {"a: {command: [x], pin: abc}", "sha256: and 64 digits"},
		"time":              {"a: {command: [x], timeout: 2m}", "from 1s to 30s"},
		"wrong name":        {"a: {command: [x], tool: [y]}", "did you mean mcp.servers.a.tools?"},
	} {
		if _, err := newSetup(t, "mcp:\n  servers:\n    "+c.file).load(); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestSecretsOfServersAreKeptOutOfWhatIsShown(t *testing.T) {
	const file = "mcp:\n  servers:\n    a: {command: [x, --token, " + canary + "1], env: [TOKEN]}\n    b: {url: 'https://b.test', key_env: KEY}"
	cfg, lines, _ := explain(t, file, "TOKEN="+canary+"2", "KEY="+canary+"3")
	text, err := lines.YAML()
	if err != nil || strings.Contains(string(text), canary) {
		t.Errorf("shown, with error %v: %s", err, text)
	}
	if got := cfg.Redactor().String(canary + "2 " + canary + "3"); strings.Contains(got, canary) {
		t.Errorf("they are not redacted: %s", got)
	}
}

func TestKeyOfAServerCanBeStored(t *testing.T) {
	cfg := loadStored(t, "mcp: {servers: {wiki: {url: 'https://wiki.test'}, local: {command: [x]}}}", []string{"mcp.wiki"})
	if from, _ := cfg.KeyOrigin(MCPKeyName("wiki")); from != FromStore {
		t.Errorf("from %q", from)
	}
	if cfg.CheckKeyName("mcp.wiki") != nil || cfg.CheckKeyName("mcp.local") == nil {
		t.Errorf("keys can be stored for %v", cfg.KeyNames())
	}
}
