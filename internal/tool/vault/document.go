package vault

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	doc "sibyl/internal/media/document"
	"sibyl/internal/redact"
	"sibyl/internal/text"
	"sibyl/internal/text/markdown"
	"sibyl/internal/text/search"
)

const (
	maxParts = 10_000 // sections of a note, and links, that are parsed
	maxTags  = 1000
)

// document is a parsed note, PDF or DOCX. Lines count from 1 and have no line end.
type document struct {
	path     string
	title    string // of the front matter, else the first heading of level 1, else the file's name
	lines    []string
	front    frontMatter
	tags     []string // of the front matter, then of the text; no leading #
	sections []section
	links    []link
	warnings []string
	paged    bool  // its sections are pages
	blank    []int // those without text
}

// section is a heading and the text below it up to the next heading of any level, or an entry of a thread.
type section struct {
	heading    string // "" for the text above the first heading
	level      int    // 1 to 6; 0 above the first heading
	start, end int    // lines, inclusive
	page       int    // number of a page, from 1; 0: it is no page

	entry int       // number of an entry of a thread, from 1; 0: it is no entry
	id    string    // of the entry
	at    time.Time // when it was written
}

// link is a [[link]] in a note's text.
type link struct {
	target  string // "" for a link within the note
	heading string // after #
	line    int
}

// parseNote parses a note. It never fails: what is wrong becomes a warning. cut says that raw is only the beginning of
// the note. Secrets are removed here, before lines are cut, numbered or searched.
func parseNote(p string, raw []byte, cut bool) *document {
	return parseText(p, redact.Lines(bytes.TrimPrefix(decoded(raw), []byte("\ufeff"))), cut)
}

// decoded returns the text of UTF-16 with its mark as UTF-8; other text is returned as it is.
func decoded(raw []byte) []byte {
	if !bytes.HasPrefix(raw, []byte("\xff\xfe")) && !bytes.HasPrefix(raw, []byte("\xfe\xff")) {
		return raw
	}
	text, err := doc.DecodeText("", raw[:len(raw)&^1])
	if err != nil {
		return raw
	}
	return []byte(text)
}

// parseText is parseNote with the secrets, for what is not shown.
func parseText(p string, raw []byte, cut bool) *document {
	d := &document{path: p}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if cut {
		d.warn("the note is larger than %d MiB: only its beginning can be read", (len(raw)+1<<19)>>20)
		raw = raw[:bytes.LastIndexByte(raw, '\n')+1]
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
		d.warn("the note is not valid UTF-8: unreadable bytes are shown as \ufffd")
	}
	d.lines = splitLines(string(raw))
	d.front = parseFront(d.lines)
	if d.front.warning != "" {
		d.warn("%s", d.front.warning)
	}
	d.title, d.tags = d.front.title, d.front.tags
	if isThread(p) {
		// text above the first header, which only a person can have written, is a section that is no entry
		d.splitSections(parseEntryHeader)
	} else {
		d.parseSections()
	}
	d.parseInline()
	if d.title == "" {
		d.title = noteName(path.Base(p))
	}
	return d
}

func (d *document) warn(format string, args ...any) {
	d.warnings = append(d.warnings, fmt.Sprintf(format, args...))
}

func splitLines(s string) []string {
	lines := strings.Split(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

// parseSections splits the text at its headings. Lines with # in a code block are no headings.
func (d *document) parseSections() {
	var code markdown.Fence
	d.splitSections(func(line string) (section, bool) {
		if code.Covers(line) {
			return section{}, false
		}
		level, heading, is := markdown.Heading(line)
		if !is || len(d.sections) == maxParts {
			return section{}, false
		}
		if level == 1 && d.title == "" {
			d.title = text.Brief(heading, 200)
		}
		return section{heading: heading, level: level}, true
	})
}

// splitSections splits the text into sections: sectionAt is called for every line in order, and returns one that
// begins.
func (d *document) splitSections(sectionAt func(line string) (section, bool)) {
	current, entries := section{start: d.front.end + 1}, 0
	for i := d.front.end; i < len(d.lines); i++ {
		if next, is := sectionAt(d.lines[i]); is {
			d.addSection(current, i)
			if next.id != "" {
				entries++
				next.entry = entries
			}
			current = next
			current.start = i + 1
		}
	}
	d.addSection(current, len(d.lines))
}

// addSection adds a section that ends at the last line up to end that is not blank. A blank text above the first
// heading is no section.
func (d *document) addSection(s section, end int) {
	for end > s.start && strings.TrimSpace(d.lines[end-1]) == "" {
		end--
	}
	s.end = end
	if s.level == 0 && (end < s.start || strings.TrimSpace(d.lines[end-1]) == "") {
		return
	}
	d.sections = append(d.sections, s)
}

// parseInline collects the links and tags outside of code.
func (d *document) parseInline() {
	seen := make(map[string]bool, len(d.tags))
	for _, tag := range d.tags {
		seen[tag] = true
	}
	entryStarts := make(map[int]bool)
	for _, s := range d.sections {
		entryStarts[s.start] = s.entry > 0
	}
	var code markdown.Fence
	for i := d.front.end; i < len(d.lines); i++ {
		if entryStarts[i+1] {
			code = markdown.Fence{} // an unclosed code block ends with its entry
		}
		if code.Covers(d.lines[i]) {
			continue
		}
		scanInline(d.lines[i], func(l link) {
			if l.line = i + 1; len(d.links) < maxParts {
				d.links = append(d.links, l)
			}
		}, func(tag string) {
			if !seen[tag] && len(d.tags) < maxTags {
				seen[tag] = true
				d.tags = append(d.tags[:len(d.tags):len(d.tags)], tag)
			}
		})
	}
}

// scanInline reports the links and tags of a line, in order. Its time is linear in the line's length.
func scanInline(line string, onLink func(link), onTag func(string)) {
	if strings.IndexByte(line, '#') < 0 && !strings.Contains(line, "[[") {
		return
	}
	var unclosed [9]bool // lengths of backtick runs that no later run of the line closes
	noLinks := false     // no ]] lies ahead
	for i := 0; i < len(line); {
		switch rest := line[i:]; {
		case line[i] == '\\':
			i += 2
		case line[i] == '`':
			i += codeSpan(rest, &unclosed)
		case !noLinks && strings.HasPrefix(rest, "[["):
			inner, _, closed := strings.Cut(rest[2:], "]]")
			if !closed {
				noLinks = true
				i += 2
				continue
			}
			i += 2 + strings.LastIndex("[["+inner, "[[") // of [[a [[b]], only b is a link
			inner = line[i : i+strings.Index(line[i:], "]]")]
			onLink(parseLink(inner))
			i += len(inner) + 2
		case line[i] == '#':
			tag := inlineTag(rest[1:])
			if tag != "" && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
				onTag(tag)
			}
			i += 1 + len(tag)
		default:
			i++
		}
		next := strings.IndexAny(line[min(i, len(line)):], "\\`[#")
		if next < 0 {
			return
		}
		i += next
	}
}

// codeSpan returns how many bytes to skip at a run of backticks: the whole span, or the run if nothing closes it.
func codeSpan(s string, unclosed *[9]bool) int {
	run := len(s) - len(strings.TrimLeft(s, "`"))
	if run >= len(unclosed) || unclosed[run] {
		return run
	}
	for i := run; i < len(s); {
		next := strings.IndexByte(s[i:], '`')
		if next < 0 {
			break
		}
		i += next
		length := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if i += length; length == run {
			return i
		}
	}
	unclosed[run] = true
	return run
}

// parseLink parses the text between [[ and ]]: note#heading|text. In a table the bar is written \|.
func parseLink(inner string) link {
	inner, _, _ = strings.Cut(strings.Replace(inner, `\|`, "|", 1), "|")
	target, heading, _ := strings.Cut(inner, "#")
	return link{target: text.Brief(target, 300), heading: text.Brief(heading, 300)}
}

// inlineTag returns the tag after a #: letters, digits, _, - and /, but not only digits. "" if there is none.
func inlineTag(s string) string {
	digits := true
	end := len(s)
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-/", r) {
			end = i
			break
		}
		digits = digits && unicode.IsDigit(r)
	}
	if digits {
		return ""
	}
	return strings.TrimRight(s[:end], "/")
}

// sectionUnder returns the section under a heading, subsections included. If several headings have the name, it is the
// first; "outer#inner" finds inner below outer.
func (d *document) sectionUnder(heading string) (s section, found bool) {
	from, until := 0, len(d.sections)
	for name := range strings.SplitSeq(heading, "#") {
		i := d.findHeading(name, from, until)
		if i < 0 {
			return section{}, false
		}
		s, from = d.sections[i], i+1
		last := from
		for last < until && d.sections[last].level > s.level {
			last++
		}
		until = last
		s.end = d.sections[last-1].end
	}
	return s, true
}

func (d *document) findHeading(name string, from, until int) int {
	forms := []func(string) string{nameKey, func(s string) string { return strings.Join(search.Words(s), " ") }}
	for _, form := range forms {
		key := form(name)
		for i := from; i < until && key != ""; i++ {
			if s := d.sections[i]; form(s.heading) == key || s.id == key {
				return i
			}
		}
	}
	return -1
}
