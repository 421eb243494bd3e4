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
		{"alias in a list", "fallback:\n  models: [&a 'ollama:a', *a]", ":2: fallback.models: YAML references are not supported"},
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

func TestWrongValuesAreToldWithPlaceAndRangeAndWithoutSecrets(t *testing.T) {
	keyLike := "sk-proj-" + strings.Repeat("c4n4ry", 8)
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
		{"variable wins, and is blamed", "max_turns: 0", "SIBYL_MAX_TURNS=999", `SIBYL_MAX_TURNS is "999"`},
		{"model without a provider", "model: ':x'", "", "must be provider:model"},
		{"model without a name", "", "SIBYL_MODEL=ollama:", "SIBYL_MODEL is \"ollama:\"; it must be provider:model"},
		{"model of two lines", "model: |\n  a\n  b", "", "model must be one line"},
		{"search server without a scheme", "", "SIBYL_SEARXNG_URL=localhost:8888", "SIBYL_SEARXNG_URL must be a web address"},
		{"search server with a query", "web: {searxng: 'http://s.test/?q=1'}", "", "without ? and #"},
		{"time without a unit", "timeouts:\n  start: 60", "", `:2: timeouts.start is "60"; it must be a time with a unit, from 10s to 1h0m0s`},
		{"time too short", "timeouts: {web: 10ms}", "", "from 1s to 2m0s"},
		{"provider without an address", "\nproviders: {a: {model: x}}", "", ":2: providers.a has no base_url"},
		{"kind that there is not", "providers: {a: {kind: claude}}", "", `:1: providers.a.kind is "claude"; it must be openai, anthropic, gemini or ollama`},
		{"another kind for a vendor", "providers:\n  anthropic:\n    kind: openai", "",
			":3: providers.anthropic.kind is openai, but a provider with this name has the kind anthropic"},
		{"ollama's kind without an address", "providers: {a: {kind: ollama}}", "", "providers.a has no base_url"},
		{"few tokens", "", "SIBYL_MAX_TOKENS=999", `SIBYL_MAX_TOKENS is "999"; it must be a whole number from 1000 to 10000000, or 0 for no limit`},
		{"no time", "max_time: 4s", "", `max_time is "4s"; it must be a time with a unit, from 5s to 1h0m0s`},
		{"kept for hours", "retention: 23h", "", `:1: retention is "23h"; it must be a number of days from 1d to 36500d`},
		{"kept for days without end", "retention: 99999999999999d", "", "retention is"},
		{"keys elsewhere", "", "SIBYL_KEYS=vault", `SIBYL_KEYS is "vault"; it must be auto, keyring or file`},
		{"fallback to a provider alone", "fallback:\n  models: [ollama]", "", ":2: fallback.models entry 1 is \"ollama\", a provider without a model; write ollama:MODEL"},
		{"fallback to no model", "fallback: {models: ['ollama:a', 7]}", "", "fallback.models entry 2 must be a text"},
		{"fallback to nobody", "fallback: {models: ['antropic:x']}", "", `:1: fallback.models: there is no provider "antropic"; did you mean anthropic?`},
		{"fallback to the rules", "fallback: {models: ['offline:rules']}", "", "fallback.models names the offline rules"},
		{"fallback twice", "fallback: {models: ['ollama:a', 'ollama:a']}", "", `fallback.models names "ollama:a" twice`},
		{"yes or no", "providers: {a: {base_url: 'https://a.test', local: maybe}}", "", `providers.a.local is "maybe"; it must be true or false`},
		{"collector with a password", "telemetry:\n  otlp_endpoint: http://a:b@c.test", "", ":2: telemetry.otlp_endpoint contains a user or password: put the header Authorization in OTEL_EXPORTER_OTLP_HEADERS"},
		{"more traces than all", "telemetry: {trace_ratio: 1.5}", "", `telemetry.trace_ratio is "1.5"; it must be a number from 0 to 1`},
		{"traces that are no number", "", "SIBYL_TRACE_RATIO=NaN", `SIBYL_TRACE_RATIO is "NaN"; it must be a number from 0 to 1`},
		{"headers that are none", "", "OTEL_EXPORTER_OTLP_HEADERS=a=b,c", "OTEL_EXPORTER_OTLP_HEADERS must hold name=value, with commas between; entry 2 is not such a pair"},
		{"header without a name", "", "OTEL_EXPORTER_OTLP_HEADERS==b", "entry 1 is not such a pair"},
		{"empty command", "providers: {a: {base_url: 'https://a.test', key_command: []}}", "", "key_command must be a list of a program"},
		{"command of numbers", "providers: {a: {base_url: 'https://a.test', key_command: [pass, 5]}}", "", "each of them a text"},
		{"ollama with a wrong port", "", "OLLAMA_HOST=localhost:99999", "OLLAMA_HOST must be a host"},
		{"ollama with another scheme", "", "OLLAMA_HOST=ftp://localhost", "OLLAMA_HOST must be a host"},
		{"ollama with a user", "", "OLLAMA_HOST=http://me@localhost", "OLLAMA_HOST must be a host"},
		{"two that transcribe", "transcription: {server: 'http://127.0.0.1:8080', command: [t, '{file}']}", "SIBYL_TRANSCRIPTION_MODEL=openai:whisper-1",
			"only one of these can be set: transcription.command ("},
		{"model of nobody", "", "SIBYL_TRANSCRIPTION_MODEL=opennai:whisper-1", `SIBYL_TRANSCRIPTION_MODEL: there is no provider "opennai"; did you mean openai?`},
		{"provider that does not transcribe", "transcription: {model: 'anthropic:claude'}", "", ":1: transcription.model: anthropic does not transcribe"},
		{"Ollama does not transcribe", "transcription: {model: 'ollama:whisper'}", "", "ollama does not transcribe"},
		{"own provider that does not", "transcription: {model: 'box:w'}\nproviders: {box: {kind: ollama, base_url: 'http://127.0.0.1:1'}}", "", "box does not transcribe"},
		{"audio in the open", "transcription: {server: 'http://gpu.lan:8080'}", "", ":1: transcription.server sends audio to another machine over plain http"},
		{"audio with a password", "", "SIBYL_TRANSCRIPTION_SERVER=https://me:" + canary + "@w.test", "SIBYL_TRANSCRIPTION_SERVER contains a user or password"},
		{"command without a file", "transcription: {command: [whisper-cli, -nt]}", "", "transcription.command must have an argument with {file}"},
		{"file as the program", "transcription: {command: ['{file}']}", "", "transcription.command must have an argument with {file}"},
		{"language in words", "transcription: {language: portuguese}", "", `transcription.language is "portuguese"; it must be the code of a language`},
		{"no formats", "transcription: {formats: []}", "", "transcription.formats must be a list with an entry, such as [wav"},
		{"format that there is not", "transcription: {formats: [wav, mp4]}", "", `transcription.formats entry 2 is "mp4"; it must be wav, ogg,`},
		{"server: neither way", "mcp: {servers: {a: {timeout: 5s}}}", "", "needs either a command or a url"},
		{"server: both ways", "mcp: {servers: {a: {command: [x], url: 'https://a.test'}}}", "", "needs either a command or a url"},
		{"server: key of a command", "mcp: {servers: {a: {command: [x], key_env: KEY}}}", "", "pass variables to a command with env"},
		{"server: env of a url", "mcp: {servers: {a: {url: 'https://a.test', env: [KEY]}}}", "", "for a url, use key_env"},
		{"server: password in a url", "mcp: {servers: {a: {url: 'https://u:" + canary + "@a.test'}}}", "", "contains a user or password"},
		{"server: value for a name", "mcp: {servers: {a: {command: [x], env: ['" + canary + "']}}}", "", "must be the name of an environment variable"},
		{"server: pin", "mcp: {servers: {a: {command: [x], pin: abc}}}", "", "sha256: and 64 digits"},
		{"a header named like a key", gateway + "headers: {Api-Key: c4n4ry-of-a-key}}}", "", "$NAME here"},
		{"authorization", gateway + "headers: {Authorization: Basic c4n4ry-of-a-key}}}", "", "key_env or key_command"},
		{"what looks like a key", gateway + "headers: {X-Team: " + keyLike + "}}}", "", "looks like a key"},
		{"a key behind the sign", gateway + "headers: {X-Team: $" + canary + "}}}", "", "name of an environment variable"},
		{"no name of a header", gateway + "headers: {'X Team': a}}}", "", "not a valid header name"},
		{"a header of two lines", gateway + "headers: {X-Team: \"a\\nb\"}}}", "", "one line"},
		{"a header in parts", gateway + "headers: {X-Team: [a]}}}", "", "names and values"},
		{"a text in place of headers", gateway + "headers: X-Team}}", "", "takes names and values, such as {X-Team"},
		{"a key in the address", gateway + "query: {api_key: c4n4ry-of-a-key}}}", "", "key_env, key_command or headers"},
		{"a field that looks like a key", gateway + "body: {x: {y: [" + keyLike + "]}}}}", "", "looks like a key"},
		{"a field that JSON can't hold", gateway + "body: {x: .nan}}}", "", "not valid JSON"},
		{"a field twice", gateway + "body: {x: 1, x: 2}}}", "", "each name once"},
		{"an effort that there is not", gateway + "think: hard}}", "", "on, off, low, medium or high"},
		{"too little output", gateway + "max_output: 3}}", "", "from 256"},
		{"an API of another kind", gateway + "kind: gemini, api: chat}}", "", "only to the kind openai"},
		{"keep_alive of another kind", gateway + "keep_alive: 5m}}", "", "only to the kind ollama"},
		{"keep_alive without a unit", gateway + "kind: ollama, keep_alive: 5}}", "", "or forever"},
		{"a list in place of names", gateway + "body: [a]}}", "", "takes names and values, such as {top_k"},
		{"a name that is no text in query", gateway + "query: {[a]: b}}}", "", "names and values"},
		{"prices", `models: {prices: {"gpt": {input: 1, output: 1}}}`, "", "write a model as provider:model"},
		{"prices", `models: {prices: {"a:b": {input: 1}}}`, "", "no output price"},
		{"prices", `models: {prices: {"a:b": {output: 1}}}`, "", "no input price"},
		{"prices", `models: {prices: {"a:b": {input: -1, output: 1}}}`, "", "not between 0 and"},
		{"prices", `models: {prices: {"a:b": {input: .nan, output: 1}}}`, "", "not valid JSON"},
		{"prices", `models: {prices: {"a:b": {input: free, output: 1}}}`, "", "not a number"},
		{"prices", `models: {prices: {"a:b": {input: 1, output: 1, think: 1}}}`, "", "input, cached and output"},
		{"prices", `models: {prices: [1]}`, "", "models.prices"},
		{"prices", `models: {prices: {"a:b": 3}}`, "", "models.prices"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newSetup(t, c.file, c.variable).load()
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "c4n4ry") || strings.Contains(err.Error(), canary) {
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
