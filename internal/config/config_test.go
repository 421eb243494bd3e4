package config

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/behaviour/assert"
)

var bySecret = cmp.Options{cmp.Comparer(func(a, b Secret) bool {
	return a.Reveal() == b.Reveal()
}), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmpopts.IgnoreUnexported(Config{}, Prices{})}

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
		assert.NoError(t, os.MkdirAll(filepath.Dir(s.file()), 0o755))
		assert.NoError(t, os.WriteFile(s.file(), []byte(file), 0o600))
	}
	return s
}

func (s setup) file() string { return filepath.Join(s.home, "conf", "sibyl", "config.yaml") }

func (s setup) keys(use string) KeyPlaces {
	data := filepath.Join(s.home, ".local", "share", "sibyl")
	return KeyPlaces{Use: use, File: filepath.Join(s.home, "conf", "sibyl", "keys.age"),
		Identity: filepath.Join(data, "keys-identity.txt"), Folder: data}
}

func (s setup) load() (Config, error) { return Load(Options{Environ: s.environ, Home: s.home}) }

func mustLoad(t *testing.T, file string, environ ...string) (Config, setup) {
	t.Helper()
	s := newSetup(t, file, environ...)
	cfg := assert.Must(s.load())(t)
	return cfg, s
}

func TestDefaultsNeedNoFileAndNoEnvironment(t *testing.T) {
	cfg, s := mustLoad(t, "")
	assert.That(t, cfg.DataDir == filepath.Join(s.home, ".local", "share", "sibyl") &&
		cfg.MCP.Trusted == filepath.Join(filepath.Dir(s.file()), "mcp") && cfg.File == "",
		"the folders are %s and %s, the file is %q", cfg.DataDir, cfg.MCP.Trusted, cfg.File)
	assert.Same(t, Ollama{Host: "http://127.0.0.1:11434", Local: true}, cfg.Ollama)
	assert.That(t, cfg.MaxTurns == 30 && cfg.MaxTokens == 0 && cfg.Retention == 365*day && cfg.Keys == s.keys(KeysAuto) &&
		cfg.Server.Loopback() == true && !cfg.Web.Off && len(cfg.Providers) == 0, "got %+v", cfg)
	assert.That(t, cfg.Web.Brave.KeyEnv == braveKeyEnv && cfg.Web.Tavily.KeyEnv == tavilyKeyEnv &&
		cfg.Telemetry.TraceRatio == 1 && cfg.Prices.Currency == "USD", "got %+v", cfg)
}

const fullFile = `# everything that can be set
model: ollama:llama3.1:8b
data: ../data
database: postgres://sibyl@db.lan:5432/sibyl?sslmode=require
vault: ~/notes
trees: /etc/sibyl/trees
prompts: prompts
instructions: |
  Answer briefly.
  Use metric units.
notices: notices.jsonl
max_turns: 12
max_tokens: 200000
max_time: 10m
retention: 90d
keys: file
plain_http: [GPU.lan:11434, llm.lan, "[fd00::1]:80"]
web:
  access: off
  allow: [example.org]
  deny: [evil.example.org]
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
  think: high
  max_output: 4096
  keep_alive: forever
  report: signals
  headers: {X-Team: search}
  query: {tenant: a}
  body: {top_k: 20}
bert:
  model: ~/bert
  timeout: 2s
models:
  remember: true
  currency: EUR
  limit: 2.5
  prices: {"groq:*": {input: 0.5, output: 2}}
fallback:
  models: [groq:llama, "ollama:llama3.1:8b"]
  cool_down: 30s
  local_to_cloud: true
timeouts:
  start: 90s
  silence: 30s
  local_start: 20m
  local_silence: 6m
  web: 5s
server:
  listen: 0.0.0.0:8443
  name: attic
  tls_cert: cert.pem
  tls_key: ~/key.pem
  hosts: [Sibyl.lan, 'sibyl.example.org:8443', 'http://Old.lan/']
  proxies: [10.1.2.3/8, 127.0.0.1]
  most_runs: 4
  grace: 1m
  folders: {code: /srv/code, ada/notes: ~/notes}
  limits: {runs: 2, requests: 60, bytes: 1048576}
telemetry:
  otlp_endpoint: http://127.0.0.1:4318/
  trace_ratio: 0.25
  accept_traceparent: true
  log_level: debug
inquiry:
  sessions: ~/inquiries
  limit: 7
  witness: ollama:llama2
  embeddings: ollama:nomic-embed-text
council:
  sessions: ~/thoughts
  oracles: ./oracles
  placeholder: "[CONTEXT]"
  cache_ttl: 0
  timeout: 45
transcription:
  model: # which is instead of the two after it
  server:
  command: [./bin/transcribe, -m, ~/models/small.bin, -f, "{file}"]
  language: pt-BR
  formats: [wav, ogg]
  timeout: 2h
mcp:
  servers:
    tracker:
      command: [npx, -y, tracker-server]
      env: [TRACKER_TOKEN, UNSET_TOKEN]
      folder: ~/work
      tools: [search, get]
      private: true
      timeout: 5s
    wiki:
      url: https://wiki.test/mcp/
      header: X-Api-Key
      key_env: WIKI_KEY
      key_command: [pass, wiki]
      pin: sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
providers:
  openai:
    model: gpt-x
  groq:
    base_url: https://api.groq.test/openai/v1/
    key_env: GROQ_KEY
    model: llama
  vault-key:
    base_url: https://llm.test/v1
    key_command: [pass, show, "llm key"]
  litellm:
    base_url: http://127.0.0.1:4000/v1
    local: false
  studio:
    base_url: http://localhost:1234/v1
  work:
    kind: anthropic
    key_env: WORK_KEY
  box:
    kind: ollama
    base_url: http://127.0.0.1:11435
    keep_alive: 30m
  gateway:
    base_url: https://gateway.test/v1
    api: responses
    window: 64000
    think: off
    max_output: 2000
    report: tool
    headers:
      X-Team: search
      X-Gateway-Token: $GATEWAY_TOKEN
    query: {api-version: 2024-10-21, v: 1.10}
    body:
      chat_template_kwargs: {enable_thinking: false}
      stop: [END]
      top_p: 0.9
`

var fullEnviron = []string{"GROQ_KEY=groq-value-0123456789", "MY_BRAVE=brave-value-0123456789",
	"TRACKER_TOKEN=tracker-value-0123456789", "PATH=/bin", "OTHER=x",
	"WIKI_KEY=wiki-value-0123456789", "WORK_KEY=work-value-0123456789", "MY_TAVILY=tavily-value-0123456789"}

func TestFileSetsEverything(t *testing.T) {
	_, lines, s := explain(t, fullFile, fullEnviron...)
	read := map[string]any{}
	for _, line := range lines {
		if pattern, _ := patternOf(line.Path); line.Value != nil && strings.HasPrefix(line.From, s.file()) {
			read[pattern] = line.Value
		}
	}
	for path := range knownNames() {
		assert.That(t, read[path] != nil || path == "transcription.model" || path == "transcription.server",
			"%s is not read, or is not in the file", path)
	}
	folder := filepath.Dir(s.file())
	for path, want := range map[string]any{
		"data": filepath.Join(filepath.Dir(folder), "data"), "prompts": filepath.Join(folder, "prompts"),
		"vault": filepath.Join(s.home, "notes"), "trees": "/etc/sibyl/trees",
		"database": "postgres://sibyl@db.lan:5432/sibyl?sslmode=require", "max_tokens": 200_000, "max_time": "10m0s",
		"retention": "90d", "plain_http": []string{"gpu.lan:11434", "llm.lan", "[fd00::1]:80"},
		"web.access": "off", "web.searxng": "http://localhost:8888", "ollama.host": "http://gpu.lan:11434",
		"ollama.keep_alive": "forever", "fallback.local_to_cloud": true,
		"server.hosts":            []string{"https://sibyl.lan", "https://sibyl.example.org:8443", "http://old.lan"},
		"server.proxies":          []string{"10.0.0.0/8", "127.0.0.1/32"},
		"telemetry.otlp_endpoint": "http://127.0.0.1:4318", "telemetry.trace_ratio": 0.25,
		"telemetry.log_level": "debug",
		"server.folders":      map[string]string{"code": "/srv/code", "ada/notes": filepath.Join(s.home, "notes")},
		"transcription.command": []string{filepath.Join(folder, "bin", "transcribe"), "-m",
			filepath.Join(s.home, "models", "small.bin"), "-f", "{file}"}, "transcription.language": "pt",
		"models.prices": map[string]map[string]float64{"groq:*": {"input": 0.5, "cached": 0.5, "output": 2}},
	} {
		assert.NoDiff(t, cmp.Diff(want, read[path]), "%s", path)
	}
}

func TestProvidersAndServersAreCompletedByWhatIsKnown(t *testing.T) {
	cfg, s := mustLoad(t, fullFile, fullEnviron...)
	providers := map[string]Provider{
		"openai": {Kind: KindOpenAI, BaseURL: "https://api.openai.com/v1", Model: "gpt-x",
			KeySource: KeySource{KeyEnv: "OPENAI_API_KEY"}},
		"groq": {Kind: KindOpenAI, BaseURL: "https://api.groq.test/openai/v1", Model: "llama",
			KeySource: KeySource{KeyEnv: "GROQ_KEY", EnvKey: NewSecret("groq-value-0123456789")}},
		"vault-key": {Kind: KindOpenAI, BaseURL: "https://llm.test/v1",
			KeySource: KeySource{KeyCommand: []string{"pass", "show", "llm key"}}},
		"litellm": {Kind: KindOpenAI, BaseURL: "http://127.0.0.1:4000/v1"},
		"studio":  {Kind: KindOpenAI, BaseURL: "http://localhost:1234/v1", Local: true},
		"work": {Kind: KindAnthropic, BaseURL: "https://api.anthropic.com",
			KeySource: KeySource{KeyEnv: "WORK_KEY", EnvKey: NewSecret("work-value-0123456789")}},
		"box": {Kind: KindOllama, BaseURL: "http://127.0.0.1:11435", Local: true,
			Tuning: Tuning{KeepAlive: 30 * time.Minute}},
		"gateway": {Kind: KindOpenAI, BaseURL: "https://gateway.test/v1", Window: 64_000, API: APIResponses,
			Tuning: Tuning{
				Think: "off", MaxOutput: 2000, Report: ReportTool,
				Headers:    map[string]string{"X-Team": "search", "X-Gateway-Token": "$GATEWAY_TOKEN"},
				EnvHeaders: map[string]Secret{"X-Gateway-Token": {}},
				Query:      map[string]string{"api-version": "2024-10-21", "v": "1.10"},
				Body: map[string]any{"chat_template_kwargs": map[string]any{"enable_thinking": false},
					"stop": []any{"END"}, "top_p": 0.9},
			}},
	}
	assert.Same(t, providers, cfg.Providers, bySecret)
	servers := map[string]MCPServer{
		"tracker": {Private: true, Command: []string{"npx", "-y", "tracker-server"}, Env: []string{"TRACKER_TOKEN",
			"UNSET_TOKEN"}, Folder: filepath.Join(s.home, "work"),
			Tools: []string{"search", "get"}, Timeout: 5 * time.Second, Variables: []string{"UNSET_TOKEN"},
			Environ: map[string]Secret{"PATH": NewSecret("/bin"),
				"TRACKER_TOKEN":   NewSecret("tracker-value-0123456789"),
				"XDG_CONFIG_HOME": NewSecret(filepath.Join(s.home, "conf"))}},
		"wiki": {URL: "https://wiki.test/mcp", Header: "X-Api-Key", Timeout: 30 * time.Second,
			Pin: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
			KeySource: KeySource{KeyEnv: "WIKI_KEY", EnvKey: NewSecret("wiki-value-0123456789"),
				KeyCommand: []string{"pass", "wiki"}}},
	}
	assert.Same(t, servers, cfg.MCP.Servers, bySecret)
}

// Each variable is set, and that of a vendor for one of them.
func TestEnvironmentOverridesTheFile(t *testing.T) {
	want := map[string]string{
		"SIBYL_MODEL": "openai:gpt-y", "SIBYL_DATA": "/data", "SIBYL_DATABASE": "sqlite:/a.db", "SIBYL_VAULT": "/other",
		"SIBYL_TREES": "/t", "SIBYL_PROMPTS": "/p", "SIBYL_INSTRUCTIONS": "Be brief.", "SIBYL_NOTICES": "/n.jsonl",
		"SIBYL_MAX_TURNS": "7", "SIBYL_MAX_TOKENS": "0", "SIBYL_MAX_TIME": "20s", "SIBYL_RETENTION": "never",
		"SIBYL_KEYS": "keyring", "SIBYL_WEB": "on",
		"SIBYL_SEARXNG_URL": "https://search.test/x", "OLLAMA_HOST": "http://127.0.0.1:9999", "SIBYL_TRACE_RATIO": "0",
		"SIBYL_LOG_LEVEL":             "error",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.test:4318/otlp", "SIBYL_LISTEN": "0.0.0.0:1",
		"SIBYL_NODE": "n2", "SIBYL_MOST_RUNS": "3",
		"SIBYL_SESSIONS": "/s", "ORACLES_DIR": "/o", "ORACLE_PLACEHOLDER": "{{ALL}}", "ORACLE_CACHE_TTL": "3",
		"LLM_TIMEOUT_SECONDS": "7",
		"SIBYL_INQUIRIES":     "/i", "SIBYL_INQUIRY_LIMIT": "6", "SIBYL_WITNESS": "ollama:w",
		"SIBYL_INQUIRY_EMBEDDINGS": "ollama:e", "SIBYL_TRANSCRIPTION_LANGUAGE": "de",
		"OPENAI_BASE_URL": "https://proxy.test/v1", "OPENAI_MODEL": "gpt-z",
	}
	for _, one := range sections()[0].settings {
		// the file has a command
		env := one.tag.Get("env")
		assert.That(t, env == "" || want[env] != "" || env == "SIBYL_TRANSCRIPTION_MODEL" ||
			env == "SIBYL_TRANSCRIPTION_SERVER", "%s is not tried", env)
	}
	var environ []string
	for name, text := range want {
		environ = append(environ, name+"="+text)
	}
	_, lines, _ := explain(t, fullFile, append(environ, fullEnviron...)...)
	for _, line := range lines {
		if text, is := want[line.From]; is {
			assert.That(t, fmt.Sprint(line.Value) == text, "%s is %v, not what %s says", line.Path, line.Value, line.From)
			delete(want, line.From)
		}
	}
	assert.That(t, len(want) == 0, "not read: %v", want)
	cfg, s := mustLoad(t, "", "SIBYL_AGE_IDENTITY=~/age.txt", "SIBYL_TRANSCRIPTION_SERVER=http://[::1]:8080/")
	assert.That(t, cfg.Keys.Identity == filepath.Join(s.home, "age.txt") && cfg.Keys.IdentityNamed, "keys = %+v", cfg.Keys)
	assert.That(t, cfg.Transcription.Server == "http://[::1]:8080" && cfg.Transcription.Local,
		"transcription = %+v", cfg.Transcription)
}

func TestEmptyVariablesAndSectionsSetNothing(t *testing.T) {
	cfg, s := mustLoad(t, "model:\nvault:\nweb:\nproviders:\nollama: ~\ntimeouts:\n  web:\n",
		"SIBYL_MODEL=", "SIBYL_MAX_TURNS=", "OLLAMA_HOST=", "OPENAI_API_KEY=", "SIBYL_CONFIG=")
	plain, _ := Load(Options{Environ: []string{}, Home: s.home})
	plain.File, plain.Keys, plain.MCP = s.file(), cfg.Keys, cfg.MCP // the folder for configuration is another
	plain.Presets = cfg.Presets
	assert.Same(t, plain, cfg, bySecret)
	cfg, _ = mustLoad(t, "web:\n", "SIBYL_SEARXNG_URL=http://s.test")
	assert.That(t, cfg.Web.SearXNG == "http://s.test", "an empty section hid a variable: %+v", cfg.Web)
}

// A bound that the reader does not understand would be none.
func TestBoundsAreNumbersOrTimes(t *testing.T) {
	for _, section := range sections() {
		for _, one := range section.settings {
			for _, bound := range []string{one.tag.Get("min"), one.tag.Get("max")} {
				_, notNumber := strconv.Atoi(bound)
				_, notTime := time.ParseDuration(bound)
				isTime := one.kind.of == reflect.TypeFor[time.Duration]()
				assert.That(t, bound == "" || ((!isTime || notTime == nil) && (isTime || notNumber == nil)),
					"%s has the bound %q", section.pattern(one), bound)
			}
		}
	}
}

func FuzzLoadEndsWithAConfigOrAnError(f *testing.F) {
	f.Add(fullFile, "x")
	f.Add("web: {searxng: [}", "http://a:b@c")
	f.Add("? a\n: - b\n", ":")
	f.Fuzz(func(t *testing.T, file, variable string) {
		places := Options{Environ: []string{"HOME=/h"}}.places()
		if doc, err := parse("/h/config.yaml", []byte(file)); err == nil {
			cfg, _, err := combine(doc, places, nil)
			assert.That(t, err != nil || (cfg.MaxTurns >= 1 && cfg.MaxTurns <= 200), "%d turns were accepted", cfg.MaxTurns)
		}
		_, _ = value{Node: textOf(variable)}.searxng()
		host, err := (value{Node: textOf(variable)}).ollama()
		assert.That(t, err != nil || strings.HasPrefix(host, "http"), "%q became %q", variable, host)
	})
}
