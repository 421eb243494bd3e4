package config

import "strings"

// Hint is what may be typed for a setting.
type Hint struct {
	Name    string   // sections and name with dots between
	Choices []string // all that it may be, where that is a few words
	Model   bool     // it takes provider:model
	Path    bool     // it takes a file or folder
	List    bool     // it takes several values
}

// Hints lists what may be typed for each setting, those of providers and MCP servers for each name that is given.
func Hints(providers, servers []string) []Hint {
	all := hintsOf("", settings())
	for _, name := range providers {
		all = append(all, hintsOf("providers."+name+".", providerSettings())...)
	}
	for _, name := range servers {
		all = append(all, hintsOf("mcp.servers."+name+".", mcpSettings())...)
	}
	return all
}

func hintsOf[T any](prefix string, settings []setting[T]) (all []Hint) {
	for _, s := range settings {
		all = append(all, Hint{Name: prefix + s.path, Choices: s.choices, Model: s.takes == takesModel, Path: s.takes == takesPath, List: strings.HasPrefix(s.list, "[")})
	}
	return all
}
