// Package config loads the settings of the command line: defaults, then the configuration file, then the environment,
// each overriding the one before.
//
// Guarantees:
//   - Load reads nothing but its Options and one file, and changes nothing.
//   - A setting that does not exist, or holds what it cannot, is an error: with the file and line or the variable, the
//     name, what it takes, and the nearest name that exists. All wrong names are told at once, and so are all wrong
//     values.
//   - The file holds no secret: a key in it is refused. Keys come from the environment, from a command or from the key
//     store, in this order, are of type Secret, and appear in no error.
//   - No key is read before it is asked for, other than from the environment.
package config

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sibyl/internal/redact"
)

// Config holds a person's settings. Folders are absolute paths; they need not exist. settings.go explains the tags.
type Config struct {
	File string // the configuration file that was read; "" where there is none
	// "provider:model", or a provider alone; "" leaves the choice to the program
	Model string `name:"model" env:"SIBYL_MODEL" as:"model"`
	// where sessions are kept, unless Database says otherwise
	DataDir  string   `name:"data" env:"SIBYL_DATA" as:"path"`
	Database Database `name:"database" env:"SIBYL_DATABASE" as:"database"`
	Vault    string   `name:"vault" env:"SIBYL_VAULT" as:"path" there:"folder"` // the folder of notes; "" for none
	// folders that override what is built in; "" for none
	Trees   string `name:"trees" env:"SIBYL_TREES" as:"path" there:"folder"`
	Prompts string `name:"prompts" env:"SIBYL_PROMPTS" as:"path" there:"folder"`
	// what the person wants of every answer of the Oracle, in their own words
	Instructions string `name:"instructions" env:"SIBYL_INSTRUCTIONS" as:"text" max:"8000"`
	Presets      string // the folder "presets" beside the settings; "" where neither is known
	// a file to which notices are appended as lines of JSON; "" for none
	Notices  string `name:"notices" env:"SIBYL_NOTICES" as:"path"`
	MaxTurns int    `name:"max_turns" env:"SIBYL_MAX_TURNS" min:"1" max:"200" default:"30"` // of one question (FR-007)
	// of one question, sent and received
	MaxTokens int           `name:"max_tokens" env:"SIBYL_MAX_TOKENS" min:"1000" max:"10000000" none:"no limit"`
	MaxTime   time.Duration `name:"max_time" env:"SIBYL_MAX_TIME" min:"5s" max:"1h"` // of one question; 0 for no bound
	// how long a session is kept after its last use; 0 for ever
	Retention time.Duration `name:"retention" env:"SIBYL_RETENTION" as:"retention" default:"365d"`
	// hosts that may get a key over plain HTTP, besides this machine
	PlainHTTP     []string `name:"plain_http" as:"host with port" like:"[llm.lan, 192.168.1.5:8000]"`
	Keys          KeyPlaces
	Web           Web                 `name:"web"`
	Ollama        Ollama              `name:"ollama"`
	Bert          Bert                `name:"bert"`
	Fallback      Fallback            `name:"fallback"`
	Timeouts      Timeouts            `name:"timeouts"`
	Prices        Prices              `name:"models"`
	RememberModel bool                `name:"models.remember"` // a new session has the model of the last one
	Telemetry     Telemetry           `name:"telemetry"`
	Server        Server              `name:"server"`
	Council       Council             `name:"council"`
	Inquiry       Inquiry             `name:"inquiry"`
	Transcription Transcription       `name:"transcription"`
	Providers     map[string]Provider `name:"providers"` // endpoints of models, by name
	MCP           MCP                 `name:"mcp"`

	// StoredProblem says why not all names of stored keys could be read. The settings are valid without them, so it is
	// only shown.
	StoredProblem error

	origins map[string]string // where each setting that somebody wrote stands: file:line, or the variable
}

// Where names a setting for an error: as file:line: name, as the variable that sets it, or by its name alone.
func (c Config) Where(path string) string {
	switch origin := c.origins[path]; {
	case origin == "":
		return path
	case strings.HasPrefix(origin, c.File+":"):
		return origin + ": " + path
	default:
		return origin
	}
}

// Ollama is the Ollama server that is asked for local models.
type Ollama struct {
	Host  string `name:"host" env:"OLLAMA_HOST" as:"ollama" default:"127.0.0.1"` // its address, as http://host:port
	Local bool   // it runs on this machine
	// the window of context to ask for, in tokens; 0: as large as the model's, up to a usual size
	NumCtx int `name:"context" min:"0" max:"1000000"`
	Tuning
}

// Bert is a classifier of questions that runs on this machine.
type Bert struct {
	Model   string        `name:"model" as:"path"`                        // the folder of the ONNX model; "" for none
	Timeout time.Duration `name:"timeout" min:"1s" max:"1m" default:"5s"` // of one classification
}

// Fallback configures which models are asked after one has failed.
type Fallback struct {
	// Models are asked in this order.
	Models []string `name:"models" as:"whole model" like:"[anthropic:claude-sonnet-4-5, ollama:llama3.1:8b]"`
	// how long a failed model is skipped
	CoolDown     time.Duration `name:"cool_down" min:"1s" max:"1h" default:"1m"`
	LocalToCloud bool          `name:"local_to_cloud"` // what a local model was to answer may go to one that is not
}

// Timeouts limit the wait for a model's answer to begin and for more of it. Web limits a whole request.
type Timeouts struct {
	Start        time.Duration `name:"start" min:"10s" max:"1h" default:"2m"`
	Silence      time.Duration `name:"silence" min:"10s" max:"1h" default:"1m"`
	LocalStart   time.Duration `name:"local_start" min:"10s" max:"1h" default:"6m"`
	LocalSilence time.Duration `name:"local_silence" min:"10s" max:"1h" default:"3m"`
	Web          time.Duration `name:"web" min:"1s" max:"2m" default:"20s"`
}

// Of returns how long to wait for an answer to begin, and how long it may be silent.
func (t Timeouts) Of(p Provider) (start, silence time.Duration) {
	if p.Local || p.Kind == KindOllama { // which may have to load the model first
		return t.LocalStart, t.LocalSilence
	}
	return t.Start, t.Silence
}

// Options say where to load the settings from.
type Options struct {
	Path    string   // a file that must exist; "" is the one SIBYL_CONFIG names, or the usual one if it exists
	Environ []string // as "NAME=value"; nil is the process's own
	Home    string   // the person's home folder; "" is what the environment says

	// Stored lists the names of the keys in the key store; on an error, those that it could read. nil lists none.
	Stored func(KeyPlaces) ([]string, error)
}

// Load returns the settings. After an error the Config must not be used.
func Load(opts Options) (Config, error) {
	cfg, _, err := load(opts)
	return cfg, err
}

// Path returns the configuration file that Load would read; it need not exist.
func Path(opts Options) (string, error) {
	path, _, err := opts.places().findFile(opts.Path)
	if err == nil && path == "" {
		err = errors.New("the settings folder is unknown because HOME is not set: set it, or name a file with --config")
	}
	return path, err
}

func load(opts Options) (Config, source, error) {
	path, content, err := readSettingsFile(opts)
	var file configFile
	if err == nil && content != nil {
		file, err = parse(path, content)
	}
	if err != nil {
		return Config{}, source{}, err
	}
	return combine(file, opts.places(), opts.Stored)
}

// combine applies the environment to a checked file. On an error it returns what it has, with defaults for the wrong
// settings.
func combine(file configFile, where places, stored func(KeyPlaces) ([]string, error)) (Config, source, error) {
	cfg := defaults()
	cfg.File = file.path
	src := source{configFile: file, places: where, origins: map[string]string{}}
	cfg.origins = src.origins
	err := errors.Join(src.apply(&cfg), src.finish(&cfg, stored))
	return cfg, src, err
}

// finish fills in settings that depend on others, and checks combinations.
func (s source) finish(c *Config, stored func(KeyPlaces) ([]string, error)) error {
	if c.DataDir == "" {
		var err error
		if c.DataDir, err = s.places.dataDir(); err != nil {
			return err
		}
	}
	folder := s.places.configDir()
	if s.path != "" {
		folder = filepath.Dir(s.path)
	}
	if folder != "" {
		c.Presets = filepath.Join(folder, "presets")
	}
	c.Ollama.Local = isLoopback(c.Ollama.Host)
	c.Transcription.Local = isLoopback(c.Transcription.Server)
	s.finishHeaders(&c.Ollama.Tuning)
	s.finishSearch(&c.Web)
	kept, err := s.finishKeys(c, stored)
	err = errors.Join(err, s.finishProviders(c, kept))
	for name, p := range c.Providers {
		if p.Local {
			c.Prices.local = append(c.Prices.local, name)
		}
	}
	if c.Ollama.Local {
		c.Prices.local = append(c.Prices.local, ollamaName)
	}
	return errors.Join(err, s.finishMCP(c, kept), s.checkModels(*c), s.databaseOfOthers(c),
		c.Server.checkTLS(), s.finishTelemetry(&c.Telemetry), s.checkTranscription(c.Transcription))
}

// Redactor makes a redactor that knows every secret of these settings and the further ones, such as keys from commands
// or the store.
func (c Config) Redactor(further ...Secret) *redact.Redactor {
	further = slices.AppendSeq(slices.Clone(further), maps.Values(c.Ollama.EnvHeaders))
	further = slices.AppendSeq(further, maps.Values(c.Telemetry.Headers))
	for _, one := range c.MCP.Servers {
		further = append(further, one.EnvKey)
		for _, variable := range one.Env {
			further = append(further, one.Environ[variable])
		}
	}
	secrets := []string{c.Database.password(), c.Web.Password.Reveal(), c.Web.Brave.EnvKey.Reveal(),
		c.Web.Tavily.EnvKey.Reveal()}
	for _, p := range c.Providers {
		secrets = append(secrets, p.EnvKey.Reveal())
		further = slices.AppendSeq(further, maps.Values(p.EnvHeaders))
	}
	for _, s := range further {
		secrets = append(secrets, s.Reveal())
	}
	return redact.New(secrets...)
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
