package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

func (c *command) configCommand() *cobra.Command {
	return group(&cobra.Command{Use: "config", Short: "Show, change, check and test the settings, and store keys",
		Long: "Settings come from a file and from environment variables, which take precedence. Keys are never in\n" +
			"the file: they come from the environment, from a command that the file names, or from where ‘sibyl\n" +
			"config set-key’ stored them."},
		c.configShow(), c.configSet(), c.configEdit(), c.configCheck(), c.configTest(), c.configWhere(), c.configKeys(), c.configSetKey(), c.configDeleteKey())
}

func (c *command) configWhere() *cobra.Command {
	return &cobra.Command{Use: "path", Short: "Print the path of the settings file", Args: cobra.NoArgs,
		Example: "  $EDITOR \"$(sibyl config path)\"",
		RunE: func(*cobra.Command, []string) error {
			path, err := config.Path(c.options())
			switch {
			case err != nil:
				return withCode(ExitUsage, err)
			case path == "":
				return withCode(ExitUsage, errors.New("the settings folder is unknown because HOME is not set: set it, or name a file with --config"))
			}
			if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
				fmt.Fprintln(c.Err, "· this file does not exist yet; "+c.withoutFile())
			}
			fmt.Fprintln(c.Out, path)
			return nil
		}}
}

// withoutFile says what follows from a settings file that is not there: one that somebody named has to be.
func (c *command) withoutFile() string {
	if c.configPath != "" || c.env("SIBYL_CONFIG") != "" {
		return "other commands will fail because it was named explicitly"
	}
	return "using defaults; ‘sibyl init’ sets Sibyl up"
}

func (c *command) configShow() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "show", Short: "Print the current settings, and where each comes from", Args: cobra.NoArgs,
		Long: "Prints the settings in the form of a settings file. A comment says where each comes from: a line of\n" +
			"the file, a variable, or the default. Keys are not shown, nor the arguments of commands that print\n" +
			"them.",
		RunE: func(*cobra.Command, []string) error {
			if _, err := c.settings(); err != nil { // which also says what can't be used
				return err
			}
			_, lines, err := config.Explain(c.options())
			if err != nil {
				return withCode(ExitUsage, err)
			}
			for i := range lines {
				if lines[i].Path == "data" && c.dataDir != "" {
					lines[i].Value, lines[i].From = c.dataDir, "--data"
				}
			}
			if c.asJSON {
				return c.printJSON(lines)
			}
			text, err := lines.YAML()
			if err != nil {
				return err
			}
			return writeAll(c.Out, string(text))
		}}, "a JSON array")
}

// anyEngine is the name of the web search, whichever engine it uses.
const anyEngine = "web"

func (c *command) configTest() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "test [NAME...]", Short: "Test providers, witness, embeddings and web search with the current keys",
		Long: "Tests each configured or named provider by listing its models, the witness for its model, the\n" +
			"embedding model with one word, and the web search with one query. Given names, it tests only those.\n" +
			"Exit code 0 means that all of them work; an Ollama that you have not configured may be missing.",
		Example: "  sibyl config test\n  sibyl config test anthropic witness web",
		RunE: c.onPrepared(func(ctx context.Context, a *app.App, args []string) error {
			found, err := testAll(ctx, a, args)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			for i, f := range found {
				found[i].Says = a.Redact(f.Says)
				if !f.OK && (len(args) > 0 || mustWork(a, f.What)) {
					c.code = ExitFailed
				}
			}
			return printList(c, found, c.finding)
		})}, "a JSON array")
}

func engineNames() []string {
	return []string{anyEngine, config.SearXNG, config.Brave, config.Tavily}
}

// testable are the names of what can be tested.
func testable(a *app.App) []string {
	known := append(engineNames(), witnessName, embeddingsName)
	for _, p := range a.Models {
		known = append(known, p.Name)
	}
	return known
}

// testAll tests the named providers and search engines, or all that are set up, at the same time. What is found is in
// the order of the names.
func testAll(ctx context.Context, a *app.App, names []string) ([]finding, error) {
	engines, known := engineNames(), testable(a)
	for _, name := range names {
		if err := config.CheckName(name, known); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 {
		names = setUp(a)
	}
	found := make([]finding, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			switch {
			case slices.Contains(engines, name):
				found[i] = testEngine(ctx, a.Config, name)
			case name == witnessName:
				found[i] = testWitness(ctx, a)
			case name == embeddingsName:
				found[i] = testEmbeddings(ctx, a)
			default:
				found[i], _ = testProvider(ctx, a.Config, withWished(a, providerOf(a, name))) // which says what failed
			}
		})
	}
	all.Wait()
	return found, nil
}

// setUp lists what is tested when nothing is named: what is set up, and what the settings name.
func setUp(a *app.App) []string {
	var names []string
	for _, p := range a.Models {
		if (p.Missing == "" || isNamed(a.Config, p.Name)) && p.Name != offlineName {
			names = append(names, p.Name)
		}
	}
	if a.Config.Inquiry.Witness != "" {
		names = append(names, witnessName)
	}
	if a.Config.Inquiry.Embeddings != "" {
		names = append(names, embeddingsName)
	}
	if a.Config.Web.Engine != "" {
		names = append(names, anyEngine)
	}
	return names
}

// isNamed says whether a model of this provider is to answer, or to stand in.
func isNamed(cfg config.Config, provider string) bool {
	return slices.ContainsFunc(append([]string{cfg.Model}, cfg.Fallback.Models...), func(id string) bool {
		name, _ := model.SplitID(id)
		return name == provider
	})
}

// providerOf finds a provider; one that is nowhere in the settings lacks its key.
func providerOf(a *app.App, name string) model.Provider {
	at := slices.IndexFunc(a.Models, func(p model.Provider) bool { return p.Name == name })
	if at < 0 {
		return model.Provider{Name: name, Missing: keyFix(a.Config, name)}
	}
	return a.Models[at]
}

// offlineName is the provider that needs nothing, and so no test; ollamaName the one that is looked for.
const (
	offlineName = "offline"
	ollamaName  = "ollama"
)

// mustWork says whether a failure counts though nobody named what fails. A server that is only looked for may be away, if
// it is not the one that is set.
func mustWork(a *app.App, name string) bool {
	wished, _ := model.SplitID(a.Config.Model)
	return !slices.ContainsFunc(a.Models, func(p model.Provider) bool { return p.Name == name && p.Probe && name != wished })
}

// testProvider asks a provider for its models. The error is the provider's.
func testProvider(ctx context.Context, cfg config.Config, p model.Provider) (finding, error) {
	f, names, err := listOf(ctx, cfg, p)
	switch {
	case f.Says != "":
	case p.Default != "" && !hasModel(names, p.Default):
		f.OK, f.Says = true, fmt.Sprintf("answers, but does not list %s, the model configured for it", p.Default)
	default:
		f.OK, f.Says = true, fmt.Sprintf("%s: %s", text.Count(len(names), "model"), strings.Join(names[:min(4, len(names))], ", "))
	}
	return f, err
}

// listOf asks a provider for its models. The finding says what failed, and nothing where there are some.
func listOf(ctx context.Context, cfg config.Config, p model.Provider) (f finding, names []string, err error) {
	f.What = p.Name
	if p.Missing != "" {
		f.Says, f.Fix = "not set up", p.Missing
		return f, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	names, err = p.List(ctx)
	switch {
	case err != nil:
		f.Says, f.Fix = err.Error(), providerFix(cfg, p, model.KindOf(err))
	case len(names) == 0:
		f.Says, f.Fix = "answers, but has no model", "install one, such as ‘ollama pull llama3.1:8b’ with Ollama"
	}
	return f, names, err
}

// providerFix says what would help against a provider's failure.
func providerFix(cfg config.Config, p model.Provider, k model.Kind) string {
	switch k {
	case model.Auth:
		return keyFix(cfg, p.Name)
	case model.Server, model.Timeout:
		if p.Probe {
			return "start Ollama, or set its address in OLLAMA_HOST (in a container, localhost is the container itself)"
		}
		return "make sure its server runs and can be reached, and that base_url is its address"
	case model.Garbled, model.Invalid:
		return "check base_url and kind: the server there speaks another protocol"
	}
	return oracle.Remedy(k)
}

// keyFix says how another key is given.
func keyFix(cfg config.Config, name string) string {
	switch from, by := cfg.KeyOrigin(name); from {
	case config.FromEnvironment:
		return "check its key, which comes from " + by
	case config.FromCommand:
		return "check its key, which the command " + by + " of key_command prints"
	}
	return "store its key with ‘sibyl config set-key " + name + "’"
}

// testEngine asks a search engine for one result. Its tool is opened anew, with that engine.
func testEngine(ctx context.Context, cfg config.Config, name string) finding {
	f := finding{What: name}
	if name != anyEngine {
		cfg.Web.Engine = name
	}
	if f.Fix = cfg.Web.Missing(); f.Fix != "" {
		f.Says = "not set up"
		return f
	}
	says, err := searchOnce(ctx, cfg)
	if err != nil {
		f.Says, f.Fix = err.Error(), engineFix(cfg)
		var known *tool.Error
		if errors.As(err, &known) && known.Hint != "" {
			f.Says, f.Fix = known.Message, known.Hint
		}
		return f
	}
	f.OK, f.Says = true, says
	return f
}

func engineFix(cfg config.Config) string {
	if cfg.Web.Engine == config.SearXNG {
		return "make sure the server at " + cfg.Web.SearXNG + " runs and has JSON among its search formats"
	}
	return keyFix(cfg, cfg.Web.Engine)
}

func searchOnce(ctx context.Context, cfg config.Config) (string, error) {
	a, err := app.Prepare(cfg)
	if err != nil {
		return "", err
	}
	reg, closeTools, err := a.Tools(ctx, oracle.Env{})
	if err != nil {
		return "", err
	}
	defer closeTools()
	search, ok := reg.Get("web_search")
	if !ok {
		return "", fmt.Errorf("%s can't be used", cfg.Web.Engine)
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	r, err := search.Call(ctx, tool.Call{Args: json.RawMessage(`{"query":"test","limit":1}`)})
	if err != nil {
		return "", errors.New(a.Redact(err.Error()))
	}
	return fmt.Sprintf("%s gave %s", cfg.Web.Engine, text.Count(r.Items, "result")), nil
}
