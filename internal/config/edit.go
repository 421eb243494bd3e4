package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// editSetting returns the file with the setting changed, or removed with emptied sections if value is nil. It edits
// only the lines of the setting: comments, blank lines and order remain.
func editSetting(content []byte, path string, value *yaml.Node) ([]byte, error) {
	old, err := parseTree(content)
	if err != nil {
		return nil, err
	}
	fresh, _ := parseTree(content) // it was read just now
	names := strings.Split(path, ".")
	if !putValue(fresh, names, value) {
		return nil, fmt.Errorf("it has no setting or section %s", quote(path))
	}
	e := editor{lines: strings.SplitAfter(string(content), "\n"), step: 2}
	if last := len(e.lines) - 1; e.lines[last] == "" {
		e.lines = e.lines[:last]
	} else {
		e.lines[last] += "\n"
	}
	if at := slices.IndexFunc(old.Content, isBlock); at >= 0 {
		e.step = old.Content[at].Content[0].Column - 1
	}
	var want, got any
	err = fresh.Decode(&want)
	if err == nil {
		e.edit(old, fresh, names, len(e.lines))
	}
	text := []byte(strings.Join(e.lines, ""))
	now, failed := parseTree(text)
	if err != nil || failed != nil || now.Decode(&got) != nil || !reflect.DeepEqual(got, want) {
		return nil, errors.New("its syntax can't be changed safely: use an editor")
	}
	return text, nil
}

// parseTree parses a file; an empty one gives an empty section.
func parseTree(content []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return nil, err
	}
	if doc.Kind == 0 || isNull(doc.Content[0]) {
		return &yaml.Node{Kind: yaml.MappingNode}, nil
	}
	return doc.Content[0], nil
}

// putValue sets a setting below a section, or removes it, with emptied sections, if value is nil. It reports whether
// the setting could be placed or was removed.
func putValue(section *yaml.Node, names []string, value *yaml.Node) bool {
	k := indexOfKey(section, names[0])
	if section.Kind != yaml.MappingNode || k < 0 && value == nil {
		return false
	}
	if k < 0 {
		k = len(section.Content)
		section.Content = append(section.Content, textOf(names[0]), &yaml.Node{Kind: yaml.MappingNode})
	}
	inner := value
	if len(names) > 1 {
		inner = section.Content[k+1]
		if isNull(inner) || len(inner.Content) == 0 && inner.Kind == yaml.MappingNode {
			inner = &yaml.Node{Kind: yaml.MappingNode}
		}
		if !putValue(inner, names[1:], value) {
			return false
		}
	}
	if inner == nil || inner.Kind == yaml.MappingNode && len(inner.Content) == 0 {
		section.Content = slices.Delete(section.Content, k, k+2)
	} else {
		section.Content[k+1] = inner
	}
	return true
}

// indexOfKey returns the index of a name in a section, or -1.
func indexOfKey(section *yaml.Node, name string) int {
	for i := 0; i+1 < len(section.Content); i += 2 {
		if section.Content[i].Value == name {
			return i
		}
	}
	return -1
}

// isBlock reports whether a node is a section with its settings on separate lines.
func isBlock(node *yaml.Node) bool {
	return node.Kind == yaml.MappingNode && node.Style&yaml.FlowStyle == 0 && len(node.Content) > 0
}

// editor changes the lines of a file.
type editor struct {
	lines []string
	step  int // of indentation
}

// edit changes the lines of an old section, which ends before limit, to match the fresh one, which differs only in the
// named setting.
func (e *editor) edit(old, fresh *yaml.Node, names []string, limit int) {
	k, now := indexOfKey(old, names[0]), indexOfKey(fresh, names[0])
	if k < 0 {
		indent := 0
		if len(old.Content) > 0 {
			indent = old.Content[0].Column - 1
		}
		if indent > 0 { // what stands behind a section is about the next one
			limit = e.end(0, limit)
		}
		e.lines = slices.Insert(e.lines, limit, e.encoded(fresh.Content[now:now+2], indent)...)
		return
	}
	key, inner := old.Content[k], old.Content[k+1]
	if k+2 < len(old.Content) {
		limit = old.Content[k+2].Line - 1
	}
	start := key.Line - 1
	end := e.end(start, limit)
	switch {
	case now < 0:
		e.lines = slices.Delete(e.lines, start, end)
	case len(names) > 1 && isBlock(inner):
		e.edit(inner, fresh.Content[now+1], names[1:], limit)
	default:
		e.replace(start, end, key, inner, fresh.Content[now:now+2])
	}
}

// end returns the index after the last line before limit that is neither blank nor a comment, but at least start.
func (e *editor) end(start, limit int) int {
	for limit > start {
		line := strings.TrimSpace(e.lines[limit-1])
		if line != "" && line[0] != '#' {
			break
		}
		limit--
	}
	return limit
}

// replace writes an entry over an old one, whose comments remain above or behind it.
func (e *editor) replace(start, end int, key, old *yaml.Node, entry []*yaml.Node) {
	comment := strings.TrimSpace(key.LineComment + " " + old.LineComment)
	for _, node := range entry {
		node.HeadComment, node.LineComment, node.FootComment = "", "", ""
	}
	text := e.encoded(entry, key.Column-1)
	if comment != "" {
		text[0] = strings.TrimSuffix(text[0], "\n") + " " + comment + "\n"
	}
	within := slices.DeleteFunc(slices.Clone(e.lines[start+1:end]), func(line string) bool {
		return !strings.HasPrefix(strings.TrimSpace(line), "#")
	})
	e.lines = slices.Replace(e.lines, start, end, append(within, text...)...)
}

// encoded returns the lines of an entry.
func (e *editor) encoded(entry []*yaml.Node, indent int) []string {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(e.step)
	if err := errors.Join(enc.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: entry}), enc.Close()); err != nil {
		return []string{""} // which is no text of that meaning
	}
	lines := strings.SplitAfter(out.String(), "\n")
	lines = lines[:len(lines)-1]
	for i, line := range lines {
		lines[i] = strings.Repeat(" ", indent) + line
	}
	return lines
}
