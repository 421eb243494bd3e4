package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

func TestEachChoiceOfASettingIsTaken(t *testing.T) {
	_, s := mustLoad(t, "providers: {work: {base_url: \"https://llm.test/v1\"}}")
	chosen := 0
	for _, h := range Hints([]string{"work"}, nil) {
		for _, text := range h.Choices {
			if h.Name == "providers.work.kind" && text != string(KindOpenAI) { // each has its own needs
				continue
			}
			chosen++
			_, err := Set(Options{Environ: s.environ, Home: s.home}, h.Name, []string{text}, nil)
			assert.That(t, err == nil, "%s %s: %v", h.Name, text, err)
		}
	}
	assert.That(t, chosen >= 20, "%d choices", chosen)
}

func TestHintsKnowModelsPathsAndLists(t *testing.T) {
	all := Hints([]string{"work"}, []string{"github"})
	of := func(name string) Hint {
		at := slices.IndexFunc(all, func(h Hint) bool { return h.Name == name })
		assert.Require(t, at >= 0, "%s has no hint", name)
		return all[at]
	}
	h := of("fallback.models")
	assert.That(t, h.Model && h.List && !h.Path, "%+v", h)
	h = of("vault")
	assert.That(t, h.Path && !h.Model && !h.List, "%+v", h)
	h = of("mcp.servers.github.private")
	assert.That(t, slices.Equal(h.Choices, []string{"true", "false"}), "%+v", h)
	of("providers.work.window")
}

func TestSecretsOfServersAreKeptOutOfWhatIsShown(t *testing.T) {
	const file = "mcp:\n  servers:\n    a: {command: [x, --token, " + canary +
		"1], env: [TOKEN]}\n    b: {url: 'https://b.test', key_env: KEY}"
	cfg, lines, _ := explain(t, file, "TOKEN="+canary+"2", "KEY="+canary+"3")
	text, err := lines.YAML()
	assert.That(t, err == nil && !strings.Contains(string(text), canary), "shown, with error %v: %s", err, text)
	got := cfg.Redactor().String(canary + "2 " + canary + "3")
	assert.That(t, !strings.Contains(got, canary), "they are not redacted: %s", got)
}

func TestPriceOfAModelIsThatOfTheNameThatFitsItBest(t *testing.T) {
	cfg, _ := mustLoad(t, `
models:
  currency: EUR
  prices:
    "*": {input: 1, output: 1}
    "a:b-*": {input: 2, cached: 0.5, output: 8}
    "a:b-*-mini": {input: 3, output: 4}
`)
	for model, want := range map[string]float64{"a:b-1": 1*2 + 1*0.5 + 8, "a:b-1-mini": 2*3 + 4, "x:b-1/c:d": 3,
		"a:b": 3, "a:b-mini": 1*2 + 1*0.5 + 8, "a:b-x-mini-y": 1*2 + 1*0.5 + 8} {
		got, known := cfg.Prices.Cost(model, 2e6, 1e6, 1e6)
		assert.That(t, known && got == want, "%s costs %v (known: %v), not %v", model, got, known, want)
	}
	_, known := (Prices{Models: map[string]Price{"a:b": {}}}).Cost("a:bc", 1, 0, 1)
	assert.That(t, !known && cfg.Prices.Currency == "EUR",
		"a name without a star fits another model, or the currency is %q", cfg.Prices.Currency)
}

func TestPublicPricesStandInWhereTheSettingsHaveNone(t *testing.T) {
	public := Prices{}.OrPublic()
	_, err := time.Parse(time.DateOnly, public.Public)
	assert.That(t, err == nil, "the table has no date: %v", err)
	for name, p := range public.Models {
		assert.That(t, p.Input > 0 && p.Output >= p.Input && p.Cached > 0 && p.Cached <= p.Input, "%s: %+v", name, p)
	}
	for model, known := range map[string]bool{"openai:gpt-5-nano": true, "openai:gpt-5-nano-2025-08-07": true,
		"openai:gpt-5-nano-audio": false, "ollama:gpt-5-nano": false} {
		_, found := public.Cost(model, 1, 0, 1)
		assert.That(t, found == known, "%s has a price: %t", model, found)
	}
	own := Prices{Currency: "EUR", Models: map[string]Price{"a:b": {}}}
	if got := own.OrPublic(); got.Currency != "EUR" || got.Public != "" || len(got.Models) != 1 {
		t.Errorf("prices of the settings are not taken as they are: %+v", got)
	}
}

func TestHeadersForTheCollectorComeFromTheEnvironment(t *testing.T) {
	cfg, _ := mustLoad(t, "", "OTEL_EXPORTER_OTLP_HEADERS= Authorization=Basic%20"+canary+"%3D , X-Team=a=b+c")
	assert.Same(t, map[string]string{"Authorization": "Basic " + canary + "=", "X-Team": "a=b+c"}, cfg.Telemetry.Header())
}

func TestHeadersForTheCollectorAreSecret(t *testing.T) {
	const variable = "OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer "
	cfg, lines, _ := explain(t, "", variable+canary)
	text, err := lines.YAML()
	assert.That(t, err == nil && !strings.Contains(string(text), canary), "shown, with error %v: %s", err, text)
	got := cfg.Redactor().String("sent: Bearer " + canary)
	assert.That(t, !strings.Contains(got, canary), "it is not redacted: %s", got)
	_, err = newSetup(t, "", variable+canary+"%zz").load()
	assert.That(t, err != nil && !strings.Contains(err.Error(), canary), "the error is %v", err)
}

func TestCommandIsShownWithoutItsCredentials(t *testing.T) {
	_, lines, _ := explain(t,
		`transcription: {command: [transcribe, --api-key, hunter2, --token=hunter3, --model, small, "{file}", sk-Zq8vT2nB7yH4mK9w1xR5c3Zq8vT2nB7y]}`)
	text, err := lines.YAML()
	assert.That(t, err == nil && !strings.Contains(string(text), "hunter") && !strings.Contains(string(text), "Zq8v"),
		"shown, with error %v: %s", err, text)
	assert.That(t, strings.Contains(string(text), `--model, small, '{file}'`), "not all that may be shown is: %s", text)
}

func TestTimeOfATranscriptionDependsOnWhereItIsMade(t *testing.T) {
	here, there := (Transcription{}).Limit(true), (Transcription{}).Limit(false)
	assert.That(t, here == time.Hour && there == 10*time.Minute, "%v here, %v elsewhere", here, there)
	set := (Transcription{Timeout: time.Minute})
	assert.That(t, set.Limit(true) == time.Minute && set.Limit(false) == time.Minute, "a time that is set does not win")
}

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
