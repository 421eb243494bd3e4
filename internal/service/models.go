package service

import (
	"context"
	"strings"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/service/assistant"
)

// Models lists the models of all providers, and the default.
type Models struct {
	Default   string          `json:"default,omitempty" doc:"The one that answers where none is named: provider:model. Left out: one has to be named."`
	Offline   bool            `json:"offline" doc:"No model answers where none is named: rules search and quote."`
	Currency  string          `json:"currency,omitempty" doc:"Of the prices."`
	Providers []ModelProvider `json:"providers"`
}

// ModelProvider is a provider, set up or not, with its models.
type ModelProvider struct {
	Provider string  `json:"provider"`
	Local    bool    `json:"local" doc:"Nothing that is sent there leaves the machines of whoever runs this."`
	Ready    bool    `json:"ready" doc:"It is set up, with its key where it needs one."`
	Models   []Model `json:"models"`
	Missing  string  `json:"missing,omitempty" hidden:"true"` // the setting that would set it up
	Error    string  `json:"error,omitempty" doc:"Why it lists none, as the kind of a failure."`
	Detail   string  `json:"detail,omitempty" hidden:"true"` // Error in full
}

// Model is a model that can be asked.
type Model struct {
	ID         string `json:"id" doc:"provider:model, as options name it."`
	Window     int    `json:"window,omitempty" doc:"Of tokens, question and answer together. Left out: not known."`
	NoTools    bool   `json:"no_tools,omitempty" doc:"It is offered no tools, as it takes none, calls none or is small: what a question needs is looked up for it."`
	NoPictures bool   `json:"no_pictures,omitempty" doc:"It takes no pictures. Left out: it does, or that is not known."`
	Price      *Price `json:"price,omitempty" doc:"Left out: not known."`

	About    string          `json:"about,omitempty" doc:"What it does of what is needed and what not, in a sentence or two. Left out: it was not tested, and no run has shown it."`
	Contract *model.Contract `json:"contract,omitempty" doc:"The same in full. Left out, too, if the model has changed since."`
}

// Price is the price of a million tokens.
type Price struct {
	Input  float64 `json:"input" doc:"Per million tokens that the provider had not cached."`
	Cached float64 `json:"cached" doc:"Per million of the input that it had."`
	Output float64 `json:"output" doc:"Per million tokens."`
}

// ModelSource is what the list of models is made of.
type ModelSource struct {
	Offers *model.Offers
	Named  string // the model of the settings; "": none
	Prices *Prices
	Redact func(text string) string
}

// choosingTime bounds the search for the default model.
const choosingTime = 5 * time.Second

// List lists all providers; it asks those that are set up, for a few seconds at most. An error only says why there is
// no default: the list is complete.
func (m *ModelSource) List(ctx context.Context) (Models, error) {
	all := Models{Currency: m.Prices.Currency, Providers: []ModelProvider{}}
	for _, o := range m.Offers.All(ctx) {
		p := ModelProvider{Provider: o.Name, Local: o.Local, Ready: o.Missing == "" && o.Err == nil, Missing: o.Missing,
			Models: []Model{}}
		if o.Err != nil {
			p.Error, p.Detail = string(model.KindOf(o.Err)), m.Redact(o.Err.Error())
		}
		for _, one := range o.Models {
			p.Models = append(p.Models, m.shown(one))
		}
		all.Providers = append(all.Providers, p)
	}
	ctx, cancel := context.WithTimeout(ctx, choosingTime)
	defer cancel()
	var err error
	all.Default, err = m.Offers.Choose(ctx, m.Named)
	all.Offline = strings.HasPrefix(all.Default, "offline:")
	return all, err
}

// shown is a model with what is known of it.
func (m *ModelSource) shown(of model.OfferedModel) Model {
	c := m.Offers.Contract(of.ID)
	shown := Model{ID: of.ID, Window: of.Window, NoTools: c.Manner(of.Info).NoTools, NoPictures: of.NoPictures,
		Price: m.Prices.perMillion(of.ID), About: m.Offers.About(of.ID)}
	if c.Known() {
		shown.Contract = &c
	}
	return shown
}

// perMillion gives the price of a model; nil if it is not known.
func (p *Prices) perMillion(id string) *Price {
	const million = 1_000_000
	input, known := p.Of(id, million, 0, 0)
	if !known {
		return nil
	}
	cached, _ := p.Of(id, million, million, 0)
	output, _ := p.Of(id, 0, 0, million)
	return &Price{Input: input, Cached: cached, Output: output}
}

// rememberedModel is the model that was chosen in the session of an assistant that its owner used last, if another one
// begins with it; "": none.
func (s *Service) rememberedModel(ctx context.Context, owner journal.Owner, a *assistant.Assistant) string {
	if s.config.Remembers == nil || a == nil || a.Setup == nil {
		return ""
	}
	last, err := s.config.Store.Runs(ctx, owner, journal.Filter{Assistant: a.Name, Limit: 1})
	if err != nil || len(last) == 0 {
		return ""
	}
	was, err := a.Setup(ctx, owner, last[0].Session, "")
	if err != nil || was.Model == "" || !s.config.Remembers(was.Model) { // a damaged session hinders no other
		return ""
	}
	return was.Model
}

// Models lists the models that can be asked; without a default if none can be chosen.
func (s *Service) Models(ctx context.Context) Models {
	if s.config.Models == nil {
		return Models{Providers: []ModelProvider{}}
	}
	all, _ := s.config.Models.List(ctx) // without a default, the user has to name one
	return all
}
