package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

const gateway = "providers: {gateway: {base_url: 'https://g.test/v1', "

func TestHeaderThatMayHoldASecretComesFromTheEnvironment(t *testing.T) {
	cfg, _ := mustLoad(t, gateway+"headers: {X-Team: search, X-Gateway-Token: $GATEWAY_TOKEN}}}",
		"GATEWAY_TOKEN="+canary)
	p := cfg.Providers["gateway"]
	got, err := p.Header()
	diff := cmp.Diff(map[string]string{"X-Team": "search", "X-Gateway-Token": canary}, got)
	assert.That(t, err == nil && diff == "", "%v %s", err, diff)
	shown := fmt.Sprintf("%+v %#v", cfg, cfg)
	assert.That(t, !strings.Contains(shown, canary), "the settings show it: %s", shown)
	text := cfg.Redactor().String("it was " + canary)
	assert.That(t, !strings.Contains(text, canary), "it is not redacted: %s", text)
}

func TestHeaderOfAVariableThatIsNotSetIsAnErrorWhereItIsSent(t *testing.T) {
	cfg, _ := mustLoad(t, "ollama: {headers: {X-Gateway-Token: $GATEWAY_TOKEN}}")
	got, err := cfg.Ollama.Header()
	assert.That(t, err != nil && strings.Contains(err.Error(), "X-Gateway-Token") &&
		strings.Contains(err.Error(), "GATEWAY_TOKEN, which is not set"), "got %v, %v", got, err)
}
