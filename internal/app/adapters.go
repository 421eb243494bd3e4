package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"sibyl/internal/config"
	"sibyl/internal/model"
	"sibyl/internal/model/offline"
	"sibyl/internal/model/openai"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
	"sibyl/internal/tool/code"
	"sibyl/internal/tool/vault"
	"sibyl/internal/tool/web"
)

// idleTime bounds the silence inside a stream.
const idleTime = 60 * time.Second

// catalog lists the providers: OpenAI or what OPENAI_BASE_URL names, the person's other endpoints, a local Ollama if it
// answers, and the offline rules, which need nothing.
func catalog(cfg config.Config, keys *secrets) model.Catalog {
	openAI := model.Provider{Name: "openai", Automatic: true, Missing: "set OPENAI_API_KEY, or OPENAI_BASE_URL for a compatible endpoint"}
	if p, ok := cfg.Providers["openai"]; ok {
		openAI = compatible("openai", p, keys)
		openAI.Automatic = true
	}
	c := model.Catalog{openAI}
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		if name != "openai" && name != "ollama" {
			c = append(c, compatible(name, cfg.Providers[name], keys))
		}
	}
	ollama := compatible("ollama", config.Provider{BaseURL: cfg.Ollama.Host + "/v1", Local: cfg.Ollama.Local, Timeout: cfg.Timeouts.Local}, keys)
	ollama.Automatic, ollama.Probe = true, true
	return append(c, ollama, model.Provider{Name: "offline", Local: true, Automatic: true, Default: "rules",
		List: func(context.Context) ([]string, error) { return []string{"rules"}, nil },
		New: func(string) (model.Model, error) {
			return offline.New(map[string]offline.Rule{oracle.Purpose: oracle.OfflineRule}), nil
		}})
}

func compatible(name string, p config.Provider, keys *secrets) model.Provider {
	client := func(named string) *openai.Model {
		return openai.New(openai.Config{Provider: name, Model: named, BaseURL: p.BaseURL, Local: p.Local, Timeout: p.Timeout, Idle: idleTime,
			Key: func(ctx context.Context) (string, error) { return keys.key(ctx, name) }})
	}
	return model.Provider{Name: name, Local: p.Local, Default: p.Model,
		List: func(ctx context.Context) ([]string, error) { return client("").List(ctx) },
		New:  func(named string) (model.Model, error) { return client(named), nil }}
}

// Tools opens the tools of a run's surroundings: the web always, code and vault where they are named.
func (a *App) Tools(_ context.Context, env oracle.Env) (*tool.Registry, func(), error) {
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
		v, err := vault.Open(env.Vault)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		closers = append(closers, v.Close)
		all = append(all, v.Tools()...)
	}
	all = append(all, web.New(web.Config{SearXNG: a.Config.Web.Address(), Timeout: a.Config.Timeouts.Web}).Tools()...)
	reg, err := tool.NewRegistry(all...)
	if err != nil {
		closeAll()
		return nil, nil, errors.Join(fmt.Errorf("tools"), err)
	}
	return reg, closeAll, nil
}
