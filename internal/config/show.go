package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"sibyl/internal/redact"
)

// Line is one setting in force. Its Value has the file's form: a text, number, yes or no, list, or names and values;
// nil if nothing is set. It holds no secret.
type Line struct {
	Path  string `json:"path"` // sections and name with dots between
	Value any    `json:"value"`
	From  string `json:"from"` // file:line, the variable, or "default"
}

// Lines are the settings in force, grouped by section.
type Lines []Line

// Explain loads the settings like Load, and returns each one's value and origin.
func Explain(opts Options) (Lines, error) {
	cfg, src, err := load(opts)
	if err != nil {
		return nil, err
	}
	redactor := cfg.Redactor()
	whole := reflect.ValueOf(cfg)
	var lines Lines
	add := func(in reflect.Value, prefix string, settings []setting) {
		for _, one := range settings {
			path := prefix + one.path
			line := Line{Path: path, Value: one.fileValue(src, in), From: cmp.Or(src.origins[path], "default")}
			if text, ok := line.Value.(string); ok {
				line.Value = redactor.String(text)
			}
			lines = append(lines, line)
		}
	}
	for _, section := range sections() {
		if section.index == nil {
			add(whole, "", section.settings)
			continue
		}
		all := whole.FieldByIndex(section.index)
		for _, name := range slices.SortedFunc(slices.Values(all.MapKeys()), func(a, b reflect.Value) int {
			return cmp.Compare(a.String(), b.String())
		}) {
			add(all.MapIndex(name), section.prefix+name.String()+".", section.settings)
		}
	}
	return lines, nil
}

// fileValue returns a setting's value in the file's form; nil if it is unset.
func (s setting) fileValue(src source, in reflect.Value) any {
	held := in.FieldByIndex(s.index).Interface()
	if s.kind.show != nil && s.kind.of == reflect.TypeOf(held) || s.tag.Get("as") == "variable" {
		return s.kind.show(src, held)
	}
	return asFileValue(held)
}

// Of returns the setting of a name, or those of a section; an error if neither has it.
func (l Lines) Of(name string) (Lines, error) {
	own := slices.DeleteFunc(slices.Clone(l), func(line Line) bool {
		return line.Path != name && !strings.HasPrefix(line.Path, name+".")
	})
	if len(own) > 0 {
		return own, nil
	}
	known := knownNames()
	if pattern, _ := patternOf(name); known.isSection(pattern) || known.has(pattern) {
		return nil, fmt.Errorf("%s is not set", name)
	}
	return nil, errors.New(redact.New().String(known.unknownSetting(name)))
}

// YAML formats the settings as a configuration file, with their origins as comments.
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

// Text returns the value at a path as one word in the file's form; "" for nothing.
func (c Config) Text(path string) string {
	all := sections()[0].settings
	at := slices.IndexFunc(all, func(s setting) bool { return s.path == path })
	if at < 0 {
		return ""
	}
	value := all[at].fileValue(source{}, reflect.ValueOf(c))
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
