package config

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var bySecret = cmp.Comparer(func(a, b Secret) bool { return a.Reveal() == b.Reveal() })

// setup is a home folder with a configuration file and an environment.
type setup struct {
	home    string
	environ []string
}

func newSetup(t *testing.T, file string, environ ...string) setup {
	t.Helper()
	s := setup{home: t.TempDir(), environ: environ}
	s.environ = append(s.environ, "XDG_CONFIG_HOME="+filepath.Join(s.home, "conf"))
	if file != "" {
		if err := os.MkdirAll(filepath.Dir(s.file()), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.file(), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s setup) file() string { return filepath.Join(s.home, "conf", "sibyl", "config.yaml") }

func (s setup) keys(use string) KeyPlaces {
	data := filepath.Join(s.home, ".local", "share", "sibyl")
	return KeyPlaces{Use: use, File: filepath.Join(s.home, "conf", "sibyl", "keys.age"), Identity: filepath.Join(data, "keys-identity.txt"), Folder: data}
}

func (s setup) load() (Config, error) { return Load(Options{Environ: s.environ, Home: s.home}) }

func mustLoad(t *testing.T, file string, environ ...string) (Config, setup) {
	t.Helper()
	s := newSetup(t, file, environ...)
	cfg, err := s.load()
	if err != nil {
		t.Fatal(err)
	}
	return cfg, s
}

func TestDefaultsNeedNoFileAndNoEnvironment(t *testing.T) {
	cfg, s := mustLoad(t, "")
	want := Config{
		DataDir:   filepath.Join(s.home, ".local", "share", "sibyl"),
		MaxTurns:  30,
		Retention: 365 * 24 * time.Hour,
		Web:       Web{Brave: KeySource{KeyEnv: "BRAVE_API_KEY"}, Tavily: KeySource{KeyEnv: "TAVILY_API_KEY"}},
		Ollama:    Ollama{Host: "http://127.0.0.1:11434", Local: true},
		Bert:      Bert{Timeout: 5 * time.Second},
		Providers: map[string]Provider{},
		Fallback:  Fallback{CoolDown: time.Minute},
		Timeouts:  Timeouts{Cloud: time.Minute, Local: 3 * time.Minute, Web: 20 * time.Second},
		Keys:      s.keys(KeysAuto),
	}
	if diff := cmp.Diff(want, cfg, bySecret); diff != "" {
		t.Error(diff)
	}
}

const fullFile = `# everything that can be set
model: ollama:llama3.1:8b
data: ../data
vault: ~/notes
trees: /etc/sibyl/trees
prompts: prompts
notices: notices.jsonl
max_turns: 12
max_tokens: 200000
max_time: 10m
retention: 90d
keys: file
web:
  engine: brave
  searxng: http://localhost:8888/
  brave:
    key_env: MY_BRAVE
    key_command: [pass, brave]
  tavily:
    key_env: MY_TAVILY
    key_command: [pass, tavily]
ollama:
  host: gpu.lan
  context: 32768
bert:
  model: ~/bert
  timeout: 2s
fallback:
  models: [groq:llama, "ollama:llama3.1:8b"]
  cool_down: 30s
  local_to_cloud: true
timeouts:
  cloud: 90s
  local: 6m
  web: 5s
providers:
  openai:
    model: gpt-x
  groq:
    base_url: https://api.groq.test/openai/v1/
    key_env: GROQ_KEY
    model: llama
    timeout: 15s
  vault-key:
    base_url: https://llm.test/v1
    key_command: [pass, show, "llm key"]
  litellm:
    base_url: http://127.0.0.1:4000/v1
    local: false
  studio:
    base_url: http://localhost:1234/v1
    timeout: 5m
  work:
    kind: anthropic
    key_env: WORK_KEY
  box:
    kind: ollama
    base_url: http://127.0.0.1:11435
`

func TestFileSetsEverything(t *testing.T) {
	cfg, s := mustLoad(t, fullFile, "GROQ_KEY=groq-value-0123456789", "MY_BRAVE=brave-value-0123456789")
	folder := filepath.Dir(s.file())
	want := Config{
		File:      s.file(),
		Model:     "ollama:llama3.1:8b",
		DataDir:   filepath.Join(filepath.Dir(folder), "data"),
		Vault:     filepath.Join(s.home, "notes"),
		Trees:     "/etc/sibyl/trees",
		Prompts:   filepath.Join(folder, "prompts"),
		Notices:   filepath.Join(folder, "notices.jsonl"),
		MaxTurns:  12,
		MaxTokens: 200_000,
		MaxTime:   10 * time.Minute,
		Retention: 90 * 24 * time.Hour,
		Web: Web{Engine: "brave", SearXNG: "http://localhost:8888",
			Brave:  KeySource{KeyEnv: "MY_BRAVE", EnvKey: NewSecret("brave-value-0123456789"), KeyCommand: []string{"pass", "brave"}},
			Tavily: KeySource{KeyEnv: "MY_TAVILY", KeyCommand: []string{"pass", "tavily"}}},
		Ollama:   Ollama{Host: "http://gpu.lan:11434", NumCtx: 32768},
		Bert:     Bert{Model: filepath.Join(s.home, "bert"), Timeout: 2 * time.Second},
		Fallback: Fallback{Models: []string{"groq:llama", "ollama:llama3.1:8b"}, CoolDown: 30 * time.Second, LocalToCloud: true},
		Keys:     s.keys(KeysFile),
		Timeouts: Timeouts{Cloud: 90 * time.Second, Local: 6 * time.Minute, Web: 5 * time.Second},
		Providers: map[string]Provider{
			"openai": {Kind: KindOpenAI, BaseURL: "https://api.openai.com/v1", Model: "gpt-x", KeySource: KeySource{KeyEnv: "OPENAI_API_KEY"},
				Timeout: 90 * time.Second},
			"groq": {Kind: KindOpenAI, BaseURL: "https://api.groq.test/openai/v1", Model: "llama",
				KeySource: KeySource{KeyEnv: "GROQ_KEY", EnvKey: NewSecret("groq-value-0123456789")}, Timeout: 15 * time.Second},
			"vault-key": {Kind: KindOpenAI, BaseURL: "https://llm.test/v1", KeySource: KeySource{KeyCommand: []string{"pass", "show", "llm key"}},
				Timeout: 90 * time.Second},
			"litellm": {Kind: KindOpenAI, BaseURL: "http://127.0.0.1:4000/v1", Timeout: 90 * time.Second},
			"studio":  {Kind: KindOpenAI, BaseURL: "http://localhost:1234/v1", Timeout: 5 * time.Minute, Local: true},
			"work":    {Kind: KindAnthropic, BaseURL: "https://api.anthropic.com", KeySource: KeySource{KeyEnv: "WORK_KEY"}, Timeout: 90 * time.Second},
			"box":     {Kind: KindOllama, BaseURL: "http://127.0.0.1:11435", Timeout: 6 * time.Minute, Local: true},
		},
	}
	if diff := cmp.Diff(want, cfg, bySecret); diff != "" {
		t.Error(diff)
	}
}

func TestEnvironmentOverridesTheFile(t *testing.T) {
	cfg, s := mustLoad(t, fullFile,
		"SIBYL_MODEL=openai:gpt-y", "SIBYL_DATA=/data", "SIBYL_VAULT=~/other", "SIBYL_TREES=/t", "SIBYL_PROMPTS=/p", "SIBYL_MAX_TURNS=7",
		"SIBYL_MAX_TOKENS=0", "SIBYL_MAX_TIME=20s", "SIBYL_RETENTION=never", "SIBYL_NOTICES=~/n.jsonl", "SIBYL_KEYS=keyring", "SIBYL_AGE_IDENTITY=~/age.txt",
		"SIBYL_SEARXNG_URL=https://search.test/x/", "OLLAMA_HOST=0.0.0.0:9999",
		"OPENAI_BASE_URL=https://proxy.test/v1/", "OPENAI_MODEL=gpt-z", "OPENAI_API_KEY=key-0123456789")
	if cfg.Model != "openai:gpt-y" || cfg.DataDir != "/data" || cfg.Vault != filepath.Join(s.home, "other") || cfg.Trees != "/t" ||
		cfg.Prompts != "/p" || cfg.MaxTurns != 7 || cfg.Web.SearXNG != "https://search.test/x" || cfg.Ollama.Host != "http://127.0.0.1:9999" {
		t.Errorf("got %+v", cfg)
	}
	if cfg.MaxTokens != 0 || cfg.MaxTime != 20*time.Second || cfg.Retention != 0 || cfg.Notices != filepath.Join(s.home, "n.jsonl") {
		t.Errorf("got %d tokens, %s, kept for %s, notices %s", cfg.MaxTokens, cfg.MaxTime, cfg.Retention, cfg.Notices)
	}
	if cfg.Keys.Use != KeysKeyring || cfg.Keys.Identity != filepath.Join(s.home, "age.txt") || !cfg.Keys.IdentityNamed {
		t.Errorf("keys = %+v", cfg.Keys)
	}
	want := Provider{Kind: KindOpenAI, BaseURL: "https://proxy.test/v1", Model: "gpt-z", Timeout: 90 * time.Second,
		KeySource: KeySource{KeyEnv: "OPENAI_API_KEY", EnvKey: NewSecret("key-0123456789")}}
	if diff := cmp.Diff(want, cfg.Providers["openai"], bySecret); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyVariablesAndSectionsSetNothing(t *testing.T) {
	cfg, s := mustLoad(t, "model:\nvault:\nweb:\nproviders:\nollama: ~\ntimeouts:\n  web:\n",
		"SIBYL_MODEL=", "SIBYL_MAX_TURNS=", "OLLAMA_HOST=", "OPENAI_API_KEY=", "SIBYL_CONFIG=")
	plain, _ := Load(Options{Environ: []string{}, Home: s.home})
	plain.File, plain.Keys = s.file(), cfg.Keys // the folder for configuration is another
	if diff := cmp.Diff(plain, cfg, bySecret); diff != "" {
		t.Error(diff)
	}
	if cfg, _ := mustLoad(t, "web:\n", "SIBYL_SEARXNG_URL=http://s.test"); cfg.Web.SearXNG != "http://s.test" {
		t.Errorf("an empty section hid a variable: %+v", cfg.Web)
	}
}

func TestFileWithoutSettingsIsFine(t *testing.T) {
	for _, content := range []string{"\n", "# nothing yet\n", "---\n", "null\n", "{}\n"} {
		if _, err := newSetup(t, content).load(); err != nil {
			t.Errorf("%q: %v", content, err)
		}
	}
}

func TestWrongNamesAreToldWithLineAndNearestName(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"letter missing", "model: offline\nmax_turn: 3", ":2: there is no setting max_turn; did you mean max_turns?"},
		{"capital", "Model: offline", ":1: there is no setting Model; did you mean model?"},
		{"section forgotten", "searxng: http://s.test", ":1: there is no setting searxng; did you mean web.searxng?"},
		{"section misspelt", "webb:\n  searxng: http://s.test", ":1: there is no setting webb; did you mean web?"},
		{"in a section", "web:\n  searx: http://s.test", ":2: there is no setting web.searx; did you mean web.searxng?"},
		{"in a provider", "providers:\n  groq:\n    base-url: https://g.test", ":3: there is no setting providers.groq.base-url; did you mean providers.groq.base_url?"},
		{"provider's at the top", "base_url: https://g.test", ":1: there is no setting base_url; did you mean providers.<name>.base_url?"},
		{"nothing near", "colour: red", ":1: there is no setting colour; there are: bert, data, fallback, keys, max_time, max_tokens, max_turns, model, notices, ollama, prompts, providers, retention, timeouts, trees, vault, web"},
		{"twice", "model: offline\nmodel: ollama", ":2: model is set twice"},
		{"dotted", "web.searxng: http://s.test", ":1: web.searxng: write a section"},
		{"dotted provider", "providers:\n  a.b: {base_url: https://g.test}", `:2: providers: the name "a.b" must be`},
		{"provider with a capital", "providers:\n  Groq: {base_url: https://g.test}", `:2: providers: the name "Groq" must be`},
		{"built-in name", "providers:\n  ollama: {base_url: https://g.test}", ":2: providers.ollama: this name is built in"},
		{"value where a section belongs", "web: http://s.test", ":1: web must hold names and values"},
		{"section where a value belongs", "model:\n  name: x", ":2: model takes one value"},
		{"list where a value belongs", "vault: [a, b]", ":1: vault takes one value"},
		{"value where models belong", "fallback: {models: 'ollama:a'}", ":1: fallback.models takes a list, such as [anthropic:"},
		{"value where a list belongs", "providers:\n  a:\n    base_url: https://a.test\n    key_command: pass show x", ":4: providers.a.key_command takes a list"},
		{"a list as the file", "- model: x", ":1: the file must hold names and values"},
		{"a word as the file", "hello", ":1: the file must hold names and values"},
		{"alias", "web: &a {searxng: http://s.test}\nollama: *a", ":2: ollama: references of YAML are not used"},
		{"merge", "web: &a {searxng: http://s.test}\nollama: {<<: *a}", ":2: ollama.<<: references of YAML are not used"},
		{"a list as a name", "? [a]\n: b", "references of YAML are not used"},
		{"not YAML", "model: [", "line 1"},
		{"tab", "web:\n\tsearxng: x", "line 2"},
		{"two documents", "model: offline\n---\nmodel: ollama", "more than one YAML document"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSetup(t, c.file)
			_, err := s.load()
			if err == nil || !strings.HasPrefix(err.Error(), s.file()) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v\nwant %s… %s", err, s.file(), c.want)
			}
		})
	}
}

func TestAllWrongNamesAreToldAtOnce(t *testing.T) {
	_, err := newSetup(t, "modell: x\nweb:\n  searx: y\nvolt: z").load()
	if err == nil || strings.Count(err.Error(), "\n") != 2 || strings.Count(err.Error(), "did you mean") != 3 {
		t.Errorf("error = %v", err)
	}
}

func TestWrongValuesAreToldWithPlaceAndRange(t *testing.T) {
	for _, c := range []struct{ name, file, variable, want string }{
		{"too many turns", "max_turns: 201", "", `:1: max_turns is "201"; it must be a whole number from 1 to 200`},
		{"no turns", "\nmax_turns: 0", "", `:2: max_turns is "0"`},
		{"half a turn", "max_turns: 1.5", "", `max_turns is "1.5"`},
		{"turns in words", "", "SIBYL_MAX_TURNS=many", `SIBYL_MAX_TURNS is "many"; it must be a whole number from 1 to 200`},
		{"variable wins, and is blamed", "max_turns: 0", "SIBYL_MAX_TURNS=999", `SIBYL_MAX_TURNS is "999"`},
		{"model without a provider", "model: ':x'", "", "must be provider:model"},
		{"model without a name", "", "SIBYL_MODEL=ollama:", "SIBYL_MODEL is \"ollama:\"; it must be provider:model"},
		{"model as a number", "model: 4", "", ":1: model must be a text"},
		{"model of two lines", "model: |\n  a\n  b", "", "model must be one line"},
		{"folder as a number", "vault: 5", "", "vault must be a text"},
		{"search server without a scheme", "", "SIBYL_SEARXNG_URL=localhost:8888", "SIBYL_SEARXNG_URL must be a web address"},
		{"search server with a query", "web: {searxng: 'http://s.test/?q=1'}", "", "without ? and #"},
		{"time without a unit", "timeouts:\n  cloud: 60", "", `:2: timeouts.cloud is "60"; it must be a time with its unit from 15s to 2m0s`},
		{"time too long", "timeouts: {local: 7m}", "", "from 15s to 6m0s"},
		{"time too short", "timeouts: {web: 10ms}", "", "from 1s to 2m0s"},
		{"cloud provider that waits as long as a local one", "providers: {a: {base_url: 'https://a.test', timeout: 3m}}", "",
			"providers.a.timeout is 3m0s; it must be from 15s to 2m0s"},
		{"provider without an address", "\nproviders: {a: {model: x}}", "", ":2: providers.a has no base_url"},
		{"provider without anything", "providers:\n  a:", "", ":2: providers.a has no base_url"},
		{"kind that there is not", "providers: {a: {kind: claude}}", "", `:1: providers.a.kind is "claude"; it must be openai, anthropic, gemini or ollama`},
		{"another kind for a vendor", "providers:\n  anthropic:\n    kind: openai", "",
			":3: providers.anthropic.kind is openai, but a provider of this name is of the kind anthropic"},
		{"ollama's kind without an address", "providers: {a: {kind: ollama}}", "", "providers.a has no base_url"},
		{"few tokens", "", "SIBYL_MAX_TOKENS=999", `SIBYL_MAX_TOKENS is "999"; it must be a whole number from 1000 to 10000000, or 0 for no bound`},
		{"many tokens", "max_tokens: 10000001", "", ":1: max_tokens is"},
		{"no time", "max_time: 4s", "", `max_time is "4s"; it must be a time with its unit from 5s to 1h0m0s`},
		{"kept for hours", "retention: 23h", "", `:1: retention is "23h"; it must be days from 1d to 36500d`},
		{"kept for no day", "", "SIBYL_RETENTION=0d", `SIBYL_RETENTION is "0d"`},
		{"kept for days without end", "retention: 99999999999999d", "", "retention is"},
		{"kept for days below nothing", "retention: -99999999999999d", "", "retention is"},
		{"kept for a number", "retention: 90", "", `retention is "90"`},
		{"keys elsewhere", "", "SIBYL_KEYS=vault", `SIBYL_KEYS is "vault"; it must be auto, keyring or file`},
		{"search engine that there is not", "web: {engine: bing}", "", `web.engine is "bing"; it must be searxng, brave or tavily`},
		{"window too large", "ollama: {context: 1000001}", "", "ollama.context is"},
		{"slow classifier", "bert: {timeout: 61s}", "", "bert.timeout is"},
		{"no cool-down", "fallback: {cool_down: 0s}", "", "fallback.cool_down is"},
		{"fallback to a provider alone", "fallback:\n  models: [ollama]", "", ":2: fallback.models entry 1 is \"ollama\", a provider alone; write ollama:MODEL"},
		{"fallback to no model", "fallback: {models: ['ollama:a', 7]}", "", "fallback.models entry 2 must be a text"},
		{"fallback to nobody", "fallback: {models: ['antropic:x']}", "", `:1: fallback.models: there is no provider "antropic"; did you mean anthropic?`},
		{"fallback to the rules", "fallback: {models: ['offline:rules']}", "", "fallback.models names the offline rules"},
		{"fallback twice", "fallback: {models: ['ollama:a', 'ollama:a']}", "", `fallback.models names "ollama:a" twice`},
		{"yes or no", "providers: {a: {base_url: 'https://a.test', local: maybe}}", "", `providers.a.local is "maybe"; it must be true or false`},
		{"empty command", "providers: {a: {base_url: 'https://a.test', key_command: []}}", "", "key_command must be a list of a program"},
		{"command of numbers", "providers: {a: {base_url: 'https://a.test', key_command: [pass, 5]}}", "", "each of them a text"},
		{"ollama with a wrong port", "", "OLLAMA_HOST=localhost:99999", "OLLAMA_HOST must be a host"},
		{"ollama with another scheme", "", "OLLAMA_HOST=ftp://localhost", "OLLAMA_HOST must be a host"},
		{"ollama with a user", "", "OLLAMA_HOST=http://me@localhost", "OLLAMA_HOST must be a host"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newSetup(t, c.file, c.variable).load()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestKeysInTheFileAreRefusedAndNotShown(t *testing.T) {
	const key = "sk-Zq8vT2nB7yH4mK9w1xR5c3"
	provider := func(line string) string { return "providers:\n  a:\n    base_url: https://a.test\n    " + line }
	for _, c := range []struct{ file, want string }{
		{provider("key: " + key), ":4: providers.a.key: no key belongs in this file: name the environment variable"},
		{provider("api_key: " + key), ":4: providers.a.api_key: no key belongs"},
		{provider("apiKey: " + key), "providers.a.apiKey: no key belongs"},
		{provider("token: " + key), "providers.a.token: no key belongs"},
		{provider("password: [" + key + "]"), "providers.a.password: no key belongs"},
		{"openai_api_key: " + key, ":1: openai_api_key: no key belongs"},
		{provider("key_env: " + key), ":4: providers.a.key_env must be the name of an environment variable"},
		{provider("key_env: ghp_Zq8vT2nB7yH4mK9w1xR5c3Zq8vT2nB7yH4mK9w1x"), "and not a key itself"},
		{provider("key_env: [" + key + "]"), "key_env takes one value"},
		{provider("key_command: " + key), "key_command takes a list"},
		{"model: " + key + ":x y", "model is"},
		{"max_turns: " + key, "max_turns is"},
		{"providers: {" + key + ": {}}", "[redacted]"},
		{"providers: {a: {base_url: 'https://me:" + key + "@a.test'}}", "holds a user or password"},
		{"web: {searxng: 'https://me:" + key + "@s.test'}", "put the address into SIBYL_SEARXNG_URL"},
		{"web: {searxng: 'ftp://me:" + key + "@s.test'}", "must be a web address"},
		{key, "the file must hold names"},
		{"model: [" + key, "line 1"},
	} {
		_, err := newSetup(t, c.file).load()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\nerror = %v\nwant %s", c.file, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "Zq8vT2nB") || strings.Contains(err.Error(), "sk-Z")) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

func TestFileThatIsNamedMustExist(t *testing.T) {
	s := newSetup(t, "model: offline")
	missing := filepath.Join(s.home, "missing.yaml")
	_, err := Load(Options{Environ: s.environ, Home: s.home, Path: missing})
	if err == nil || !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "the option names it") {
		t.Errorf("named by option: %v", err)
	}
	_, err = Load(Options{Environ: append(s.environ, "SIBYL_CONFIG="+missing), Home: s.home})
	if err == nil || !strings.Contains(err.Error(), "SIBYL_CONFIG names it") {
		t.Errorf("named by variable: %v", err)
	}
	if _, err = Load(Options{Environ: s.environ, Home: s.home, Path: s.home}); err == nil || !strings.Contains(err.Error(), "not a configuration file") {
		t.Errorf("a folder: %v", err)
	}
}

func TestOptionComesBeforeVariableBeforeUsualPlace(t *testing.T) {
	s := newSetup(t, "model: usual")
	other := func(name string) string {
		path := filepath.Join(s.home, name+".yaml")
		if err := os.WriteFile(path, []byte("model: "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	byVariable := append([]string{"SIBYL_CONFIG=" + other("variable")}, s.environ...)
	for want, opts := range map[string]Options{
		"usual":    {Environ: s.environ},
		"variable": {Environ: byVariable},
		"option":   {Environ: byVariable, Path: other("option")},
	} {
		opts.Home = s.home
		if cfg, err := Load(opts); err != nil || cfg.Model != want || filepath.Base(cfg.File) == "" {
			t.Errorf("model = %q from %s, want %q, error %v", cfg.Model, cfg.File, want, err)
		}
	}
}

func TestFileThatIsTooLargeIsRefused(t *testing.T) {
	_, err := newSetup(t, "# "+strings.Repeat("x", maxFileBytes)).load()
	if err == nil || !strings.Contains(err.Error(), "at most 1024 KB") {
		t.Errorf("error = %v", err)
	}
}

func TestDataFolderFollowsTheXDGSpecification(t *testing.T) {
	for _, c := range []struct{ xdg, want string }{
		{"/xdg", "/xdg/sibyl"},
		{"relative/is/ignored", "/home/me/.local/share/sibyl"},
		{"", "/home/me/.local/share/sibyl"},
	} {
		cfg, err := Load(Options{Environ: []string{"XDG_DATA_HOME=" + c.xdg, "HOME=/home/me"}})
		if err != nil || cfg.DataDir != c.want {
			t.Errorf("XDG_DATA_HOME %q: %q, error %v", c.xdg, cfg.DataDir, err)
		}
	}
}

func TestRelativeConfigHomeIsIgnored(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the usual place differs")
	}
	home := t.TempDir()
	usual := filepath.Join(home, ".config", "sibyl", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(usual), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(usual, []byte("model: usual"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(Options{Environ: []string{"XDG_CONFIG_HOME=conf"}, Home: home})
	if err != nil || cfg.File != usual || cfg.Model != "usual" {
		t.Errorf("file = %q, model = %q, error %v", cfg.File, cfg.Model, err)
	}
}

func TestUnknownHomeMattersOnlyWhereItIsNeeded(t *testing.T) {
	if _, err := Load(Options{Environ: []string{}}); err == nil || !strings.Contains(err.Error(), "set SIBYL_DATA or HOME") {
		t.Errorf("without a folder for data: %v", err)
	}
	if _, err := Load(Options{Environ: []string{"SIBYL_DATA=/d"}}); err != nil {
		t.Errorf("with one: %v", err)
	}
	if _, err := Load(Options{Environ: []string{"SIBYL_DATA=/d", "SIBYL_VAULT=~/v"}}); err == nil || !strings.Contains(err.Error(), "SIBYL_VAULT begins with ~") {
		t.Errorf("with a ~: %v", err)
	}
}

func TestRelativeFolderOfTheEnvironmentStartsFromWhereOneIs(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	cfg, _ := mustLoad(t, "", "SIBYL_VAULT=notes")
	if real, _ := filepath.EvalSymlinks(here); cfg.Vault != filepath.Join(here, "notes") && cfg.Vault != filepath.Join(real, "notes") {
		t.Errorf("vault = %s", cfg.Vault)
	}
}

func TestLastOfTwoEqualVariablesCounts(t *testing.T) {
	if cfg, _ := mustLoad(t, "", "SIBYL_MODEL=first", "SIBYL_MODEL=second", "nonsense", "=C:=x"); cfg.Model != "second" {
		t.Errorf("model = %q", cfg.Model)
	}
}

// A name of the table that the walker or the reader does not know would be a setting that cannot be set.
func TestEverySettingOfTheTableIsInTheFullFile(t *testing.T) {
	s := newSetup(t, fullFile)
	f, err := readFile("", newPlaces(s.environ, s.home))
	if err != nil {
		t.Fatal(err)
	}
	seen := maps.Clone(f.lines)
	for _, set := range settings() {
		if seen[set.path] == 0 {
			t.Errorf("%s is not in the file of TestFileSetsEverything", set.path)
		}
	}
	for _, set := range providerSettings() {
		found := false
		for path := range seen {
			found = found || strings.HasPrefix(path, "providers.") && strings.HasSuffix(path, "."+set.path)
		}
		if !found {
			t.Errorf("providers.*.%s is not in the file of TestFileSetsEverything", set.path)
		}
	}
}

func FuzzLoadEndsWithAConfigOrAnError(f *testing.F) {
	f.Add(fullFile, "x")
	f.Add("web: {searxng: [}", "http://a:b@c")
	f.Add("? a\n: - b\n", ":")
	f.Fuzz(func(t *testing.T, file, variable string) {
		places := newPlaces([]string{"HOME=/h"}, "")
		doc := configFile{path: "/h/config.yaml", content: []byte(file), lines: map[string]int{}}
		if err := doc.check(); err == nil {
			if cfg, _, err := fromFile(doc, places, nil); err == nil && (cfg.MaxTurns < 1 || cfg.MaxTurns > 200) {
				t.Errorf("%d turns were accepted", cfg.MaxTurns)
			}
		}
		var web Web
		var ollama Ollama
		_ = value{raw: variable}.searxng(&web)
		if err := (value{raw: variable}).ollama(&ollama); err == nil && !strings.HasPrefix(ollama.Host, "http") {
			t.Errorf("%q became %q", variable, ollama.Host)
		}
	})
}
