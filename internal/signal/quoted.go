package signal

import (
	"bytes"
	"strings"
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
	form, v := x.md.quotes(w.text[d.n:])
	switch {
	case v == maybe && w.full:
		d.form = form
	case v == maybe && !w.final:
		return decision{what: undecided}
	case v == yes:
		d.form = form
	}
	return d
}

// quoting elements show what stands in them as it was written.
var quotingElements = [...]string{"pre", "code", "samp", "kbd", "xmp", "listing", "textarea", "blockquote", "q"}

const (
	longestElement = len("blockquote")
	longestHead    = 120 // bytes of a line that are kept, to see in which blocks it stands
	codeIndent     = 4   // columns
)

// quoting follows what beside fences and spans makes a quotation of a text: the blocks that a line stands in, elements of HTML, quotation
// marks. It looks at each byte once.
type quoting struct {
	head   [longestHead]byte // the beginning of the line
	headed int               // bytes of it
	odd    bool              // an odd number of quotation marks stands before, in the line
	tail   [3]byte           // the last bytes

	list      int  // the column where the text of the item begins in which the lines stand; 0: there is none
	table     bool // a table goes on until a blank line
	paragraph bool // the line before is text, so that an indented one is no code

	name  [longestElement]byte // of the tag that is being read
	named int                  // bytes of it
	tag   tagState
	open  [len(quotingElements)]bool
}

type tagState uint8

const (
	noTag tagState = iota
	openTag
	closeTag
)

// pass takes text inside of a line.
func (q *quoting) pass(text string) {
	if q.headed < longestHead {
		q.headed += copy(q.head[q.headed:], text)
	}
	begun := q.tail[1] == 0xe2 || q.tail[2] >= 0xc2 // a character that goes on here
	if !begun && len(text) >= len(q.tail) && strings.IndexByte(text, '"') < 0 && strings.IndexByte(text, 0xe2) < 0 && strings.IndexByte(text, 0xc2) < 0 {
		copy(q.tail[:], text[len(text)-len(q.tail):])
		return
	}
	for i := range len(text) {
		q.passByte(text[i])
	}
}

func (q *quoting) passByte(c byte) {
	q.tail = [3]byte{q.tail[1], q.tail[2], c}
	if isQuotationMark(q.tail) {
		q.odd = !q.odd
	}
}

// byte takes the next byte of a line.
func (q *quoting) byte(c byte) {
	if q.headed < longestHead {
		q.head[q.headed] = c
		q.headed++
	}
	q.passByte(c)
}

// isQuotationMark says whether bytes end in a double quotation mark of any language.
func isQuotationMark(b [3]byte) bool {
	switch {
	case b[2] == '"':
		return true
	case b[0] == 0xe2 && b[1] == 0x80:
		return 0x9c <= b[2] && b[2] <= 0x9f
	}
	return b[1] == 0xc2 && (b[2] == 0xab || b[2] == 0xbb)
}

// element reads the names of tags, a byte at a time.
func (q *quoting) element(c byte) {
	letter := 'a' <= c|0x20 && c|0x20 <= 'z'
	switch {
	case c == '<':
		q.tag, q.named = openTag, 0
	case q.tag == noTag:
	case letter && q.named < longestElement:
		q.name[q.named] = c | 0x20
		q.named++
	case c == '/' && q.named == 0 && q.tag == openTag:
		q.tag = closeTag
	default:
		if c == '>' || isSpace(c) {
			for i, name := range quotingElements {
				if string(q.name[:q.named]) == name {
					q.open[i] = q.tag == openTag
				}
			}
		}
		q.tag = noTag
	}
}

// newline ends a line; code says that it stands in a fence, where nothing is a block.
func (q *quoting) newline(code bool) {
	l := blocksOf(q.head[:q.headed], q.list)
	switch {
	case code:
		q.paragraph, q.table = false, false
	case l.blank:
		q.paragraph, q.table = l.quotes > 0 && q.paragraph, false
	default:
		switch {
		case l.item > 0:
			q.list = l.item
		case l.indent < q.list && !q.paragraph:
			q.list = l.indent
		}
		q.table = q.table || l.rule
		q.paragraph = !l.indented(q)
	}
	q.headed, q.odd = 0, false
	q.tail = [3]byte{}
}

// blocks are the blocks that the beginning of a line stands in.
type blocks struct {
	quotes int  // marks of blockquotes
	item   int  // the column of the text of an item of a list that begins here; 0: none does
	indent int  // columns before the text, from the last blockquote on
	blank  bool // there is no text
	row    bool // the text begins with a bar
	rule   bool // it is the line below the head of a table
	prefix bool // marks of blocks and blanks are all there is
}

// indented says whether the line is code for its indentation.
func (l *blocks) indented(q *quoting) bool {
	return !q.paragraph && l.item == 0 && l.quotes == 0 && l.indent >= codeIndent+q.list
}

// blocksOf reads the beginning of a line. list is the column of the text of the item that it may go on with.
func blocksOf(head []byte, list int) (l blocks) {
	i, column, base := 0, 0, 0
	for i < len(head) {
		switch c := head[i]; {
		case c == '\t':
			column += codeIndent - column%codeIndent
			i++
			continue
		case c == ' ' || c == '\r':
			column++
			i++
			continue
		case c == '>' && column-base < codeIndent+list:
			l.quotes++
			i++
			column++
			base = column
			if i < len(head) && head[i] == ' ' {
				i++
			}
			continue
		}
		n := itemMark(head[i:])
		if n == 0 || column-base >= codeIndent+list {
			break
		}
		i, column = i+n, column+n
		l.item = column - base
	}
	l.indent = column - base
	text := bytes.TrimRight(head[i:], " \t\r")
	l.prefix = len(text) == 0
	l.blank = l.prefix && l.item == 0
	l.row = bytes.HasPrefix(text, []byte("|"))
	l.rule = len(bytes.Trim(text, "|:- \t")) == 0 && bytes.IndexByte(text, '|') >= 0 && bytes.IndexByte(text, '-') >= 0
	return l
}

// itemMark gives the length of the mark of an item of a list, with the blank behind it; 0 for none.
func itemMark(text []byte) int {
	n := 0
	for n < len(text) && n < 9 && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	if n == len(text) || n == 0 && strings.IndexByte("-*+", text[0]) < 0 || n > 0 && text[n] != '.' && text[n] != ')' {
		return 0
	}
	if n++; n == len(text) || text[n] != ' ' && text[n] != '\t' {
		return 0
	}
	return n + 1
}

// opensFence says whether a fence may begin here, behind marks of blocks; quoted, whether it stands in a blockquote.
func (q *quoting) opensFence() (may, quoted bool) {
	l := blocksOf(q.head[:q.headed], q.list)
	return l.prefix && (l.item > 0 || l.indent < codeIndent+q.list), l.quotes > 0
}

// closesFence says whether one may end here.
func (q *quoting) closesFence() bool {
	l := blocksOf(q.head[:q.headed], q.list)
	return l.prefix && l.item == 0 && l.indent < codeIndent+q.list
}

// leavesQuote says whether the line has text, and stands in no blockquote.
func (q *quoting) leavesQuote() bool {
	l := blocksOf(q.head[:q.headed], q.list)
	return !l.prefix && l.quotes == 0
}

// form says in which quotation the text here stands. Where after is said to have to close it, it may be none.
func (q *quoting) form(after string) (f Form, v verdict) {
	switch l := blocksOf(q.head[:q.headed], q.list); {
	case l.quotes > 0:
		return Blockquote, yes
	case l.row || q.table:
		return Table, yes
	case l.prefix && l.indented(q):
		return Indented, yes
	}
	if v = q.elementEnds(after); v != no {
		return Element, v
	}
	if v = q.marksEnd(after); v != no {
		return Quotation, v
	}
	return "", no
}

// elementEnds says whether an element that is open ends in the text that follows.
func (q *quoting) elementEnds(after string) (v verdict) {
	for i, open := range q.open {
		if !open {
			continue
		}
		v = maybe
		for rest := after; ; {
			at := strings.Index(rest, "</")
			if at < 0 {
				break
			}
			rest = rest[at+len("</"):]
			if _, as := word(rest, 0, quotingElements[i]); as == yes {
				return yes
			}
		}
	}
	return v
}

// marksEnd says whether quotation marks that are open in the line are closed behind a signal.
func (q *quoting) marksEnd(after string) verdict {
	line, _, whole := strings.Cut(after, "\n")
	single := q.tail[2] == '\'' || q.tail[0] == 0xe2 && q.tail[1] == 0x80 && (0x98 <= q.tail[2] && q.tail[2] <= 0x9b || q.tail[2] == 0xb9 || q.tail[2] == 0xba)
	if single {
		switch n, closed := strings.CutPrefix(line, "'"); {
		case closed && n != line:
			return yes
		case line == "" && !whole, len(line) < 3 && !whole && line[0] == 0xe2:
			return maybe
		case len(line) >= 3 && line[0] == 0xe2 && line[1] == 0x80 && (0x98 <= line[2] && line[2] <= 0x9b || line[2] == 0xb9 || line[2] == 0xba):
			return yes
		}
	}
	if !q.odd {
		return no
	}
	if strings.ContainsAny(line, "\"\u201c\u201d\u201e\u201f\u00ab\u00bb") {
		return yes
	}
	if whole {
		return no
	}
	return maybe
}
