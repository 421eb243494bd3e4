package config

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

const (
	longKey  = "canary-key-0123456789"
	goodFile = `model: openai:gpt-4o
ollama:
  host: 127.0.0.1:11434
fallback:
  models: [openai:gpt-4o, anthropic:claude]
timeouts: {start: 15s, silence: 2m, local_start: 6m, local_silence: 15s}
inquiry: {limit: 5, witness: "ollama:llama2"}
providers:
  openai: {model: gpt-4o}
  anthropic: {model: claude}
`
)

func goodKeys() []string {
	return []string{"OPENAI_API_KEY=" + longKey, "ANTHROPIC_API_KEY=" + longKey}
}

func noKeyToRead(Config, string) (Secret, error) {
	return Secret{}, errors.New("nobody reads keys here")
}

func checked(t *testing.T, file string, environ ...string) (Checked, setup) {
	t.Helper()
	s := newSetup(t, file, slices.Clone(environ)...)
	found := assert.Must(Check(Options{Environ: s.environ, Home: s.home}, noKeyToRead))(t)
	return found, s
}

// broken lists the rules that do not hold.
func broken(c Checked) (names []string) {
	for _, r := range c.Rules {
		if r.Outcome != RuleHolds {
			names = append(names, r.Name)
		}
	}
	return names
}

func violationsOf(c Checked, rule string) []Violation {
	i := slices.IndexFunc(c.Rules, func(r Rule) bool { return r.Name == rule })
	return c.Rules[i].Violations
}

func TestAFileThatKeepsAllRulesOfTheRequirementIsFound(t *testing.T) {
	found, s := checked(t, goodFile, goodKeys()...)
	assert.That(t, found.OK && len(broken(found)) == 0 && found.File == s.file(),
		"broken: %v in %+v", broken(found), found)
	want := Configuration{
		Detectives: []ProviderCredential{
			{Provider: "anthropic", KeyFrom: FromEnvironment, Model: "claude"},
			{Provider: "openai", KeyFrom: FromEnvironment, Model: "gpt-4o", IsDefault: true},
		},
		Witness:               WitnessEndpoint{"http://127.0.0.1:11434", "llama2"},
		ProviderFallbackOrder: []string{"openai", "anthropic"},
		Timeouts:              TimeoutSettings{15, 120, 360, 15},
		DefaultIterationLimit: 5,
	}
	wantJSON, _ := json.Marshal(want)
	gotJSON, err := json.Marshal(found.Configuration)
	diff := cmp.Diff(string(wantJSON), string(gotJSON))
	assert.That(t, err == nil && diff == "", "%v %v", diff, err)
}

func TestAllViolationsAreListedAtOnce(t *testing.T) {
	found, _ := checked(t, `model: groq:llama
ollama: {host: ftp://x}
fallback: {models: [openai:gpt-4o]}
timeouts: {start: 5m, silence: 12s, local_start: 10m}
inquiry: {limit: 3, witness: openai:gpt-4o}
colour: red
providers:
  openai: {model: gpt-4o}
  work: {base_url: https://llm.test/v1}
`, "OPENAI_API_KEY=short-key")
	want := []string{"settings", "detectives[].apiKey", "detectives[].isDefault", "witness.baseUrl", "witness.model",
		"providerFallbackOrder", "timeouts.cloudTimeout",
		"timeouts.localTimeout", "defaultIterationLimit"}
	assert.Same(t, want, broken(found))
	n := len(violationsOf(found, "timeouts.cloudTimeout"))
	assert.That(t, n == 2, "%d waits are told, want both", n)
	n = len(violationsOf(found, "detectives[].apiKey"))
	assert.That(t, n == 2, "%d keys are told, want the short one and the missing one", n)
}

func TestAKeyThatACommandOrTheStoreGivesIsMeasured(t *testing.T) {
	s := newSetup(t, "model: work:big\nproviders: {work: {base_url: 'https://llm.test/v1', key_command: [pass, "+
		"work]}}\n")
	for key, want := range map[string]bool{longKey: true, longKey[:19]: false} {
		found, err := Check(Options{Environ: s.environ, Home: s.home}, func(_ Config, name string) (Secret, error) {
			assert.That(t, name == "work", "the key of %s was read", name)
			return NewSecret(key), nil
		})
		assert.That(t, err == nil && found.OK == want, "%d characters: %+v, %v", len(key), found.Rules, err)
	}
}

func TestASingleVendorIsTheDefaultUnlessItsKeyIsForMoreThanModels(t *testing.T) {
	for _, c := range []struct{ file, environ, broken string }{
		{"providers: {openai: {key_command: [pass, openai]}}\n", "", "detectives[].apiKey"}, // nobody reads keys here
		{"providers: {gemini: {model: flash}}\n", "GEMINI_API_KEY=" + longKey, ""},
		{"providers: {gemini: {model: flash}}\n", "GOOGLE_API_KEY=" + longKey, "detectives[].isDefault"},
		{"providers: {studio: {base_url: 'http://localhost:1234/v1'}}\n", "", "detectives[].isDefault"},
		{"model: work\nproviders: {work: {base_url: 'https://llm.test/v1'}}\n", "", "detectives detectives[].apiKey"},
	} {
		if found, _ := checked(t, c.file, c.environ); strings.Join(broken(found), " ") != c.broken {
			t.Errorf("%s: broken are %v in %+v", c.file, broken(found), found.Configuration)
		}
	}
}

func TestACheckShowsNoKey(t *testing.T) {
	environ := []string{"OPENAI_API_KEY=" + canary, "ANTHROPIC_API_KEY=" + longKey[:19]}
	for _, file := range []string{goodFile, goodFile + "api_key: " + canary + "\n",
		strings.Replace(goodFile, "openai:gpt-4o", canary, 1), strings.Replace(goodFile, "limit: 5", "limit: "+
			canary, 1)} {
		found, _ := checked(t, file, environ...)
		text, err := json.Marshal(found)
		assert.That(t, err == nil && !strings.Contains(string(text), canary) && !strings.Contains(string(text), longKey[:19]),
			"%v: %s", err, text)
	}
}

func TestAFileThatCannotBeReadLeavesTheRulesUnchecked(t *testing.T) {
	found, s := checked(t, "model: [\n")
	assert.That(t, !found.OK && found.File == s.file() && found.Rules[0].Outcome == RuleBroken &&
		strings.Contains(found.Rules[0].Violations[0].Problem, "line 1"), "%+v", found)
	for _, r := range found.Rules[1:] {
		assert.That(t, r.Outcome == RuleUnchecked, "%s is %s", r.Name, r.Outcome)
	}
}
