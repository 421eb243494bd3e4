package config

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	found, err := Check(Options{Environ: s.environ, Home: s.home}, noKeyToRead)
	if err != nil {
		t.Fatal(err)
	}
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
	if !found.OK || len(broken(found)) > 0 || found.File != s.file() {
		t.Errorf("broken: %v in %+v", broken(found), found)
	}
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
	if diff := cmp.Diff(string(wantJSON), string(gotJSON)); err != nil || diff != "" {
		t.Error(diff, err)
	}
}

// Each case breaks one rule of the requirement, and that one alone.
func TestEachRuleOfTheConfigurationByName(t *testing.T) {
	change := func(old, changed string) string {
		if !strings.Contains(goodFile, old) {
			t.Fatalf("%q is not in the good file", old)
		}
		return strings.Replace(goodFile, old, changed, 1)
	}
	both := goodKeys()
	for _, c := range []struct {
		name, rule, file string
		environ          []string
		where, problem   string
	}{
		{"no entry", "detectives", "providers: {}", nil, ":1", "names no provider"},
		{"unknown setting of one", "detectives", change("{model: claude}", "{modell: claude}"), both, ":10",
			"providers.anthropic.modell; did you mean"},
		{"a kind that is not its own", "detectives", change("{model: claude}", "{kind: openai}"), both, ":10",
			"providers.anthropic.kind is openai"},
		{"no key", "detectives[].apiKey", goodFile, both[:1], ":10", "anthropic has no key"},
		{"a key of 19 characters", "detectives[].apiKey", goodFile, []string{both[0], "ANTHROPIC_API_KEY=" +
			longKey[:19]}, ":10", "has 19 characters; at least 20"},
		{"a key that can't be read", "detectives[].apiKey", change("{model: claude}", "{key_command: [pass, claude]}"),
			both[:1], ":10", "nobody reads keys here"},
		{"no default among two", "detectives[].isDefault", change("model: openai:gpt-4o\n", ""), both, ":9",
			"it is unclear which model is the default of anthropic, openai"},
		{"a default of nobody", "detectives[].isDefault", change("model: openai:", "model: opnai:"), both, ":1",
			`no provider "opnai"; did you mean openai?`},
		{"a default that is no model", "detectives[].isDefault", change("model: openai:gpt-4o", "model: open ai"), both,
			":1", "must be provider:model"},
		{"address of the witness", "witness.baseUrl", change("host: 127.0.0.1:11434", "host: ftp://x"), both, ":3",
			"ollama.host must be a host"},
		{"witness without a model", "witness.model", change(`"ollama:llama2"`, "ollama"), both, ":7",
			"a provider without a model"},
		{"witness of nobody", "witness.model", change(`"ollama:llama2"`, "olama:x"), both, ":7",
			"did you mean ollama?"},
		{"witness of the rules", "witness.model", change(`"ollama:llama2"`, "offline:rules"), both, ":7",
			"can't be a witness"},
		{"hosted witness", "witness.model", change(`"ollama:llama2"`, "openai:gpt-4o"), both, ":7", "a hosted model"},
		{"order without a detective", "providerFallbackOrder", change(", anthropic:claude", ""), both, ":5",
			"no model of anthropic"},
		{"order without the default", "providerFallbackOrder", change("openai:gpt-4o, ", ""), both, ":5",
			"no model of openai"},
		{"no order of two", "providerFallbackOrder", change("fallback:\n  models: [openai:gpt-4o, anthropic:claude]\n",
			""), both, ":8", "no model of anthropic"},
		{"order with one that nobody has", "providerFallbackOrder",
			change("anthropic:claude]", "anthropic:claude, grok:x]"), both, ":5", `no provider "grok"`},
		{"cloud too short", "timeouts.cloudTimeout", change("start: 15s", "start: 14s"), both, ":6",
			"timeouts.start is 14s"},
		{"cloud too long", "timeouts.cloudTimeout", change("silence: 2m,", "silence: 121s,"), both, ":6",
			"timeouts.silence is 2m1s"},
		{"cloud in parts of a second", "timeouts.cloudTimeout", change("start: 15s", "start: 15.5s"), both, ":6",
			"whole seconds"},
		{"cloud beyond what loads", "timeouts.cloudTimeout", change("start: 15s", "start: 5s"), both, ":6",
			"from 10s to 1h0m0s"},
		{"local too short", "timeouts.localTimeout", change("local_silence: 15s", "local_silence: 14s"), both, ":6",
			"timeouts.local_silence is 14s"},
		{"local too long", "timeouts.localTimeout", change("local_start: 6m", "local_start: 361s"), both, ":6",
			"timeouts.local_start is 6m1s"},
		{"limit too low", "defaultIterationLimit", change("limit: 5", "limit: 4"), both, ":7", "from 5 to 20"},
		{"limit too high", "defaultIterationLimit", change("limit: 5", "limit: 21"), both, ":7", "from 5 to 20"},
		{"limit in parts", "defaultIterationLimit", change("limit: 5", "limit: 5.5"), both, ":7", "whole number"},
		{"limit of a variable", "defaultIterationLimit", goodFile, append(goodKeys(), "SIBYL_INQUIRY_LIMIT=3"),
			"SIBYL_INQUIRY_LIMIT", "from 5 to 20"},
		{"a limit that a variable hides", "defaultIterationLimit", change("limit: 5", "limit: 4"),
			append(goodKeys(), "SIBYL_INQUIRY_LIMIT=6"), ":7", "from 5 to 20"},
		{"a setting that there is not", "settings", goodFile + "colour: red\n", both, ":11", "unknown setting colour"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, s := checked(t, c.file, c.environ...)
			if got := broken(found); found.OK || len(got) != 1 || got[0] != c.rule {
				t.Fatalf("broken: %v, want %s", got, c.rule)
			}
			all := violationsOf(found, c.rule)
			where := c.where
			if strings.HasPrefix(where, ":") {
				where = s.file() + where
			}
			if v := all[0]; len(all) < 1 || v.Where != where || !strings.Contains(v.Problem, c.problem) || v.Fix == "" {
				t.Errorf("%+v\nwant %s: %s", all, where, c.problem)
			}
		})
	}
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
	if diff := cmp.Diff(want, broken(found)); diff != "" {
		t.Error(diff)
	}
	if n := len(violationsOf(found, "timeouts.cloudTimeout")); n != 2 {
		t.Errorf("%d waits are told, want both", n)
	}
	if n := len(violationsOf(found, "detectives[].apiKey")); n != 2 {
		t.Errorf("%d keys are told, want the short one and the missing one", n)
	}
}

func TestWhatNobodyNamesBreaksNoRule(t *testing.T) {
	for name, c := range map[string]struct {
		file    string
		environ []string
	}{
		"nothing at all":          {},
		"a file without models":   {file: "max_turns: 3\n"},
		"keys in the environment": {environ: goodKeys()},
		"a local model":           {file: "model: ollama:llama2\n"},
		"the rules":               {file: "model: offline:rules\n"},
		"one vendor":              {file: "providers: {openai: {model: gpt-4o}}\n", environ: goodKeys()[:1]},
		"an endpoint on this machine": {
			file: "model: studio\nproviders: {studio: {base_url: 'http://localhost:1234/v1'}}\n"},
		"waits nobody set": {file: "model: ollama:llama2\ntimeouts: {web: 5s}\n"},
	} {
		if found, _ := checked(t, c.file, c.environ...); !found.OK {
			t.Errorf("%s: broken are %v: %+v", name, broken(found), found.Rules)
		}
	}
}

func TestAKeyThatACommandOrTheStoreGivesIsMeasured(t *testing.T) {
	s := newSetup(t, "model: work:big\nproviders: {work: {base_url: 'https://llm.test/v1', key_command: [pass, "+
		"work]}}\n")
	for key, want := range map[string]bool{longKey: true, longKey[:19]: false} {
		found, err := Check(Options{Environ: s.environ, Home: s.home}, func(_ Config, name string) (Secret, error) {
			if name != "work" {
				t.Errorf("the key of %s was read", name)
			}
			return NewSecret(key), nil
		})
		if err != nil || found.OK != want {
			t.Errorf("%d characters: %+v, %v", len(key), found.Rules, err)
		}
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
		if err != nil || strings.Contains(string(text), canary) || strings.Contains(string(text), longKey[:19]) {
			t.Errorf("%v: %s", err, text)
		}
	}
}

func TestAFileThatCannotBeReadLeavesTheRulesUnchecked(t *testing.T) {
	found, s := checked(t, "model: [\n")
	if found.OK || found.File != s.file() || found.Rules[0].Outcome != RuleBroken ||
		!strings.Contains(found.Rules[0].Violations[0].Problem, "line 1") {
		t.Errorf("%+v", found)
	}
	for _, r := range found.Rules[1:] {
		if r.Outcome != RuleUnchecked {
			t.Errorf("%s is %s", r.Name, r.Outcome)
		}
	}
}
