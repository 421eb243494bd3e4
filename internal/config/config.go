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
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"sibyl/internal/redact"
)

// Config is what a person has set. Folders are absolute paths; they need not exist.
type Config struct {
	File      string // the configuration file that was read; "" where there is none
	Model     string // "provider:model", or a provider alone; "" leaves the choice to the program
	DataDir   string // where sessions are kept, unless Database says otherwise
	Database  Database
	Vault     string // the folder of notes; "" for none
	Trees     string // folders that override what is built in; "" for none
	Prompts   string
	MaxTurns  int           // of one question (FR-007), 1 to 200
	MaxTokens int           // of one question, sent and received, 1000 to 10,000,000; 0 for no bound
	MaxTime   time.Duration // of one question, 5 s to 1 h; 0 for no bound
	Retention time.Duration // how long a session is kept after its last use, at least 24 h; 0 for ever
	Notices   string        // a file to which notices are appended as lines of JSON; "" for none
	Web       Web
	Ollama    Ollama
	Bert      Bert
	Providers map[string]Provider // endpoints of models, by name
	Fallback  Fallback
	Prices    Prices
	Timeouts  Timeouts
	Telemetry Telemetry
	Keys      KeyPlaces
	PlainHTTP []string // hosts, with a port or for all of theirs, that may get a key over plain HTTP, beside this machine
	Server    Server
	MCP       MCP
	Council   Council
	Inquiry   Inquiry

	Transcription Transcription

	// StoredProblem says why not all names of stored keys could be learnt. The settings hold without those, so this is
	// for showing and not the end.
	StoredProblem error
}

// Ollama is the Ollama server that is asked for local models.
type Ollama struct {
	Host   string // its address, as http://host:port
	Local  bool   // it runs on this machine
	NumCtx int    // the window of context to ask for, in tokens, up to 1,000,000; 0: as large as the model's, up to a usual size
	Tuning
}

// Bert is a classifier of questions that runs on this machine.
type Bert struct {
	Model   string        // the folder of the ONNX model; "" for none
	Timeout time.Duration // of one classification, 1 s to 60 s
}

// Fallback says which models are asked after one has failed.
type Fallback struct {
	Models       []string      // as provider:model, in the order in which they are asked
	CoolDown     time.Duration // how long a model that failed is passed over, 1 s to 1 h
	LocalToCloud bool          // what a local model was to answer may go to one that is not
}

// Timeouts are how long to wait: for a model until its answer begins, and for more of it after that, each 10 s to 1 h. Web is for a
// whole request, 1 s to 2 min.
type Timeouts struct {
	Start, Silence           time.Duration
	LocalStart, LocalSilence time.Duration
	Web                      time.Duration
}

// Of is how long the start of an answer is waited for, and how long it may be silent.
func (t Timeouts) Of(p Provider) (start, silence time.Duration) {
	if p.Local || p.Kind == KindOllama { // which may have to load the model first
		return t.LocalStart, t.LocalSilence
	}
	return t.Start, t.Silence
}

// Options say where to load from.
type Options struct {
	Path    string   // a file that must exist; "" is the one SIBYL_CONFIG names, or the usual one if it exists
	Environ []string // as "NAME=value"; nil is the process's own
	Home    string   // the person's home folder; "" is what the environment says

	// Stored tells the names under which the key store holds a key, on an error those that it could learn. nil tells
	// of none.
	Stored func(KeyPlaces) ([]string, error)
}

func defaults() Config {
	return Config{
		MaxTurns:  30,
		Retention: 365 * day,
		Ollama:    Ollama{Host: "http://127.0.0.1:11434", Local: true},
		Bert:      Bert{Timeout: 5 * time.Second},
		Providers: map[string]Provider{},
		MCP:       MCP{Servers: map[string]MCPServer{}},
		Council:   defaultCouncil(),
		Inquiry:   Inquiry{Limit: 10},
		Fallback:  Fallback{CoolDown: time.Minute},
		Prices:    Prices{Currency: "USD"},
		Timeouts: Timeouts{Start: 2 * time.Minute, Silence: time.Minute, LocalStart: 6 * time.Minute, LocalSilence: 3 * time.Minute,
			Web: 20 * time.Second},
		Telemetry: Telemetry{TraceRatio: 1},
		Keys:      KeyPlaces{Use: KeysAuto},
		Server: Server{Listen: "127.0.0.1:7333", MostRuns: 16, Grace: 20 * time.Second,
			Limits: Limits{Runs: 8, Requests: 600, Bytes: 64 << 20}},
	}
}

// Load returns the settings. On an error the Config is not to be used.
func Load(opts Options) (Config, error) {
	cfg, _, err := load(opts)
	return cfg, err
}

// Path returns the configuration file that Load would read; it need not exist. "" where that cannot be told.
func Path(opts Options) (string, error) {
	path, _, err := opts.places().findFile(opts.Path)
	return path, err
}

func (o Options) places() places {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	return newPlaces(o.Environ, o.Home)
}

func load(opts Options) (Config, source, error) {
	where := opts.places()
	file, err := readFile(opts.Path, where)
	if err != nil {
		return Config{}, source{}, err
	}
	return fromFile(file, where, opts.Stored)
}

// fromFile lays the environment over a file that was checked.
func fromFile(file configFile, where places, stored func(KeyPlaces) ([]string, error)) (Config, source, error) {
	cfg, src, err := gather(file, where, stored)
	if err != nil {
		return Config{}, source{}, err
	}
	return cfg, src, nil
}

// gather is fromFile that gives what it has also on an error: what is wrong is left as it is by default.
func gather(file configFile, where places, stored func(KeyPlaces) ([]string, error)) (Config, source, error) {
	cfg := defaults()
	cfg.File = file.path
	src := source{configFile: file, places: where, origins: map[string]string{}}
	err := errors.Join(src.apply(&cfg), src.finish(&cfg, stored))
	return cfg, src, err
}

// finish fills in what depends on other settings, and checks what only makes sense together.
func (s source) finish(c *Config, stored func(KeyPlaces) ([]string, error)) error {
	if c.DataDir == "" {
		var err error
		if c.DataDir, err = s.places.dataDir(); err != nil {
			return err
		}
	}
	kept, err := s.finishKeys(c, stored)
	return errors.Join(err, s.finishProviders(c, kept), s.finishMCP(c, kept), s.finishFallback(c.Fallback, c.Providers), s.finishInquiry(*c), s.databaseOfOthers(c), s.finishServer(c.Server),
		s.finishTelemetry(&c.Telemetry), s.finishTranscription(c.Transcription, c.Providers))
}

// finishFallback refuses models of nobody. Whether a provider has its key is not asked: that changes from day to day.
func (s source) finishFallback(f Fallback, providers map[string]Provider) error {
	known := s.providerNames(providers)
	var problems []error
	problem := func(format string, args ...any) {
		problems = append(problems, s.problem(fallbackModels, fmt.Errorf(format, args...)))
	}
	for i, id := range f.Models {
		provider, _, _ := strings.Cut(id, ":")
		switch {
		case provider == offlineName:
			problem(" names the offline rules, which never replace a model that failed: leave them out")
		case !slices.Contains(known, provider):
			problems = append(problems, s.noProvider(fallbackModels, provider, known))
		case slices.Contains(f.Models[:i], id):
			problem(" names %s twice", quote(id))
		}
	}
	return errors.Join(problems...)
}

// noProvider says that a setting names a provider that is not there.
func (s source) noProvider(path, name string, known []string) error {
	return s.problem(path, fmt.Errorf(": there is no provider %s%s", quote(name), DidYouMean(name, known)))
}

// providerNames are those of all providers that have models, set up or not.
func (s source) providerNames(providers map[string]Provider) []string {
	known := append(sortedNames(providers), ollamaName)
	for _, v := range vendors() {
		known = append(known, v.name)
	}
	return known
}

// The providers that are built in beside the vendors.
const (
	offlineName = "offline"
	ollamaName  = "ollama"
)

// Redactor makes a redactor that knows every secret of these settings, and the further ones given: the keys that
// commands printed and the store gave.
func (c Config) Redactor(further ...Secret) *redact.Redactor {
	further = slices.AppendSeq(slices.Clone(further), maps.Values(c.Ollama.EnvHeaders))
	further = slices.AppendSeq(further, maps.Values(c.Telemetry.Headers))
	further = append(further, c.MCP.secrets()...)
	secrets := []string{c.Database.password(), c.Web.Password.Reveal(), c.Web.Brave.EnvKey.Reveal(), c.Web.Tavily.EnvKey.Reveal()}
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
