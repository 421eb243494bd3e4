package wire

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/text/markdown"
)

// splitter splits what a model writes, as it arrives, into its answer and its thinking, and drops the tokens by which
// its template begins and ends messages. Servers should do this, but many know the templates of some models only.
//
// Marks in code, in quoted lines and in quotation marks are text, and so is a mark that is a word of a sentence. Calls
// that are written as text stay text. The result is the same however the text is cut into chunks.
type splitter struct {
	answer, thinking strings.Builder

	held     []byte // text that can't be decided yet
	mode     splitMode
	line     lineState
	since    int    // where the answer since the last thinking begins: a closing mark alone makes thinking of it
	block    []byte // the thinking that is open
	fresh    []byte // thinking that nobody has taken yet
	unsure   bool   // block begins with a mark that may be a mention: if it has no end, it is text
	end      endOfThinking
	mentions int  // marks that open thinking and are only mentioned
	started  bool // the answer is not blank
	anew     bool // what was returned before is replaced
	removed  bool // something was removed
	toTool   bool // a header names a tool: the message is a call
	thought  bool // thinking has ended
	wrapped  bool // an element around the answer was opened
}

type splitMode uint8

const (
	inAnswer splitMode = iota
	inThinking
	isOver // another role speaks: the model goes on with a conversation that it makes up
)

// endOfThinking says by what thinking ends: a closing mark, the next message, or words.
type endOfThinking uint8

const (
	byMark endOfThinking = iota
	byMessage
	byWords
)

// maxMark bounds how much text is looked at to decide about a mark, in bytes; maxSpan does so for a span of code.
const (
	maxMark = 400
	maxSpan = 4 << 10
)

// markStarts are the first bytes of marks.
const markStarts = "<[\u25c1"

// write adds a chunk, and returns how the answer goes on; with anew, it replaces all that was returned before.
func (s *splitter) write(chunk string) (text string, anew bool) {
	if len(s.held) == 0 && s.mode == inAnswer && s.started && !strings.ContainsAny(chunk, markStarts) {
		s.keep(chunk)
		return chunk, false
	}
	return s.scan(string(append(s.held, chunk...)), false)
}

// close ends the reply, and returns the rest of the answer.
func (s *splitter) close() (text string, anew bool) {
	text, anew = s.scan(string(s.held), true)
	if s.mode != inThinking {
		return text, anew
	}
	s.mode = inAnswer
	if s.unsure {
		s.answer.Write(s.block)
		return text + string(s.block), anew
	}
	s.endThinking()
	return text, anew
}

// scan reads text, and holds what can't be decided yet.
func (s *splitter) scan(text string, final bool) (shown string, anew bool) {
	from := s.answer.Len()
	s.anew = false
	for text != "" {
		n, wait := s.step(text, final)
		if wait {
			break
		}
		text = text[n:]
	}
	s.held = append(s.held[:0], text...)
	if s.anew {
		from = 0
	}
	return s.answer.String()[from:], s.anew
}

// step reads some text, or changes only how the rest is read. With wait, it needs more text to decide.
func (s *splitter) step(text string, final bool) (n int, wait bool) {
	switch s.mode {
	case inThinking:
		return s.readThinking(text, final)
	case isOver:
		return len(text), false
	}
	if !s.started {
		blanks := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
		switch {
		case blanks > 0 && s.removed:
			return blanks, false
		case blanks > 0:
			return s.keep(text[:blanks]), false
		}
		if n, wait := s.readOpeningWords(text, final); n > 0 || wait {
			return n, wait
		}
	}
	switch at := strings.IndexAny(text, markStarts); {
	case at < 0:
		return s.keep(text), false
	case at > 0:
		return s.keep(text[:at]), false
	}
	return s.readMarkInAnswer(text, final)
}

// keep adds text to the answer.
func (s *splitter) keep(text string) (n int) {
	s.line.add(text)
	s.answer.WriteString(text)
	s.started = s.started || strings.TrimSpace(text) != ""
	return len(text)
}

// keepOne keeps the character that a mark would begin with.
func (s *splitter) keepOne(text string) int {
	_, size := utf8.DecodeRuneInString(text)
	return s.keep(text[:size])
}

// drop removes n bytes of the reply.
func (s *splitter) drop(n int) int {
	s.removed = true
	return n
}

// readMarkInAnswer reads a mark at the beginning of text.
func (s *splitter) readMarkInAnswer(text string, final bool) (n int, wait bool) {
	if s.line.inFence || s.line.isQuoted() {
		return s.keepOne(text), false
	}
	if span := s.line.openSpan(); span > 0 {
		switch n, decided := closingSpan(text[:min(len(text), maxSpan)], span); {
		case n > 0:
			return s.keep(text[:n]), false
		case !decided && !final && len(text) < maxSpan:
			return 0, true
		}
	}
	window := text[:min(len(text), maxMark)]
	more := !final && len(text) < maxMark // may come and decide
	m, v := readMark(window)
	switch {
	case v == maybe && more:
		return 0, true
	case v != yes:
		return s.keepOne(text), false
	}
	rest := window[m.n:]
	if strings.TrimLeft(rest, " \t\r") == "" && more {
		return 0, true
	}
	if s.line.mentions(rest) {
		switch m.kind {
		case opensThinking:
			s.mentions++
		case closesThinking:
			s.mentions = max(0, s.mentions-1)
		}
		return s.keepOne(text), false
	}
	switch m.kind {
	case opensThinking:
		end := byMark
		if m.name != "" {
			end = byMessage
		}
		s.beginThinking(end, text[:m.n], !s.line.isClear())
		return m.n, false
	case closesThinking:
		if s.mentions > 0 {
			s.mentions--
			return s.keepOne(text), false
		}
		s.retract()
		return s.drop(m.n), false
	case channel, beginsMessage:
		if n, wait = s.readHeader(m, rest, more); n == 0 && !wait {
			n = s.keepOne(text)
		}
		return n, wait
	case endsMessage:
		if is, wait := s.endsHere(m, rest, more); !is || wait {
			if !wait {
				n = s.keepOne(text)
			}
			return n, wait
		}
		s.line.over = true
		if m.name == "close" {
			header, end, whole := cutHeader(rest)
			if !whole && more {
				return 0, true
			}
			m.n += len(header) + end
		}
	case opensAnswer:
		if !s.thought || strings.TrimSpace(s.answer.String()[s.since:]) != "" {
			return s.keepOne(text), false
		}
		s.wrapped = true
	case closesAnswer:
		if !s.wrapped {
			return s.keepOne(text), false
		}
		s.wrapped = false
	case separator:
		if s.toTool {
			s.toTool = false
			return s.keepOne(text), false
		}
	case emptyThinking:
	}
	return s.drop(m.n), false
}

// endsHere says whether a mark ends a message. One that is also an ordinary element does so at the end of the reply, or
// where another message begins.
func (s *splitter) endsHere(m mark, rest string, more bool) (is, wait bool) {
	if !m.weak {
		return true, false
	}
	rest = strings.TrimSpace(rest)
	next, v := readMark(rest)
	switch {
	case strings.Contains(s.answer.String(), "<s>"):
		return false, false
	case rest == "":
		return true, more
	case v == maybe:
		return false, more
	}
	return next.kind == beginsMessage, false
}

func (s *splitter) beginThinking(end endOfThinking, mark string, unsure bool) {
	s.mode, s.end, s.unsure, s.block = inThinking, end, unsure, s.block[:0]
	if unsure {
		s.block = append(s.block, mark...)
	}
}

func (s *splitter) endThinking() {
	s.thinking.Write(append(s.block, '\n'))
	s.block = s.block[:0]
	s.leaveThinking()
}

// leaveThinking goes on with the answer behind thinking.
func (s *splitter) leaveThinking() {
	s.mode, s.since, s.thought, s.removed, s.line = inAnswer, s.answer.Len(), true, true, lineState{}
}

// retract makes thinking of the answer since the last thinking.
func (s *splitter) retract() {
	whole := s.answer.String()
	if s.thinking.WriteString(whole[s.since:] + "\n"); s.since < len(whole) {
		s.anew = true
		s.answer.Reset()
		s.answer.WriteString(whole[:s.since])
		s.started = strings.TrimSpace(whole[:s.since]) != ""
	}
	s.leaveThinking()
}

// readThinking reads thinking up to what may end it, or its end.
func (s *splitter) readThinking(text string, final bool) (n int, wait bool) {
	starts := markStarts
	if s.end == byWords {
		starts = "aH"
	}
	switch at := strings.IndexAny(text, starts); {
	case at < 0:
		return s.think(text), false
	case at > 0:
		return s.think(text[:at]), false
	}
	window := text[:min(len(text), maxMark)]
	more := !final && len(text) < maxMark
	if s.end == byWords {
		if n, wait := hasPrefixOf(window, more, "assistantfinal", "Here is my response:", "Here's my response:",
			readerInWords); wait {
			return 0, true
		} else if n > 0 {
			if strings.HasPrefix(window, readerInWords) {
				n = len(ownRole) // the call stays
			}
			s.endThinking()
			return n, false
		}
	} else {
		m, v := readMark(window)
		switch {
		case v == maybe && more:
			return 0, true
		case v == yes && m.kind == closesThinking:
			s.endThinking()
			return m.n, false
		case v == yes && s.end == byMessage && (m.kind == channel || m.kind == beginsMessage || m.kind == endsMessage):
			s.endThinking()
			return 0, false // the mark is the next message's
		}
	}
	_, size := utf8.DecodeRuneInString(text)
	return s.think(text[:size]), false
}

// think adds text to the thinking that is open.
func (s *splitter) think(text string) (n int) {
	s.block = append(s.block, text...)
	if !s.unsure {
		s.fresh = append(s.fresh, text...)
	}
	return len(text)
}

// takeThought returns the thinking that was read since it was last called.
func (s *splitter) takeThought() string {
	fresh := string(s.fresh)
	s.fresh = s.fresh[:0]
	return fresh
}

// hasPrefixOf returns the length of the one of words that text begins with; wait says that it may yet.
func hasPrefixOf(text string, more bool, words ...string) (n int, wait bool) {
	for _, w := range words {
		if strings.HasPrefix(text, w) {
			return len(w), false
		}
		wait = wait || more && strings.HasPrefix(w, text)
	}
	return 0, wait
}

// readerInWords is how a message to a tool begins where a server leaves out the special tokens around it.
const readerInWords = "assistantcommentary to="

// readOpeningWords reads the words with which some models begin to think, or do where a server leaves out their special
// tokens.
func (s *splitter) readOpeningWords(text string, final bool) (n int, wait bool) {
	if n, wait := hasPrefixOf(text, !final, strings.TrimPrefix(readerInWords, ownRole)); n > 0 || wait {
		at := strings.IndexByte(text, '{')
		switch {
		case n > 0 && at > 0 && at < maxMark:
			s.keep("<|channel|>" + text[:at] + "<|message|>")
			return at, false
		case wait || at < 0 && !final && len(text) < maxMark:
			return 0, true
		}
	}
	const bare = "analysis"
	n, wait = hasPrefixOf(text, !final, bare, "Here is my thought process:", "Here's my thought process:")
	if n == len(bare) {
		if n == len(text) && !final {
			return 0, true
		}
		if r, _ := utf8.DecodeRuneInString(text[n:]); !unicode.IsUpper(r) {
			return 0, false
		}
	}
	if n > 0 {
		s.beginThinking(byWords, text[:n], true)
	}
	return n, wait
}

// readHeader reads the header of a message or of a channel, and returns the length of both; 0: they are text. The
// header of a call stays with it.
func (s *splitter) readHeader(m mark, rest string, more bool) (n int, wait bool) {
	header, end, word := "", 0, m.role
	if word == "" {
		var whole bool
		if header, end, whole = cutHeader(rest); !whole && more {
			return 0, true
		}
		if strings.Contains(header, "to=") {
			s.toTool = true
			return 0, false
		}
		trimmed := strings.ToLower(strings.TrimLeft(header, " "))
		trimmed, form, _ := strings.Cut(trimmed, "<|constrain|>")
		word = trimmed
		if at := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' }); at >= 0 {
			word = word[:at]
		}
		if word != strings.TrimSpace(trimmed) && form == "" { // text follows in the line
			header, end = header[:len(header)-len(trimmed)+len(word)], 0
		}
	}
	n = m.n + len(header) + end
	if m.kind == channel {
		return s.readChannel(word, n), false
	}
	switch word {
	case "", ownRole, "model", "ai", "content":
		return s.drop(n), false
	}
	if !s.line.over && !s.line.isClear() {
		return 0, false
	}
	s.mode = isOver
	return s.drop(n), false
}

func (s *splitter) readChannel(name string, n int) int {
	switch {
	case s.toTool:
		return 0
	case name == "analysis", isThinkingName(name):
		s.beginThinking(byMessage, "", false)
		return s.drop(n)
	case name == "final", name == "commentary", name == "response", name == "content":
		if s.started && s.line.lastWord != 0 { // words before the answer, in a message of their own
			s.keep("\n\n")
		}
		return s.drop(n)
	}
	return 0
}

// cutHeader cuts the header of a message, which ends with its line or before the next mark; end is the length of what
// separates it from the text.
func cutHeader(rest string) (header string, end int, whole bool) {
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\n':
			return rest[:i], 1, true
		case '<':
			switch m, v := readMark(rest[i:]); {
			case v == maybe:
				return rest[:i], 0, false
			case v == yes && m.kind == separator:
				return rest[:i], m.n, true
			case v == yes:
				return rest[:i], 0, true
			}
		}
	}
	return rest, 0, false
}

// lineState is what is known of the line of the answer in which the next mark stands.
type lineState struct {
	fence     markdown.Fence
	inFence   bool
	text      []byte // its beginning
	last      rune   // its last character
	lastWord  rune   // its last character that is no blank
	run, span int    // backticks: those being read, and those that opened a span of code
	over      bool   // nothing but blanks came since a message has ended
}

// maxLine bounds how much of a line is kept, in bytes: enough to see a fence.
const maxLine = 200

func (l *lineState) add(text string) {
	for {
		part, rest, ends := strings.Cut(text, "\n")
		l.addPart(part)
		if !ends {
			return
		}
		l.inFence = l.fence.Covers(string(l.text)) && l.fence.End() != ""
		l.text, l.last, l.lastWord, l.run, l.span = l.text[:0], 0, 0, 0, 0
		text = rest
	}
}

func (l *lineState) addPart(part string) {
	if part == "" {
		return
	}
	if n := maxLine - len(l.text); n > 0 {
		l.text = append(l.text, part[:min(n, len(part))]...)
	}
	for i := 0; i < len(part) && (l.run > 0 || strings.IndexByte(part[i:], '`') >= 0); i++ {
		if part[i] == '`' {
			l.run++
		} else {
			l.span, l.run = l.openSpan(), 0
		}
	}
	l.last, _ = utf8.DecodeLastRuneInString(part)
	if words := strings.TrimRightFunc(part, unicode.IsSpace); words != "" {
		l.lastWord, _ = utf8.DecodeLastRuneInString(words)
		l.over = false
	}
}

// openSpan is the length of the backticks that opened the span of code around the next character; 0: there is none.
func (l *lineState) openSpan() int {
	switch {
	case l.run == 0:
		return l.span
	case l.span == 0:
		return l.run
	case l.span == l.run:
		return 0
	}
	return l.span
}

// closingSpan finds the backticks that close the span of code around text, in its line. decided says that the line has
// come whole.
func closingSpan(text string, span int) (n int, decided bool) {
	line, _, whole := strings.Cut(text, "\n")
	return max(0, strings.Index(line, strings.Repeat("`", span))), whole
}

func (l *lineState) isQuoted() bool {
	return strings.HasPrefix(strings.TrimLeft(string(l.text), " "), ">")
}

// isClear says whether a mark here is no part of a sentence: it begins a line, or follows the end of a sentence.
func (l *lineState) isClear() bool {
	return l.lastWord == 0 || l.over || strings.ContainsRune(".!?…:;。！？：", l.lastWord)
}

// quotes are signs around what is mentioned.
const quotes = "\"'`“”‘’«»„()[]{}"

// mentions says whether a mark is mentioned, by what is around it: signs of quotation, or words of a sentence with
// blanks.
func (l *lineState) mentions(rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch {
	case l.lastWord == 0 || rest == "":
		return false
	case strings.ContainsRune(quotes, l.last):
		return strings.ContainsRune(quotes, next)
	case l.last != ' ' || !unicode.IsLetter(l.lastWord) && l.lastWord != ',':
		return false
	case next != ' ':
		return strings.ContainsRune(",.;:!?"+quotes, next)
	}
	word, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
	return unicode.IsLower(word) || word == '<' || strings.ContainsRune(quotes, word)
}
