package signal

import (
	"bytes"
	"strings"
)

const (
	maxHead    = 120 // bytes of a line that are kept, to find the blocks around it
	codeIndent = 4   // columns
)

// markdown follows enough of CommonMark to know where code and quotations are. It reads each byte once.
type markdown struct {
	head      []byte // the beginning of the line
	paragraph bool   // the previous line is text, so that an indented one is not code
	list      int    // the column where the text of the current list item begins; 0: there is none

	fence    byte // the mark of the open fence, 0 without one
	fenceLen int
	quoted   bool // the open fence is in a blockquote

	run  int // length of the run of backticks that is being read
	span int // length of the run that opened a code span in this line, 0 without one
}

// addByte adds the next byte of the text.
func (m *markdown) addByte(c byte) {
	if c == '`' {
		m.run++
	} else {
		m.span, m.run = m.openSpan(), 0
	}
	switch {
	case c == '\n':
		m.newline()
	case len(m.head) < maxHead:
		m.head = append(m.head, c)
	}
}

// openSpan is the length of the backticks that opened the code span around the next byte; 0: there is none.
func (m *markdown) openSpan() int {
	switch {
	case m.run == 0:
		return m.span
	case m.span == 0:
		return m.run
	case m.span == m.run:
		return 0
	}
	return m.span
}

func (m *markdown) newline() {
	line := string(m.head)
	m.head, m.run, m.span = m.head[:0], 0, 0
	if m.fence != 0 {
		end := m.fenceEndIn(line)
		if end == inside {
			return
		}
		m.fence = 0
		if end == behind {
			m.paragraph = false
			return
		}
	}
	l := blocksOf(line, m.list)
	if l.item == 0 && l.text == "" {
		m.paragraph = l.quotes > 0 && m.paragraph
		return
	}
	m.openFence(l)
	switch {
	case m.fence != 0:
	case l.item > 0:
		m.list = l.item
	case l.indent < m.list && !m.paragraph:
		m.list = l.indent
	}
	m.paragraph = m.fence == 0 && !l.indented(m)
}

// openFence opens a fence if the line does.
func (m *markdown) openFence(l blocks) {
	mark, n := fenceMark(l.text)
	if n < 3 || mark == '`' && strings.Contains(l.text[n:], "`") || l.item == 0 && l.indent >= codeIndent+m.list {
		return
	}
	m.fence, m.fenceLen, m.quoted = mark, n, l.quotes > 0
	if l.item > 0 {
		m.list = l.item
	}
}

// fenceMark is the run of marks at the beginning of a text.
func fenceMark(text string) (mark byte, n int) {
	if text == "" || text[0] != '`' && text[0] != '~' {
		return 0, 0
	}
	return text[0], len(text) - len(strings.TrimLeft(text, text[:1]))
}

// fenceEnd says where a fence ends, as far as a line shows that.
type fenceEnd uint8

const (
	inside fenceEnd = iota // it continues after the line
	before                 // the line is after the blockquote with the fence
	behind                 // the line closes it
)

func (m *markdown) fenceEndIn(line string) fenceEnd {
	l := blocksOf(line, m.list)
	mark, n := fenceMark(l.text)
	switch {
	case m.quoted && l.quotes == 0 && l.text != "":
		return before
	case mark == m.fence && n >= m.fenceLen && n == len(l.text) && l.item == 0 && l.indent < codeIndent+m.list:
		return behind
	}
	return inside
}

// inCode says whether a fence is open, or a span that may still be closed.
func (m *markdown) inCode() bool { return m.fence != 0 || m.openSpan() > 0 }

// beginsLine says whether only blanks, at most three, come before in the line.
func (m *markdown) beginsLine() bool {
	return len(m.head) < codeIndent && len(bytes.Trim(m.head, " ")) == 0
}

// codeFrom says whether the text from here on is code, and for how many bytes: yes, if text has the end of the code;
// no, if there is no code, or it can't end any more; maybe, if the end may still come.
func (m *markdown) codeFrom(text string, final bool) (n int, v verdict) {
	switch span := m.openSpan(); {
	case m.fence != 0:
		return m.fenceFrom(text, final)
	case span > 0:
		return closingBackticks(text, span, final)
	}
	return 0, no
}

// fenceFrom reads line by line to the end of the fence.
func (m *markdown) fenceFrom(text string, final bool) (int, verdict) {
	head := string(m.head)
	for at := 0; at < len(text); head = "" {
		line, _, whole := strings.Cut(text[at:], "\n")
		next := at + len(line) + 1
		switch end := m.fenceEndIn(head + line); {
		case end == before && at == 0:
			return 0, no
		case end == before:
			return at, yes
		case end == behind && whole:
			return next, yes
		case end == behind && final:
			return len(text), yes
		}
		at = next
	}
	return 0, maybe
}

// closingBackticks finds the `length` backticks that close the code span in the line, and where the text begins after.
func closingBackticks(text string, length int, final bool) (int, verdict) {
	line, _, whole := strings.Cut(text, "\n")
	run := 0
	for i := range len(line) {
		if line[i] == '`' {
			run++
			continue
		}
		if run == length {
			return i, yes
		}
		run = 0
	}
	switch {
	case (whole || final) && run == length:
		return len(line), yes
	case whole || final:
		return 0, no
	}
	return 0, maybe
}

// quotationForm is the form of the quotation around this place; "" if there is none.
func (m *markdown) quotationForm() Form {
	switch l := blocksOf(string(m.head), m.list); {
	case l.quotes > 0:
		return Blockquote
	case l.text == "" && l.indented(m):
		return Indented
	}
	return ""
}

// blocks are the blocks around the beginning of a line.
type blocks struct {
	quotes int    // marks of blockquotes
	item   int    // the column of the text of a list item that begins here; 0: none does
	indent int    // columns before the text, after the last blockquote mark
	text   string // what follows, without the blanks at its end
}

// indented says whether the line is indented code.
func (l blocks) indented(m *markdown) bool {
	return !m.paragraph && l.item == 0 && l.quotes == 0 && l.indent >= codeIndent+m.list
}

// blocksOf reads the beginning of a line. list is the column where the text of the current list item begins.
func blocksOf(line string, list int) (l blocks) {
	i, column, base := 0, 0, 0
	for i < len(line) {
		switch c := line[i]; {
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
			if i < len(line) && line[i] == ' ' {
				i++
			}
			continue
		}
		n := itemMark(line[i:])
		if n == 0 || column-base >= codeIndent+list {
			break
		}
		i, column = i+n, column+n
		l.item = column - base
	}
	l.indent = column - base
	l.text = strings.TrimRight(line[i:], " \t\r")
	return l
}

// itemMark is the length of the mark of a list item, with the blank after it; 0 if there is none.
func itemMark(text string) int {
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
