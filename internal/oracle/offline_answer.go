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

// An answer fits on a terminal of 24 rows and 80 columns, with the rows that are printed around it.
const (
	answerRows   = 20
	leastRows    = 6  // of the best passage
	listColumns  = 71 // without the number and the marks of code
	leastColumns = 12 // of a sentence
)

// answerFrom lists the places, one a line, and quotes the first. Above them it puts the line with the number, default
// or date that the question asks for.
func (o offline) answerFrom(places []passage) model.Response {
	lacking := o.unmentionedNames(places)
	b := &strings.Builder{}
	if o.lacksWeb() && o.sit.Sure {
		b.WriteString(o.phrase("no_web") + "\n\n")
	}
	if o.sit.Class == string(classify.Action) {
		b.WriteString(o.phrase("no_writing") + "\n\n")
	}
	if line := o.figureLine(places); line != "" && lacking == "" {
		b.WriteString(line + "\n\n")
	}
	which := "one"
	if len(places) > 1 {
		which = "several"
	}
	end := o.phrase("no_model") + ": " + o.phrase(which, "to_have_one") + o.failureText()
	return finalReply(o.listPlaces(places, b.String(), end), o.signalFor(places, lacking))
}

// listPlaces lists places under what begins an answer, and quotes the first.
func (o offline) listPlaces(places []passage, begin, end string) string {
	b := &strings.Builder{}
	b.WriteString(begin)
	for i, p := range places {
		fmt.Fprintf(b, "%d. %s\n", i+1, p.listLine())
	}
	rows := answerRows - 4 // the empty rows between the parts, and the place of the passage
	for line := range strings.Lines(b.String() + end) {
		rows -= rowsOf(strings.TrimSpace(line))
	}
	sought := soughtBy(append(slices.Clip(o.terms), classify.Terms(o.earlier)...)...)
	if o.asksAboutFolder() { // the beginning says most
		sought.words = nil
	}
	best := places[0].excerpt(max(rows, leastRows), sought)
	fmt.Fprintf(b, "\n`%s`:\n\n%s\n\n%s\n", best.cite(), best.fenced(), end)
	return b.String()
}

func (o offline) signalFor(places []passage, lacking string) string {
	var types []string
	for _, p := range places {
		if !slices.Contains(types, string(p.source)) {
			types = append(types, string(p.source))
		}
	}
	switch {
	case slices.Contains(o.calledTools(), searcherOf[tool.Web]) && !slices.Contains(types, string(tool.Web)):
		return signalXML("partial_answer", 0.6, fieldXML("missing", o.phrase("web_answer")))
	case o.sit.Class == string(classify.Action):
		return signalXML("partial_answer", 0.5, fieldXML("missing", o.phrase("writer")))
	case lacking != "":
		return signalXML("partial_answer", 0.5, fieldXML("missing", lacking), fieldXML("caveat", lacking))
	}
	return signalXML("context_sufficient", 0.5, fieldXML("sources_found", fmt.Sprint(len(places))),
		listXML("source_types", types))
}

// listLine is a passage in one line: its place, its signature or heading, and the first sentence that describes it.
func (p passage) listLine() string {
	line, left := "`"+p.cite()+"`", listColumns-utf8.RuneCountInString(p.cite())
	head, rest := p.splitHead()
	if head = text.Brief(head, max(left-1, leastColumns)); head != "" {
		left -= utf8.RuneCountInString(head) + 1
		if p.isCode() {
			head = codeSpan(head)
		}
		line += " " + head
		if !p.isCode() {
			line += ":"
		}
	}
	said := firstSentence(rest)
	if p.isCode() { // its signature has named it
		said = strings.TrimPrefix(said, p.hit.Symbol[strings.LastIndexByte(p.hit.Symbol, '.')+1:]+" ")
	}
	if left > leastColumns && isPlain(said) {
		line += " " + text.Brief(said, left-2)
	}
	return strings.TrimSuffix(line, ":")
}

func (p passage) isCode() bool { return p.source == tool.Code && !document.IsText(p.path) }

// splitHead splits a passage into its name (the signature of code, or the heading) and the lines that describe it.
func (p passage) splitHead() (head string, rest []string) {
	lines := p.lines
	if own := p.hit.Own - p.from; own > 0 && own < len(lines) {
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
		// the body is in the same line
		if signature, _, has := strings.Cut(head, " {"); has && strings.Contains(signature, ")") {
			head = signature
		}
		if strings.HasSuffix(head, "(") { // the signature continues in the next line
			head = cmp.Or(p.hit.Symbol, head)
		}
		if !isHarmless(head) {
			head = ""
		}
		return head, rest
	}
	head = cmp.Or(p.hit.Heading, p.hit.Title)
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

// isAside says whether a line of code is a comment or an annotation rather than a signature.
func isAside(line string) bool {
	return isComment(line) || strings.HasPrefix(strings.TrimSpace(line), "@")
}

// firstSentence is the first sentence of lines of prose, which end before a line such as “@param {string} name”.
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

// isPlain says whether a sentence can be shown outside a fence: it has no markup, and nothing that would be read as a
// signal or a citation there.
func isPlain(said string) bool {
	return said != "" && !strings.ContainsAny(said, "<`|") && isHarmless(said)
}

// isHarmless says whether a line of code has nothing that would be read in a code span as a signal or a citation.
func isHarmless(code string) bool {
	return !strings.Contains(code, "<signal") && !strings.Contains(code, "://") && !strings.Contains(code, gitPlace) &&
		!slices.ContainsFunc(pathCite().FindAllStringSubmatch(code, -1), func(found []string) bool {
			return isPath(cmp.Or(found[1], found[4]))
		})
}

// codeSpan is a line as a code span in Markdown, whatever backticks it has.
func codeSpan(line string) string {
	marks := "`"
	for strings.Contains(line, marks) {
		marks += "`"
	}
	if len(marks) > 1 {
		line = " " + line + " "
	}
	return marks + line + marks
}

// unmentionedNames says which names in the question occur in no place; "" if there are none.
func (o offline) unmentionedNames(places []passage) string {
	if o.asksAboutFolder() {
		return ""
	}
	var gone []string
	for _, name := range namesIn(o.sit.Question) {
		if !slices.ContainsFunc(places, func(p passage) bool { return p.mentions(name) }) {
			gone = append(gone, "“"+name+"”")
		}
	}
	if gone == nil {
		return ""
	}
	return o.phrase("none_mentions") + " " + agent.Listed(gone[:min(len(gone), 3)], o.phrase("or"))
}

// namesIn are the names in a question, told by capitals or signs.
func namesIn(question string) (names []string) {
	for i, field := range strings.Fields(question) {
		word := withoutGenitive(trimMarks(field))
		word = filepath.ToSlash(word[len(filepath.VolumeName(word)):]) // as files are cited
		named := strings.IndexFunc(word, func(r rune) bool { return unicode.IsUpper(r) || r == '_' || r == '.' })
		low := strings.ToLower(word)
		if called := strings.Contains(field, "()"); named < 0 && !called || named == 0 &&
			(i == 0 || search.IsStop(low) || search.InEnglish(low) != nil) {
			continue
		}
		names = append(names, word)
	}
	return names
}

// trimMarks is a word without what stands around its letters and digits.
func trimMarks(word string) string {
	return strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
