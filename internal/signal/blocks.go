package signal

import (
	"bytes"
	"strings"
)

// blocks are the blocks that the beginning of a line stands in.
type blocks struct {
	quotes int  // marks of blockquotes
	item   int  // the column of the text of an item of a list that begins here; 0: none does
	indent int  // columns before the text, from the last blockquote on
	blank  bool // there is no text, and no item
	row    bool // the text begins with a bar
	rule   bool // it is the line below the head of a table
	prefix bool // marks of blocks and blanks are all there is
}

// indented says whether the line is code for its indentation.
func (l blocks) indented(m *markdown) bool {
	return !m.paragraph && l.item == 0 && l.quotes == 0 && l.indent >= codeIndent+m.list
}

// blocks reads the beginning of the line.
func (m *markdown) blocks() (l blocks) {
	head, list := m.head[:m.headed], m.list
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
	text := string(bytes.TrimRight(head[i:], " \t\r"))
	l.row = strings.HasPrefix(text, "|")
	l.rule = strings.Trim(text, "|:- \t") == "" && strings.Contains(text, "|") && strings.Contains(text, "-")
	l.prefix = text == ""
	l.blank = l.prefix && l.item == 0
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
