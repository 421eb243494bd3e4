package signal

const (
	longestHead = 120 // bytes of a line that are kept, to see in which blocks it stands
	codeIndent  = 4   // columns
)

// markdown follows as much of CommonMark, and of HTML, as says where code and quotations stand. It looks at each byte
// once.
type markdown struct {
	head      [longestHead]byte // the beginning of the line
	headed    int               // bytes of it
	tail      [3]byte           // the last bytes of it
	odd       bool              // an odd number of double quotation marks stands before, in the line
	list      int               // the column where the text of the item begins in which the lines stand; 0: there is none
	table     bool              // a table goes on until a blank line
	paragraph bool              // the line before is text, so that an indented one is no code
	tag       string            // of HTML, as far as it is read; "": none is
	open      [len(quotingElements)]bool

	inLine bool // something other than up to three blanks stands before, in this line
	spaces int  // leading blanks of the line so far

	mark     byte // the run of backticks or tildes that is being read
	run      int
	runOpens bool // the run stands at the beginning of its line
	fence    byte // the mark of the open fence, 0 without one
	fenceLen int
	quoted   bool // the open fence stands in a blockquote
	info     bool // still in the opening line of the fence
	mayClose bool // a closing run was read, and only blanks since
	span     int  // length of the run that opened a code span in this line, 0 without one
}

// keep keeps a byte of the line.
func (m *markdown) keep(c byte) {
	if m.headed < longestHead {
		m.head[m.headed] = c
		m.headed++
	}
	m.tail = [3]byte{m.tail[1], m.tail[2], c}
	if endsIn(m.tail, doubleMarks) {
		m.odd = !m.odd
	}
}

// byte takes the next byte of the text.
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
		m.tag = ""
		m.keep(c)
		return
	}
	m.endRun()
	if c != '\n' {
		m.keep(c)
	}
	if m.fence == 0 && m.span == 0 {
		m.element(c)
	}
	if m.quoted && m.fence != 0 {
		if l := m.blocks(); !l.prefix && l.quotes == 0 { // the line has left the blockquote
			m.fence, m.quoted = 0, false
		}
	}
	switch {
	case c == '\n':
		m.newline()
	case c == ' ' && !m.inLine && m.spaces < 3:
		m.spaces++
	case isSpace(c):
		m.inLine = true
	default:
		m.inLine = true
		m.mayClose = false
	}
}

// mayFence says whether a run of marks here, which may stand behind marks of blocks, may open a fence, or close the one
// that is open.
func (m *markdown) mayFence() bool {
	l := m.blocks()
	if m.fence != 0 {
		return !m.inLine || l.prefix && l.item == 0 && l.indent < codeIndent+m.list
	}
	m.quoted = l.quotes > 0
	return !m.inLine || l.prefix && (l.item > 0 || l.indent < codeIndent+m.list)
}

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
	switch l := m.blocks(); {
	case m.fence != 0: // where nothing is a block
		m.paragraph, m.table = false, false
	case l.blank:
		m.paragraph, m.table = l.quotes > 0 && m.paragraph, false
	default:
		switch {
		case l.item > 0:
			m.list = l.item
		case l.indent < m.list && !m.paragraph:
			m.list = l.indent
		}
		m.table = m.table || l.rule
		m.paragraph = !l.indented(m)
	}
	if m.mayClose {
		m.fence = 0
	}
	m.quoted = m.quoted && m.fence != 0
	m.headed, m.tail, m.odd = 0, [3]byte{}, false
	m.inLine, m.spaces, m.info, m.mayClose, m.span = false, 0, false, false, 0
}

// inCode says that a fence is open here, or a span that may still be closed.
func (m *markdown) inCode() bool {
	now := *m
	now.endRun()
	return now.fence != 0 || now.span > 0
}

// shields says whether code protects the text from here on, and for how many bytes: yes, if the code's end is in it;
// no, if there is no code, or its end can't come any more; maybe, if the end is still to come.
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
