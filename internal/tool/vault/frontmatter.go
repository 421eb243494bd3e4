package vault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"sibyl/internal/text"
)

const (
	maxFront  = 64 << 10 // bytes
	maxFields = 2000     // YAML values, with those of aliases: stops an alias bomb
)

// frontMatter is the YAML block between two lines of --- at the top of a note.
type frontMatter struct {
	end     int            // the closing line's number; 0 where there is no block
	fields  map[string]any // strings as written, []any and map[string]any
	title   string
	date    string // as it is written
	at      time.Time
	tags    []string // no leading #
	aliases []string
	warning string // what is wrong with the block
}

func parseFront(lines []string) frontMatter {
	if len(lines) == 0 || strings.TrimRight(lines[0], " \t") != "---" {
		return frontMatter{}
	}
	size := 0
	for i, line := range lines[1:] {
		if mark := strings.TrimRight(line, " \t"); mark == "---" || mark == "..." {
			front := decodeFront(strings.Join(lines[1:i+1], "\n"))
			front.end = i + 2
			return front
		}
		if size += len(line) + 1; size > maxFront {
			return frontMatter{warning: fmt.Sprintf("the front matter is longer than %d KiB, or is not closed by "+
				"---: it is taken for text", maxFront>>10)}
		}
	}
	return frontMatter{warning: "the front matter is not closed by ---: it is taken for text"}
}

func decodeFront(block string) frontMatter {
	var front frontMatter
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(block), &doc); err != nil {
		front.warning = "the front matter is not valid YAML and is ignored: " + text.Brief(err.Error(), 200)
		return front
	}
	if doc.Kind == 0 || len(doc.Content) == 0 {
		return front
	}
	budget := maxFields
	fields, isMap := plainValue(doc.Content[0], &budget).(map[string]any)
	if !isMap {
		if doc.Content[0].ShortTag() != "!!null" {
			front.warning = "the front matter is not a list of `name: value` and is ignored"
		}
		return front
	}
	if budget < 0 {
		front.warning = fmt.Sprintf("the front matter has more than %d values: the rest is ignored", maxFields)
	}
	front.fields = fields
	front.title = text.Brief(scalar(fields["title"]), 200)
	front.date = text.Brief(scalar(fields["date"]), 40)
	front.at = parseDate(front.date)
	front.tags = nameList(fields, func(r rune) bool { return r == ',' || r == ' ' || r == '#' }, "tags", "tag")
	front.aliases = nameList(fields, func(r rune) bool { return r == ',' }, "aliases", "alias")
	return front
}

// plainValue converts YAML to values that JSON can hold. Scalars keep their spelling, as 2025-10-05 and 007.
func plainValue(node *yaml.Node, budget *int) any {
	if *budget--; *budget < 0 {
		return nil
	}
	switch node.Kind {
	case yaml.AliasNode:
		return plainValue(node.Alias, budget)
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range node.Content {
			if *budget < 0 {
				break
			}
			list = append(list, plainValue(item, budget))
		}
		return list
	case yaml.MappingNode:
		fields := map[string]any{}
		for i := 0; i+1 < len(node.Content) && *budget >= 0; i += 2 {
			fields[node.Content[i].Value] = plainValue(node.Content[i+1], budget)
		}
		return fields
	}
	if node.ShortTag() == "!!null" {
		return nil
	}
	return node.Value
}

func scalar(value any) string {
	s, _ := value.(string)
	return s
}

// nameList reads a list of names, which is a YAML list or one text with separators.
func nameList(fields map[string]any, separator func(rune) bool, keys ...string) []string {
	var list []string
	add := func(name string) {
		if name = text.Brief(name, 200); name != "" && !slices.Contains(list, name) && len(list) < maxTags {
			list = append(list, name)
		}
	}
	for _, key := range keys {
		switch value := fields[key].(type) {
		case string:
			for _, name := range strings.FieldsFunc(value, separator) {
				add(name)
			}
		case []any:
			for _, item := range value {
				add(strings.TrimLeft(scalar(item), "#"))
			}
		}
	}
	return list
}

// otherTexts returns the names and texts of the fields that frontMatter has no field for.
func (f frontMatter) otherTexts() []string {
	fields := maps.Clone(f.fields)
	for _, known := range []string{"title", "tags", "tag", "aliases", "alias", "date"} {
		delete(fields, known)
	}
	return textsOf(fields)
}

func textsOf(value any) (texts []string) {
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		for _, item := range value {
			texts = append(texts, textsOf(item)...)
		}
	case map[string]any:
		for name, item := range value {
			texts = append(append(texts, name), textsOf(item)...)
		}
	}
	return texts
}

// parseDate reads the forms of a date that people and note programs write; the zero time for any other.
func parseDate(date string) time.Time {
	for _, layout := range []string{
		time.RFC3339, "2006-01-02", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04",
		"2006-01-02T15:04:05", "2006/01/02",
	} {
		if at, err := time.Parse(layout, date); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}
