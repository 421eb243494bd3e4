// Package front reads the front matter of a Markdown file: names and values in YAML, between two lines of --- at its
// top.
package front

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxSize bounds front matter, in bytes.
const maxSize = 16 << 10

// Entry is one name with its value.
type Entry struct {
	Name   string
	Text   string  // of a single value; "" for none
	Fields []Entry // of names and values below the name; nil for a single value
	Line   int     // in the file, from 1
}

// Split separates the front matter of a text with plain line ends from the rest. Without any, the rest is the whole
// text. Errors name the line.
func Split(text string) (entries []Entry, rest string, err error) {
	first, after, _ := strings.Cut(text, "\n")
	if !isMark(first) {
		return nil, text, nil
	}
	size := 0
	for line := range strings.Lines(after) {
		if isMark(line) {
			entries, err = parse(after[:size])
			return entries, strings.TrimLeft(after[size+len(line):], "\n"), err
		}
		if size += len(line); size > maxSize {
			return nil, "", fmt.Errorf("line 1: the front matter has more than %d KB, or no --- behind it", maxSize>>10)
		}
	}
	return nil, "", errors.New("line 1: the front matter has no --- behind it")
}

func isMark(line string) bool { return strings.TrimRight(line, " \t\n") == "---" }

func parse(text string) ([]Entry, error) {
	var doc yaml.Node
	switch err := yaml.Unmarshal([]byte("\n"+text), &doc); { // so that lines are those of the file
	case err != nil:
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	case doc.Kind == 0:
		return nil, nil
	}
	return entriesOf(doc.Content[0], true)
}

func entriesOf(n *yaml.Node, deeper bool) (all []Entry, err error) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return []Entry{}, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: names and values are expected, as name: value", n.Line)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		e := Entry{Name: name.Value, Line: name.Line}
		switch {
		case seen[e.Name]:
			return nil, fmt.Errorf("line %d: %s stands there twice", e.Line, e.Name)
		case value.Kind == yaml.MappingNode && deeper:
			if e.Fields, err = entriesOf(value, false); err != nil {
				return nil, err
			}
		case value.Kind != yaml.ScalarNode:
			return nil, fmt.Errorf("line %d: %s takes one value", e.Line, e.Name)
		case value.ShortTag() != "!!null":
			e.Text = strings.TrimSpace(value.Value)
		}
		seen[e.Name] = true
		all = append(all, e)
	}
	return all, nil
}
