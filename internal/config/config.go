// Package config loads the settings of the command line: defaults, then the configuration file, then the environment,
// each overriding the one before.
//
// Guarantees:
//   - Load reads nothing but its Options and one file, and changes nothing.
//   - A setting that does not exist, or holds what it cannot, is an error: with the file and line or the variable, the
//     name, what it takes, and the nearest name that exists. All wrong names are told at once, and so are all wrong
//     values.
//   - The file holds no secret: a key in it is refused. Keys come from the environment or from a command, are of type
//     Secret, and appear in no error.
package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"

	"sibyl/internal/redact"
)

// Config is what a person has set. Folders are absolute paths; they need not exist.
type Config struct {
	File      string // the configuration file that was read; "" where there is none
	Model     string // "provider:model", or a provider alone; "" leaves the choice to the program
	DataDir   string // where sessions are kept
	Vault     string // the folder of notes; "" for none
	Trees     string // folders that override what is built in; "" for none
	Prompts   string
	MaxTurns  int // of one question (FR-007), 1 to 200
	Web       Web
	Ollama    Ollama
	Providers map[string]Provider // endpoints that speak the OpenAI protocol, by name
	Timeouts  Timeouts
}

// Web says where to search the web.
type Web struct {
	SearXNG  string // address of a SearXNG server, without credentials; "" for none
	User     string // for a server that asks for them; from the environment only
	Password Secret
}

// Ollama is the Ollama server that is asked for local models.
type Ollama struct {
	Host  string // its address, as http://host:port
	Local bool   // it runs on this machine
}

// Provider is an endpoint that speaks the OpenAI protocol.
type Provider struct {
	BaseURL    string   // with its path, as https://host/v1
	Model      string   // the model where none is asked for
	KeyEnv     string   // the environment variable that holds the key
	EnvKey     Secret   // what KeyEnv held when the settings were loaded; see Key
	KeyCommand []string // a program and its arguments, run without a shell, that prints the key
	Timeout    time.Duration
	Local      bool // nothing sent there leaves the person's machines; loopback addresses are, unless set otherwise
}

// Timeouts are how long to wait for one whole request.
type Timeouts struct {
	Cloud time.Duration // 15 s to 2 min
	Local time.Duration // 15 s to 6 min
	Web   time.Duration // 1 s to 2 min
}

// Options say where to load from.
type Options struct {
	Path    string   // a file that must exist; "" is the one SIBYL_CONFIG names, or the usual one if it exists
	Environ []string // as "NAME=value"; nil is the process's own
	Home    string   // the person's home folder; "" is what the environment says
}

const (
	minTimeout      = 15 * time.Second
	maxCloudTimeout = 2 * time.Minute
	maxLocalTimeout = 6 * time.Minute
)

func defaults() Config {
	return Config{
		MaxTurns:  30,
		Ollama:    Ollama{Host: "http://127.0.0.1:11434", Local: true},
		Providers: map[string]Provider{},
		Timeouts:  Timeouts{Cloud: time.Minute, Local: 3 * time.Minute, Web: 20 * time.Second},
	}
}

// Load returns the settings. On an error the Config is not to be used.
func Load(opts Options) (Config, error) {
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	where := newPlaces(opts.Environ, opts.Home)
	file, err := readFile(opts.Path, where)
	if err != nil {
		return Config{}, err
	}
	return fromFile(file, where)
}

// fromFile lays the environment over a file that was checked.
func fromFile(file configFile, where places) (Config, error) {
	cfg := defaults()
	cfg.File = file.path
	values := koanf.New(".")
	if err := values.Load(file, yaml.Parser()); err != nil {
		return Config{}, fmt.Errorf("%s cannot be read as YAML: %s", file.path, redact.New().String(err.Error()))
	}
	if err := values.Load(env.Provider(".", environment(where)), nil); err != nil {
		return Config{}, fmt.Errorf("the environment cannot be read: %w", err)
	}
	src := source{values: values, lines: file.lines, file: file.path, places: where}
	if err := errors.Join(src.apply(&cfg), cfg.finish(where)); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

// environment maps variables to the settings they override. An empty variable is one that is not set.
func environment(where places) env.Opt {
	byVariable := map[string]string{}
	for _, s := range settings() {
		if s.variable != "" {
			byVariable[s.variable] = s.path
		}
	}
	for _, s := range providerSettings() {
		if s.variable != "" {
			byVariable[s.variable] = "providers.openai." + s.path
		}
	}
	var set []string
	for name := range byVariable {
		if value := where.get(name); value != "" {
			set = append(set, name+"="+value)
		}
	}
	return env.Opt{
		EnvironFunc:   func() []string { return set },
		TransformFunc: func(name, value string) (string, any) { return byVariable[name], value },
	}
}

// finish fills in what depends on other settings, and checks what only makes sense together.
func (c *Config) finish(where places) error {
	if c.DataDir == "" {
		var err error
		if c.DataDir, err = where.dataDir(); err != nil {
			return err
		}
	}
	if where.get("OPENAI_API_KEY") != "" {
		if _, named := c.Providers["openai"]; !named {
			c.Providers["openai"] = Provider{}
		}
	}
	var problems []error
	for _, name := range sortedNames(c.Providers) {
		p, err := c.Providers[name].finish(name, c.Timeouts, where)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: providers.%s%w", c.File, name, err))
		}
		c.Providers[name] = p
	}
	return errors.Join(problems...)
}

const (
	openAIBaseURL = "https://api.openai.com/v1"
	openAIKeyEnv  = "OPENAI_API_KEY"
)

func (p Provider) finish(name string, timeouts Timeouts, where places) (Provider, error) {
	if name == "openai" {
		if p.BaseURL == "" {
			p.BaseURL = openAIBaseURL
		}
		ownKey := p.KeyEnv != "" || len(p.KeyCommand) > 0
		if !ownKey && (p.BaseURL == openAIBaseURL || where.get(openAIKeyEnv) != "") {
			p.KeyEnv = openAIKeyEnv
		}
	}
	if p.BaseURL == "" {
		return p, errors.New(" has no base_url: add the address of the endpoint, such as https://host/v1")
	}
	p.EnvKey = NewSecret(where.get(p.KeyEnv))
	low, high, fallback := minTimeout, maxCloudTimeout, timeouts.Cloud
	if p.Local {
		high, fallback = maxLocalTimeout, timeouts.Local
	}
	if p.Timeout == 0 {
		p.Timeout = fallback
	}
	if p.Timeout < low || p.Timeout > high {
		return p, fmt.Errorf(".timeout is %s; it must be from %s to %s, or up to 6m0s with local: true", p.Timeout, low, high)
	}
	return p, nil
}

// Redactor makes a redactor that knows every secret of these settings, and the further ones given: the keys that
// commands printed.
func (c Config) Redactor(further ...Secret) *redact.Redactor {
	secrets := []string{c.Web.Password.Reveal()}
	for _, p := range c.Providers {
		secrets = append(secrets, p.EnvKey.Reveal())
	}
	for _, s := range further {
		secrets = append(secrets, s.Reveal())
	}
	return redact.New(secrets...)
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
