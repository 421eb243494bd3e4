package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Provider is a service that may serve models.
type Provider struct {
	Name    string
	Local   bool
	Missing string // which setting would set it up; "" if it is set up
	Default string // the model to use where none is named; "": the only one that List gives

	// Automatic providers are used when none is named, in the order of the catalog, if they are set up. Probe providers
	// are used only if List answers at once with a model.
	Automatic bool
	Probe     bool

	List func(ctx context.Context) ([]string, error)
	New  func(name string) (Model, error)

	// Listed returns what List last returned, perhaps in another process, and when; the zero time: never. Nil: that is
	// not kept.
	Listed func() ([]string, time.Time)

	// Describe asks for the properties of a model; nil: they can't be asked for. Window is the window that a setting
	// gives all models of the provider, in tokens; 0: not set.
	Describe func(ctx context.Context, name string) (Info, error)
	Window   int

	// Last returns what Describe last returned for a model, perhaps in another process, and when; the zero time: never.
	// Nil: that is not kept.
	Last func(name string) (Info, time.Time)

	// Contract returns the contract of a model that was kept last, perhaps by another process; Keep keeps one. Nil: none
	// is kept.
	Contract func(name string) Contract
	Keep     func(name string, c Contract) error

	// Pull has the provider load a model that it does not have yet, and reports the progress. What was loaded when ctx
	// ends is kept there, and the next call continues. Nil: the provider loads none.
	Pull func(ctx context.Context, name string, report func(PullProgress)) error
}

// PullProgress is how much of a model was loaded.
type PullProgress struct {
	Status      string // in the words of the provider
	Done, Total int64  // in bytes; 0: not known yet
}

// Catalog lists the providers in the order in which they are tried. The last one needs nothing.
type Catalog []Provider

// probeTimeout bounds the search for a local server, suitableTimeout the questions about its models.
const (
	probeTimeout    = 400 * time.Millisecond
	suitableTimeout = 2 * time.Second
)

// Choose decides which model is used: the wanted one, "provider:model", "provider" or the name of a model or a part of
// it, or else one of the first automatic provider that is set up. If the wanted one can't be used, that is an error: no
// other is tried. A name that fits several models is an *AmbiguousModelError.
func (c Catalog) Choose(ctx context.Context, wanted string) (id string, err error) {
	if wanted != "" {
		if id, err = c.named(ctx, wanted); err != nil {
			return "", err
		}
		p, name, err := c.providerOf(id)
		if err != nil {
			return "", err
		}
		if name == "" {
			if name, err = p.defaultModel(ctx, false); err != nil {
				return "", err
			}
		}
		return p.Name + ":" + name, nil
	}
	for _, p := range c {
		if !p.Automatic || p.Missing != "" {
			continue
		}
		name, err := p.defaultModel(ctx, p.Probe)
		if err == nil {
			return p.Name + ":" + name, nil
		}
		if !p.Probe {
			return "", err
		}
	}
	return "", fmt.Errorf("no model is there: ‘sibyl doctor’ says what to set")
}

// Open returns the model with that id.
func (c Catalog) Open(id string) (Model, error) {
	p, name, err := c.providerOf(id)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, fmt.Errorf("%q names no model: write %s:MODEL", id, p.Name)
	}
	return p.New(name)
}

// has reports whether a provider has that name, set up or not.
func (c Catalog) has(provider string) bool {
	return slices.ContainsFunc(c, func(p Provider) bool { return p.Name == provider })
}

func (c Catalog) providerOf(id string) (_ Provider, modelName string, _ error) {
	provider, name := SplitID(id)
	names := make([]string, len(c))
	for i, p := range c {
		names[i] = p.Name
		if p.Name != provider {
			continue
		}
		if p.Missing != "" {
			return p, name, fmt.Errorf("%s is not set up: %s", p.Name, p.Missing)
		}
		return p, name, nil
	}
	return Provider{}, "", fmt.Errorf("there is no provider %q: write provider:model, with one of %s", provider,
		strings.Join(names, ", "))
}

// ManyModelsError says that an endpoint has several models, and that neither the settings nor the caller chose one.
type ManyModelsError struct {
	Provider string
	Models   []string // at least two
}

// Error names a few of the models, and how to choose one of them.
func (e *ManyModelsError) Error() string {
	const few = 4
	some := strings.Join(e.Models[:min(few, len(e.Models))], ", ")
	if len(e.Models) > few {
		some += ", …"
	}
	return fmt.Sprintf("%s has %d models (%s): name one with -m %s:%s, or for all questions with ‘sibyl config set "+
		"providers.%s.model %s’; ‘sibyl models’ lists them",
		e.Provider, len(e.Models), some, e.Provider, e.Models[0], e.Provider, e.Models[0])
}

// defaultModel returns the model to use if none is named. probing says that the provider may not be running.
func (p Provider) defaultModel(ctx context.Context, probing bool) (string, error) {
	if p.Default != "" {
		return p.Default, nil
	}
	listCtx, cancel := ctx, context.CancelFunc(func() {})
	if probing {
		listCtx, cancel = context.WithTimeout(ctx, probeTimeout)
	}
	names, err := p.List(listCtx)
	cancel()
	if err != nil {
		return "", fmt.Errorf("%w; -m offline:rules works without a model", err)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !mayChat(n, true) })
	if len(names) > 1 && !p.Probe {
		return "", &ManyModelsError{Provider: p.Name, Models: names}
	}
	if name := p.suitableModel(ctx, names); name != "" {
		return name, nil
	}
	return "", fmt.Errorf("%s has no model that chats", p.Name)
}

// suitableModel returns the Best of the models that chat, as far as the provider answers in a short time; empty: none
// chats. Once one without a contract takes tools, those behind it are looked at only if they have one.
func (p Provider) suitableModel(ctx context.Context, names []string) string {
	ctx, cancel := context.WithTimeout(ctx, suitableTimeout)
	defer cancel()
	var all []Candidate
	takesTools := false
	for _, name := range names {
		if takesTools && (p.Contract == nil || !p.Contract(name).Known()) {
			continue
		}
		var info Info
		if p.Describe != nil {
			info, _ = p.Describe(ctx, name) // one without a description may chat
		}
		if info.NoChat {
			continue
		}
		c, _ := p.contract(name, info.Digest)
		all = append(all, Candidate{ID: name, Info: info, Contract: c})
		takesTools = takesTools || !info.NoTools
	}
	if len(all) == 0 {
		return ""
	}
	return Best(all).ID
}

// contract returns what counts of a model's contract, and whether the model has changed since.
func (p Provider) contract(name, digest string) (c Contract, changed bool) {
	if p.Contract == nil {
		return c, false
	}
	kept := p.Contract(name)
	if kept.Changed(digest) {
		return c, true
	}
	return kept.At(time.Now()), false
}

// Contract returns what counts of the contract of the model with that id: nothing, if the model has changed since, as
// far as its provider has told.
func (c Catalog) Contract(id string) Contract {
	p, name, err := c.providerOf(id)
	if err != nil {
		return Contract{}
	}
	counts, _ := p.contract(name, p.digest(name))
	return counts
}

// digest is the digest that the provider last told of a model.
func (p Provider) digest(name string) string {
	if p.Last == nil {
		return ""
	}
	info, _ := p.Last(name)
	return info.Digest
}

// About says in a sentence or two what the model with that id does and does not, as Contract.Words; "" if nothing is
// known.
func (c Catalog) About(id string) string {
	p, name, err := c.providerOf(id)
	if err != nil || p.Contract == nil {
		return ""
	}
	counts, changed := p.contract(name, p.digest(name))
	if changed {
		return p.Contract(name).ChangedWords()
	}
	return counts.Words()
}

// Keep keeps the contract of the model with that id in place of the one before.
func (c Catalog) Keep(id string, kept Contract) error {
	p, name, err := c.providerOf(id)
	if err != nil || p.Keep == nil {
		return err
	}
	return p.Keep(name, kept)
}

// Learn keeps what a run has shown of the model with that id, if it is new.
func (c Catalog) Learn(id string, found ...Finding) {
	p, name, err := c.providerOf(id)
	if err != nil || p.Contract == nil {
		return
	}
	digest := p.digest(name)
	counts, changed := p.contract(name, digest)
	if learnt, isNew := counts.Learn(time.Now().UTC().Truncate(time.Second), found...); isNew {
		learnt.Model = id
		if changed {
			before := p.Contract(name)
			learnt.Outdated = before.TestedAt
			if before.TestedAt.IsZero() {
				learnt.Outdated = before.Outdated
			}
		}
		if learnt.Digest == "" {
			learnt.Digest = digest
		}
		_ = p.Keep(name, learnt) // the next run shows it again
	}
}
