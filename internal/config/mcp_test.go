package config

import (
	"strings"
	"testing"
)

func TestSecretsOfServersAreKeptOutOfWhatIsShown(t *testing.T) {
	const file = "mcp:\n  servers:\n    a: {command: [x, --token, " + canary +
		"1], env: [TOKEN]}\n    b: {url: 'https://b.test', key_env: KEY}"
	cfg, lines, _ := explain(t, file, "TOKEN="+canary+"2", "KEY="+canary+"3")
	text, err := lines.YAML()
	if err != nil || strings.Contains(string(text), canary) {
		t.Errorf("shown, with error %v: %s", err, text)
	}
	if got := cfg.Redactor().String(canary + "2 " + canary + "3"); strings.Contains(got, canary) {
		t.Errorf("they are not redacted: %s", got)
	}
}
