package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// MCP is what is set of the Model Context Protocol.
type MCP struct {
	Servers map[string]MCPServer // of others, by name
	Trusted string               // the folder that remembers their tools; "" where the home folder is unknown
}

// MCPServer is a server of others whose tools the Oracle may use. It has a Command or a URL.
type MCPServer struct {
	Command []string // a program and its arguments, run without a shell, that speaks on its standard streams
	Env     []string // names of environment variables that it is given, beside the usual ones
	Folder  string   // in which it runs; the home folder where nothing is set
	URL     string   // of streamable HTTP
	Header  string   // that takes the key as it is; "": Authorization, as a bearer
	KeySource
	Tools   []string      // names of the tools that may be used; nil: all
	Pin     string        // what its tools must be, as ‘sibyl mcp servers’ prints it; "": what they were when it was first used
	Timeout time.Duration // of a call, 1 s to 30 s
	Private bool          // it may be sent what was read in code, notes and files without asking

	Environ   map[string]Secret // the usual variables that are set, and those of Env
	Variables []string          // of Env that are not set
}

const mcpSection = "mcp.servers."

// mcpKey is before the name of a server, in the name of its key.
const mcpKey = "mcp."

// usualVariables are those that programs need to run at all, and hold no secret.
func usualVariables() []string {
	return []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
		"SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "COMSPEC"}
}

// mcpSettings lists what can be set of each server, under mcp.servers and its name.
func mcpSettings() []setting[MCPServer] {
	return []setting[MCPServer]{
		field("command", "", func(s *MCPServer) *[]string { return &s.Command }, value.program).taking(programExample).shown(func(s *MCPServer) any { return programOf(s.Command) }),
		field("env", "", func(s *MCPServer) *[]string { return &s.Env }, listOf("names of environment variables", value.variable)).taking("[GITHUB_TOKEN]").shown(func(s *MCPServer) any {
			return plain(slices.DeleteFunc(slices.Clone(s.Env), func(name string) bool { return slices.Contains(s.Variables, name) }))
		}),
		path("folder", "", func(s *MCPServer) *string { return &s.Folder }),
		field("url", "", func(s *MCPServer) *string { return &s.URL }, value.mcpURL),
		field("header", "", func(s *MCPServer) *string { return &s.Header }, value.headerName),
		keyEnv("key_env", func(s *MCPServer) *KeySource { return &s.KeySource }),
		keyCommand("key_command", func(s *MCPServer) *KeySource { return &s.KeySource }),
		field("tools", "", func(s *MCPServer) *[]string { return &s.Tools }, listOf("texts", value.line)).taking("[search_issues, get_issue]"),
		field("pin", "", func(s *MCPServer) *string { return &s.Pin }, value.pin),
		yesNo("private", "", func(s *MCPServer) *bool { return &s.Private }),
		field("timeout", "", func(s *MCPServer) *time.Duration { return &s.Timeout }, duration(time.Second, 30*time.Second)),
	}
}

const programExample = "[npx, -y, server-name]"

// program takes a command. Its errors do not repeat it.
func (v value) program(into *[]string) error {
	if err := v.command(into); err != nil {
		return errors.New("must be a list of a program and its arguments, such as " + programExample)
	}
	return nil
}

func (v value) mcpURL(into *string) error {
	u, err := v.address()
	if err != nil {
		return err
	}
	if u.User != nil {
		return errors.New("contains a user or password: use key_env or key_command")
	}
	*into = u.String()
	return nil
}

// headerName takes the name of a header.
func (v value) headerName(into *string) error {
	if err := v.line(into); err != nil || strings.Trim(strings.ToLower(*into), letters+digits+"-") != "" {
		return errors.New("must be the name of a header, such as X-Api-Key")
	}
	return nil
}

// pin takes a SHA-256.
func (v value) pin(into *string) error {
	err := v.line(into)
	hex, ok := strings.CutPrefix(*into, "sha256:")
	if err != nil || !ok || len(hex) != 64 || strings.Trim(hex, digits+"abcdef") != "" {
		return errors.New("must be sha256: and 64 digits, as ‘sibyl mcp servers’ prints it")
	}
	return nil
}

// finishMCP checks the servers, and reads the variables that they are given.
func (s source) finishMCP(c *Config, kept []string) error {
	if folder := s.places.configDir(); folder != "" {
		c.MCP.Trusted = filepath.Join(folder, "mcp")
	}
	var problems []error
	for name, one := range c.MCP.Servers {
		at := s.at(mcpSection + name)
		switch {
		case (len(one.Command) == 0) == (one.URL == ""):
			problems = append(problems, fmt.Errorf("%s needs either a command or a url", at))
		case one.URL == "" && (one.KeyEnv != "" || len(one.KeyCommand) > 0 || one.Header != ""):
			problems = append(problems, fmt.Errorf("%s: a key and a header need a url; pass variables to a command with env", at))
		case one.URL != "" && (one.Env != nil || one.Folder != ""):
			problems = append(problems, fmt.Errorf("%s: env and folder need a command; for a url, use key_env or key_command", at))
		}
		if one.Timeout == 0 {
			one.Timeout = 30 * time.Second
		}
		if one.Folder == "" && one.URL == "" {
			one.Folder = s.places.home
		}
		if one.URL == "" {
			one.Environ = map[string]Secret{}
			for _, variable := range slices.Concat(usualVariables(), one.Env) {
				if text, set := s.places.variables[variable]; set {
					one.Environ[variable] = NewSecret(text)
				} else if slices.Contains(one.Env, variable) {
					one.Variables = append(one.Variables, variable)
				}
			}
		}
		one.EnvKey = NewSecret(s.places.get(one.KeyEnv))
		one.Stored = slices.Contains(kept, mcpKey+name)
		c.MCP.Servers[name] = one
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}

// secrets are what the servers are given by the settings.
func (m MCP) secrets() (all []Secret) {
	for _, one := range m.Servers {
		all = append(all, one.EnvKey)
		for _, variable := range one.Env {
			all = append(all, one.Environ[variable])
		}
	}
	return all
}

// keyNames are the names of the keys of servers.
func (m MCP) keyNames() (names []string) {
	for name := range maps.Keys(m.Servers) {
		if m.Servers[name].URL != "" {
			names = append(names, mcpKey+name)
		}
	}
	return names
}

// MCPKeyName is the name of the key of a server, as Config.Key takes it.
func MCPKeyName(server string) string { return mcpKey + server }
