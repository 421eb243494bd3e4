package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const gateway = "providers: {gateway: {base_url: 'https://g.test/v1', "

func TestHeaderThatMayHoldASecretComesFromTheEnvironment(t *testing.T) {
	cfg, _ := mustLoad(t, gateway+"headers: {X-Team: search, X-Gateway-Token: $GATEWAY_TOKEN}}}",
		"GATEWAY_TOKEN="+canary)
	p := cfg.Providers["gateway"]
	got, err := p.Header()
	if diff := cmp.Diff(map[string]string{"X-Team": "search", "X-Gateway-Token": canary}, got); err != nil ||
		diff != "" {
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
	if got, err := cfg.Ollama.Header(); err == nil || !strings.Contains(err.Error(), "X-Gateway-Token") ||
		!strings.Contains(err.Error(), "GATEWAY_TOKEN, which is not set") {
		t.Errorf("got %v, %v", got, err)
	}
}
