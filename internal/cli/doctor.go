package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/agent"
	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/council/persona"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/text"
)

// lookTime limits a request to a server that may be down; embedTime limits an embedding, for which a local model may
// have to be loaded first.
const (
	lookTime  = 5 * time.Second
	embedTime = 30 * time.Second
)

// The names of checks that test no provider, and of two special providers.
const (
	anyEngine      = "web" // the configured engine
	witnessName    = "witness"
	embeddingsName = "embeddings"
	offlineName    = "offline"
	ollamaName     = "ollama"
)

// finding is the result of a check, as ‘sibyl doctor’, ‘config test’ and ‘init’ print it.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Says string `json:"says"`
	Fix  string `json:"fix,omitempty"`

	spare bool // not set up, or not needed: if it is not OK, the command does not fail
}

// findingIndent is the column where the text of a finding begins.
const findingIndent = 18

// String gives the finding for the screen, with its fix on a second line.
func (f finding) String() string {
	mark, fix := "--", ""
	if f.OK {
		mark = "ok"
	}
	if f.Fix != "" {
		fix = "\n" + strings.Repeat(" ", findingIndent) + printable(f.Fix)
	}
	return fmt.Sprintf("%s  %-13s %s", mark, f.What, printable(f.Says)) + fix
}

// check is a named test of something that may be set up.
type check struct {
	name string
	look func(ctx context.Context, a *app.App) finding
}

// runChecks runs checks concurrently and gives their findings, redacted, in the order of the checks.
func runChecks(ctx context.Context, a *app.App, checks []check) []finding {
	found := make([]finding, len(checks))
	var all sync.WaitGroup
	for i, one := range checks {
		all.Go(func() {
			f := one.look(ctx, a)
			f.What, f.Says = one.name, a.Redact(f.Says)
			found[i] = f
		})
	}
	all.Wait()
	return found
}

// serverChecks are the checks that ask servers: of each provider but offline, witness, embeddings and web search.
func serverChecks(a *app.App) (checks []check) {
	for _, p := range a.Models {
		if p.Name != offlineName {
			look := func(ctx context.Context, a *app.App) finding { return checkProvider(ctx, a, p) }
			checks = append(checks, check{p.Name, look})
		}
	}
	return append(checks, check{witnessName, checkWitness}, check{embeddingsName, checkEmbeddings},
		engineCheck(anyEngine))
}

func engineCheck(name string) check {
	return check{name, func(ctx context.Context, a *app.App) finding { return checkEngine(ctx, a.Config, name) }}
}

// testable lists the names that ‘sibyl config test’ accepts, which include the search engines.
func testable(a *app.App) (names []string) {
	for _, one := range serverChecks(a) {
		names = append(names, one.name)
	}
	return append(names, config.SearXNG, config.Brave, config.Tavily)
}

func (c *command) configTest() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "test [NAME...]",
		Short: "Test providers, witness, embeddings and web search with the current keys",
		RunE: c.onPrepared(func(ctx context.Context, a *app.App, args []string) error {
			checks := serverChecks(a)
			known := testable(a)
			if len(args) > 0 {
				checks = nil
			}
			for _, name := range args {
				if err := config.CheckName(name, known); err != nil {
					return withCode(ExitUsage, err)
				}
				checks = append(checks, checkOf(a, name))
			}
			return c.reportFindings(runChecks(ctx, a, checks), len(args) > 0)
		})}, "a JSON array")
}

// checkOf is the check with a name; a name that no check of serverChecks has is taken for a search engine.
func checkOf(a *app.App, name string) check {
	all := append(serverChecks(a), engineCheck(name))
	return all[slices.IndexFunc(all, func(one check) bool { return one.name == name })]
}

// reportFindings prints findings and sets the exit code if one is not OK; spare ones count only with all.
func (c *command) reportFindings(found []finding, all bool) error {
	if slices.ContainsFunc(found, func(f finding) bool { return !f.OK && (all || !f.spare) }) {
		c.code = ExitFailed
	}
	return printList(c, found, finding.String)
}

func (c *command) doctorCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "doctor", Short: "Check the setup and suggest settings", Args: cobra.NoArgs,
		Annotations: map[string]string{ownWords: "yes"},
		RunE: c.onSettings(func(ctx context.Context, cfg config.Config, _ []string) error {
			file := cfg.File
			if file == "" {
				file = "no settings file; using defaults (‘sibyl init’ writes one)"
			}
			found := []finding{{What: "settings", OK: true, Says: file}}
			a, err := app.Prepare(cfg)
			if err != nil {
				return c.reportFindings(append(found, finding{What: "trees", Says: err.Error()}), false)
			}
			checks := append([]check{{"trees", checkTrees}, {"journal", c.checkJournal}}, serverChecks(a)...)
			if cfg.Database.Postgres.Reveal() != "" {
				checks = append(checks, check{"sessions", c.checkSessions})
			}
			checks = append(checks, check{"pages", checkPages}, check{"model", checkModel}, check{"fallback", checkFallback},
				check{"vault", checkVault},
				check{"classifier", checkClassifier}, check{"transcription", checkTranscription},
				check{"oracles", checkOracles})
			return c.reportFindings(append(found, runChecks(ctx, a, checks)...), false)
		})}, "a JSON array")
}

func works(says string) finding { return finding{OK: true, Says: says} }

func fails(err error) finding { return finding{Says: err.Error()} }

// absent is the spare finding for what is not set up; fix says what it would do and how to set it up.
func absent(says, fix string) finding { return finding{Says: says, Fix: fix, spare: true} }

// checkModel names the model that answers, with its context window, and says whether it calls tools.
func checkModel(ctx context.Context, a *app.App) finding {
	chosen, err := a.Choose(ctx, a.Config.Model)
	if err != nil {
		return fails(err)
	}
	says := chosen + " is the default"
	info := a.Describe(ctx, chosen)
	if info.Window > 0 {
		says += fmt.Sprintf("; context window: %d tokens", info.Window)
	}
	about := a.Models.About(chosen)
	switch {
	case info.NoChat:
		says += "; it can't chat: choose another"
	case about != "":
		says += "; it " + about
	case a.Models.Contract(chosen).Manner(info).NoTools:
		says += "; it calls no tools: Sibyl looks up for it, and it can't write notes"
	}
	return works(says)
}

// checkFallback lists the models that are asked when the first fails; its fix says which never are, and why.
func checkFallback(ctx context.Context, a *app.App) finding {
	f := works(strings.Join(a.Config.Fallback.Models, ", then "))
	if f.Says == "" {
		return absent("not set up", "answers when a model fails: list others in fallback.models, as provider:model")
	}
	first, _ := a.Choose(ctx, a.Config.Model) // if there is none, checkModel says so
	var never []string
	stays := isLocal(a, first) && !a.Config.Fallback.LocalToCloud
	for _, id := range a.Config.Fallback.Models {
		switch _, err := a.Models.Open(id); {
		case err != nil:
			never = append(never, id+" is not used: "+err.Error())
		case stays && !isLocal(a, id):
			never = append(never, id+" is not used after "+first+", which runs on this machine: "+
				"set fallback.local_to_cloud to allow it")
		}
	}
	if never != nil {
		f.OK, f.spare, f.Fix = false, true, strings.Join(never, "; ")
	}
	return f
}

func isLocal(a *app.App, id string) bool {
	name, _ := model.SplitID(id)
	return slices.ContainsFunc(a.Models, func(p model.Provider) bool { return p.Name == name && p.Local })
}

func checkTrees(_ context.Context, a *app.App) finding {
	all, err := a.Trees.All()
	if err != nil {
		return fails(err)
	}
	var names []string
	for _, t := range all {
		if _, err := a.LoadTree(t); err != nil {
			return finding{Says: t.File + " does not load: ‘sibyl tree check’ says why"}
		}
		names = append(names, t.Name)
	}
	return works(strings.Join(names, ", "))
}

// checkJournal opens the journal and checks that it can be written and has room.
func (c *command) checkJournal(ctx context.Context, prepared *app.App) finding {
	a, err := c.open(ctx, prepared.Config)
	if err != nil {
		return fails(err)
	}
	says := app.DatabaseName(a.Config)
	if info, err := os.Stat(strings.TrimPrefix(says, "sqlite:")); err == nil {
		says += ", " + agent.Size(int(info.Size()))
	}
	if place := a.Database.SharedPlace(); place != "" {
		says += "; " + place
	}
	untried, lockErr := a.TryLocks(ctx)
	if untried != nil {
		says += "; whether locks hold there could not be tried: " + untried.Error()
	}
	// Releasing the lease of a run that does not exist changes nothing, but tests that the database is writable.
	writeErr := a.Store.Release(ctx, app.Owner, "none", "doctor", time.Time{})
	if errors.Is(writeErr, journal.ErrNotFound) {
		writeErr = nil
	}
	if err := errors.Join(lockErr, writeErr, a.Database.HasRoom(), a.Close()); err != nil {
		return fails(err)
	}
	return works(says)
}

// checkSessions says whether the folder of Council sessions is the one that the processes on this database share.
func (c *command) checkSessions(ctx context.Context, prepared *app.App) finding {
	a, err := c.open(ctx, prepared.Config)
	if err != nil {
		return fails(err)
	}
	folder, err := a.SharedSessions(ctx)
	if err := errors.Join(err, a.Close()); err != nil {
		return fails(err)
	}
	return works(folder)
}

func checkVault(ctx context.Context, a *app.App) finding {
	if a.Config.Vault == "" {
		return absent("not set up", "searches your notes and writes notes for you: "+
			"set vault, SIBYL_VAULT or --vault to a folder of Markdown files")
	}
	_, closeTools, err := a.Tools(ctx, oracle.Env{Vault: a.Config.Vault})
	if err != nil {
		return fails(err)
	}
	closeTools()
	return works(a.Config.Vault)
}

// checkPages says whether web pages can be opened.
func checkPages(_ context.Context, a *app.App) finding {
	if a.Config.Web.Off {
		return absent("web access is off", "opens web pages: set web.access or SIBYL_WEB to on")
	}
	if err := a.CheckWeb(); err != nil {
		return finding{Says: "no web page can be opened: " + err.Error(),
			Fix: "allow this program sockets of the family AF_NETLINK: a systemd unit names them in RestrictAddressFamilies"}
	}
	return works("web pages can be opened")
}

// checkClassifier loads the BERT model that decides about doubtful replies and has it classify a text.
func checkClassifier(ctx context.Context, a *app.App) finding {
	info, set, err := a.CheckClassifier(ctx)
	switch {
	case !set:
		return absent("not set up; rules decide when a model does not report clearly", "decides with a BERT model: "+
			"set bert.model to a folder with an ONNX model for text or zero-shot classification")
	case err != nil:
		return finding{Says: strings.TrimPrefix(err.Error(), "classifier ")}
	}
	return works(fmt.Sprintf("%s (%s): loaded in %d ms, answered in %d ms", a.Config.Bert.Model, info.Kind,
		info.LoadTime.Milliseconds(), info.AnswerTime.Milliseconds()))
}

// checkTranscription says what transcribes recordings, or what to set up. A server is only connected to: nothing is
// transcribed.
func checkTranscription(ctx context.Context, a *app.App) finding {
	by, missing, err := a.Transcription()
	if server := a.Config.Transcription.Server; err == nil && server != "" {
		err = listens(ctx, server)
	}
	switch {
	case err != nil:
		return fails(err)
	case missing != "":
		return absent("not set up; recordings are kept until it is", "transcribes recordings: "+missing)
	}
	return works(by)
}

// listens connects to transcription.server; the error says that the address is invalid or that nothing answers.
func listens(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("transcription.server is not a valid address: %w", err)
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme // net knows its port
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return fmt.Errorf("transcription.server does not answer: %w", err)
	}
	return conn.Close()
}

// checkOracles counts the oracles, with warnings about their files; not OK if there are none or one is skipped.
func checkOracles(ctx context.Context, a *app.App) finding {
	list, err := a.Oracles().List(ctx)
	if err != nil {
		return fails(err)
	}
	says := oraclesIn(a, len(list.Oracles))
	if warnings := oracleWarnings(list); len(warnings) > 0 {
		says += "; " + strings.Join(warnings, "; ")
	}
	return finding{OK: len(list.Oracles) > 0 && len(list.Skipped) == 0, Says: says}
}

// oraclesIn says that there are n oracles, and in which folder, or that they are built in.
func oraclesIn(a *app.App, n int) string {
	if from := a.OraclesDir(); from != "" {
		return text.Count(n, "oracle") + " in " + from
	}
	return text.Count(n, "oracle") + ", built in; set ORACLES_DIR to use a folder of your own"
}

// oracleWarnings lists the warnings about the files of oracles, and which were left out and why.
func oracleWarnings(list persona.Listing) (all []string) {
	for _, p := range list.Oracles {
		for _, w := range p.Warnings {
			all = append(all, p.Name+": "+w)
		}
	}
	for _, one := range list.Skipped {
		all = append(all, one.File+" is left out: "+one.Reason)
	}
	return all
}
