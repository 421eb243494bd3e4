package signal

import (
	"strings"
	"unicode/utf8"
)

// Form is how a text quotes what it mentions.
type Form string

// The forms of a quotation.
const (
	Blockquote Form = "blockquote"
	Indented   Form = "indented code"
	Table      Form = "table"
	Element    Form = "element" // pre, code and their like
	Quotation  Form = "quotation marks"
	Code       Form = "code" // a fence or a code span
)

// Mention is a signal that the text quotes: it is logged, and nothing follows from it.
type Mention struct {
	Type   Type   `json:"type,omitempty"` // "": it is not well-formed
	Form   Form   `json:"form"`
	Raw    string `json:"raw"`    // at most maxRaw bytes of it
	Offset int64  `json:"offset"` // in bytes, in the text as it came in
}

// mostMentions bounds how many mentions of a text are kept.
const mostMentions = 32

func (r *Result) mention(form Form, raw string, offset int64) {
	if len(r.Mentions) == mostMentions {
		return
	}
	m := Mention{Form: form, Raw: raw, Offset: offset}
	if s, err := Parse(raw); err == nil {
		m.Type = s.Type
	}
	if len(raw) > maxRaw {
		m.Raw = strings.ToValidUTF8(raw[:maxRaw], "")
	}
	r.Mentions = append(r.Mentions, m)
}

// mentionsIn logs the signals that stand in code.
func (r *Result) mentionsIn(code string, offset int64) {
	for i := 0; i < len(code) && len(r.Mentions) < mostMentions; {
		at := strings.IndexByte(code[i:], '<')
		if at < 0 {
			return
		}
		i += at
		n := 1
		if tag, v := readTag(code[i:]); v == yes && tag.typed {
			d := readMarkup(window{text: code[i:], final: true})
			r.mention(Code, d.raw, offset+int64(i))
			n = d.n
		}
		i += n
	}
}

// asQuoted makes a mention of markup that stands in a quotation. Where only what follows can tell, it is undecided.
func (x *Extractor) asQuoted(w window, d decision) decision {
	if d.what != isMarkup {
		return d
	}
	form, v := x.md.form(w.text[d.n:])
	switch {
	case v == yes || v == maybe && w.full:
		d.form = form
	case v == maybe && !w.final:
		return decision{what: undecided}
	}
	return d
}

// form says in which quotation the text here stands. Where after is said to have to close it, it may be none.
func (m *markdown) form(after string) (Form, verdict) {
	switch l := m.blocks(); {
	case l.quotes > 0:
		return Blockquote, yes
	case l.row || m.table:
		return Table, yes
	case l.prefix && l.indented(m):
		return Indented, yes
	}
	if v := m.elementEnds(after); v != no {
		return Element, v
	}
	return Quotation, m.marksEnd(after)
}

// quotingElements show what stands in them as it was written.
var quotingElements = [...]string{"pre", "code", "samp", "kbd", "xmp", "listing", "textarea", "blockquote", "q"}

const longestTag = len("</blockquote")

// element reads the tags of elements, a byte at a time.
func (m *markdown) element(c byte) {
	switch {
	case c == '<':
		m.tag = "<"
	case m.tag == "":
	case c == '>' || isSpace(c):
		name, closes := strings.CutPrefix(m.tag[1:], "/")
		for i, quoting := range quotingElements {
			if strings.EqualFold(name, quoting) {
				m.open[i] = !closes
			}
		}
		m.tag = ""
	case len(m.tag) < longestTag:
		m.tag += string(rune(c))
	default:
		m.tag = ""
	}
}

// elementEnds says whether an element that is open ends in the text that follows.
func (m *markdown) elementEnds(after string) (v verdict) {
	for i, open := range m.open {
		if !open {
			continue
		}
		v = maybe
		if strings.Contains(strings.ToLower(after), "</"+quotingElements[i]) {
			return yes
		}
	}
	return v
}

// Quotation marks of any language.
const (
	doubleMarks = "\"\u201c\u201d\u201e\u201f\u00ab\u00bb"
	singleMarks = "'\u2018\u2019\u201a\u201b\u2039\u203a"
)

// endsIn says whether bytes end in one of these characters.
func endsIn(b [3]byte, any string) bool {
	r, _ := utf8.DecodeLastRune(b[:])
	return r != utf8.RuneError && strings.ContainsRune(any, r)
}

// marksEnd says whether quotation marks that are open in the line are closed behind a signal: single ones right there,
// double ones anywhere in the line.
func (m *markdown) marksEnd(after string) verdict {
	line, _, whole := strings.Cut(after, "\n")
	if endsIn(m.tail, singleMarks) {
		switch r, _ := utf8.DecodeRuneInString(line); {
		case r != utf8.RuneError && strings.ContainsRune(singleMarks, r):
			return yes
		case !whole && !utf8.FullRuneInString(line):
			return maybe
		}
	}
	switch {
	case !m.odd:
		return no
	case strings.ContainsAny(line, doubleMarks):
		return yes
	case whole:
		return no
	}
	return maybe
}
