package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A template is a segment's text, taken apart. Its language is closed and small:
//
//	{{max_turns}} {{tools}} {{sources}} …  the value
//	{{#tools}} … {{/tools}}                only if the value is not empty
//	{{^tools}} … {{/tools}}                only if it is empty
//
// Sections do not nest. A section tag alone on its line takes the line with it. Filled-in text is never parsed.
type template []piece

// piece is a literal text, or a variable's value, in at most one section.
type piece struct {
	literal  string
	variable string // empty for a literal
	section  section
}

// section is a piece's condition; without a variable it always holds.
type section struct {
	variable string
	filled   bool
}

// The variables.
const (
	varMaxTurns   = "max_turns"
	varTools      = "tools"
	varSources    = "sources"
	varMissing    = "missing"
	varDate       = "date"
	varReportTool = "report_tool" // "yes", or empty
	varBareCalls  = "bare_calls"  // "yes", or empty
)

// variables lists them.
func variables() []string {
	return []string{varMaxTurns, varTools, varSources, varMissing, varDate, varReportTool, varBareCalls}
}

// values are what the variables stand for in one situation, by their names.
type values map[string]string

func (v values) hold(s section) bool {
	return s.variable == "" || (v[s.variable] != "") == s.filled
}

// parser reads a template from front to back.
type parser struct {
	file   string
	text   string
	at     int // what has been read
	pieces template
	open   section
	openAt int // where the open section's tag begins
}

// parseTemplate takes text apart. Errors name file and line.
func parseTemplate(file, text string) (template, error) {
	p := &parser{file: file, text: text}
	for {
		start := strings.Index(p.text[p.at:], "{{")
		if start < 0 {
			break
		}
		start += p.at
		length := strings.Index(p.text[start:], "}}")
		if length < 0 || strings.Contains(p.text[start:start+length], "\n") {
			return nil, p.errorf(start, "{{ without }} on the same line")
		}
		if err := p.tag(start, start+length+2); err != nil {
			return nil, err
		}
	}
	if p.open.variable != "" {
		return nil, p.errorf(p.openAt, "the section is never closed; add {{/%s}}", p.open.variable)
	}
	p.literal(len(p.text))
	return p.pieces, nil
}

// tag reads the tag that stands between start and end, and the literal before it.
func (p *parser) tag(start, end int) error {
	name := strings.TrimSpace(p.text[start+2 : end-2])
	kind := byte(0)
	if name != "" && strings.IndexByte("#^/", name[0]) >= 0 {
		kind, name = name[0], strings.TrimSpace(name[1:])
	}
	if !slices.Contains(variables(), name) {
		return p.errorf(start, "unknown variable {{%s}}; known are {{%s}}", name, strings.Join(variables(), "}}, {{"))
	}
	if kind == 0 {
		p.literal(start)
		p.pieces = append(p.pieces, piece{variable: name, section: p.open})
		p.at = end
		return nil
	}
	from, to := p.ownLine(start, end)
	p.literal(from)
	p.at = to
	switch {
	case kind == '/' && p.open.variable != name:
		return p.errorf(start, "{{/%s}} closes no open section", name)
	case kind == '/':
		p.open = section{}
	case p.open.variable != "":
		return p.errorf(start, "a section inside another; close {{/%s}} first", p.open.variable)
	default:
		p.open, p.openAt = section{variable: name, filled: kind == '#'}, start
	}
	return nil
}

// literal adds the text read up to end.
func (p *parser) literal(end int) {
	if p.at < end {
		p.pieces = append(p.pieces, piece{literal: p.text[p.at:end], section: p.open})
	}
}

// ownLine widens the span of a tag to its whole line, newline included, if nothing else stands there.
func (p *parser) ownLine(start, end int) (from, to int) {
	from = strings.LastIndexByte(p.text[:start], '\n') + 1
	rest, _, found := strings.Cut(p.text[end:], "\n")
	if from < p.at || strings.TrimSpace(p.text[from:start]) != "" || strings.TrimSpace(rest) != "" {
		return start, end
	}
	to = end + len(rest)
	if found {
		to++
	}
	return from, to
}

func (p *parser) errorf(at int, format string, args ...any) error {
	line := 1 + strings.Count(p.text[:at], "\n")
	return fmt.Errorf("%s:%d: %w", p.file, line, fmt.Errorf(format, args...))
}

// part is a segment as it stands in a prompt.
type part struct {
	text      string // no blank space at its ends; empty if it is not in the prompt
	chars     int    // of text
	toolChars int    // of the tool lines in text
}

// fill puts the values in.
func (t template) fill(v values) part {
	var b strings.Builder
	toolChars := 0
	for _, p := range t {
		if !v.hold(p.section) {
			continue
		}
		b.WriteString(p.literal)
		value := v[p.variable]
		b.WriteString(value)
		if p.variable == varTools {
			toolChars += utf8.RuneCountInString(value)
		}
	}
	text := strings.TrimSpace(b.String())
	return part{text: text, chars: utf8.RuneCountInString(text), toolChars: toolChars}
}
