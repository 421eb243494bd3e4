package oracle

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/agent"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/text"
	"sibyl/internal/text/markdown"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

// An answer stands on a terminal of 24 rows and 80 columns, with the rows that are printed around it.
const (
	answerRows   = 20
	leastRows    = 6  // of the best passage
	listColumns  = 71 // beside its number, and the marks of code
	leastColumns = 12 // of a sentence
)

// answer lists the places, a line each, and quotes the first; above them a line that holds the number, the default or
// the date that was asked for.
func (o offline) answer(places []passage) model.Response {
	b := &strings.Builder{}
	lacking := o.lacking(places)
	if o.sit.Class == string(classify.Action) {
		b.WriteString(o.says("no_writing") + "\n\n")
	}
	if line := o.figure(places); line != "" && lacking == "" {
		b.WriteString(line + "\n\n")
	}
	for i, p := range places {
		fmt.Fprintf(b, "%d. %s\n", i+1, p.listed())
	}
	which := "one"
	if len(places) > 1 {
		which = "several"
	}
	end := o.says("no_model") + ": " + o.says(which, "to_have_one") + o.failures()
	rows := answerRows - 4 // the empty rows between the parts, and the place of the passage
	for line := range strings.Lines(b.String() + end) {
		rows -= rowsOf(strings.TrimSpace(line))
	}
	terms := append(o.terms, classify.Terms(o.earlier)...)
	if o.ofAll() { // the beginning says most
		terms = nil
	}
	best := places[0].within(max(rows, leastRows), terms)
	fmt.Fprintf(b, "\n`%s`:\n\n%s\n\n%s\n", best.cite(), best.fenced(), end)
	return say(b.String(), o.reported(places, lacking))
}

func (o offline) reported(places []passage, lacking string) string {
	var types []string
	for _, p := range places {
		if !slices.Contains(types, string(p.source)) {
			types = append(types, string(p.source))
		}
	}
	switch {
	case slices.Contains(o.called(), "web_search") && !slices.Contains(types, string(tool.Web)):
		return sig("partial_answer", 0.6, field("missing", o.says("web_answer")))
	case o.sit.Class == string(classify.Action):
		return sig("partial_answer", 0.5, field("missing", o.says("writer")))
	case lacking != "":
		return sig("partial_answer", 0.5, field("missing", lacking), field("caveat", lacking))
	}
	return sig("context_sufficient", 0.5, field("sources_found", fmt.Sprint(len(places))), list("source_types", types))
}

// listed is a passage in one line: its place, its signature or heading, and the first sentence of its comment or text.
func (p passage) listed() string {
	line, left := "`"+p.cite()+"`", listColumns-utf8.RuneCountInString(p.cite())
	head, rest := p.headed()
	if head = text.Brief(head, max(left-1, leastColumns)); head != "" {
		left -= utf8.RuneCountInString(head) + 1
		if p.isCode() {
			head = spanCode(head)
		}
		line += " " + head
		if !p.isCode() {
			line += ":"
		}
	}
	said := firstSentence(rest)
	if p.isCode() { // its signature has named it
		said = strings.TrimPrefix(said, p.found.Symbol[strings.LastIndexByte(p.found.Symbol, '.')+1:]+" ")
	}
	if left > leastColumns && isPlain(said) {
		line += " " + text.Brief(said, left-2)
	}
	return strings.TrimSuffix(line, ":")
}

func (p passage) isCode() bool { return p.source == tool.Code && !document.IsText(p.path) }

// headed takes a passage apart: what names it, as code its signature and else its heading, and the lines that say
// something of it.
func (p passage) headed() (head string, rest []string) {
	lines := p.lines
	if own := p.found.Own - p.from; own > 0 && own < len(lines) {
		lines = lines[own:]
	}
	if p.isCode() {
		at := slices.IndexFunc(lines, func(line string) bool { return strings.TrimSpace(line) != "" && !isAside(line) })
		for i, line := range lines[:max(at, 0)] {
			if isComment(line) {
				rest = append(rest, strings.Trim(lines[i], " \t/*#-;\"!"))
			}
		}
		head = strings.Trim(lines[max(at, 0)], " \t{}")
		// its body stands in the same line
		if signature, _, has := strings.Cut(head, " {"); has && strings.Contains(signature, ")") {
			head = signature
		}
		if strings.HasSuffix(head, "(") { // it goes on
			head = cmp.Or(p.found.Symbol, head)
		}
		if !isHarmless(head) {
			head = ""
		}
		return head, rest
	}
	head = cmp.Or(p.found.Heading, p.found.Title)
	if _, title, is := markdown.Heading(lines[0]); is {
		head, lines = title, lines[1:]
	}
	if head = markdown.Text(head); !isPlain(head) {
		head = ""
	}
	return head, lines
}

func isComment(line string) bool {
	line = strings.TrimSpace(line)
	return slices.ContainsFunc([]string{"//", "#", "/*", "*", "--", `"""`, ";"}, func(mark string) bool {
		return strings.HasPrefix(line, mark)
	})
}

// isAside says of a line of code that it is a comment or an annotation, and no signature.
func isAside(line string) bool {
	return isComment(line) || strings.HasPrefix(strings.TrimSpace(line), "@")
}

// firstSentence is the first sentence of lines of prose. What tells of parameters and the like ends it: “@param
// {string} name”.
func firstSentence(lines []string) string {
	var prose []string
	for i, line := range lines {
		line = strings.TrimSpace(line)
		_, _, isHeading := markdown.Heading(line)
		if line == "" && prose == nil || line == "---" && i == 0 {
			continue
		}
		if line == "" || isHeading || strings.HasPrefix(line, "@") || strings.HasPrefix(line, "|") ||
			strings.HasPrefix(line, "```") {
			break
		}
		prose = append(prose, line)
	}
	said := markdown.Text(strings.TrimLeft(strings.Join(prose, " "), "-*+> "))
	if spans := text.Sentences(said); len(spans) > 0 {
		return said[spans[0].From:spans[0].To]
	}
	return ""
}

// isPlain says whether a sentence can stand outside a fence: it holds no markup, and nothing that would be read there
// as a signal or a citation.
func isPlain(said string) bool {
	return said != "" && !strings.ContainsAny(said, "<`|") && isHarmless(said)
}

// isHarmless says whether a line of code can stand in a code span: it holds no signal, and nothing that would be read
// as a citation.
func isHarmless(code string) bool {
	return !strings.Contains(code, "<signal") && !strings.Contains(code, "://") && !strings.Contains(code, gitPlace) &&
		!slices.ContainsFunc(pathCite().FindAllStringSubmatch(code, -1), func(found []string) bool {
			return isPath(cmp.Or(found[1], found[4]))
		})
}

// spanCode is a line as code in Markdown, whatever marks it holds.
func spanCode(line string) string {
	marks := "`"
	for strings.Contains(line, marks) {
		marks += "`"
	}
	if len(marks) > 1 {
		line = " " + line + " "
	}
	return marks + line + marks
}

// lacking says which names of the question, words with capitals or marks of an identifier, are in no place; "" for
// none.
func (o offline) lacking(places []passage) string {
	if o.ofAll() {
		return ""
	}
	var gone []string
	for i, field := range strings.Fields(o.sit.Question) {
		word := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		word = filepath.ToSlash(word[len(filepath.VolumeName(word)):]) // as files are cited
		named := strings.IndexFunc(word, func(r rune) bool { return unicode.IsUpper(r) || r == '_' || r == '.' })
		low := strings.ToLower(word)
		if called := strings.Contains(field, "()"); named < 0 && !called || named == 0 &&
			(i == 0 || search.IsStop(low) || search.InEnglish(low) != nil) ||
			slices.ContainsFunc(places, func(p passage) bool { return p.holds(word) }) {
			continue
		}
		gone = append(gone, "“"+word+"”")
	}
	if gone == nil {
		return ""
	}
	return o.says("none_mentions") + " " + agent.Listed(gone[:min(len(gone), 3)], o.says("or"))
}
