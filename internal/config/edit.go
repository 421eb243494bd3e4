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

// edited is a file in which a setting has another value, or is taken out where value is nil, with the sections that are empty then. Only the
// lines of the setting are touched, so that comments, blank lines and the order stay.
func edited(content []byte, path string, value *yaml.Node) ([]byte, error) {
	var doc yaml.Node
	var want any
	if err := errors.Join(yaml.Unmarshal(content, &doc), yaml.Unmarshal(content, &want)); err != nil {
		return nil, err
	}
	names := strings.Split(path, ".")
	want, known, err := changed(want, names, value)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, fmt.Errorf("it has no setting or section %s", quote(path))
	}
	text := string(content)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	e := editor{lines: strings.SplitAfter(text, "\n"), step: 2}
	e.lines = e.lines[:len(e.lines)-1]
	top := &yaml.Node{Kind: yaml.MappingNode}
	if doc.Kind != 0 && !isNull(doc.Content[0]) {
		top = doc.Content[0]
	}
	for _, section := range top.Content {
		if len(section.Content) > 0 && section.Kind == yaml.MappingNode && section.Style&yaml.FlowStyle == 0 {
			e.step = section.Content[0].Column - 1
			break
		}
	}
	if value == nil {
		names = emptied(top, names)
	}
	e.edit(top, names, value, len(e.lines))
	var got any
	text = strings.Join(e.lines, "")
	if err := yaml.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
		return nil, errors.New("its syntax can't be changed safely: use an editor")
	}
	return []byte(text), nil
}

// changed is what a file means after an edit; nil for nothing. known says that the setting can stand there or, of one to take out, that it did.
func changed(section any, names []string, value *yaml.Node) (after any, known bool, err error) {
	if len(names) == 0 {
		if value == nil {
			return nil, true, nil
		}
		return after, true, value.Decode(&after)
	}
	all, ok := section.(map[string]any)
	if section == nil {
		all, ok = map[string]any{}, true
	}
	inner, has := all[names[0]]
	if !ok || value == nil && !has {
		return section, false, nil
	}
	if all[names[0]], known, err = changed(inner, names[1:], value); all[names[0]] == nil {
		delete(all, names[0])
	}
	if len(all) == 0 {
		return nil, known, err
	}
	return all, known, err
}

// editor changes the lines of a file.
type editor struct {
	lines []string
	step  int // of indentation
}

// edit changes a setting below a section, whose lines end before limit.
func (e *editor) edit(section *yaml.Node, names []string, value *yaml.Node, limit int) {
	k := at(section, names[0])
	if k < 0 {
		indent := 0
		if len(section.Content) > 0 {
			indent = section.Content[0].Column - 1
		}
		if indent > 0 { // what stands behind a section is about the next one
			limit = e.end(0, limit)
		}
		e.insert(limit, indent, entry(names, value))
		return
	}
	key, inner := section.Content[k], section.Content[k+1]
	if k+2 < len(section.Content) {
		limit = section.Content[k+2].Line - 1
	}
	start := key.Line - 1
	block := inner.Kind == yaml.MappingNode && inner.Style&yaml.FlowStyle == 0
	switch {
	case len(names) > 1 && block && len(inner.Content) > 0:
		e.edit(inner, names[1:], value, limit)
	case len(names) > 1 && isNull(inner) && inner.Value == "":
		e.insert(start+1, key.Column-1+e.step, entry(names[1:], value))
	case len(names) > 1 && len(inner.Content) > 0:
		setWithin(inner, names[1:], value)
		e.replace(start, e.end(start, limit), key, inner, []*yaml.Node{key, inner})
	case value == nil:
		e.lines = slices.Delete(e.lines, start, e.end(start, limit))
	default:
		e.replace(start, e.end(start, limit), key, inner, entry(names, value))
	}
}

// setWithin changes a setting in a section that is written in braces.
func setWithin(section *yaml.Node, names []string, value *yaml.Node) {
	switch k := at(section, names[0]); {
	case k < 0:
		section.Content = append(section.Content, entry(names, value)...)
	case len(names) > 1 && len(section.Content[k+1].Content) > 0:
		setWithin(section.Content[k+1], names[1:], value)
	case value == nil:
		section.Content = slices.Delete(section.Content, k, k+2)
	default:
		section.Content[k+1] = entry(names, value)[1]
	}
}

// emptied is what goes with a setting that is taken out: the first of the sections around it that hold nothing else, or itself.
func emptied(section *yaml.Node, names []string) []string {
	if len(names) == 1 {
		return names
	}
	inner := section.Content[at(section, names[0])+1]
	within := emptied(inner, names[1:])
	if len(within) == 1 && len(inner.Content) == 2 {
		return names[:1]
	}
	return append(names[:1:1], within...)
}

// entry is a name with its value, within sections for the names before it.
func entry(names []string, value *yaml.Node) []*yaml.Node {
	if len(names) > 1 {
		value = &yaml.Node{Kind: yaml.MappingNode, Content: entry(names[1:], value)}
	}
	return []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: names[0]}, value}
}

// end is behind the last line before limit that is neither blank nor a comment, and behind start.
func (e *editor) end(start, limit int) int {
	for limit > start && isCommentOrBlank(e.lines[limit-1]) {
		limit--
	}
	return limit
}

func isCommentOrBlank(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '#'
}

// insert writes an entry before a line.
func (e *editor) insert(line, indent int, entry []*yaml.Node) {
	e.lines = slices.Insert(e.lines, line, e.encoded(entry, indent)...)
}

// replace writes an entry in the place of another. Comments in that one stand above it, or behind it as they did.
func (e *editor) replace(start, end int, key, old *yaml.Node, fresh []*yaml.Node) {
	comment := strings.TrimSpace(key.LineComment + " " + old.LineComment)
	key.HeadComment, key.FootComment, key.LineComment, old.LineComment = "", "", "", ""
	text := e.encoded(fresh, key.Column-1)
	if comment != "" {
		text[0] = strings.TrimSuffix(text[0], "\n") + " " + comment + "\n"
	}
	within := slices.DeleteFunc(slices.Clone(e.lines[start+1:end]), func(line string) bool { return !strings.HasPrefix(strings.TrimSpace(line), "#") })
	e.lines = slices.Replace(e.lines, start, end, append(within, text...)...)
}

// encoded are the lines of an entry.
func (e *editor) encoded(entry []*yaml.Node, indent int) []string {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(e.step)
	if err := errors.Join(enc.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: entry}), enc.Close()); err != nil {
		return nil // which is no text of that meaning
	}
	lines := strings.SplitAfter(out.String(), "\n")
	lines = lines[:len(lines)-1]
	for i, line := range lines {
		lines[i] = strings.Repeat(" ", indent) + line
	}
	return lines
}

// at is where a name stands in a section, -1 for nowhere.
func at(section *yaml.Node, name string) int {
	for i := 0; i+1 < len(section.Content); i += 2 {
		if section.Content[i].Value == name {
			return i
		}
	}
	return -1
}
