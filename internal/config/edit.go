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

// edited is a file after an edit of its one document, with its comments, its order and, where that can be, its blank lines.
func edited(content []byte, name string, edit func(doc *yaml.Node) bool) ([]byte, error) {
	plain, want, err := editNodes(content, name, edit)
	if err != nil {
		return nil, err
	}
	means := func(text []byte) bool {
		var got any
		return yaml.Unmarshal(text, &got) == nil && reflect.DeepEqual(got, want)
	}
	if !means(plain) {
		return nil, errors.New("its syntax can't be changed safely: use an editor")
	}
	if bytes.Contains(content, []byte(blank)) {
		return plain, nil
	}
	if marked, _, err := editNodes(markBlanks(content), name, edit); err == nil {
		if marked = unmarkBlanks(marked); means(marked) {
			return marked, nil
		}
	}
	return plain, nil
}

// editNodes is edited without care for blank lines. It also returns what the file means then.
func editNodes(content []byte, name string, edit func(doc *yaml.Node) bool) (text []byte, means any, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return nil, nil, err
	}
	comments := ""
	if doc.Kind == 0 { // nothing but comments
		if comments = strings.TrimRight(string(content), "\n"); comments != "" {
			comments += "\n"
		}
		doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	toMapping(doc.Content[0])
	if !edit(&doc) {
		return nil, nil, fmt.Errorf("it has no setting or section %s", quote(name))
	}
	if err := doc.Decode(&means); err != nil {
		return nil, nil, err
	}
	if len(doc.Content[0].Content) == 0 { // an empty document is better than {}
		return []byte(comments + headOf(&doc)), nil, nil
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(indentOf(doc.Content[0]))
	if err := errors.Join(enc.Encode(&doc), enc.Close()); err != nil {
		return nil, nil, err
	}
	return append([]byte(comments), out.Bytes()...), means, nil
}

// headOf are the comments of a document that holds nothing else.
func headOf(doc *yaml.Node) string {
	var all []string
	for _, n := range []*yaml.Node{doc, doc.Content[0]} {
		for _, c := range []string{n.HeadComment, n.LineComment, n.FootComment} {
			if c != "" {
				all = append(all, c+"\n")
			}
		}
	}
	return strings.Join(all, "")
}

// indentOf is the indentation of the file's sections.
func indentOf(top *yaml.Node) int {
	for i := 1; i < len(top.Content); i += 2 {
		if v := top.Content[i]; v.Kind == yaml.MappingNode && v.Style&yaml.FlowStyle == 0 && len(v.Content) > 0 && v.Content[0].Column > 2 {
			return min(v.Content[0].Column-1, 8)
		}
	}
	return 2
}

// toMapping makes an empty section one that can hold settings.
func toMapping(n *yaml.Node) {
	if isNull(n) {
		n.Kind, n.Tag, n.Value, n.Style = yaml.MappingNode, "!!map", "", 0
	}
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

// put sets a value in a document. It says no where a section on the way is none.
func put(doc *yaml.Node, path string, value *yaml.Node) bool {
	section, names := doc.Content[0], strings.Split(path, ".")
	for i, name := range names {
		toMapping(section)
		if section.Kind != yaml.MappingNode {
			return false
		}
		if len(section.Content) == 0 {
			section.Style = 0
		}
		last := i == len(names)-1
		k := at(section, name)
		if k < 0 {
			k = len(section.Content)
			section.Content = append(section.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, &yaml.Node{Kind: yaml.MappingNode})
		}
		if empty := section.Content[k+1]; !last && isNull(empty) {
			section.Content[k].LineComment, empty.LineComment = joinComments(section.Content[k].LineComment, empty.LineComment), ""
		}
		if last {
			fresh, old := *value, section.Content[k+1]
			fresh.HeadComment, fresh.LineComment, fresh.FootComment = old.HeadComment, old.LineComment, old.FootComment
			key := section.Content[k]
			fresh.LineComment, key.LineComment = joinComments(key.LineComment, fresh.LineComment), "" // a list over several lines has it there
			for _, inside := range old.Content {                                                      // comments on what goes stand above what comes
				key.HeadComment = joinComments(key.HeadComment, commentsIn(inside))
			}
			section.Content[k+1] = &fresh
		}
		section = section.Content[k+1]
	}
	return true
}

// takeOut removes what is named, and the sections that are empty then. The comments above it go to what follows.
func takeOut(section *yaml.Node, names []string) bool {
	k := at(section, names[0])
	if section.Kind != yaml.MappingNode || k < 0 {
		return false
	}
	if len(names) > 1 {
		if !takeOut(section.Content[k+1], names[1:]) {
			return false
		}
		if len(section.Content[k+1].Content) > 0 {
			return true
		}
	}
	key := section.Content[k]
	section.Content = slices.Delete(section.Content, k, k+2)
	kept := joinComments(key.HeadComment, key.FootComment)
	switch {
	case kept == "":
	case k < len(section.Content):
		next := section.Content[k]
		next.HeadComment = joinComments(kept, next.HeadComment)
	case k >= 2:
		previous := section.Content[k-2]
		previous.FootComment = joinComments(previous.FootComment, kept)
	default:
		section.HeadComment = joinComments(section.HeadComment, kept)
	}
	return true
}

// commentsIn are all comments of a node and below it.
func commentsIn(n *yaml.Node) string {
	all := joinComments(joinComments(n.HeadComment, n.LineComment), n.FootComment)
	for _, inside := range n.Content {
		all = joinComments(all, commentsIn(inside))
	}
	return all
}

func joinComments(a, b string) string { return strings.Trim(a+"\n"+b, "\n") }

// blank stands for a blank line while a file is edited, since the library keeps comments alone.
const blank = "#⏎"

// markBlanks puts a comment in the place of each blank line, indented as what follows.
func markBlanks(content []byte) []byte {
	lines := strings.Split(string(content), "\n")
	indent := ""
	for i := len(lines) - 1; i >= 0; i-- {
		if text := strings.TrimLeft(lines[i], " "); strings.TrimSpace(text) != "" {
			indent = lines[i][:len(lines[i])-len(text)]
		} else if i < len(lines)-1 {
			lines[i] = indent + blank
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

func unmarkBlanks(content []byte) []byte {
	lines := strings.Split(string(content), "\n")
	var kept []string
	for i, line := range lines {
		switch was := i > 0 && strings.TrimSpace(lines[i-1]) == ""; {
		case strings.TrimSpace(line) == blank:
			kept = append(kept, "")
		case strings.TrimSpace(line) == "" && i < len(lines)-1 && !was: // the library's own, around comments
		default:
			kept = append(kept, line)
		}
	}
	return []byte(strings.Join(kept, "\n"))
}
