package signal

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

const tagName = "signal"

// readTagName says whether text begins with a bracket and the name of the element, and where the name ends.
func readTagName(text string) (n int, v verdict) {
	n, v = readWords(text, "<", tagName)
	switch {
	case v == no:
		return 0, no
	case v == maybe || n == len(text):
		return 0, maybe
	case isSpace(text[n]) || text[n] == '>' || text[n] == '/':
		return n, yes
	}
	return 0, no
}

// readWord says whether text has a word at i, in any case, and where the word ends.
func readWord(text string, i int, want string) (n int, v verdict) {
	n = min(len(text), i+len(want))
	switch {
	case !strings.EqualFold(text[i:n], want[:n-i]):
		return 0, no
	case n < i+len(want):
		return 0, maybe
	}
	return n, yes
}

// readWords says whether text begins with these words, with or without blanks between, and where the last one ends.
func readWords(text string, parts ...string) (n int, v verdict) {
	n, v = readWord(text, 0, parts[0])
	for _, part := range parts[1:] {
		if v == yes {
			n, v = readWord(text, skipBlanks(text, n), part)
		}
	}
	return n, v
}

// skipBlanks is the end of the blanks that begin at i.
func skipBlanks(text string, i int) int {
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// readMarkup reads from an open tag to the end of the signal. What is not a tag is a mention, and counts as text. A
// signal has begun once its open tag is complete and has a type. From then on its markup is never shown: without an
// end, it is removed up to the next signal or to the end of the stream; if MaxHeld bytes have no end, only the tag is
// removed.
func readMarkup(w window) decision {
	tag, v := readTag(w.text)
	switch {
	case v == no || v == maybe && w.full:
		return aMention
	case v == maybe && !w.final:
		return decision{kind: undecided}
	case v == maybe && tag.typed:
		return w.brokenSignal(len(w.text), "the text ends inside the signal's first tag")
	case v == maybe:
		return aMention
	case tag.selfClosed:
		return w.signalAt(0, tag.n, tag.n)
	}
	end, next := findEnd(w.text, tag.n)
	switch {
	case end > 0:
		return w.signalAt(0, end, end)
	case next > 0 && tag.typed:
		return w.brokenSignal(next, "another signal begins before this one ends")
	case next > 0:
		return aMention
	case w.full && tag.typed:
		return w.brokenSignal(tag.n, "the signal has no end")
	case w.final && tag.typed:
		return w.brokenSignal(len(w.text), reasonCutOff)
	case w.full || w.final:
		return aMention
	}
	return decision{kind: undecided}
}

const reasonCutOff = "the text ends inside the signal"

// tag is an open tag: n bytes long, with a type attribute or not.
type tag struct {
	n          int
	typed      bool
	selfClosed bool
}

const (
	tagBegin  = `(?i)^<\s*signal`
	attribute = `\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'|[\w:.,+%-]+)`
)

var (
	wholeTag = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(tagBegin + `(?:` + attribute + `)*\s*(/?)>`)
	})
	// partialTag matches the beginning of a tag.
	partialTag = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(tagBegin + `(?:` + attribute +
			`)*(?:\s*/?|\s+[\w:.-]+\s*(?:=\s*(?:"[^"<]*|'[^'<]*)?)?)$`)
	})
	attributeName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\s([\w:.-]+)\s*=\s*(?:"[^"]*"?|'[^']*'?)?`)
	})
)

// readTag reads attributes, each a name and a value without a bracket, up to the end of the tag. All else is no tag.
func readTag(text string) (t tag, v verdict) {
	n, v := readTagName(text)
	switch {
	case v != yes:
		return t, v
	case text[n] == '>':
		return tag{n: n + 1}, yes
	}
	next := strings.IndexByte(text[1:], '<') + 1
	if next > 0 {
		text = text[:next]
	}
	read, v := "", no
	if m := wholeTag().FindStringSubmatch(text); m != nil {
		read, v = m[0], yes
		t.n, t.selfClosed = len(read), m[1] != ""
	} else if next == 0 && partialTag().MatchString(text) {
		read, v = text, maybe
	}
	t.typed = slices.ContainsFunc(attributeName().FindAllStringSubmatch(read, -1), func(m []string) bool {
		return strings.EqualFold(m[1], "type")
	})
	return t, v
}

// findEnd finds the end of the closing tag, or else the beginning of another signal. It skips comments and CDATA.
func findEnd(text string, from int) (end, next int) {
	for i := from; i < len(text); {
		at := strings.IndexByte(text[i:], '<')
		if at < 0 {
			return 0, 0
		}
		i += at
		rest := text[i:]
		if over, known := commentLength(rest); known {
			if over == 0 {
				return 0, 0
			}
			i += over
			continue
		}
		if n, v := readWords(rest, "<", "/", tagName, ">"); v == yes {
			return i + n, 0
		}
		if _, v := readTagName(rest); v == yes {
			if t, v := readTag(rest); v == yes && t.typed {
				return 0, i
			} else if v == maybe {
				return 0, 0
			}
		}
		i++
	}
	return 0, 0
}

// commentLength is the length of a comment or CDATA section at the beginning of text; 0 if it has no end. known is
// false if there is none.
func commentLength(text string) (n int, known bool) {
	if len(text) < 2 || text[1] != '!' {
		return 0, false
	}
	for _, pair := range [...][2]string{{"<!--", "-->"}, {"<![CDATA[", "]]>"}} {
		open, shut := pair[0], pair[1]
		if strings.HasPrefix(text, open) {
			if at := strings.Index(text[len(open):], shut); at >= 0 {
				return len(open) + at + len(shut), true
			}
			return 0, true
		}
	}
	return 0, false
}
