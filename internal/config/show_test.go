package config

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
)

func explain(t *testing.T, file string, environ ...string) (Config, Lines, setup) {
	t.Helper()
	s := newSetup(t, file, environ...)
	opts := Options{Environ: s.environ, Home: s.home}
	lines := assert.Must(Explain(opts))(t)
	cfg := assert.Must(Load(opts))(t)
	return cfg, lines, s
}

// What is shown is a configuration file that means the same.
func TestShownSettingsLoadToTheSame(t *testing.T) {
	file := strings.ReplaceAll(fullFile, `, "llm key"]`, "]")
	file = strings.ReplaceAll(strings.ReplaceAll(file, "[pass, show]", "[key-of-llm]"), "[pass, brave]",
		"[key-of-brave]")
	file = strings.ReplaceAll(file, "[pass, tavily]", "[key-of-tavily]")
	file = strings.ReplaceAll(strings.ReplaceAll(file, "[pass, wiki]", "[key-of-wiki]"), "[npx, -y, tracker-server]",
		"[tracker-server]")
	environ := []string{"GROQ_KEY=groq-0123456789", "WORK_KEY=work-0123456789", "MY_BRAVE=brave-0123456789",
		"MY_TAVILY=tavily-0123456789", "TRACKER_TOKEN=tracker-0123456789",
		"UNSET_TOKEN=set-0123456789", "WIKI_KEY=wiki-0123456789"}
	cfg, lines, s := explain(t, file, environ...)
	text := assert.Must(lines.YAML())(t)
	assert.NoError(t, os.WriteFile(s.file(), text, 0o600))
	again, err := s.load()
	assert.Require(t, err == nil, "%v in\n%s", err, text)
	diff := cmp.Diff(cfg, again, bySecret)
	assert.That(t, diff == "", "%s in\n%s", diff, text)
}

func TestShownSettingsHoldNoSecret(t *testing.T) {
	hex := "c4n4ry00112233445566778899aabbcc"
	_, lines, _ := explain(t, "model: openai:"+canary+"\nproviders:\n  a: {base_url: 'https://a.test', key_env: "+
		hex+"}\n"+
		"  b: {base_url: 'https://b.test', key_command: [pass, "+hex+"]}\n",
		"OPENAI_API_KEY="+canary, "BRAVE_API_KEY="+canary, "SIBYL_SEARXNG_URL=https://me:"+canary+"@s.test")
	asYAML := assert.Must(lines.YAML())(t)
	asJSON := assert.Must(json.Marshal(lines))(t)
	for _, text := range []string{string(asYAML), string(asJSON)} {
		assert.That(t, !strings.Contains(text, canary) && !strings.Contains(text, hex), "shown: %s", text)
		assert.That(t, strings.Contains(text, "https://s.test") && strings.Contains(text, "OPENAI_API_KEY") &&
			strings.Contains(text, "pass"), "not all that may be shown is: %s", text)
	}
}

// What is wrong in a file or a variable is told with its place, the nearest name or the range, and without what may be
// a secret. The first lines of the texts in testdata say what they hold.
func TestWrongSettingsAreRefused(t *testing.T) {
	const key = "sk-Zq8vT2nB7yH4mK9w1xR5c3"
	fill := strings.NewReplacer("{gateway}", gateway, "{key-like}", "sk-proj-"+strings.Repeat("c4n4ry", 8), "{canary}",
		canary, "{key}", key, "{long key}", longKey, "{19 characters}", longKey[:19])
	known := []string{"with", "good file", "change", "set", "->", "=>", "breaks", "keeps all rules"}
	texttest.Play(t, known, func(t *testing.T, lines []texttest.Line) {
		var file, environ, set []string
		for _, l := range lines {
			rest := fill.Replace(l.Rest)
			switch l.Words {
			case "":
				file = append(file, fill.Replace(l.Text))
			case "with":
				environ = append(environ, rest)
			case "good file":
				file, environ = []string{strings.TrimSuffix(goodFile, "\n")}, goodKeys()
			case "change":
				old, changed, _ := strings.Cut(strings.ReplaceAll(rest, `\n`, "\n"), " ->")
				assert.Require(t, strings.Contains(file[0], old), "line %d: %q is not in the good file", l.At, old)
				file[0] = strings.Replace(file[0], old, strings.TrimSpace(changed), 1)
			case "set":
				set = strings.Fields(rest)
			case "keeps all rules":
				found, _ := checked(t, strings.Join(file, "\n"), environ...)
				assert.That(t, found.OK, "line %d: broken are %v: %+v", l.At, broken(found), found.Rules)
			case "breaks":
				breaks(t, l, strings.Join(file, "\n"), environ)
			default:
				s := newSetup(t, strings.Join(file, "\n"), environ...)
				var err error
				if set == nil {
					_, err = s.load()
				} else if _, err = s.set(set[0], set[1:]...); s.content(t) != strings.Join(file, "\n") {
					t.Errorf("line %d: the file became %s", l.At, s.content(t))
				}
				assert.Require(t, err != nil && strings.Contains(err.Error(), rest) && (l.Words != "=>" ||
					strings.HasPrefix(err.Error(), s.file())) && (set == nil || !strings.Contains(err.Error(), s.file())),
					"line %d: error = %v", l.At, err)
				assert.Lacks(t, fmt.Sprintf("line %d: the error", l.At), err.Error(), "c4n4ry", canary, "Zq8vT2nB", "sk-Z")
			}
		}
		last := lines[len(lines)-1].Words
		assert.That(t, last == "->" || last == "=>" || last == "breaks" || last == "keeps all rules",
			"nothing is said in the end")
	})
}

// breaks checks that a file breaks a rule of the requirement, that one alone, and where and why that is told.
func breaks(t *testing.T, l texttest.Line, file string, environ []string) {
	t.Helper()
	want := strings.SplitN(l.Rest, " ", 3) // the rule, the place, the problem
	found, s := checked(t, file, environ...)
	got := broken(found)
	assert.Require(t, !found.OK && len(got) == 1 && got[0] == want[0], "line %d: broken: %v", l.At, got)
	where := want[1]
	if strings.HasPrefix(where, ":") {
		where = s.file() + where
	}
	all := violationsOf(found, want[0])
	v := all[0]
	assert.That(t, v.Where == where && strings.Contains(v.Problem, want[2]) && v.Fix != "", "line %d: %+v", l.At, all)
}

func TestAllWrongNamesAreToldAtOnce(t *testing.T) {
	_, err := newSetup(t, "modell: x\nweb:\n  searx: y\nvolt: z").load()
	assert.That(t, err != nil && strings.Count(err.Error(), "\n") == 2 && strings.Count(err.Error(), "did you mean") == 3,
		"error = %v", err)
}

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
		key, err := cfg.Key(t.Context(), name, stored)
		assert.That(t, err == nil && key.Reveal() == stored[name] && CheckName(name, cfg.KeyNames()) == nil,
			"%s: key = %q, error %v", name, key.Reveal(), err)
	}
	assert.That(t, CheckName("mcp.local", cfg.KeyNames()) != nil, "keys can be stored for %v", cfg.KeyNames())
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
