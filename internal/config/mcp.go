package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// MCP has the settings for the Model Context Protocol.
type MCP struct {
	Servers map[string]MCPServer `name:"servers"` // by name
	Trusted string               // the folder that remembers their tools; "" if the home folder is unknown
}

// MCPServer is an MCP server whose tools the Oracle may use. It has either a Command or a URL.
type MCPServer struct {
	// a program and its arguments, run without a shell, that speaks on its standard streams
	Command []string `name:"command" as:"command" like:"[npx, -y, server-name]"`
	// names of environment variables that the command gets, besides the usual ones
	Env []string `name:"env" as:"variable" like:"[GITHUB_TOKEN]"`
	// the folder in which the command runs; by default the home folder
	Folder string `name:"folder" as:"path"`
	URL    string `name:"url" as:"url" login:"use key_env or key_command"` // of streamable HTTP
	// the header that contains the bare key; "": Authorization, with Bearer
	Header string `name:"header" match:"[A-Za-z0-9-]+" must:"the name of a header, such as X-Api-Key"`
	KeySource
	Tools []string `name:"tools" like:"[search_issues, get_issue]"` // names of the tools that may be used; nil: all
	// the hash that its tools must have, as ‘sibyl mcp servers’ prints it; "": that of its first use
	Pin string `name:"pin" match:"sha256:[0-9a-f]{64}" must:"sha256: and 64 digits, as ‘sibyl mcp servers’ prints it"`
	// it may be sent content of code, notes and files without confirmation
	Private bool          `name:"private"`
	Timeout time.Duration `name:"timeout" min:"1s" max:"30s"` // of a call; 30s by default

	Environ   map[string]Secret // the command's variables: the usual ones and those of Env, if set
	Variables []string          // those of Env that are not set
}

const mcpSection = "mcp.servers."

// mcpKey begins the names of keys of MCP servers.
const mcpKey = "mcp."

// usualVariables lists the variables that every command gets: programs need them, and they hold no secrets.
func usualVariables() []string {
	return []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
		"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
		"SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "COMSPEC"}
}

// finishMCP sets c.MCP.Trusted, and each server's defaults, variables and key source. It returns all errors it finds.
func (s source) finishMCP(c *Config, kept []string) error {
	if folder := s.places.configDir(); folder != "" {
		c.MCP.Trusted = filepath.Join(folder, "mcp")
	}
	var problems []error
	for _, name := range sortedNames(c.MCP.Servers) {
		one := c.MCP.Servers[name]
		at := s.at(mcpSection + name)
		switch {
		case (len(one.Command) == 0) == (one.URL == ""):
			problems = append(problems, fmt.Errorf("%s needs either a command or a url", at))
		case one.URL == "" && (one.KeyEnv != "" || len(one.KeyCommand) > 0 || one.Header != ""):
			problems = append(problems,
				fmt.Errorf("%s: a key and a header need a url; pass variables to a command with env", at))
		case one.URL != "" && (one.Env != nil || one.Folder != ""):
			problems = append(problems,
				fmt.Errorf("%s: env and folder need a command; for a url, use key_env or key_command", at))
		}
		one.Timeout = cmp.Or(one.Timeout, 30*time.Second)
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
		one.KeySource = s.finishKey(one.KeySource, mcpKey+name, kept)
		if one.Header != "" {
			one.EnvKey = NewSecret(WithoutQuotes(s.places.get(one.KeyEnv)))
		}
		c.MCP.Servers[name] = one
	}
	return errors.Join(problems...)
}

// MCPKeyName returns the name of a server's key, for Config.Key.
func MCPKeyName(server string) string { return mcpKey + server }
