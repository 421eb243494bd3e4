package config

import (
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

func TestVendorsComeFromTheEnvironmentAlone(t *testing.T) {
	const openAI, anthropic, gemini = "https://api.openai.com/v1", "https://api.anthropic.com",
		"https://generativelanguage.googleapis.com"
	key := func(variable, key string) KeySource { return KeySource{KeyEnv: variable, EnvKey: NewSecret(key)} }
	for _, c := range []struct {
		name, file string
		environ    []string
		want       map[string]Provider
	}{
		{"nothing", "", nil, map[string]Provider{}},
		{"key", "", []string{"OPENAI_API_KEY=key-0123456789"}, map[string]Provider{
			"openai": {Kind: KindOpenAI, BaseURL: openAI, KeySource: key("OPENAI_API_KEY", "key-0123456789")}}},
		{"model only", "", []string{"OPENAI_MODEL=m"}, map[string]Provider{
			"openai": {Kind: KindOpenAI, BaseURL: openAI, Model: "m", KeySource: key("OPENAI_API_KEY", "")}}},
		{"a server on this machine, without a key", "", []string{"OPENAI_BASE_URL=http://localhost:8000/v1"},
			map[string]Provider{
				"openai": {Kind: KindOpenAI, BaseURL: "http://localhost:8000/v1", Local: true}}},
		{"the file names another variable", "providers: {openai: {key_env: WORK_KEY}}",
			[]string{"OPENAI_API_KEY=key-0123456789", "WORK_KEY=work-0123456789"}, map[string]Provider{
				"openai": {Kind: KindOpenAI, BaseURL: openAI, KeySource: key("WORK_KEY", "work-0123456789")}}},
		{"Anthropic", "", []string{"ANTHROPIC_API_KEY=key-0123456789", "ANTHROPIC_MODEL=m",
			"ANTHROPIC_BASE_URL=https://proxy.test/"}, map[string]Provider{
			"anthropic": {Kind: KindAnthropic, BaseURL: "https://proxy.test", Model: "m",
				KeySource: key("ANTHROPIC_API_KEY", "key-0123456789")}}},
		{"Anthropic by its name in the file", "providers: {anthropic: {kind: anthropic}}", nil, map[string]Provider{
			"anthropic": {Kind: KindAnthropic, BaseURL: anthropic, KeySource: key("ANTHROPIC_API_KEY", "")}}},
		{"Gemini", "", []string{"GEMINI_API_KEY=key-0123456789", "GOOGLE_API_KEY=other-0123456789", "GEMINI_MODEL=m"},
			map[string]Provider{
				"gemini": {Kind: KindGemini, BaseURL: gemini, Model: "m", KeySource: key("GEMINI_API_KEY",
					"key-0123456789")}}},
		{"Gemini by Google's variable", "", []string{"GEMINI_API_KEY=", "GOOGLE_API_KEY=other-0123456789"},
			map[string]Provider{
				"gemini": {Kind: KindGemini, BaseURL: gemini, KeySource: key("GOOGLE_API_KEY", "other-0123456789")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, _ := mustLoad(t, c.file, c.environ...)
			assert.Same(t, c.want, cfg.Providers, bySecret)
		})
	}
}

func TestVendorsKeyIsNotSentToAnotherAddress(t *testing.T) {
	cfg, _ := mustLoad(t, "providers: {mine: {kind: anthropic, base_url: 'https://mine.test'}, other: {base_url: "+
		"'https://other.test/v1'}}",
		"ANTHROPIC_API_KEY=key-0123456789", "OPENAI_API_KEY=key-9876543210")
	for _, name := range []string{"mine", "other"} {
		from, by := cfg.KeyOrigin(name)
		assert.That(t, from == "", "%s has a key from the %s, %s", name, from, by)
	}
}

func TestModelThatMayHaveToBeLoadedHasMoreTimeToBegin(t *testing.T) {
	times := Timeouts{Start: 1, Silence: 2, LocalStart: 3, LocalSilence: 4}
	for want, p := range map[time.Duration]Provider{1: {Kind: KindOpenAI}, 3: {Kind: KindOllama}} {
		start, silence := times.Of(p)
		assert.That(t, start == want && silence == want+1, "%+v: %d and %d; want %d and %d", p, start, silence, want, want+1)
	}
	start, _ := times.Of(Provider{Kind: KindOpenAI, Local: true})
	assert.That(t, start == 3, "a local model: %d", start)
}
