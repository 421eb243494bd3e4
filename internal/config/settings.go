package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// setting is one thing that can be set, in a T: the whole Config or one Provider.
type setting[T any] struct {
	path     string // in the file, sections and name with dots between
	variable string // in the environment; "" for none
	list     string // an example of the list, or of the names and values, it takes; "" for one that takes one value
	takes    takes
	choices  []string // all that it may be, where that is a few words
	apply    func(into *T, v value) error
	show     func(of *T) any // as the file would have it; nil where it is not set
}

// takes is the kind of what is set, where somebody could be helped to name it.
type takes int

const (
	takesOther takes = iota
	takesPath
	takesModel
)

// field is a setting that fills one field.
func field[T, F any](path, variable string, at func(*T) *F, take func(value, *F) error) setting[T] {
	return setting[T]{path: path, variable: variable,
		apply: func(into *T, v value) error { return take(v, at(into)) },
		show:  func(of *T) any { return plain(*at(of)) }}
}

// path is a field that holds a path.
func path[T any](path, variable string, at func(*T) *string) setting[T] {
	s := field(path, variable, at, value.path)
	s.takes = takesPath
	return s
}

// choice is a field that holds one of a few words.
func choice[T any, F ~string](path, variable string, at func(*T) *F, choices ...F) setting[T] {
	s := field(path, variable, at, oneOf(choices...))
	for _, c := range choices {
		s.choices = append(s.choices, string(c))
	}
	return s
}

// yesNo is a field that is true or false.
func yesNo[T any](path, variable string, at func(*T) *bool) setting[T] {
	return field(path, variable, at, value.yesNo).choosing("true", "false")
}

// offSwitch is a field that is on or off, and keeps whether it is off.
func offSwitch[T any](path, variable string, at func(*T) *bool) setting[T] {
	return field(path, variable, at, value.offSwitch).choosing("on", "off").
		shown(func(of *T) any { return map[bool]string{true: "off", false: "on"}[*at(of)] })
}

// choosing is the setting with all that it may be.
func (s setting[T]) choosing(all ...string) setting[T] {
	s.choices = all
	return s
}

// naming is the setting with the kind of what it takes.
func (s setting[T]) naming(kind takes) setting[T] {
	s.takes = kind
	return s
}

// taking is the setting with an example of the list, or of the names and values, it takes.
func (s setting[T]) taking(list string) setting[T] {
	s.list = list
	return s
}

// shown is the setting with another way to show it.
func (s setting[T]) shown(show func(of *T) any) setting[T] {
	s.show = show
	return s
}

const commandExample = "[pass, show, openai]"

// The bounds of a question's budgets of tokens and time.
const (
	MinTokens, MostTokens = 1000, 10_000_000
	MinTime, MostTime     = 5 * time.Second, time.Hour
)

// The bounds of the waits for a model.
const minWait, maxWait = 10 * time.Second, time.Hour

// settings lists all that can be set outside of providers and MCP servers. It is the only place that knows their names.
func settings() []setting[Config] {
	return slices.Concat([]setting[Config]{
		field("model", "SIBYL_MODEL", func(c *Config) *string { return &c.Model }, value.model).naming(takesModel),
		path("data", "SIBYL_DATA", func(c *Config) *string { return &c.DataDir }),
		field("database", "SIBYL_DATABASE", func(c *Config) *Database { return &c.Database }, value.database).
			shown(func(c *Config) any { return plain(c.Database.Where()) }),
		path("vault", "SIBYL_VAULT", func(c *Config) *string { return &c.Vault }),
		path("trees", "SIBYL_TREES", func(c *Config) *string { return &c.Trees }),
		path("prompts", "SIBYL_PROMPTS", func(c *Config) *string { return &c.Prompts }),
		path("notices", "SIBYL_NOTICES", func(c *Config) *string { return &c.Notices }),
		field("max_turns", "SIBYL_MAX_TURNS", func(c *Config) *int { return &c.MaxTurns }, number(1, 200)),
		field("max_tokens", "SIBYL_MAX_TOKENS", func(c *Config) *int { return &c.MaxTokens }, numberOrNone(MinTokens, MostTokens)),
		field("max_time", "SIBYL_MAX_TIME", func(c *Config) *time.Duration { return &c.MaxTime }, duration(MinTime, MostTime)),
		field("retention", "SIBYL_RETENTION", func(c *Config) *time.Duration { return &c.Retention }, value.retention).
			shown(func(c *Config) any { return inDays(c.Retention) }),
		field("plain_http", "", func(c *Config) *[]string { return &c.PlainHTTP }, listOf("hosts", value.hostWithPort)).taking("[llm.lan, 192.168.1.5:8000]"),
		choice("keys", "SIBYL_KEYS", func(c *Config) *string { return &c.Keys.Use }, KeysAuto, KeysKeyring, KeysFile),
		offSwitch(webSwitch, "SIBYL_WEB", func(c *Config) *bool { return &c.Web.Off }),
		field("web.allow", "", func(c *Config) *[]string { return &c.Web.Allow }, listOf("hosts", value.host)).taking(hostsExample),
		field("web.deny", "", func(c *Config) *[]string { return &c.Web.Deny }, listOf("hosts", value.host)).taking(hostsExample),
		choice("web.engine", "", func(c *Config) *string { return &c.Web.Engine }, SearXNG, Brave, Tavily),
		field("web.searxng", "SIBYL_SEARXNG_URL", func(c *Config) *Web { return &c.Web }, value.searxng).
			shown(func(c *Config) any { return plain(c.Web.SearXNG) }),
		keyEnv("web.brave.key_env", func(c *Config) *KeySource { return &c.Web.Brave }),
		keyCommand("web.brave.key_command", func(c *Config) *KeySource { return &c.Web.Brave }),
		keyEnv("web.tavily.key_env", func(c *Config) *KeySource { return &c.Web.Tavily }),
		keyCommand("web.tavily.key_command", func(c *Config) *KeySource { return &c.Web.Tavily }),
		field("ollama.host", "OLLAMA_HOST", func(c *Config) *Ollama { return &c.Ollama }, value.ollama).
			shown(func(c *Config) any { return c.Ollama.Host }),
		field("ollama.context", "", func(c *Config) *int { return &c.Ollama.NumCtx }, number(0, 1_000_000)),
	}, tuning("ollama.", func(c *Config) *Tuning { return &c.Ollama.Tuning }), []setting[Config]{
		path("bert.model", "", func(c *Config) *string { return &c.Bert.Model }),
		field("bert.timeout", "", func(c *Config) *time.Duration { return &c.Bert.Timeout }, duration(time.Second, time.Minute)),
		field(fallbackModels, "", func(c *Config) *[]string { return &c.Fallback.Models }, listOf("provider:model", value.wholeModel)).naming(takesModel).
			taking("[anthropic:claude-sonnet-4-5, ollama:llama3.1:8b]"),
		field("fallback.cool_down", "", func(c *Config) *time.Duration { return &c.Fallback.CoolDown }, duration(time.Second, time.Hour)),
		yesNo("fallback.local_to_cloud", "", func(c *Config) *bool { return &c.Fallback.LocalToCloud }),
		field("timeouts.start", "", func(c *Config) *time.Duration { return &c.Timeouts.Start }, duration(minWait, maxWait)),
		field("timeouts.silence", "", func(c *Config) *time.Duration { return &c.Timeouts.Silence }, duration(minWait, maxWait)),
		field("timeouts.local_start", "", func(c *Config) *time.Duration { return &c.Timeouts.LocalStart }, duration(minWait, maxWait)),
		field("timeouts.local_silence", "", func(c *Config) *time.Duration { return &c.Timeouts.LocalSilence }, duration(minWait, maxWait)),
		field("timeouts.web", "", func(c *Config) *time.Duration { return &c.Timeouts.Web }, duration(time.Second, 2*time.Minute)),
	}, priceSettings(), telemetrySettings(), serverSettings(), councilSettings(), inquirySettings(), transcriptionSettings())
}

// providerSettings lists what can be set of each provider, under providers and its name. The variables are those of a
// vendor, without its name: OPENAI_MODEL sets the model of the provider called openai. The order matters: base_url tells
// what local is unless local says otherwise, as it must for a program on this machine that passes everything on.
func providerSettings() []setting[Provider] {
	return append([]setting[Provider]{
		choice("kind", "", func(p *Provider) *Kind { return &p.Kind }, KindOpenAI, KindAnthropic, KindGemini, KindOllama),
		field("base_url", "BASE_URL", func(p *Provider) *Provider { return p }, value.endpoint).
			shown(func(p *Provider) any { return p.BaseURL }),
		field("model", "MODEL", func(p *Provider) *string { return &p.Model }, value.line),
		keyEnv("key_env", func(p *Provider) *KeySource { return &p.KeySource }),
		keyCommand("key_command", func(p *Provider) *KeySource { return &p.KeySource }),
		yesNo("local", "", func(p *Provider) *bool { return &p.Local }),
		field("window", "", func(p *Provider) *int { return &p.Window }, numberOrNone(1024, 10_000_000)),
		choice("api", "", func(p *Provider) *string { return &p.API }, APIChat, APIResponses),
	}, tuning("", func(p *Provider) *Tuning { return &p.Tuning })...)
}

// keyEnv is the name of a variable for a key. One that nobody set is not shown: it may be a key that somebody put in the
// place of a name.
func keyEnv[T any](path string, at func(*T) *KeySource) setting[T] {
	return field(path, "", func(into *T) *string { return &at(into).KeyEnv }, value.variable).shown(func(of *T) any {
		if k := at(of); k.KeyEnv != "" && (k.EnvKey != Secret{}) || isUsualVariable(k.KeyEnv) {
			return k.KeyEnv
		}
		return nil
	})
}

// keyCommand is a command that prints a key.
func keyCommand[T any](path string, at func(*T) *KeySource) setting[T] {
	return field(path, "", func(into *T) *[]string { return &at(into).KeyCommand }, value.command).taking(commandExample).
		shown(func(of *T) any { return programOf(at(of).KeyCommand) })
}

// programOf is a command as it is shown: an argument may be a secret.
func programOf(command []string) any {
	if len(command) > 1 {
		return []string{command[0], "…"}
	}
	return plain(command)
}

// source is what the file and the environment say together.
type source struct {
	configFile
	places  places
	origins map[string]string // where each setting that somebody wrote stands: file:line, or the variable
}

func (s source) apply(c *Config) error {
	var problems []error
	for _, set := range settings() {
		problems = append(problems, applyOne(s, set, set.path, c))
	}
	named := map[string]vendor{} // the providers in the file, and the vendors of which a variable is set
	for _, name := range s.named("providers.") {
		named[name] = vendorOf(name)
	}
	for _, v := range vendors() {
		if slices.ContainsFunc(providerSettings(), func(set setting[Provider]) bool { return s.places.get(v.variable(set.variable)) != "" }) {
			named[v.name] = v
		}
	}
	for _, name := range sortedNames(named) {
		var p Provider
		for _, set := range providerSettings() {
			set.variable = named[name].variable(set.variable)
			problems = append(problems, applyOne(s, set, "providers."+name+"."+set.path, &p))
		}
		c.Providers[name] = p
	}
	for _, name := range s.named(mcpSection) {
		var one MCPServer
		for _, set := range mcpSettings() {
			problems = append(problems, applyOne(s, set, mcpSection+name+"."+set.path, &one))
		}
		c.MCP.Servers[name] = one
	}
	return errors.Join(problems...)
}

// named are the names below a section of the file, which ends with a dot, sorted.
func (f configFile) named(section string) (names []string) {
	for _, path := range sortedNames(f.lines) {
		if name, ok := strings.CutPrefix(path, section); ok && !strings.Contains(name, ".") {
			names = append(names, name)
		}
	}
	return names
}

func applyOne[T any](s source, set setting[T], path string, into *T) error {
	v := value{raw: s.values[path], places: s.places, base: filepath.Dir(s.path), public: true}
	where := s.at(path)
	s.origins[path] = s.line(path)
	if text := s.places.get(set.variable); text != "" {
		v, where = value{raw: text, places: s.places}, set.variable
		s.origins[path] = where
	}
	if v.raw == nil {
		delete(s.origins, path)
		return nil
	}
	before := *into
	if err := set.apply(into, v); err != nil {
		p := &Problem{Setting: path, Where: s.origins[path], text: where + " " + err.Error()}
		*into = before
		delete(s.origins, path)
		return p
	}
	return nil
}

// at names a setting or section of the file in an error.
func (f configFile) at(path string) string { return f.line(path) + ": " + path }

func (f configFile) line(path string) string { return fmt.Sprintf("%s:%d", f.path, f.lines[path]) }
