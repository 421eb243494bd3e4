package app

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"

	"sibyl/internal/config"
	"sibyl/internal/model"
	"sibyl/internal/model/anthropic"
	"sibyl/internal/model/gemini"
	"sibyl/internal/model/offline"
	"sibyl/internal/model/ollama"
	"sibyl/internal/model/openai"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
	"sibyl/internal/tool/code"
	"sibyl/internal/tool/vault"
	"sibyl/internal/tool/web"
)

// ollamaName is the built-in provider for the Ollama server of the settings.
const ollamaName = "ollama"

// catalog lists the providers: the built-in vendors, the person's other endpoints, a local Ollama if it answers, and
// the offline rules, which need nothing.
func catalog(cfg config.Config, keys *secrets) model.Catalog {
	told := newReports(cfg.DataDir)
	var c model.Catalog
	for _, v := range []struct{ name, missing string }{
		{"openai", "set OPENAI_API_KEY, or OPENAI_BASE_URL for a compatible endpoint"},
		{"anthropic", "set ANTHROPIC_API_KEY, or store the key with ‘sibyl config set-key anthropic’"},
		{"gemini", "set GEMINI_API_KEY, or store the key with ‘sibyl config set-key gemini’"},
	} {
		p := model.Provider{Name: v.name, Missing: v.missing}
		if set, ok := cfg.Providers[v.name]; ok {
			p = provider(v.name, set, cfg, keys, told)
		}
		// a key for all that Google sells is no wish for its models
		p.Automatic = cfg.Providers[v.name].KeyEnv != "GOOGLE_API_KEY"
		c = append(c, p)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		if !slices.ContainsFunc(c, func(p model.Provider) bool { return p.Name == name }) {
			c = append(c, provider(name, cfg.Providers[name], cfg, keys, told))
		}
	}
	local := provider(ollamaName, config.Provider{Kind: config.KindOllama, BaseURL: cfg.Ollama.Host,
		Local: cfg.Ollama.Local, Tuning: cfg.Ollama.Tuning}, cfg, keys, told)
	local.Automatic, local.Probe = true, true
	return append(c, local, model.Provider{Name: "offline", Local: true, Automatic: true, Default: "rules",
		List: func(context.Context) ([]string, error) { return []string{"rules"}, nil },
		New: func(string) (model.Model, error) {
			return offline.New(map[string]offline.Rule{oracle.Purpose: oracle.OfflineRule,
				oracle.PurposeNotes: oracle.OfflineNotes}), nil
		},
		Describe: func(context.Context, string) (model.Info, error) { return model.Info{NoPictures: true}, nil }})
}

// client is the interface of a provider's adapters.
type client interface {
	model.Model
	model.Describer
	List(ctx context.Context) ([]string, error)
	Connections() *http.Client
}

// mostModels limits the cached models, since remote users may name any. A dropped one is opened again.
const mostModels = 64

// provider puts an adapter behind an endpoint. All requests to one model share a client, which caches what it learns;
// all models share connections.
func provider(name string, p config.Provider, cfg config.Config, keys *secrets, told *reports) model.Provider {
	start, silence := cfg.Timeouts.Of(p)
	key := func(ctx context.Context) (string, error) { return keys.key(ctx, name) }
	var mu sync.Mutex
	clients := map[string]client{}
	var connections *http.Client
	connect := func(named string) (client, error) {
		mu.Lock()
		defer mu.Unlock()
		if c := clients[named]; c != nil {
			return c, nil
		}
		header, err := p.Header()
		if err != nil {
			return nil, &model.Error{Kind: model.Invalid, Model: name + ":" + named, Err: err}
		}
		c := openai.Config{Provider: name, Model: named, BaseURL: p.BaseURL, Key: key, Local: p.Local, FirstByte: start,
			Idle: silence, Header: header, Query: p.Query, Body: p.JSON(), MaxOutput: p.MaxOutput, Think: p.Think,
			KeepAlive: p.KeepAlive, API: p.API,
			NumCtx: cmp.Or(p.Window, cfg.Ollama.NumCtx), HTTPClient: connections, PlainHTTP: cfg.PlainHTTP}
		told.remember(&c)
		if len(clients) >= mostModels {
			clear(clients)
		}
		switch p.Kind {
		case config.KindAnthropic:
			clients[named] = anthropic.New(c)
		case config.KindGemini:
			clients[named] = gemini.New(c)
		case config.KindOllama:
			clients[named] = ollama.New(c)
		default:
			clients[named] = openai.New(c)
		}
		connections = clients[named].Connections()
		return clients[named], nil
	}
	window := p.Window
	if p.Kind == config.KindOllama { // which is asked for what the model takes of it
		window = 0
	}
	made := model.Provider{Name: name, Local: p.Local, Default: p.Model, Window: window,
		List: func(ctx context.Context) ([]string, error) {
			c, err := connect("")
			if err != nil {
				return nil, err
			}
			return c.List(ctx)
		},
		New: func(named string) (model.Model, error) { return connect(named) }}
	told.serve(&made, p.BaseURL, func(ctx context.Context, named string) (model.Info, error) {
		c, err := connect(named)
		if err != nil {
			return model.Info{}, err
		}
		return c.Describe(ctx)
	})
	if p.Kind == config.KindOllama {
		made.Pull = func(ctx context.Context, named string, told func(model.PullProgress)) error {
			c, err := connect(named)
			if err != nil {
				return err
			}
			return c.(*ollama.Model).Pull(ctx, told)
		}
	}
	return made
}

// Tools opens the tools of a run: the web unless it is off, code and vault if they are named, and those of the MCP
// servers that answer. The func closes the folders.
func (a *App) Tools(ctx context.Context, env oracle.Env) (*tool.Set, func(), error) {
	var all []tool.Tool
	var closers []func() error
	closeAll := func() {
		for _, c := range closers {
			_ = c() // folders that were only read
		}
	}
	if env.CodeRoot != "" {
		root, err := code.Open(env.CodeRoot)
		if err != nil {
			return nil, nil, err
		}
		closers = append(closers, root.Close)
		all = append(all, root.Tools()...)
	}
	if env.Vault != "" {
		v, err := vault.Open(env.Vault, a.shelf(), a.Documents)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		closers = append(closers, v.Close)
		all = append(all, v.Tools()...)
	}
	if !a.Config.Web.Off && !env.NoWeb {
		all = append(all, a.web.Tools()...)
	}
	return tool.NewSet(append(all, a.servers.tools(ctx)...)...), closeAll, nil
}

// CheckWeb returns why no web page can be opened, although the web is not off; nil: they can.
func (a *App) CheckWeb() error {
	if a.Config.Web.Off {
		return nil
	}
	return a.web.Check()
}

// newWeb creates the client for web search and pages, for all runs.
func newWeb(cfg config.Config, keys *secrets) *web.Web {
	w := cfg.Web
	return web.New(web.Config{Engine: w.Engine, SearXNG: w.Address(), Timeout: cfg.Timeouts.Web, Allow: w.Allow,
		Deny:      w.Deny,
		PlainHTTP: cfg.PlainHTTP, Key: func(ctx context.Context) (string, error) { return keys.key(ctx, w.Engine) }})
}
