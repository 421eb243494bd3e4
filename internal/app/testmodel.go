package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/probe"
	"sibyl/internal/schema"
)

// ModelTest is a test of a model that is about to begin. Requests and Tokens are what it takes at most, by estimate.
type ModelTest struct {
	ID               string
	Local            bool // it costs nothing
	Requests, Tokens int

	model   model.Model
	setting probe.Setting
}

// ErrNothingToTest reports that no language model was named.
var ErrNothingToTest = errors.New("without a language model there is nothing to test: name one as PROVIDER:MODEL; " +
	"‘sibyl models’ lists them")

// PrepareModelTest prepares the test of a model, or of the one that answers where none is named. It asks the provider
// what the model is, and the model nothing.
func (a *App) PrepareModelTest(ctx context.Context, named string) (t ModelTest, err error) {
	if named == "" {
		named = a.Config.Model
	}
	if t.ID, err = a.Models.Choose(ctx, named); err != nil {
		return t, err
	}
	if t.ID == model.OfflineRules {
		return t, ErrNothingToTest
	}
	m, err := a.Models.Open(t.ID)
	if err != nil {
		return t, err
	}
	t.model, t.Local = model.Retry(m, model.RetryPolicy{}), m.Local()
	if t.setting.Info, err = a.Models.Ask(ctx, t.ID); err != nil && model.KindOf(err) != model.Invalid {
		return t, err // a server that does not list its models may answer all the same
	}
	t.setting.Endpoint = a.endpoint(t.ID)
	if t.setting.Full, err = a.fullRequest(ctx); err != nil {
		return t, err
	}
	t.setting.Report, t.setting.ReadReport = oracle.ReportOffer()
	t.Requests, t.Tokens = probe.Cost(ctx, t.setting)
	return t, nil
}

// endpoint is the address of the provider of a model, without what may be a secret in it.
func (a *App) endpoint(id string) string {
	name, _ := model.SplitID(id)
	address := a.Config.Providers[name].BaseURL
	if name == ollamaName {
		address = a.Config.Ollama.Host
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// fullRequest is what the Oracle sends for a question about code, with the tools for code, notes and the web.
func (a *App) fullRequest(ctx context.Context) (req model.Request, err error) {
	folder, err := os.MkdirTemp("", "sibyl-models-test-")
	if err != nil {
		return req, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // it is empty
	tree, err := a.Trees.Get(oracle.Name)
	if err != nil {
		return req, err
	}
	from := a.Surroundings()
	from.Choose = func(context.Context, string) (string, error) { return "", nil }
	from.Known = func(context.Context, string) model.Info { return model.Info{} }
	from.Contract, from.ReportForm = nil, nil // as a model is asked of which nothing is known
	p, err := from.PreviewTurn(ctx, tree.File, tree.Text, "Where is the retry policy of the client decided?",
		oracle.Options{Code: schema.Folder{Path: folder}, Vault: schema.Folder{Path: folder}}, false, false)
	if err != nil {
		return req, fmt.Errorf("the Oracle's request: %w", err)
	}
	req = model.Request{System: p.Prompt, Tools: p.Tools}
	for _, text := range p.Messages {
		req.Messages = append(req.Messages, model.Message{Role: model.User, Text: text})
	}
	return req, nil
}

// TestModel tests a model and keeps its contract. What the test did not reach stands as it was found before of the same
// model. A contract without a finding is not kept. The error says why it was not kept.
func (a *App) TestModel(
	ctx context.Context, t ModelTest, told func(probe.Progress),
) (c model.Contract, err error) {
	c = probe.Run(ctx, t.model, t.setting, told)
	if !c.Known() {
		return c, nil
	}
	if before := a.Models.Contract(t.ID); !before.TestedAt.IsZero() {
		c = c.After(before)
	}
	if err := os.MkdirAll(filepath.Clean(a.Config.DataDir), 0o700); err != nil {
		return c, err
	}
	return c, a.Models.Keep(t.ID, c)
}
