package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// checkProvider lists the models of a provider. If the settings name no model of it, a provider that is only probed or
// is not set up may fail: that finding is spare.
func checkProvider(ctx context.Context, a *app.App, p model.Provider) finding {
	wished, wishedModel := model.SplitID(a.Config.Model)
	if wished == p.Name && wishedModel != "" {
		p.Default = wishedModel
	}
	f, names := listOf(ctx, a.Config, p)
	switch {
	case p.Missing != "":
		f.Fix, f.spare = "uses a hosted model: "+f.Fix, wished != p.Name
	case f.Says != "":
		f.spare = p.Probe && wished != p.Name
	case p.Default != "" && !hasModel(names, p.Default):
		f = works(fmt.Sprintf("answers, but does not list %s, the model configured for it", p.Default))
	default:
		f = works(fmt.Sprintf("%s: %s", text.Count(len(names), "model"), strings.Join(names[:min(4, len(names))],
			", ")))
	}
	return f
}

// providerOf finds a provider by its name; one that is not in the catalog is given as lacking its key.
func providerOf(a *app.App, name string) model.Provider {
	at := slices.IndexFunc(a.Models, func(p model.Provider) bool { return p.Name == name })
	if at < 0 {
		return model.Provider{Name: name, Missing: keyFix(a.Config, name)}
	}
	return a.Models[at]
}

// listOf asks a provider for its models. The finding says what failed; its Says is "" if there are some.
func listOf(ctx context.Context, cfg config.Config, p model.Provider) (f finding, names []string) {
	var err error
	if p.Missing == "" {
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		names, err = p.List(ctx)
	}
	return listed(cfg, p, len(names), err), names
}

// listed is the finding for a provider that was asked for its models; its Says is "" if there are some.
func listed(cfg config.Config, p model.Provider, models int, err error) finding {
	f := finding{What: p.Name}
	switch {
	case p.Missing != "":
		f.Says, f.Fix = "not set up", p.Missing
	case err != nil:
		f.Says, f.Fix = err.Error(), providerFix(cfg, p, model.KindOf(err))
	case models == 0:
		f.Says, f.Fix = "answers, but has no model", "install one, such as ‘ollama pull llama3.1:8b’ with Ollama"
	}
	return f
}

// hasModel says whether a model is among names. As for Ollama, a name alone means its tag latest.
func hasModel(names []string, wanted string) bool {
	return slices.Contains(names, wanted) || slices.Contains(names, wanted+":latest")
}

// providerFix says how to fix a failure of a provider.
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

// keyFix says where the key of a provider comes from, or how to store one.
func keyFix(cfg config.Config, name string) string {
	switch from, by := cfg.KeyOrigin(name); from {
	case config.FromEnvironment:
		return "check its key, which comes from " + by
	case config.FromCommand:
		return "check its key, which the command " + by + " of key_command prints"
	}
	return "store its key with ‘sibyl config set-key " + name + "’"
}

// checkWitness checks that the provider of the witness in the settings lists that model.
func checkWitness(ctx context.Context, a *app.App) finding {
	const choose = "‘sibyl config set inquiry.witness ollama:MODEL’"
	id := a.Config.Inquiry.Witness
	if id == "" {
		return absent("not set up", "is questioned in an inquiry: "+
			"choose one with "+choose+", or with --witness")
	}
	provider, wanted := model.SplitID(id)
	f, names := listOf(ctx, a.Config, providerOf(a, provider))
	switch {
	case f.Says != "":
		return f
	case hasModel(names, wanted):
		return works(id + " is there")
	}
	f.Says = fmt.Sprintf("%s answers but does not have the model %s", provider, wanted)
	f.Fix = "choose another with " + choose + "; ‘sibyl models’ lists them"
	if provider == ollamaName {
		f.Fix = fmt.Sprintf("‘ollama pull %s’, or %s", wanted, f.Fix)
	}
	return f
}

// checkEmbeddings embeds a word with the model of the settings; it warns if texts are sent to other machines.
func checkEmbeddings(ctx context.Context, a *app.App) finding {
	id := a.Config.Inquiry.Embeddings
	if id == "" {
		return absent("not set up; the witness searches documents by words", "finds passages by meaning: "+
			"set inquiry.embeddings, for example to ollama:nomic-embed-text")
	}
	name, _ := model.SplitID(id)
	p := providerOf(a, name)
	if p.Missing != "" {
		return finding{Says: id + ": not set up", Fix: p.Missing}
	}
	ctx, cancel := context.WithTimeout(ctx, embedTime)
	defer cancel()
	vectors, _, err := a.Embedder(id).Embed(ctx, []string{"sibyl"})
	switch {
	case err != nil && name == ollamaName && model.KindOf(err) == model.Invalid:
		_, wanted := model.SplitID(id)
		const choose = "choose another embedding model with ‘sibyl config set inquiry.embeddings PROVIDER:MODEL’"
		return finding{Says: err.Error(), Fix: fmt.Sprintf("‘ollama pull %s’, or %s", wanted, choose)}
	case err != nil:
		return finding{Says: err.Error(), Fix: providerFix(a.Config, p, model.KindOf(err))}
	}
	says := fmt.Sprintf("%s: vectors of %d dimensions", id, len(vectors[0]))
	if a.Config.EmbeddingsAway() {
		says += "; passages of documents and questions are sent off your machines"
	}
	return works(says)
}

// checkEngine searches once with an engine; anyEngine means the configured one.
func checkEngine(ctx context.Context, cfg config.Config, name string) finding {
	if name != anyEngine {
		cfg.Web.Engine = name
	}
	if missing := cfg.Web.Missing(); missing != "" {
		f := absent("not set up", "searches the web: "+missing)
		f.spare = cfg.Web.Engine == ""
		return f
	}
	says, err := searchOnce(ctx, cfg)
	if err == nil {
		return works(says)
	}
	if known, ok := errors.AsType[*tool.Error](err); ok && known.Hint != "" {
		return finding{Says: known.Message, Fix: known.Hint}
	}
	f := finding{Says: err.Error(), Fix: keyFix(cfg, cfg.Web.Engine)}
	if cfg.Web.Engine == config.SearXNG {
		f.Fix = "make sure the server at " + cfg.Web.SearXNG + " runs and has JSON among its search formats"
	}
	return f
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
		return "", err
	}
	return fmt.Sprintf("%s gave %s", cfg.Web.Engine, text.Count(r.Items, "result")), nil
}
