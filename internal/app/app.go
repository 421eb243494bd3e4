// Package app wires Sibyl together. It alone knows which adapter implements which interface: it opens the models and
// tools of a run by the settings, finds the keys, and removes known secrets from what is kept. It decides nothing for
// an assistant.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"sibyl/internal/bert"
	"sibyl/internal/config"
	"sibyl/internal/council"
	"sibyl/internal/inquiry"
	"sibyl/internal/journal"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/preset"
	"sibyl/internal/run"
	"sibyl/internal/server/node"
	"sibyl/internal/server/telemetry"
	"sibyl/internal/server/user"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/store"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
	"sibyl/internal/tool/mcpclient"
	"sibyl/internal/tool/web"
	"sibyl/prompts"
	"sibyl/trees"
)

// Owner is the one person of a command line.
const Owner journal.Owner = "local"

// Options are what is not a setting.
type Options struct {
	Build string
	Log   *slog.Logger
	// Spoken is the language of who uses this machine, such as "pt"; "": not known.
	Spoken string
	// Serving, if set, gets the logs of a server process as JSON, and turns metrics and traces on.
	Serving io.Writer

	// Again starts this program again, as the other process of a trial of locks; nil: they are not tried.
	Again store.Again

	// Settings is where a server's operators change the settings, and Failed why those of the file could not be taken up.
	Settings config.Options
	Failed   string

	// Also gives assistants besides the built-in ones. The store is nil if they are only described.
	Also func(store journal.Store) ([]*assistant.Assistant, error)

	// Documents reads documents for the whole program; nil: Open creates a reader. Close closes it.
	Documents *document.Reader

	// Store wraps the engine's journal; nil wraps nothing. Tests use it to break the journal.
	Store func(journal.Store) journal.Store
	// Step is asked before every step that changes a session of the Council; nil: nobody is. Tests break these steps by
	// it.
	Step func(name string) error
}

// App is the opened program.
type App struct {
	Config  config.Config
	Trees   trees.Set
	Prompts *prompt.Set
	Models  model.Catalog
	Offered *service.ModelSource
	Oracle  *run.Assistant

	Documents *document.Reader

	// What follows needs the database, which Prepare does not open.
	Database Database
	Store    journal.Store // of the database
	Clock    node.Clock    // the database's time
	Users    *user.Service
	Tasks    *task.Service
	Engine   *run.Engine
	Service  *service.Service
	Council  *council.Deps
	Inquiry  *inquiry.Desk

	options   Options
	log       *slog.Logger
	telemetry *telemetry.Telemetry // nil: it does not serve
	texts     fs.FS                // the prompts
	secrets   *secrets
	web       *web.Web
	servers   *servers
	cooling   *model.Cooling // of models that failed, for all runs of this process
	bert      *bert.Classifier
	presence  *presence // among the processes on the data folder
	shared    *sharedFolder
	expiry    expiry
}

// ErrJournal reports that the journal could not be opened.
var ErrJournal = errors.New("the journal can't be used")

// Open prepares everything. On an error it closes what it has opened.
func Open(ctx context.Context, cfg config.Config, opt Options) (*App, error) {
	a, err := Prepare(cfg)
	if err != nil {
		return nil, err
	}
	db, err := OpenDatabase(ctx, cfg, opt.Trial())
	if err != nil {
		return nil, err
	}
	a.options, a.Database, a.Store = opt, db, db
	if opt.Store != nil {
		a.Store = opt.Store(db)
	}
	if opt.Documents != nil {
		a.Documents = opt.Documents
	}
	a.Users, a.Tasks = user.New(db, time.Now), task.New(db, a.Clock.Now, a.Redact)
	a.presence = newPresence(cfg.DataDir)
	_, err = a.Clock.Set(ctx, db.Now)
	if err == nil {
		err = a.openTelemetry()
	}
	if err == nil {
		err = a.openAssistants()
	}
	if err != nil {
		a.presence.Close()
		_ = db.Close() // the first error is the one to tell
		return nil, err
	}
	return a, nil
}

// openAssistants prepares the use cases of the assistants.
func (a *App) openAssistants() (err error) {
	a.servers.log = cmp.Or(a.log, a.servers.log)
	main := oracle.Describe(a.Oracle, a.Surroundings())
	chat := a.tasksDeps()
	tasks, err := taskchat.New(chat)
	if err != nil {
		return err
	}
	councils, err := a.openCouncil()
	if err != nil {
		return err
	}
	inquiries, err := a.openInquiry()
	if err != nil {
		return err
	}
	all := append([]*assistant.Assistant{main, oracle.DescribeShadow(main), taskchat.Describe(tasks, chat), inquiries},
		councils...)
	if a.options.Also != nil {
		others, err := a.options.Also(a.Store)
		if err != nil {
			return err
		}
		all = append(all, others...)
	}
	c := run.Config{Store: a.Store, Build: a.options.Build, Log: a.log, Holder: a.presence.holder,
		Dead: a.presence.isGone, Redact: a.secrets.bytes, Clock: &a.Clock}
	if a.telemetry != nil {
		c.MostRuns, c.Observer = a.Config.Server.MostRuns, a.telemetry.Observer()
	}
	for _, one := range all {
		c.Assistants = append(c.Assistants, one.Assistant)
	}
	if a.Engine, err = run.NewEngine(c); err != nil {
		return err
	}
	a.Service, err = service.New(service.Config{Store: a.Store, Engine: a.Engine, Assistants: all, Redact: a.Redact,
		Setting: a.Config.Text, Tree: a.tree,
		Preset: func(ctx context.Context, name string) (preset.Preset, error) {
			one, err := NewPresets(a.Config).Find(ctx, name)
			return one.Preset, err
		},
		Prices: a.prices(), Finders: a.finders(), Models: a.Offered, Now: a.Clock.Now, Remembers: a.remembers()})
	return err
}

// remembers says of a model whether a session begins with it because the last one had it; nil if none does.
func (a *App) remembers() func(id string) bool {
	if !a.Config.RememberModel {
		return nil
	}
	return func(id string) bool {
		_, err := a.Models.Open(id) // its provider may be gone
		return err == nil
	}
}

// Surroundings returns what a question needs to begin.
func (a *App) Surroundings() oracle.Surroundings {
	return oracle.Surroundings{
		Store: a.Store, Choose: a.Choose, Known: a.Models.Known, Describe: a.Describe,
		Contract: a.Models.Contract, About: a.Models.About,
		ReportForm: a.ReportForm, LearnKeys: a.LearnKeys, Tools: a.Tools,
		LeftOut: a.servers.leftOut, Guide: a.guide, Prompts: a.oraclePrompts,
		Classifier: a.bert != nil, Web: a.Config.Web.Missing() == "",
		Fallback: a.Config.Fallback.Models, Retention: a.Config.Retention,
	}
}

func (a *App) tree(name string) (file string, text []byte, err error) {
	t, err := a.Trees.Get(name)
	return t.File, t.Text, err
}

// Prepare prepares what needs no journal: trees, prompts, models.
func Prepare(cfg config.Config) (*App, error) {
	keys := newSecrets(cfg)
	a := &App{Config: cfg, Documents: NewDocuments(), Models: catalog(cfg, keys), secrets: keys,
		cooling: model.NewCooling(), bert: classifier(cfg.Bert), web: newWeb(cfg, keys)}
	a.Offered = &service.ModelSource{Offers: model.NewOffers(a.Models, nil), Named: cfg.Model, Prices: a.prices(),
		Redact: a.Redact}
	a.servers = newServers(slices.Sorted(maps.Keys(cfg.MCP.Servers)),
		func(ctx context.Context, name string) (*mcpclient.Session, error) {
			return a.openServer(ctx, name, a.pins().Admit(name, cfg.MCP.Servers[name].Pin))
		})
	var err error
	if a.Trees, err = trees.Open(cfg.Trees); err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Where("trees"), err)
	}
	a.texts = prompts.FS
	if cfg.Prompts != "" {
		if _, err := os.ReadDir(cfg.Prompts); err != nil {
			return nil, fmt.Errorf("%s: the folder of prompts: %w", cfg.Where("prompts"), err)
		}
		if a.texts, err = prompts.Overlay(os.DirFS(cfg.Prompts)); err != nil {
			return nil, err
		}
	}
	if a.Prompts, err = prompt.Load(a.texts); err != nil {
		return nil, err
	}
	deps := oracle.Deps{Model: a.model, Tools: a.Tools}
	if a.bert != nil {
		deps.Classifier = a.classify
	}
	a.Oracle, err = oracle.New(deps)
	return a, err
}

// model opens the model of a run, with retries and fallbacks.
func (a *App) model(ctx context.Context, env oracle.Env) (model.Model, error) {
	return a.openChain(ctx, a.Models, env, false)
}

// openChain opens a model of a catalog; whatever has the meaning it has in a model.ChainPolicy.
func (a *App) openChain(ctx context.Context, models model.Catalog, env oracle.Env, whatever bool) (model.Model, error) {
	a.LearnKeys(ctx, env) // a run that is resumed may read a file before it asks the model
	first, err := a.openModel(models, env.Model)
	if err != nil {
		return nil, err
	}
	var others []model.Model
	for _, id := range env.Fallback {
		if m, err := a.openModel(models, id); err == nil { // one that is not set up here can't answer, and need not
			others = append(others, m)
		}
	}
	policy := model.ChainPolicy{CoolDown: a.Config.Fallback.CoolDown, Cooling: a.cooling,
		LocalToCloud: a.Config.Fallback.LocalToCloud, AnyFailure: whatever}
	return model.Chain(policy, first, others...), nil
}

func (a *App) openModel(models model.Catalog, id string) (model.Model, error) {
	m, err := models.Open(id)
	if err != nil {
		return nil, err
	}
	if a.telemetry != nil {
		m = a.telemetry.Model(m)
	}
	m = model.WithWindow(m, func(ctx context.Context) int { return models.Known(ctx, id).Window })
	m = model.Learning(m, func(found ...model.Finding) { models.Learn(id, found...) })
	if models.Contract(id).Manner(model.Info{}).Plain {
		m = model.WithoutForms(m)
	}
	return model.Retry(m, model.RetryPolicy{}), nil
}

// Describe returns what is known of a model, asking its provider at most once; zero fields are unknown.
func (a *App) Describe(ctx context.Context, id string) model.Info {
	info, _ := a.Models.Describe(ctx, id) // a provider that does not tell answers all the same, or says why it does not
	return info
}

// ReportForm is how the settings want a model to report on itself; "" if they don't say. The id may name a provider
// alone.
func (a *App) ReportForm(id string) model.ReportForm {
	name, _ := model.SplitID(id)
	set := a.Config.Providers[name].Report
	if name == ollamaName {
		set = a.Config.Ollama.Report
	}
	return map[string]model.ReportForm{config.ReportTool: model.ReportTool,
		config.ReportSignals: model.ReportText}[set]
}

// LearnKeys fetches the keys that a run may use, so that they are redacted from then on. A missing one is reported by
// the first request.
func (a *App) LearnKeys(ctx context.Context, env oracle.Env) {
	names := []string{a.Config.Web.Engine}
	for _, id := range append([]string{env.Model}, env.Fallback...) {
		name, _ := model.SplitID(id)
		names = append(names, name)
	}
	for _, name := range names {
		_, _ = a.secrets.key(ctx, name)
	}
}

// Choose chooses a model, as Catalog.Choose does. An error about the one of the settings says where it stands.
func (a *App) Choose(ctx context.Context, wanted string) (id string, err error) {
	return a.chooseFrom(ctx, a.Models, wanted)
}

func (a *App) chooseFrom(ctx context.Context, models model.Catalog, wanted string) (id string, err error) {
	id, err = models.Choose(ctx, wanted)
	if err != nil && wanted != "" && wanted == a.Config.Model {
		err = fmt.Errorf("%s: %w", a.Config.Where("model"), err)
	}
	return id, err
}

// Redact removes known secrets, and what looks like one, from a text that is kept.
func (a *App) Redact(text string) string { return string(a.secrets.bytes([]byte(text))) }

// Close frees what Open holds.
func (a *App) Close() error {
	a.closePrepared()
	err := errors.Join(a.closeTelemetry(), a.Store.Close())
	a.shared.close()
	a.presence.Close() // when nothing is written any more
	return err
}

// closePrepared closes what Prepare made.
func (a *App) closePrepared() {
	if a.bert != nil {
		a.bert.Close()
	}
	a.Documents.Close()
	a.servers.close()
}
