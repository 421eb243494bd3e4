package config

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Line is one setting in force. Its Value is as the file takes it: a text, number, yes or no, list, or names and values; nil where nothing is
// set. No secret is in it.
type Line struct {
	Path  string `json:"path"` // sections and name with dots between
	Value any    `json:"value"`
	From  string `json:"from"` // file:line, the variable, or "default"
}

// Lines are settings in force, those of a section together.
type Lines []Line

// Explain loads the settings as Load does, and says of each what it is and where it comes from.
func Explain(opts Options) (Config, Lines, error) {
	cfg, src, err := load(opts)
	if err != nil {
		return Config{}, nil, err
	}
	redactor := cfg.Redactor()
	var lines Lines
	add := func(path string, value any) {
		line := Line{Path: path, Value: value, From: src.origins[path]}
		if line.From == "" {
			line.From = "default"
		}
		if text, ok := value.(string); ok {
			line.Value = redactor.String(text)
		}
		lines = append(lines, line)
	}
	for _, s := range settings() {
		add(s.path, s.show(&cfg))
	}
	for _, name := range sortedNames(cfg.Providers) {
		p := cfg.Providers[name]
		for _, s := range providerSettings() {
			add("providers."+name+"."+s.path, s.show(&p))
		}
	}
	for _, name := range sortedNames(cfg.MCP.Servers) {
		one := cfg.MCP.Servers[name]
		for _, s := range mcpSettings() {
			add("mcp.servers."+name+"."+s.path, s.show(&one))
		}
	}
	return cfg, lines, nil
}

// plain turns a field into what the file would hold; nil for one that is not set.
func plain(field any) any {
	switch f := field.(type) {
	case string:
		if f == "" {
			return nil
		}
	case []string:
		if len(f) == 0 {
			return nil
		}
	case map[string]string:
		if len(f) == 0 {
			return nil
		}
	case map[string]any:
		if len(f) == 0 {
			return nil
		}
	case time.Duration:
		if f == 0 {
			return nil
		}
		return f.String()
	case Kind:
		return string(f)
	}
	return field
}

// YAML writes the settings as a configuration file, each with where it comes from as its comment.
func (l Lines) YAML() ([]byte, error) {
	var out bytes.Buffer
	open := "" // the section at hand, with a dot behind each name
	for _, line := range l {
		parts := strings.Split(line.Path, ".")
		section := ""
		for depth, name := range parts[:len(parts)-1] {
			if section += name + "."; !strings.HasPrefix(open, section) {
				fmt.Fprintf(&out, "%*s%s:\n", 2*depth, "", name)
			}
		}
		open = section
		var value yaml.Node
		if err := value.Encode(line.Value); err != nil {
			return nil, fmt.Errorf("writing %s: %w", line.Path, err)
		}
		if value.Kind != yaml.ScalarNode {
			value.Style = yaml.FlowStyle
		}
		value.LineComment = line.From
		text, err := yaml.Marshal(map[string]*yaml.Node{parts[len(parts)-1]: &value})
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", line.Path, err)
		}
		fmt.Fprintf(&out, "%*s%s", 2*(len(parts)-1), "", text)
	}
	return out.Bytes(), nil
}

// Text is what is set at a path, as the file would have it in one word; "" for nothing.
func (c Config) Text(path string) string {
	for _, s := range settings() {
		if s.path != path {
			continue
		}
		if value := s.show(&c); value != nil {
			return fmt.Sprint(value)
		}
	}
	return ""
}
