package config

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestSecretsOfServersAreKeptOutOfWhatIsShown(t *testing.T) {
	const file = "mcp:\n  servers:\n    a: {command: [x, --token, " + canary +
		"1], env: [TOKEN]}\n    b: {url: 'https://b.test', key_env: KEY}"
	cfg, lines, _ := explain(t, file, "TOKEN="+canary+"2", "KEY="+canary+"3")
	text, err := lines.YAML()
	assert.That(t, err == nil && !strings.Contains(string(text), canary), "shown, with error %v: %s", err, text)
	got := cfg.Redactor().String(canary + "2 " + canary + "3")
	assert.That(t, !strings.Contains(got, canary), "they are not redacted: %s", got)
}
