package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// The variables.
const (
	varMaxTurns   = "max_turns"
	varTools      = "tools"
	varSources    = "sources"
	varMissing    = "missing"
	varDate       = "date"
	varReportTool = "report_tool" // "yes", or empty
	varBareCalls  = "bare_calls"  // "yes", or empty
	varGeneral    = "general"     // "yes", or empty
	varDoubtful   = "doubtful"    // "yes", or empty
	varCallable   = "callable"
)

// variables lists them all.
func variables() []string {
	return []string{varMaxTurns, varTools, varSources, varMissing, varDate, varReportTool, varBareCalls, varCallable,
		varGeneral, varDoubtful, Instructions, Preset, Folder}
}

// values are the values of the variables in one situation, by their names.
type values map[string]string

// part is a segment as it appears in a prompt.
type part struct {
	text      string // no blank space at its ends; empty if it is not in the prompt
	chars     int    // of text
	toolChars int    // of the names of tools in text
}

// tagRE matches a tag.
var tagRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{([#^/]?)[ \t]*(\w*)[ \t]*\}\}`) })

// tagsOf finds the tags of a text. The tag of a section that is alone on its line includes the whole line.
func tagsOf(text string) [][]int {
	all := tagRE().FindAllStringSubmatchIndex(text, -1)
	for _, m := range all {
		line := strings.LastIndexByte(text[:m[0]], '\n') + 1
		rest, _, ended := strings.Cut(text[m[1]:], "\n")
		if m[2] < m[3] && strings.Trim(text[line:m[0]]+rest, " \t") == "" {
			m[0], m[1] = line, m[1]+len(rest)
			if ended {
				m[1]++
			}
		}
	}
	return all
}

// template is the text of a segment, with its tags. Its language is closed and small:
//
//	{{max_turns}} {{tools}} {{sources}} …  the value
//	{{#tools}} … {{/tools}}                only if the value is not empty
//	{{^tools}} … {{/tools}}                only if it is empty
//
// Sections do not nest. A value is never read as a tag.
type template struct {
	file, text string
	tags       [][]int
}

// newTemplate parses a text. Errors name the file and the line.
func newTemplate(file, text string) (template, error) {
	t := template{file, text, append(tagsOf(text), nil)}
	_, err := t.fill(nil)
	return t, err
}

// fill fills the values in. Whether it fails does not depend on the values.
func (t template) fill(v values) (part, error) {
	text := t.text
	var b strings.Builder
	at, toolChars := 0, 0
	open, shown, openAt := "", true, 0 // the open section
	wrong := func(at int, format string, args ...any) (part, error) {
		return part{}, fmt.Errorf("%s:%d: %w", t.file, 1+strings.Count(text[:at], "\n"), fmt.Errorf(format, args...))
	}
	for _, m := range t.tags { // the last is the end
		end := len(text)
		if m != nil {
			end = m[0]
		}
		literal := text[at:end]
		if stray := strings.Index(literal+text[end:min(end+1, len(text))], "{{"); stray >= 0 {
			return wrong(at+stray, "{{ without }} on the same line")
		}
		if shown {
			b.WriteString(literal)
		}
		if m == nil {
			break
		}
		at = m[1]
		kind, name, from := text[m[2]:m[3]], text[m[4]:m[5]], strings.Index(text[m[0]:], "{{")+m[0]
		switch {
		case !slices.Contains(variables(), name):
			return wrong(from, "unknown variable {{%s}}; known are {{%s}}", name, strings.Join(variables(), "}}, {{"))
		case kind == "" && shown:
			b.WriteString(v[name])
			if name == varTools || name == varCallable {
				toolChars += utf8.RuneCountInString(v[name])
			}
		case kind == "":
		case kind == "/" && open != name:
			return wrong(from, "{{/%s}} closes no open section", name)
		case kind == "/":
			open, shown = "", true
		case open != "":
			return wrong(from, "a section inside another; close {{/%s}} first", open)
		default:
			open, shown, openAt = name, (v[name] != "") == (kind == "#"), from
		}
	}
	if open != "" {
		return wrong(openAt, "the section is never closed; add {{/%s}}", open)
	}
	filled := strings.TrimSpace(b.String())
	return part{text: filled, chars: utf8.RuneCountInString(filled), toolChars: toolChars}, nil
}
