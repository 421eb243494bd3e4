package config

import (
	"cmp"
	"slices"
	"strings"
)

// Configuration is the Inquiry's view of the settings (requirement 4, Configuration).
type Configuration struct {
	Detectives []ProviderCredential `json:"detectives"`
	Witness    WitnessEndpoint      `json:"witness"`
	// names of providers, as fallback.models has them
	ProviderFallbackOrder []string        `json:"providerFallbackOrder"`
	Timeouts              TimeoutSettings `json:"timeouts"`
	DefaultIterationLimit int             `json:"defaultIterationLimit"`
}

// ProviderCredential is a provider that may be the detective. JSON never includes its key.
type ProviderCredential struct {
	Provider  string `json:"provider"`
	APIKey    Secret `json:"-"`
	KeyFrom   string `json:"keyFrom,omitempty"` // FromEnvironment, FromCommand or FromStore; "" for none
	Model     string `json:"model,omitempty"`
	IsDefault bool   `json:"isDefault"`
	Keyless   bool   `json:"keyless"` // it needs no key: a local endpoint, Ollama, or the offline rules

	where  string // what names it: file:line, or a variable; "" where only its key is there
	keyErr error  // why its key can't be had
	source KeySource
	taken  bool // the program takes it by itself where no model is set
}

// WitnessEndpoint is the endpoint of the default witness.
type WitnessEndpoint struct {
	BaseURL string `json:"baseUrl"`
	Model   string `json:"model,omitempty"`
}

// TimeoutSettings are the timeouts of models in seconds: until an answer begins, and between its parts.
type TimeoutSettings struct {
	CloudTimeout float64 `json:"cloudTimeout"`
	CloudSilence float64 `json:"cloudSilence"`
	LocalTimeout float64 `json:"localTimeout"`
	LocalSilence float64 `json:"localSilence"`
}

// keyReader reads a provider's key that is not in the environment.
type keyReader func(c Config, name string) (Secret, error)

// configuration returns the Inquiry's view of the settings, with keys from read.
func (s source) configuration(c Config, read keyReader) Configuration {
	t := c.Timeouts
	out := Configuration{
		Detectives:            s.detectives(c, read),
		Witness:               WitnessEndpoint{BaseURL: c.Ollama.Host},
		ProviderFallbackOrder: []string{},
		Timeouts: TimeoutSettings{t.Start.Seconds(), t.Silence.Seconds(), t.LocalStart.Seconds(),
			t.LocalSilence.Seconds()},
		DefaultIterationLimit: c.Inquiry.Limit,
	}
	for _, id := range c.Fallback.Models {
		if name, _ := c.providerOfModel(id); !slices.Contains(out.ProviderFallbackOrder, name) {
			out.ProviderFallbackOrder = append(out.ProviderFallbackOrder, name)
		}
	}
	name, model, _ := strings.Cut(c.Inquiry.Witness, ":")
	out.Witness.Model = model
	if p, ok := c.Providers[name]; ok {
		out.Witness.BaseURL = p.BaseURL
	}
	return out
}

// detectives lists, sorted, the named providers and those that have a key.
func (s source) detectives(c Config, read keyReader) []ProviderCredential {
	where := map[string]string{} // what names each
	for name := range c.Providers {
		where[name] = ""
		if path := providersSection + name; s.lines[path] > 0 {
			where[name] = s.line(path)
		}
	}
	known := append(c.providerNames(), offlineName)
	for i, id := range append([]string{c.Model}, c.Fallback.Models...) {
		path := fallbackModels
		if i == 0 {
			path = "model"
		}
		if name, _ := c.providerOfModel(id); slices.Contains(known, name) && where[name] == "" {
			where[name] = s.origins[path]
		}
	}
	all := []ProviderCredential{}
	for _, name := range sortedNames(where) {
		d := s.detective(c, name, read)
		d.where = where[name]
		all = append(all, d)
	}
	return all
}

func (s source) detective(c Config, name string, read keyReader) ProviderCredential {
	d := ProviderCredential{Provider: name}
	for _, id := range append([]string{c.Model}, c.Fallback.Models...) {
		if provider, model, _ := strings.Cut(id, ":"); provider == name {
			d.Model = cmp.Or(d.Model, model)
		}
	}
	wished, _ := c.providerOfModel(c.Model)
	d.IsDefault = wished == name
	if name == offlineName || name == ollamaName {
		d.Keyless, d.taken = true, true
		return d
	}
	p, ok := c.Providers[name]
	if !ok { // a vendor that is named by its models alone
		p, _, _ = s.finishProvider(name, Provider{}) // nothing can be wrong where nothing is set
		p.KeySource = s.finishKey(p.KeySource, name, nil)
	}
	d.Model = cmp.Or(d.Model, p.Model)
	d.source, d.KeyFrom = p.KeySource, p.origin()
	d.Keyless = p.Local || p.Kind == KindOllama
	maker := vendorOf(name)
	d.taken = maker.name != "" && (maker.altKey == "" || p.KeyEnv != maker.altKey)
	switch {
	case d.KeyFrom == FromEnvironment:
		d.APIKey = p.EnvKey
	case d.KeyFrom != "" && !d.Keyless:
		d.APIKey, d.keyErr = read(c, name)
	case !d.Keyless:
		d.keyErr = c.StoredProblem
	}
	return d
}
