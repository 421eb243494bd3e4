// Package markdown reads a Markdown text line by line: its headings, the code blocks in which there are none, and what
// a reader sees of a line.
package markdown

import "strings"

// Fence follows code blocks between lines of ``` or ~~~ (CommonMark 0.31, section 4.5).
type Fence struct {
	mark   byte // of the open block; 0 outside
	length int
}

// Covers says whether line belongs to a code block, its fences included. It must be called for every line in order.
func (f *Fence) Covers(line string) bool {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return f.mark != 0
	}
	mark := rest[0]
	info := strings.TrimLeft(rest, string(mark))
	length := len(rest) - len(info)
	switch {
	case f.mark == 0 && length >= 3 && (mark == '~' || !strings.Contains(info, "`")):
		f.mark, f.length = mark, length
		return true
	case f.mark == mark && length >= f.length && strings.TrimSpace(info) == "":
		f.mark = 0
		return true
	}
	return f.mark != 0
}

// End is the line that closes a block that is still open after all lines; "" if none is.
func (f *Fence) End() string {
	if f.mark == 0 {
		return ""
	}
	return strings.Repeat(string(f.mark), f.length)
}

// Heading reads an ATX heading (CommonMark 0.31, section 4.2).
func Heading(line string) (level int, text string, is bool) {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || !strings.HasPrefix(rest, "#") {
		return 0, "", false
	}
	text = strings.TrimLeft(rest, "#")
	level = len(rest) - len(text)
	if level > 6 || text != "" && text[0] != ' ' && text[0] != '\t' {
		return 0, "", false
	}
	text = strings.TrimSpace(text)
	if open := strings.TrimRight(text, "#"); open == "" || strings.HasSuffix(open, " ") {
		text = strings.TrimSpace(open)
	}
	return level, text, true
}
