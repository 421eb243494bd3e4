package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// MCP is what is set of the Model Context Protocol.
type MCP struct {
	Servers map[string]MCPServer `name:"servers"` // of others, by name
	Trusted string               // the folder that remembers their tools; "" where the home folder is unknown
}

// MCPServer is a server of others whose tools the Oracle may use. It has a Command or a URL.
type MCPServer struct {
	// a program and its arguments, run without a shell, that speaks on its standard streams
	Command []string `name:"command" as:"command" like:"[npx, -y, server-name]"`
	// names of environment variables that it is given, besides the usual ones
	Env []string `name:"env" as:"variable" like:"[GITHUB_TOKEN]"`
	// in which it runs; the home folder where nothing is set
	Folder string `name:"folder" as:"path"`
	URL    string `name:"url" as:"url" login:"use key_env or key_command"` // of streamable HTTP
	// that takes the key as it is; "": Authorization, as a bearer
	Header string `name:"header" match:"[A-Za-z0-9-]+" must:"the name of a header, such as X-Api-Key"`
	KeySource
	Tools []string `name:"tools" like:"[search_issues, get_issue]"` // names of the tools that may be used; nil: all
	// what its tools must be, as ‘sibyl mcp servers’ prints it; "": what they were when it was first used
	Pin string `name:"pin" match:"sha256:[0-9a-f]{64}" must:"sha256: and 64 digits, as ‘sibyl mcp servers’ prints it"`
	// it may be sent what was read in code, notes and files without asking
	Private bool          `name:"private"`
	Timeout time.Duration `name:"timeout" min:"1s" max:"30s"` // of a call

	Environ   map[string]Secret // the usual variables that are set, and those of Env
	Variables []string          // of Env that are not set
}

const mcpSection = "mcp.servers."

// mcpKey is before the name of a server, in the name of its key.
const mcpKey = "mcp."

// usualVariables are those that programs need to run at all, and hold no secret.
func usualVariables() []string {
	return []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
		"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
		"SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "COMSPEC"}
}

// finishMCP checks the servers, and reads the variables that they are given.
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
		c.MCP.Servers[name] = one
	}
	return errors.Join(problems...)
}

// MCPKeyName is the name of the key of a server, as Config.Key takes it.
func MCPKeyName(server string) string { return mcpKey + server }
