package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/agent"
	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
)

// lookTime bounds each look at a server that may not be there.
const lookTime = 5 * time.Second

func (c *command) modelsCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "models", Short: "List the available models and the default one",
		Example: "  sibyl models\n  sibyl models --json", Args: cobra.NoArgs,
		RunE: c.onPrepared(c.listModels)}, "a JSON array")
}

// listed is one provider with its models.
type listed struct {
	Provider string   `json:"provider"`
	Local    bool     `json:"local"`
	Models   []string `json:"models"`
	Missing  string   `json:"missing,omitempty"`
	Error    string   `json:"error,omitempty"`
}

func look(ctx context.Context, p model.Provider) listed {
	l := listed{Provider: p.Name, Local: p.Local, Missing: p.Missing, Models: []string{}}
	if p.Missing != "" {
		return l
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	names, err := p.List(ctx)
	if err != nil {
		l.Error = err.Error()
		return l
	}
	l.Models = append(l.Models, names...)
	return l
}

// listAll asks every provider that is set up for its models.
func listAll(ctx context.Context, a *app.App) []listed {
	all := make([]listed, len(a.Models))
	var looks sync.WaitGroup
	for i, p := range a.Models {
		looks.Go(func() { all[i] = look(ctx, p) })
	}
	looks.Wait()
	return all
}

func (c *command) listModels(ctx context.Context, a *app.App, _ []string) error {
	all := listAll(ctx, a)
	if c.asJSON {
		return c.printJSON(all)
	}
	chosen, chooseErr := a.Models.Choose(ctx, a.Config.Model)
	for _, l := range all {
		switch {
		case l.Missing != "":
			fmt.Fprintf(c.Out, "  %s: not set up; %s\n", l.Provider, l.Missing)
		case l.Error != "":
			fmt.Fprintf(c.Out, "  %s: %s\n", l.Provider, l.Error)
		}
		for _, name := range l.Models {
			mark := " "
			if l.Provider+":"+name == chosen {
				mark = "*"
			}
			fmt.Fprintf(c.Out, "%s %s:%s\n", mark, l.Provider, name)
		}
	}
	if chooseErr != nil {
		return withCode(ExitUsage, chooseErr)
	}
	return nil
}

// finding is one line of ‘sibyl doctor’.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Says string `json:"says"`
	Fix  string `json:"fix,omitempty"`
}

// findingIndent is where in its line a finding says what it says.
const findingIndent = 18

// finding is a finding for the screen.
func (s Streams) finding(f finding) string {
	mark, fix := "--", ""
	if f.OK {
		mark = "ok"
	}
	if f.Fix != "" {
		fix = "\n" + s.folded(strings.Repeat(" ", findingIndent)+f.Fix, s.OutTTY, findingIndent)
	}
	return s.folded(fmt.Sprintf("%s  %-13s %s", mark, f.What, printable(f.Says)), s.OutTTY, findingIndent) + fix
}

func (c *command) doctorCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "doctor", Short: "Check the setup and suggest settings", Args: cobra.NoArgs,
		Long: "Tests the settings, journal, trees, prompts, models, indexes, web search, transcription, embeddings\n" +
			"and oracles. Requests go only to the addresses you configured, and to Ollama's default one on this\n" +
			"machine.\n\n" +
			"Exit codes: 0 everything configured works, 1 something configured does not, 2 the settings can't be\n" +
			"read. Features that are not set up do not count as errors.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings, err := c.examine(cmd.Context())
			if err != nil {
				return err
			}
			if slices.ContainsFunc(findings, func(f finding) bool { return !f.OK && f.Fix == "" }) { // a fix means that it is an addition, not a fault
				c.code = ExitFailed
			}
			return printList(c, findings, c.finding)
		}}, "a JSON array")
}

func (c *command) examine(ctx context.Context) ([]finding, error) {
	cfg, err := c.settings()
	if err != nil {
		return nil, err
	}
	file := cfg.File
	if file == "" {
		file = "no settings file; using defaults (‘sibyl init’ writes one)"
	}
	found := []finding{{What: "settings", OK: true, Says: file}}
	a, err := app.Prepare(cfg)
	if err != nil {
		found = append(found, finding{What: "trees", Says: err.Error()})
		return found, nil //nolint:nilerr // the fault is a finding
	}
	found = append(found, checkTrees(a), c.checkJournal(ctx, cfg))
	for _, p := range a.Models {
		found = append(found, checkProvider(ctx, cfg, p))
	}
	chosen, err := a.Models.Choose(ctx, cfg.Model)
	if err != nil {
		found = append(found, finding{What: "model", Says: err.Error()})
	} else {
		found = append(found, finding{What: "model", OK: true, Says: chosen + " is the default" + abilities(a.Describe(ctx, chosen))})
	}
	return append(found, checkFallback(a, chosen), checkVault(ctx, a), checkWeb(ctx, a), checkClassifier(ctx, a), checkTranscription(ctx, a), checkEmbeddings(ctx, a), checkOracles(ctx, a)), nil
}

// abilities is what a person should know of a model.
func abilities(info model.Info) (says string) {
	if info.Window > 0 {
		says = fmt.Sprintf("; context window: %d tokens", info.Window)
	}
	if info.NoChat || info.NoTools {
		says += "; it does not support tools, so it can't search: choose another"
	}
	return says
}

// checkFallback says which models are asked after the first has failed, and which of them never will be.
func checkFallback(a *app.App, first string) finding {
	f := finding{What: "fallback", OK: true, Says: strings.Join(a.Config.Fallback.Models, ", then ")}
	if f.Says == "" {
		return finding{What: f.What, Says: "not set up", Fix: "answers when a model fails: list others in fallback.models, as provider:model"}
	}
	var never []string
	stays := isLocal(a, first) && !a.Config.Fallback.LocalToCloud
	for _, id := range a.Config.Fallback.Models {
		switch _, err := a.Models.Open(id); {
		case err != nil:
			never = append(never, id+" is not used: "+err.Error())
		case stays && !isLocal(a, id):
			never = append(never, id+" is not used after "+first+", which runs on this machine: set fallback.local_to_cloud to allow it")
		}
	}
	if never != nil {
		f.OK, f.Fix = false, strings.Join(never, "; ")
	}
	return f
}

func isLocal(a *app.App, id string) bool {
	name, _ := model.SplitID(id)
	return slices.ContainsFunc(a.Models, func(p model.Provider) bool { return p.Name == name && p.Local })
}

func checkTrees(a *app.App) finding {
	all, err := a.Trees.All()
	if err != nil {
		return finding{What: "trees", Says: err.Error()}
	}
	var names []string
	for _, t := range all {
		if _, err := a.LoadTree(t); err != nil {
			return finding{What: "trees", Says: t.File + " does not load: ‘sibyl tree check’ says why"}
		}
		names = append(names, t.Name)
	}
	return finding{What: "trees", OK: true, Says: strings.Join(names, ", ")}
}

func (c *command) checkJournal(ctx context.Context, cfg config.Config) finding {
	a, err := c.open(ctx, cfg)
	if err != nil {
		return finding{What: "journal", Says: err.Error()}
	}
	says := app.DatabaseName(cfg)
	if info, err := os.Stat(strings.TrimPrefix(says, "sqlite:")); err == nil {
		says += ", " + agent.Size(int(info.Size()))
	}
	// To free the lease of a run that there is not changes nothing, and fails otherwise where nothing can be written.
	writeErr := a.Store.Release(ctx, app.Owner, "none", "doctor", time.Time{})
	if errors.Is(writeErr, journal.ErrNotFound) {
		writeErr = nil
	}
	if err := errors.Join(writeErr, a.Close()); err != nil {
		return finding{What: "journal", Says: err.Error()}
	}
	return finding{What: "journal", OK: true, Says: says}
}

// checkProvider is testProvider for somebody who asks what there is: what is only looked for, and not set up, is an addition.
func checkProvider(ctx context.Context, cfg config.Config, p model.Provider) finding {
	f, err := testProvider(ctx, cfg, p)
	switch {
	case p.Missing != "":
		f.Fix = "uses a hosted model: " + f.Fix
	case err != nil && p.Probe:
		f.Says, f.Fix = "does not answer: "+f.Says, "uses a local model: "+f.Fix
	case err != nil:
		f.Fix = ""
	}
	return f
}

func checkVault(ctx context.Context, a *app.App) finding {
	if a.Config.Vault == "" {
		return finding{What: "vault", Says: "not set up", Fix: "searches your notes and writes notes for you: set vault, SIBYL_VAULT or --vault to a folder of Markdown files"}
	}
	_, closeTools, err := a.Tools(ctx, oracle.Env{Vault: a.Config.Vault})
	if err != nil {
		return finding{What: "vault", Says: err.Error()}
	}
	closeTools()
	return finding{What: "vault", OK: true, Says: a.Config.Vault}
}

func checkWeb(ctx context.Context, a *app.App) finding {
	f := testEngine(ctx, a.Config, anyEngine)
	f.What = "web search"
	switch {
	case a.Config.Web.Missing() != "":
		f.Fix = "searches the web: " + f.Fix
	case !f.OK:
		f.Says, f.Fix = f.Says+" ("+f.Fix+")", ""
	}
	return f
}

// checkClassifier loads the BERT model of the fallback and asks it something.
func checkClassifier(ctx context.Context, a *app.App) finding {
	info, set, err := a.CheckClassifier(ctx)
	switch {
	case !set:
		return finding{What: "classifier", Says: "not set up; rules decide when a model does not report clearly",
			Fix: "decides with a BERT model: set bert.model to a folder with an ONNX model for text or zero-shot classification"}
	case err != nil:
		return finding{What: "classifier", Says: strings.TrimPrefix(err.Error(), "classifier ")}
	}
	return finding{What: "classifier", OK: true, Says: fmt.Sprintf("%s (%s): loaded in %d ms, answered in %d ms", a.Config.Bert.Model, info.Kind,
		info.LoadTime.Milliseconds(), info.AnswerTime.Milliseconds())}
}

// writeAll writes a text and names the place it could not be written to.
func writeAll(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}
