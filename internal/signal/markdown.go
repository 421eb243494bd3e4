package signal

import "strings"

// markdown follows as much of CommonMark as says where code stands: fences, and spans within a line. Markup in code is text. What else
// makes a quotation of a text is followed around it.
type markdown struct {
	around quoting
	quoted bool // the open fence stands in a blockquote

	inLine bool // something other than up to three blanks stands before, in this line
	blanks int  // leading blanks of the line so far

	mark     byte // the run of backticks or tildes that is being read
	run      int
	runOpens bool // the run stands at the beginning of its line
	fence    byte // the mark of the open fence, 0 without one
	fenceLen int
	info     bool // still in the opening line of the fence
	mayClose bool // a closing run was read, and only blanks since
	span     int  // length of the run that opened a code span in this line, 0 without one
}

// quiet says that nothing is under way that the next ordinary byte would change.
func (m *markdown) quiet() bool {
	return m.inLine && m.run == 0 && !m.mayClose && m.around.tag == noTag && !m.quoted
}

// plain takes text that has no mark of Markdown in it.
func (m *markdown) plain(text string) {
	for text != "" {
		if m.quiet() && !m.info {
			line, rest, ends := strings.Cut(text, "\n")
			m.around.pass(line)
			if text = rest; ends {
				m.newline()
			}
			continue
		}
		m.byte(text[0])
		text = text[1:]
	}
}

func (m *markdown) byte(c byte) {
	if c == '`' || c == '~' {
		if m.run > 0 && m.mark == c {
			m.run++
			return
		}
		m.endRun()
		m.mark, m.run, m.runOpens = c, 1, m.mayFence()
		m.inLine = true
		m.mayClose = false
		m.around.tag = noTag
		m.around.byte(c)
		return
	}
	m.endRun()
	if c != '\n' {
		m.around.byte(c)
	}
	if m.fence == 0 && m.span == 0 {
		m.around.element(c)
	}
	if m.quoted && m.fence != 0 && m.around.leavesQuote() {
		m.fence, m.quoted = 0, false
	}
	switch {
	case c == '\n':
		m.newline()
	case c == ' ' && !m.inLine && m.blanks < 3:
		m.blanks++
	case isSpace(c):
		m.inLine = true
	default:
		m.inLine = true
		m.mayClose = false
	}
}

// mayFence says whether a run of marks here may open a fence, or close the one that is open.
func (m *markdown) mayFence() bool {
	if m.fence != 0 {
		return !m.inLine || m.around.closesFence()
	}
	may, quoted := m.around.opensFence()
	m.quoted = quoted
	return !m.inLine || may
}

// quotes says in which quotation the text here stands, if after ends it where that has to be seen.
func (m *markdown) quotes(after string) (Form, verdict) { return m.around.form(after) }

// endRun settles what a run of marks was, at the byte after it.
func (m *markdown) endRun() {
	if m.run == 0 {
		return
	}
	mark, run := m.mark, m.run
	m.run = 0
	switch {
	case m.fence != 0 && !m.info:
		m.mayClose = mark == m.fence && run >= m.fenceLen && m.runOpens
	case m.info && mark == '`' && m.fence == '`':
		// A backtick in the first line: the run was a code span's, not a fence's.
		opened := m.fenceLen
		m.fence, m.info, m.span = 0, false, opened
		if run == opened {
			m.span = 0
		}
	case m.info:
	case m.runOpens && run >= 3:
		m.fence, m.fenceLen, m.info = mark, run, true
	case mark == '`' && m.span == 0:
		m.span = run
	case mark == '`' && m.span == run:
		m.span = 0
	}
}

func (m *markdown) newline() {
	m.around.newline(m.fence != 0)
	if m.mayClose {
		m.fence = 0
	}
	m.quoted = m.quoted && m.fence != 0
	m.inLine, m.blanks, m.info, m.mayClose, m.span = false, 0, false, false, 0
}

// inCode says that a fence is open here, or a span that may still be closed.
func (m *markdown) inCode() bool {
	now := *m
	now.endRun()
	return now.fence != 0 || now.span > 0
}

// shields says whether code protects the text from here on, and for how many bytes: yes, if the code's end is in it; no, if
// there is no code, or its end can't come any more; maybe, if the end is still to come.
func (m *markdown) shields(text string, final bool) (n int, v verdict) {
	now := *m
	now.endRun()
	switch {
	case now.fence != 0:
		return fenceEnd(now, text, final)
	case now.span > 0:
		return spanEnd(text, now.span, final)
	}
	return 0, no
}

// fenceEnd reads on until the fence is closed.
func fenceEnd(m markdown, text string, final bool) (int, verdict) {
	for i := 0; i < len(text); i++ {
		was := m.fence
		m.byte(text[i])
		if was != 0 && m.fence == 0 {
			return i + 1, yes
		}
	}
	if final {
		m.endRun()
		if m.mayClose {
			return len(text), yes
		}
	}
	return 0, maybe
}

// spanEnd looks for a run of the same length in the line.
func spanEnd(text string, length int, final bool) (int, verdict) {
	run := 0
	for i := 0; i < len(text); i++ {
		if text[i] == '`' {
			run++
			continue
		}
		if run == length {
			return i, yes
		}
		run = 0
		if text[i] == '\n' {
			return 0, no
		}
	}
	switch {
	case final && run == length:
		return len(text), yes
	case final:
		return 0, no
	}
	return 0, maybe
}
