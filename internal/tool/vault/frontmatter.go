package vault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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
			front := decodeFront(lines[1 : i+1])
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

func decodeFront(lines []string) (front frontMatter) {
	fields, isPlain := plainFields(lines)
	if !isPlain {
		if fields, front.warning = decodeYAML(strings.Join(lines, "\n")); fields == nil {
			return front
		}
	}
	front.fields = fields
	front.title = text.Brief(scalar(fields["title"]), 200)
	front.date = text.Brief(scalar(fields["date"]), 40)
	front.at = parseDate(front.date)
	front.tags = nameList(fields, func(r rune) bool { return r == ',' || r == ' ' || r == '#' }, "tags", "tag")
	front.aliases = nameList(fields, func(r rune) bool { return r == ',' }, "aliases", "alias")
	return front
}

// decodeYAML reads a block, and says what is wrong with it. fields is nil if there are none.
func decodeYAML(block string) (fields map[string]any, warning string) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(block), &doc); err != nil {
		return nil, "the front matter is not valid YAML and is ignored: " + text.Brief(err.Error(), 200)
	}
	if doc.Kind == 0 || len(doc.Content) == 0 {
		return nil, ""
	}
	budget := maxFields
	fields, isMap := plainValue(doc.Content[0], &budget).(map[string]any)
	switch {
	case !isMap && doc.Content[0].ShortTag() != "!!null":
		warning = "the front matter is not a list of `name: value` and is ignored"
	case budget < 0:
		warning = fmt.Sprintf("the front matter has more than %d values: the rest is ignored", maxFields)
	}
	return fields, warning
}

// mostPlainLines is how many lines plainFields reads: fewer than maxFields, which need not be counted.
const mostPlainLines = 100

// plainFields reads what most front matter is, as YAML does but much faster: lines of `name: value`, `name: [value,
// value]` and lists of `- value`, all of letters, digits and few signs.
func plainFields(lines []string) (fields map[string]any, ok bool) {
	if len(lines) > mostPlainLines {
		return nil, false
	}
	fields = map[string]any{}
	for i := 0; i < len(lines); i++ {
		name, rest, found := strings.Cut(lines[i], ":")
		value := strings.Trim(rest, " ")
		if !found || !isPlainName(name) || value != "" && rest[0] != ' ' {
			return nil, false
		}
		inner, isList := strings.CutPrefix(value, "[")
		switch {
		case isList:
			inner, closed := strings.CutSuffix(inner, "]")
			list := []any{}
			for item := range strings.SplitSeq(inner, ",") {
				item = strings.Trim(item, " ")
				if !isPlainValue(item, "-_/.") {
					return nil, false
				}
				list = append(list, item)
			}
			if fields[name] = list; !closed {
				return nil, false
			}
		case value != "":
			if fields[name] = value; !isPlainValue(value, "-_/.,:()'+") {
				return nil, false
			}
		default:
			list, count := plainList(lines[i+1:])
			if fields[name] = list; count == 0 {
				fields[name] = nil
			}
			i += count
		}
	}
	return fields, len(fields) > 0
}

// plainList reads the lines of a list, and returns how many there are.
func plainList(lines []string) (list []any, count int) {
	before := ""
	for _, line := range lines {
		indent, item, found := strings.Cut(line, "- ")
		item = strings.Trim(item, " ")
		if !found || strings.Trim(indent, " ") != "" || count > 0 && indent != before ||
			!isPlainValue(item, "-_/.,:()'+") {
			break
		}
		before = indent
		list, count = append(list, item), count+1
	}
	return list, count
}

func isPlainName(name string) bool {
	for i := range len(name) {
		if !isLetterOrDigit(rune(name[i])) && (i == 0 || !strings.ContainsRune("-_", rune(name[i]))) {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

func isLetterOrDigit(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// isPlainValue says whether YAML takes a text for a value as it is written: letters, digits, blanks and these signs.
func isPlainValue(value, signs string) bool {
	for i, r := range value {
		switch {
		case isLetterOrDigit(r), r >= utf8.RuneSelf && unicode.IsLetter(r):
		case i == 0, r != ' ' && !strings.ContainsRune(signs, r):
			return false
		case r == ':' && (i+1 == len(value) || value[i+1] == ' '):
			return false
		}
	}
	return value != "" && !strings.EqualFold(value, "null")
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
