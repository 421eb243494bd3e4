package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/v2"

	"sibyl/internal/redact"
)

// setting is one thing that can be set, in a T: the whole Config or one Provider.
type setting[T any] struct {
	path     string // in the file, sections and name with dots between
	variable string // in the environment; "" for none
	list     bool   // it takes a list; all others take one value
	apply    func(into *T, v value) error
}

// value is what somebody wrote for a setting.
type value struct {
	raw    any    // as YAML has it; always a string from the environment
	base   string // the folder that relative paths start from
	places places
	public bool // it stands in the file, where no secret belongs
}

// settings lists all that can be set outside of providers. It is the only place that knows their names.
func settings() []setting[Config] {
	return []setting[Config]{
		{path: "model", variable: "SIBYL_MODEL", apply: func(c *Config, v value) error { return v.model(&c.Model) }},
		{path: "data", variable: "SIBYL_DATA", apply: func(c *Config, v value) error { return v.folder(&c.DataDir) }},
		{path: "vault", variable: "SIBYL_VAULT", apply: func(c *Config, v value) error { return v.folder(&c.Vault) }},
		{path: "trees", variable: "SIBYL_TREES", apply: func(c *Config, v value) error { return v.folder(&c.Trees) }},
		{path: "prompts", variable: "SIBYL_PROMPTS", apply: func(c *Config, v value) error { return v.folder(&c.Prompts) }},
		{path: "max_turns", variable: "SIBYL_MAX_TURNS", apply: func(c *Config, v value) error { return v.number(&c.MaxTurns, 1, 200) }},
		{path: "web.searxng", variable: "SIBYL_SEARXNG_URL", apply: func(c *Config, v value) error { return v.searxng(&c.Web) }},
		{path: "ollama.host", variable: "OLLAMA_HOST", apply: func(c *Config, v value) error { return v.ollama(&c.Ollama) }},
		{path: "timeouts.cloud", apply: func(c *Config, v value) error {
			return v.duration(&c.Timeouts.Cloud, minTimeout, maxCloudTimeout)
		}},
		{path: "timeouts.local", apply: func(c *Config, v value) error {
			return v.duration(&c.Timeouts.Local, minTimeout, maxLocalTimeout)
		}},
		{path: "timeouts.web", apply: func(c *Config, v value) error {
			return v.duration(&c.Timeouts.Web, time.Second, 2*time.Minute)
		}},
	}
}

// providerSettings lists what can be set of each provider, under providers and its name. The variables are those that
// programs for OpenAI's interface share, and set the provider called openai. The order matters: base_url tells what
// local is unless local says otherwise, as it must for a program on this machine that passes everything on.
func providerSettings() []setting[Provider] {
	return []setting[Provider]{
		{path: "base_url", variable: "OPENAI_BASE_URL", apply: func(p *Provider, v value) error { return v.endpoint(p) }},
		{path: "model", variable: "OPENAI_MODEL", apply: func(p *Provider, v value) error { return v.line(&p.Model) }},
		{path: "key_env", apply: func(p *Provider, v value) error { return v.variable(&p.KeyEnv) }},
		{path: "key_command", list: true, apply: func(p *Provider, v value) error { return v.command(&p.KeyCommand) }},
		{path: "timeout", apply: func(p *Provider, v value) error { return v.duration(&p.Timeout, minTimeout, maxLocalTimeout) }},
		{path: "local", apply: func(p *Provider, v value) error { return v.yesNo(&p.Local) }},
	}
}

// source is what the file and the environment say together.
type source struct {
	values *koanf.Koanf
	file   string
	lines  map[string]int // of the settings in the file
	places places
}

func (s source) apply(c *Config) error {
	var problems []error
	for _, set := range settings() {
		problems = append(problems, applyOne(s, set, set.path, c))
	}
	for _, name := range s.values.MapKeys("providers") {
		var p Provider
		for _, set := range providerSettings() {
			if name != "openai" {
				set.variable = ""
			}
			problems = append(problems, applyOne(s, set, "providers."+name+"."+set.path, &p))
		}
		c.Providers[name] = p
	}
	return errors.Join(problems...)
}

func applyOne[T any](s source, set setting[T], path string, into *T) error {
	raw := s.values.Get(path)
	if raw == nil {
		return nil
	}
	v := value{raw: raw, places: s.places}
	from := set.variable
	if set.variable == "" || s.places.get(set.variable) == "" {
		from = fmt.Sprintf("%s:%d: %s", s.file, s.lines[path], path)
		v.base, v.public = filepath.Dir(s.file), true
	}
	if err := set.apply(into, v); err != nil {
		return fmt.Errorf("%s %w", from, err)
	}
	return nil
}

// line takes one line of text.
func (v value) line(into *string) error {
	text, ok := v.raw.(string)
	if !ok {
		return fmt.Errorf("must be a text; put %v in quotes if it is one", v.raw)
	}
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text, "\n\r\x00") {
		return errors.New("must be one line of text")
	}
	*into = text
	return nil
}

func (v value) folder(into *string) error {
	var path string
	if err := v.line(&path); err != nil {
		return err
	}
	path, err := v.places.folder(path, v.base)
	*into = path
	return err
}

func (v value) model(into *string) error {
	if err := v.line(into); err != nil {
		return err
	}
	provider, name, named := strings.Cut(*into, ":")
	if !isProviderName(provider) || named && name == "" || strings.ContainsAny(*into, " \t") {
		return fmt.Errorf("is %s; it must be provider:model, such as ollama:llama3.1:8b, or a provider alone", quote(*into))
	}
	return nil
}

func (v value) number(into *int, low, high int) error {
	n, ok := v.raw.(int)
	if text, isText := v.raw.(string); isText {
		var err error
		n, err = strconv.Atoi(strings.TrimSpace(text))
		ok = err == nil
	}
	if !ok || n < low || n > high {
		return fmt.Errorf("is %s; it must be a whole number from %d to %d", quote(fmt.Sprint(v.raw)), low, high)
	}
	*into = n
	return nil
}

func (v value) duration(into *time.Duration, low, high time.Duration) error {
	d, err := time.ParseDuration(strings.TrimSpace(fmt.Sprint(v.raw)))
	if err != nil || d < low || d > high {
		return fmt.Errorf("is %s; it must be a time with its unit from %s to %s, such as 90s", quote(fmt.Sprint(v.raw)), low, high)
	}
	*into = d
	return nil
}

func (v value) yesNo(into *bool) error {
	yes, ok := v.raw.(bool)
	if !ok {
		return fmt.Errorf("is %s; it must be true or false", quote(fmt.Sprint(v.raw)))
	}
	*into = yes
	return nil
}

// variable takes the name of an environment variable. Its errors do not repeat it: it may be the key itself, put in
// the wrong place.
func (v value) variable(into *string) error {
	if err := v.line(into); err != nil {
		return errors.New("must be the name of an environment variable")
	}
	if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(*into) || redact.New().String(*into) != *into {
		return errors.New("must be the name of an environment variable, such as OPENAI_API_KEY, and not a key itself")
	}
	return nil
}

// command takes a program and its arguments. Its errors do not repeat them.
func (v value) command(into *[]string) error {
	const form = "must be a list of a program and its arguments, such as [pass, show, openai]"
	list, ok := v.raw.([]any)
	if !ok || len(list) == 0 {
		return errors.New(form)
	}
	for _, item := range list {
		word, ok := item.(string)
		if !ok || strings.ContainsRune(word, 0) {
			return errors.New(form + ", each of them a text")
		}
		*into = append(*into, word)
	}
	if (*into)[0] == "" {
		return errors.New(form)
	}
	return nil
}

// quote shows a wrong value, shortened, and not if it looks like a key.
func quote(text string) string { return fmt.Sprintf("%.60q", redact.New().String(text)) }

func isProviderName(name string) bool {
	return regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`).MatchString(name)
}
