package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Provider is somebody who may serve models.
type Provider struct {
	Name    string
	Local   bool
	Missing string // what setting would add it; "" if it is set up
	Default string // the model to use where none is named; "": the only one that List gives

	// Automatic providers are taken by themselves, in the order of the catalog, if they are set up; Probe ones only if
	// List gives a model at once, and then the first.
	Automatic bool
	Probe     bool

	List func(ctx context.Context) ([]string, error)
	New  func(name string) (Model, error)

	// Describe asks what a model is like; nil: nobody can tell. Window is what a setting says of all models of the
	// provider, in tokens; 0: it says nothing.
	Describe func(ctx context.Context, name string) (Info, error)
	Window   int

	// Pull has the provider load a model that it does not have yet, and tells how far it is. What was loaded when ctx
	// ends is kept there, and the next call goes on. Nil: it loads none.
	Pull func(ctx context.Context, name string, told func(PullProgress)) error
}

// PullProgress is how far the loading of a model is.
type PullProgress struct {
	Status      string // in the words of the provider
	Done, Total int64  // in bytes; 0: not known yet
}

// Catalog is the providers in the order in which they are taken. The last one needs nothing.
type Catalog []Provider

// probeTimeout bounds the look for a local server at its usual address, suitTime the one at what its models can.
const (
	probeTimeout    = 400 * time.Millisecond
	suitableTimeout = 2 * time.Second
)

// Choose settles which model serves: the one named, "provider:model" or "provider", else the first automatic provider
// that is set up. It never moves on from a named one that can't be used.
func (c Catalog) Choose(ctx context.Context, wanted string) (id string, err error) {
	if wanted != "" {
		p, name, err := c.providerOf(wanted)
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

// Open makes the model with that id.
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

func (c Catalog) providerOf(id string) (Provider, string, error) {
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

// ManyModelsError is an endpoint with several models, of which none is set and none was named.
type ManyModelsError struct {
	Provider string
	Models   []string // at least two
}

// Error names a few of the models, and what chooses one of them.
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

// defaultModel is the model to take where none is named. probing says that the provider may not be there.
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
		return "", fmt.Errorf("which models %s has: %w", p.Name, err)
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

// suitableModel is the first of models that chats with tools, else the first that chats, as far as is told in a short time;
// empty: none does.
func (p Provider) suitableModel(ctx context.Context, names []string) (chats string) {
	ctx, cancel := context.WithTimeout(ctx, suitableTimeout)
	defer cancel()
	for _, name := range names {
		var info Info
		if p.Describe != nil {
			info, _ = p.Describe(ctx, name) // one that is not told of may chat
		}
		switch {
		case info.NoChat:
		case !info.NoTools:
			return name
		case chats == "":
			chats = name
		}
	}
	return chats
}
