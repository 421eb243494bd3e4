package config

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// KeySource says where the key of a provider, search engine or MCP server comes from: the environment variable if it is
// set, else the command, else the key store.
type KeySource struct {
	KeyEnv string `name:"key_env" as:"variable"` // the environment variable that holds the key
	// a program and its arguments, run without a shell, that prints the key
	KeyCommand []string `name:"key_command" as:"command" like:"[pass, show, openai]"`
	EnvKey     Secret   // the value of KeyEnv when the settings were loaded
	Stored     bool     // the key store has a key under the name of the provider, engine or server
}

// Where a key comes from, as KeyOrigin returns it.
const (
	FromEnvironment = "environment"
	FromCommand     = "command"
	FromStore       = "store"
)

// KeyStore returns keys that the user has stored.
type KeyStore interface {
	Key(ctx context.Context, name string) (Secret, error)
}

// orVariable returns k with KeyEnv set to name, if k has neither a variable nor a command.
func (k KeySource) orVariable(name string) KeySource {
	if k.KeyEnv == "" && len(k.KeyCommand) == 0 {
		k.KeyEnv = name
	}
	return k
}

func (k KeySource) isPresent() bool { return k.origin() != "" }

func (k KeySource) origin() string {
	switch {
	case k.EnvKey != Secret{}:
		return FromEnvironment
	case len(k.KeyCommand) > 0:
		return FromCommand
	case k.Stored:
		return FromStore
	}
	return ""
}

// whatIsMissing says how to provide the key. It repeats KeyEnv only if it is a usual variable, since another may be a
// key in the wrong place.
func (k KeySource) whatIsMissing(name string) string {
	variable := "the environment variable named by key_env"
	if isUsualVariable(k.KeyEnv) {
		variable = k.KeyEnv
	}
	return fmt.Sprintf("set %s, or store a key with ‘sibyl config set-key %s’", variable, name)
}

func isUsualVariable(name string) bool {
	usual := []string{braveKeyEnv, tavilyKeyEnv}
	for _, v := range vendors() {
		usual = append(usual, v.variable("API_KEY"), v.altKey)
	}
	return name != "" && slices.Contains(usual, name)
}

// Key returns the key of a provider, search engine or MCP server (see MCPKeyName); an empty one if it needs none. Each
// call runs the command, or reads store. Errors contain no output of the command.
func (c Config) Key(ctx context.Context, name string, store KeyStore) (Secret, error) {
	k, of := c.keySource(name), name
	if p, ok := c.Providers[name]; ok {
		of = fmt.Sprintf("%s (%s)", name, p.BaseURL)
	}
	key, err := Secret{}, error(nil)
	switch k.origin() {
	case FromEnvironment:
		key = k.EnvKey
	case FromCommand:
		key, err = runKeyCommand(ctx, k.KeyCommand, keyCommandTimeout)
	case FromStore:
		key, err = store.Key(ctx, name)
	}
	if err != nil {
		return Secret{}, err
	}
	if key != (Secret{}) {
		return c.checkedKey(name, of, key)
	}
	switch {
	case k.KeyEnv == "":
		return Secret{}, nil
	case c.StoredProblem != nil:
		return Secret{}, fmt.Errorf("there is no key for %s, and the stored keys can't be read: %w",
			of, c.StoredProblem)
	}
	return Secret{}, fmt.Errorf("there is no key for %s: %s", of, k.whatIsMissing(name))
}

// checkedKey returns a key as it is to be sent. What an MCP server gets in a header of its own may have a scheme before
// the key.
func (c Config) checkedKey(name, of string, key Secret) (Secret, error) {
	server, is := strings.CutPrefix(name, mcpKey)
	if is && c.MCP.Servers[server].Header != "" {
		return NewSecret(WithoutQuotes(key.Reveal())), nil
	}
	key = NewKey(key.Reveal())
	if wrong := wrongKey(key.Reveal()); wrong != "" {
		return Secret{}, fmt.Errorf("the key for %s %s: give only the key", of, wrong)
	}
	return key, nil
}

// KeyOrigin returns where the key of a name comes from, "" if there is none, and by which variable or program ("" for
// the key store).
func (c Config) KeyOrigin(name string) (from, by string) {
	k := c.keySource(name)
	switch from = k.origin(); from {
	case FromEnvironment:
		by = k.KeyEnv
	case FromCommand:
		by = filepath.Base(k.KeyCommand[0])
	}
	return from, by
}

func (c Config) keySource(name string) KeySource {
	if p, ok := c.Providers[name]; ok {
		return p.KeySource
	}
	if server, ok := strings.CutPrefix(name, mcpKey); ok {
		return c.MCP.Servers[server].KeySource
	}
	return c.Web.keyOf(name)
}

// KeyNames lists all names that a key can have, sorted: providers, vendors, search engines, and MCP servers with a URL.
func (c Config) KeyNames() []string {
	names := append(sortedNames(c.Providers), Brave, Tavily)
	for name, one := range c.MCP.Servers {
		if one.URL != "" {
			names = append(names, mcpKey+name)
		}
	}
	for _, v := range vendors() {
		names = append(names, v.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// CheckName returns an error if name is not in known, and suggests the nearest. The error does not repeat the name,
// which may be a key in the wrong place.
func CheckName(name string, known []string) error {
	if slices.Contains(known, name) {
		return nil
	}
	return fmt.Errorf("there is no provider or search engine with this name%s", DidYouMean(strings.ToLower(name),
		known))
}

// Key stores, as in KeyPlaces.Use.
const (
	KeysAuto    = "auto"    // the keyring if it is available, else the file
	KeysKeyring = "keyring" // of the operating system
	KeysFile    = "file"    // encrypted
)

// KeyPlaces says where keys are stored. Its paths do not depend on the configuration file or data folder in use. They
// are "" if the home folder is unknown.
type KeyPlaces struct {
	// KeysAuto, KeysKeyring or KeysFile
	Use           string `name:"keys" env:"SIBYL_KEYS" enum:"auto,keyring,file" default:"auto"`
	File          string // the encrypted file
	Identity      string // the age identity that opens it
	IdentityNamed bool   // SIBYL_AGE_IDENTITY names the identity, which must exist
	Folder        string // of this machine: has the names of the keys in the keyring, and a lock
}

// finishKey sets EnvKey and Stored. kept lists the names in the key store.
func (s source) finishKey(k KeySource, name string, kept []string) KeySource {
	k.EnvKey = NewKey(s.places.get(k.KeyEnv))
	k.Stored = slices.Contains(kept, name)
	return k
}

// finishKeys sets c.Keys, the key sources of the search engines, and the engine if none is set. It returns the names in
// the key store; if that can't be read, it sets c.StoredProblem instead of failing.
func (s source) finishKeys(c *Config, stored func(KeyPlaces) ([]string, error)) (kept []string, err error) {
	if folder := s.places.configDir(); folder != "" {
		c.Keys.File = filepath.Join(folder, "keys.age")
	}
	if folder, err := s.places.dataDir(); err == nil {
		c.Keys.Folder, c.Keys.Identity = folder, filepath.Join(folder, "keys-identity.txt")
	}
	if named := s.places.get("SIBYL_AGE_IDENTITY"); named != "" {
		if c.Keys.Identity, err = s.places.absolute(named, ""); err != nil {
			return nil, fmt.Errorf("SIBYL_AGE_IDENTITY %w", err)
		}
		c.Keys.IdentityNamed = true
	}
	if stored != nil {
		kept, c.StoredProblem = stored(c.Keys)
	}
	c.Web.Brave = s.finishKey(c.Web.Brave.orVariable(braveKeyEnv), Brave, kept)
	c.Web.Tavily = s.finishKey(c.Web.Tavily.orVariable(tavilyKeyEnv), Tavily, kept)
	if c.Web.Engine == "" {
		c.Web.Engine = c.Web.engineSetUp()
	}
	return kept, nil
}
