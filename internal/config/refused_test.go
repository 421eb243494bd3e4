package config

import (
	"strings"
	"testing"
)

func TestWrongNamesAreToldWithLineAndNearestName(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"letter missing", "model: offline\nmax_turn: 3", ":2: unknown setting max_turn; did you mean max_turns?"},
		{"capital", "Model: offline", ":1: unknown setting Model; did you mean model?"},
		{"section forgotten", "searxng: http://s.test", ":1: unknown setting searxng; did you mean web.searxng?"},
		{"section misspelt", "webb:\n  searxng: http://s.test", ":1: unknown setting webb; did you mean web?"},
		{"in a section", "web:\n  searx: http://s.test", ":2: unknown setting web.searx; did you mean web.searxng?"},
		{"in a provider", "providers:\n  groq:\n    base-url: https://g.test", ":3: unknown setting providers.groq.base-url; did you mean providers.groq.base_url?"},
		{"provider's at the top", "base_url: https://g.test", ":1: unknown setting base_url; did you mean providers.<name>.base_url?"},
		{"nothing near", "colour: red", ":1: unknown setting colour; available: bert, council, data, database, fallback, inquiry, keys, max_time, max_tokens, max_turns, mcp, model, models, notices, ollama, plain_http, prompts, providers, retention, server, telemetry, timeouts, transcription, trees, vault, web"},
		{"twice", "model: offline\nmodel: ollama", ":2: model is set twice"},
		{"dotted", "web.searxng: http://s.test", ":1: web.searxng: put a section"},
		{"dotted provider", "providers:\n  a.b: {base_url: https://g.test}", `:2: providers: the name "a.b" may contain only`},
		{"provider with a capital", "providers:\n  Groq: {base_url: https://g.test}", `:2: providers: the name "Groq" may contain only`},
		{"built-in name", "providers:\n  ollama: {base_url: https://g.test}", ":2: providers.ollama: this name is built in"},
		{"value where a section belongs", "web: http://s.test", ":1: web must contain names and values"},
		{"section where a value belongs", "model:\n  name: x", ":2: model takes one value"},
		{"list where a value belongs", "vault: [a, b]", ":1: vault takes one value"},
		{"value where models belong", "fallback: {models: 'ollama:a'}", ":1: fallback.models takes a list, such as [anthropic:"},
		{"value where a list belongs", "providers:\n  a:\n    base_url: https://a.test\n    key_command: pass show x", ":4: providers.a.key_command takes a list"},
		{"a list as the file", "- model: x", ":1: the file must contain names and values"},
		{"a word as the file", "hello", ":1: the file must contain names and values"},
		{"alias", "web: &a {searxng: http://s.test}\nollama: *a", ":2: ollama: YAML references are not supported"},
		{"merge", "web: &a {searxng: http://s.test}\nollama: {<<: *a}", ":2: ollama.<<: YAML references are not supported"},
		{"a list as a name", "? [a]\n: b", "YAML references are not supported"},
		{"a path of a trusted host", "plain_http: [llm.lan/v1]", ":1: plain_http"},
		{"an address of a trusted host", "plain_http: ['http://llm.lan']", "it must be a host"},
		{"all hosts", "plain_http: ['*']", "it must be a host"},
		{"a user of a trusted host", "plain_http: ['ada@llm.lan']", "it must be a host"},
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
		{"password of a database in the file", "database: postgres://ada:hunter2@h/d", "", `database contains a password, which does not belong in this file: put the address in DATABASE_URL`},
		{"database without a name", "", "SIBYL_DATABASE=postgres://h:1", `SIBYL_DATABASE must be an address such as postgres://`},
		{"another database", "", "SIBYL_DATABASE=mysql://root:hunter2@h/d", `SIBYL_DATABASE must be an address of PostgreSQL`},
		{"half of a certificate", "server: {tls_cert: a.pem}", "", `server.tls_cert and server.tls_key belong together`},
		{"listening nowhere", "server: {listen: 7333}", "", `server.listen must be a text`},
		{"listening without a port", "server: {listen: localhost}", "", `server.listen is "localhost"; it must be host:port`},
		{"address as a host", "server: {hosts: ['https://a.b']}", "", `server.hosts entry 1 is "https://a.b"; it must be just a host name`},
		{"name as a proxy", "server: {proxies: [gate]}", "", `server.proxies entry 1 is "gate"; it must be an address or a range`},
		{"folder with a strange name", "server: {folders: {../x: /}}", "", `"../x" is not a valid folder name`},
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
		{"time without a unit", "timeouts:\n  start: 60", "", `:2: timeouts.start is "60"; it must be a time with a unit, from 10s to 1h0m0s`},
		{"time too long", "timeouts: {local_silence: 61m}", "", "from 10s to 1h0m0s"},
		{"time too short", "timeouts: {web: 10ms}", "", "from 1s to 2m0s"},
		{"provider without an address", "\nproviders: {a: {model: x}}", "", ":2: providers.a has no base_url"},
		{"provider without anything", "providers:\n  a:", "", ":2: providers.a has no base_url"},
		{"kind that there is not", "providers: {a: {kind: claude}}", "", `:1: providers.a.kind is "claude"; it must be openai, anthropic, gemini or ollama`},
		{"another kind for a vendor", "providers:\n  anthropic:\n    kind: openai", "",
			":3: providers.anthropic.kind is openai, but a provider with this name has the kind anthropic"},
		{"ollama's kind without an address", "providers: {a: {kind: ollama}}", "", "providers.a has no base_url"},
		{"few tokens", "", "SIBYL_MAX_TOKENS=999", `SIBYL_MAX_TOKENS is "999"; it must be a whole number from 1000 to 10000000, or 0 for no limit`},
		{"many tokens", "max_tokens: 10000001", "", ":1: max_tokens is"},
		{"no time", "max_time: 4s", "", `max_time is "4s"; it must be a time with a unit, from 5s to 1h0m0s`},
		{"kept for hours", "retention: 23h", "", `:1: retention is "23h"; it must be a number of days from 1d to 36500d`},
		{"kept for no day", "", "SIBYL_RETENTION=0d", `SIBYL_RETENTION is "0d"`},
		{"kept for days without end", "retention: 99999999999999d", "", "retention is"},
		{"kept for days below nothing", "retention: -99999999999999d", "", "retention is"},
		{"kept for a number", "retention: 90", "", `retention is "90"`},
		{"keys elsewhere", "", "SIBYL_KEYS=vault", `SIBYL_KEYS is "vault"; it must be auto, keyring or file`},
		{"search engine that there is not", "web: {engine: bing}", "", `web.engine is "bing"; it must be searxng, brave or tavily`},
		{"window too large", "ollama: {context: 1000001}", "", "ollama.context is"},
		{"slow classifier", "bert: {timeout: 61s}", "", "bert.timeout is"},
		{"no cool-down", "fallback: {cool_down: 0s}", "", "fallback.cool_down is"},
		{"fallback to a provider alone", "fallback:\n  models: [ollama]", "", ":2: fallback.models entry 1 is \"ollama\", a provider without a model; write ollama:MODEL"},
		{"fallback to no model", "fallback: {models: ['ollama:a', 7]}", "", "fallback.models entry 2 must be a text"},
		{"fallback to nobody", "fallback: {models: ['antropic:x']}", "", `:1: fallback.models: there is no provider "antropic"; did you mean anthropic?`},
		{"fallback to the rules", "fallback: {models: ['offline:rules']}", "", "fallback.models names the offline rules"},
		{"fallback twice", "fallback: {models: ['ollama:a', 'ollama:a']}", "", `fallback.models names "ollama:a" twice`},
		{"yes or no", "providers: {a: {base_url: 'https://a.test', local: maybe}}", "", `providers.a.local is "maybe"; it must be true or false`},
		{"collector without a scheme", "", "OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4317", "OTEL_EXPORTER_OTLP_ENDPOINT must be a web address, such as https://host/path"},
		{"collector with a password", "telemetry:\n  otlp_endpoint: http://a:b@c.test", "", ":2: telemetry.otlp_endpoint contains a user or password: put the header Authorization in OTEL_EXPORTER_OTLP_HEADERS"},
		{"more traces than all", "telemetry: {trace_ratio: 1.5}", "", `telemetry.trace_ratio is "1.5"; it must be a number from 0 to 1`},
		{"traces that are no number", "", "SIBYL_TRACE_RATIO=NaN", `SIBYL_TRACE_RATIO is "NaN"; it must be a number from 0 to 1`},
		{"log level that there is not", "", "SIBYL_LOG_LEVEL=loud", `SIBYL_LOG_LEVEL is "loud"; it must be debug, info, warn or error`},
		{"headers that are none", "", "OTEL_EXPORTER_OTLP_HEADERS=a=b,c", "OTEL_EXPORTER_OTLP_HEADERS must hold name=value, with commas between; entry 2 is not such a pair"},
		{"header with two lines", "", "OTEL_EXPORTER_OTLP_HEADERS=a=b%0Ac", "entry 1 is not such a pair"},
		{"header without a name", "", "OTEL_EXPORTER_OTLP_HEADERS==b", "entry 1 is not such a pair"},
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
		{provider("key: " + key), ":4: providers.a.key: keys don't belong in this file: name an environment variable"},
		{provider("api_key: " + key), ":4: providers.a.api_key: keys don't belong"},
		{provider("apiKey: " + key), "providers.a.apiKey: keys don't belong"},
		{provider("token: " + key), "providers.a.token: keys don't belong"},
		{provider("password: [" + key + "]"), "providers.a.password: keys don't belong"},
		{"openai_api_key: " + key, ":1: openai_api_key: keys don't belong"},
		{provider("key_env: " + key), ":4: providers.a.key_env must be the name of an environment variable"},
		{provider("key_env: ghp_Zq8vT2nB7yH4mK9w1xR5c3Zq8vT2nB7yH4mK9w1x"), "not a key"},
		{provider("key_env: [" + key + "]"), "key_env takes one value"},
		{provider("key_command: " + key), "key_command takes a list"},
		{"model: " + key + ":x y", "model is"},
		{"max_turns: " + key, "max_turns is"},
		{"providers: {" + key + ": {}}", "[redacted]"},
		{"providers: {a: {base_url: 'https://me:" + key + "@a.test'}}", "contains a user or password"},
		{"web: {searxng: 'https://me:" + key + "@s.test'}", "put the address in SIBYL_SEARXNG_URL"},
		{"web: {searxng: 'ftp://me:" + key + "@s.test'}", "must be a web address"},
		{key, "the file must contain names"},
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
