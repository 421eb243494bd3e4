package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const providersSection = "providers."

// Kind is the protocol that an endpoint speaks.
type Kind string

const (
	KindOpenAI    Kind = "openai" // and everything compatible with it
	KindAnthropic Kind = "anthropic"
	KindGemini    Kind = "gemini"
	KindOllama    Kind = "ollama" // Ollama's own
)

// Provider is an endpoint of models.
type Provider struct {
	Kind Kind `name:"kind" enum:"openai,anthropic,gemini,ollama"`
	// with its path: https://host/v1 for OpenAI's kind, https://host for the others
	BaseURL string `name:"base_url" env:"BASE_URL" as:"url" login:"use key_env or key_command"`
	Model   string `name:"model" env:"MODEL"` // the default model
	KeySource
	// nothing sent there leaves the person's machines; loopback addresses are, unless set otherwise
	Local bool `name:"local"`
	// the window of its models, in tokens, instead of the known one; 0: not set
	Window int `name:"window" min:"1024" max:"10000000" none:"no limit"`
	// of providers with OpenAI's protocol: APIChat or APIResponses; "": Sibyl chooses
	API string `name:"api" enum:"chat,responses"`
	Tuning
}

// The APIs of an endpoint of OpenAI's kind, as Provider.API.
const (
	APIChat      = "chat"
	APIResponses = "responses"
)

// vendor is a provider whose name is built in, with a kind of the same name. Its variables begin with that name in
// capitals, as those that its own programs read.
type vendor struct {
	name    string
	baseURL string
	altKey  string // a second variable for the key, read where the first is not set; "" for none
}

func vendors() []vendor {
	return []vendor{
		{name: "openai", baseURL: "https://api.openai.com/v1"},
		{name: "anthropic", baseURL: "https://api.anthropic.com"},
		{name: "gemini", baseURL: "https://generativelanguage.googleapis.com", altKey: "GOOGLE_API_KEY"},
	}
}

// vendorOf returns the vendor of that name, or the zero vendor, which has no name.
func vendorOf(name string) vendor {
	for _, v := range vendors() {
		if v.name == name {
			return v
		}
	}
	return vendor{}
}

// variable returns the environment variable of a vendor's setting, such as OPENAI_BASE_URL; "" if there is none.
func (v vendor) variable(of string) string {
	if v.name == "" || of == "" {
		return ""
	}
	return strings.ToUpper(v.name) + "_" + of
}

// keyVariable returns the variable for the vendor's key.
func (v vendor) keyVariable(where places) string {
	own := v.variable("API_KEY")
	if where.get(own) == "" && where.get(v.altKey) != "" {
		return v.altKey
	}
	return own
}

// finishProviders adds the vendors that have a key, and fills in what providers leave open.
func (s source) finishProviders(c *Config, kept []string) error {
	for _, v := range vendors() {
		if _, named := c.Providers[v.name]; !named && (s.places.get(v.keyVariable(s.places)) != "" ||
			slices.Contains(kept, v.name)) {
			c.Providers[v.name] = Provider{}
		}
	}
	var problems []error
	for _, name := range sortedNames(c.Providers) {
		p, at, wrong := s.finishProvider(name, c.Providers[name])
		if wrong != "" {
			problems = append(problems, &Problem{Setting: providersSection + name, Where: s.line(at), text: s.at(at) +
				wrong})
		}
		p.KeySource = s.finishKey(p.KeySource, name, kept)
		c.Providers[name] = p
	}
	return errors.Join(problems...)
}

// finishProvider fills in what a provider leaves open, and returns the setting at fault and its problem.
func (s source) finishProvider(name string, p Provider) (finished Provider, at, wrong string) {
	at = providersSection + name
	named := vendorOf(name)
	if named.name != "" && p.Kind != "" && string(p.Kind) != name {
		return p, at + ".kind", fmt.Sprintf(
			" is %s, but a provider with this name has the kind %s: leave kind out, or choose another name",
			p.Kind, name)
	}
	p.Kind = cmp.Or(p.Kind, Kind(named.name), KindOpenAI)
	if p.KeepAlive != 0 && p.Kind != KindOllama {
		return p, at + ".keep_alive", " applies only to the kind ollama: leave it out"
	}
	if p.API != "" && p.Kind != KindOpenAI {
		return p, at + ".api", " applies only to the kind openai: leave it out"
	}
	maker := vendorOf(string(p.Kind))
	if p.BaseURL == "" && (named.name != "" || p.Kind != KindOpenAI) {
		p.BaseURL = maker.baseURL
	}
	if p.BaseURL == "" {
		return p, at, " has no base_url: add the address of the endpoint, such as https://host/v1"
	}
	if s.origins[at+".local"] == "" {
		p.Local = isLoopback(p.BaseURL)
	}
	if key := maker.keyVariable(s.places); maker.name != "" && (p.BaseURL == maker.baseURL || named.name != "" &&
		s.places.get(key) != "") {
		p.KeySource = p.orVariable(key)
	}
	s.finishHeaders(&p.Tuning)
	return p, at, ""
}
