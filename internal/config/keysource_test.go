package config

import (
	"errors"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// loadStored loads with a key store that holds keys of these names.
func loadStored(t *testing.T, file string, names []string, environ ...string) Config {
	t.Helper()
	s := newSetup(t, file, environ...)
	cfg := assert.Must(Load(Options{Environ: s.environ, Home: s.home, Stored: func(at KeyPlaces) ([]string, error) {
		assert.That(t, at == s.keys(KeysAuto), "the store is looked for in %+v", at)
		return names, nil
	}}))(t)
	return cfg
}

func TestStoredKeyIsTakenUnderItsName(t *testing.T) {
	const file = "providers: {groq: {base_url: 'https://groq.test/v1', key_env: GROQ_KEY}}\nmcp: {servers: {wiki: " +
		"{url: 'https://wiki.test'}, local: {command: [x]}}}"
	stored := shelf{"anthropic": canary + "1", "groq": canary + "2", "tavily": canary + "3", "mcp.wiki": canary + "4",
		"forgotten": "x"}
	cfg := loadStored(t, file, sortedNames(stored), "BRAVE_API_KEY="+canary)
	assert.That(t, len(cfg.Providers) == 2 && cfg.Providers["anthropic"].BaseURL == "https://api.anthropic.com",
		"providers = %+v", cfg.Providers)
	stored["brave"] = canary
	for _, name := range []string{"anthropic", "groq", "tavily", MCPKeyName("wiki"), "brave"} {
		if key, err := cfg.Key(t.Context(), name, stored); err != nil || key.Reveal() != stored[name] ||
			CheckName(name, cfg.KeyNames()) != nil {
			t.Errorf("%s: key = %q, error %v", name, key.Reveal(), err)
		}
	}
	if CheckName("mcp.local", cfg.KeyNames()) == nil {
		t.Errorf("keys can be stored for %v", cfg.KeyNames())
	}
}

func TestStoreThatCannotBeReadLeavesTheOtherSettings(t *testing.T) {
	broken := errors.New("keys.age is damaged")
	s := newSetup(t, "max_turns: 5", "OPENAI_API_KEY="+canary)
	cfg, err := Load(Options{Environ: s.environ, Home: s.home, Stored: func(KeyPlaces) ([]string, error) {
		return nil, broken
	}})
	assert.That(t, err == nil && cfg.MaxTurns == 5 && errors.Is(cfg.StoredProblem, broken),
		"turns = %d, problem %v, error %v", cfg.MaxTurns, cfg.StoredProblem, err)
	if key, err := cfg.Key(t.Context(), "openai", nil); err != nil || key.Reveal() != canary {
		t.Errorf("key = %q, error %v", key.Reveal(), err)
	}
}

func TestSearchEngineIsTheOneSetElseTheFirstSetUp(t *testing.T) {
	for _, c := range []struct {
		name, file   string
		stored       []string
		environ      []string
		want, misses string
	}{
		{"none", "", nil, nil, "", "web.searxng"},
		{"own server first", "", []string{"brave"}, []string{"SIBYL_SEARXNG_URL=http://s.test"}, SearXNG, ""},
		{"key in a variable", "", nil, []string{"TAVILY_API_KEY=" + canary}, Tavily, ""},
		{"key stored", "", []string{"brave", "tavily"}, nil, Brave, ""},
		{"key of a command", "web: {tavily: {key_command: [pass, tavily]}}", nil, nil, Tavily, ""},
		{"named", "web: {engine: tavily}", []string{"brave", "tavily"}, []string{"SIBYL_SEARXNG_URL=http://s.test"},
			Tavily, ""},
		{"named, without a key", "web: {engine: brave}", []string{"tavily"}, nil, Brave, "set BRAVE_API_KEY"},
		{"named, without an address", "web: {engine: searxng}", []string{"tavily"}, nil, SearXNG, "SIBYL_SEARXNG_URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := loadStored(t, c.file, c.stored, c.environ...)
			assert.That(t, cfg.Web.Engine == c.want, "engine = %q, want %q", cfg.Web.Engine, c.want)
			if got := cfg.Web.Missing(); (got == "") != (c.misses == "") || !strings.Contains(got, c.misses) {
				t.Errorf("missing = %q, want %q", got, c.misses)
			}
		})
	}
}

func TestKeyOriginNamesVariableAndProgramOnly(t *testing.T) {
	cfg := loadStored(t, "providers: {a: {base_url: 'https://a.test', key_command: [/usr/bin/pass, "+canary+"]}}",
		[]string{"tavily"}, "OPENAI_API_KEY=key-0123456789")
	for name, want := range map[string][2]string{"a": {FromCommand, "pass"},
		"openai": {FromEnvironment, "OPENAI_API_KEY"}, "tavily": {FromStore, ""}, "gemini": {}} {
		from, by := cfg.KeyOrigin(name)
		assert.That(t, from == want[0] && by == want[1], "%s: %q by %q, want %q", name, from, by, want)
	}
}

func TestNameForAKeyIsCheckedAndNeverRepeated(t *testing.T) {
	cfg := loadStored(t, "providers: {groq: {base_url: 'https://groq.test/v1'}}", nil)
	for _, name := range []string{"groq", "openai", "anthropic", "gemini", "brave", "tavily"} {
		err := CheckName(name, cfg.KeyNames())
		assert.That(t, err == nil, "%s: %v", name, err)
	}
	for name, want := range map[string]string{"antropic": "did you mean anthropic?", "Groq": "did you mean groq?",
		canary: "available: anthropic, brave, gemini, groq, openai, tavily", "ollama": "available:"} {
		err := CheckName(name, cfg.KeyNames())
		assert.That(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), name),
			"%s: error = %v, want %s", name, err, want)
	}
}

func TestKeyIsTakenWithoutWhatStandsAroundIt(t *testing.T) {
	const key = "sk-proj-canary_0123456789="
	for _, pasted := range []string{
		`"` + key + `"`, `'` + key + `'`, "`" + key + "`", "“" + key + "”", "Bearer " + key, "bearer  " + key, `"Bearer ` + key + `"`,
		" " + key + "\r\n", "\uFEFF" + key + "\n", "\u200B" + key + "\u00A0", `"` + key + `",`, "'" + key + "';", "OPENAI_API_KEY=" + key,
		`export OPENAI_API_KEY="` + key + `"`, "Authorization: Bearer " + key, "x-api-key: " + key, key,
	} {
		of := Config{Providers: map[string]Provider{"openai": {KeySource: KeySource{KeyEnv: "K", EnvKey: NewSecret(pasted)}}}}
		fromStore := Config{Providers: map[string]Provider{"openai": {KeySource: KeySource{KeyEnv: "K", Stored: true}}}}
		printed := Config{Providers: map[string]Provider{"openai": {KeySource: KeySource{KeyCommand: []string{"printf", "%s", pasted}}}}}
		for from, c := range map[string]Config{"variable": of, "store": fromStore, "command": printed} {
			got, err := c.Key(t.Context(), "openai", shelf{"openai": pasted})
			assert.That(t, err == nil && got.Reveal() == key, "%q from the %s: %q, %v", pasted, from, got.Reveal(), err)
		}
		assert.Equal(t, NewKey(pasted).Reveal(), key)
	}
}

func TestKeyThatCannotBeSentIsToldWithoutIt(t *testing.T) {
	for pasted, want := range map[string]string{
		"sk-canary canary": "space", "sk-canary\nsk-canary": "line", "sk-canary…": "character", "sk\x00canary": "line",
	} {
		c := Config{Providers: map[string]Provider{"openai": {KeySource: KeySource{KeyEnv: "K", EnvKey: NewSecret(pasted)}}}}
		_, err := c.Key(t.Context(), "openai", shelf{})
		assert.That(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "canary"), "%q: %v", pasted, err)
	}
	for _, none := range []string{`""`, " ", "Bearer ", "''\n"} {
		assert.That(t, NewKey(none) == Secret{}, "%q is a key: %q", none, NewKey(none).Reveal())
	}
}

func TestHeaderOfAnMCPServerKeepsItsScheme(t *testing.T) {
	c := Config{MCP: MCP{Servers: map[string]MCPServer{"x": {Header: "Authorization", KeySource: KeySource{KeyEnv: "K",
		EnvKey: NewSecret("\"Basic abc\"\n")}}}}}
	got, err := c.Key(t.Context(), MCPKeyName("x"), shelf{})
	assert.That(t, err == nil && got.Reveal() == "Basic abc", "%q, %v", got.Reveal(), err)
}
