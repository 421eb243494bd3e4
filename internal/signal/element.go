package signal

import "strings"

const tagName = "signal"

// begins says whether text begins with a bracket and the name of the element, and where the name ends.
func begins(text string) (n int, v verdict) {
	n, v = words(text, "<", tagName)
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

// word says whether a word stands at i, in any case, and where it ends.
func word(text string, i int, want string) (n int, v verdict) {
	n = min(len(text), i+len(want))
	switch {
	case !strings.EqualFold(text[i:n], want[:n-i]):
		return 0, no
	case n < i+len(want):
		return 0, maybe
	}
	return n, yes
}

// words says whether text begins with words between which blanks may stand, and where the last one ends.
func words(text string, parts ...string) (n int, v verdict) {
	n, v = word(text, 0, parts[0])
	for _, part := range parts[1:] {
		if v == yes {
			n, v = word(text, blanks(text, n), part)
		}
	}
	return n, v
}

// blanks is where the blanks from i on end.
func blanks(text string, i int) int {
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// readMarkup reads from an open tag to the end of the signal. What does not read as a tag was a mention, and is text. A
// signal began once its open tag is complete and names a type; from then on its markup is never shown: without an end
// it is stripped up to the next signal, to the end of the stream, or, where MaxHeld bytes hold no end, the tag alone.
func readMarkup(w window) decision {
	tag, v := readTag(w.text)
	switch {
	case v == no || v == maybe && w.full:
		return aMention
	case v == maybe && !w.final:
		return decision{what: undecided}
	case v == maybe && tag.typed:
		return w.broken(len(w.text), "the text ends inside the signal's first tag")
	case v == maybe:
		return aMention
	case tag.selfClosed:
		return w.markup(0, tag.n, tag.n)
	}
	end, next := findEnd(w.text, tag.n)
	switch {
	case end > 0:
		return w.markup(0, end, end)
	case next > 0 && tag.typed:
		return w.broken(next, "another signal begins before this one ends")
	case next > 0:
		return aMention
	case w.full && tag.typed:
		return w.broken(tag.n, "the signal has no end")
	case w.final && tag.typed:
		return w.broken(len(w.text), cutOff)
	case w.full || w.final:
		return aMention
	}
	return decision{what: undecided}
}

const cutOff = "the text ends inside the signal"

// tag is an open tag: n bytes long, with a type attribute or not.
type tag struct {
	n          int
	typed      bool
	selfClosed bool
}

// readTag reads attributes, each a name and a value, to the end of the tag. Anything else is no tag.
func readTag(text string) (t tag, v verdict) {
	i, v := begins(text)
	if v != yes {
		return t, v
	}
	for {
		spaced := i
		i = blanks(text, i)
		switch {
		case i == len(text):
			return t, maybe
		case text[i] == '>':
			t.n = i + 1
			return t, yes
		case text[i] == '/':
			if i+1 == len(text) {
				return t, maybe
			}
			t.n, t.selfClosed = i+2, true
			if text[i+1] != '>' {
				return t, no
			}
			return t, yes
		case i == spaced:
			return t, no
		}
		first := i
		for i < len(text) && isNameByte(text[i]) {
			i++
		}
		if i == first {
			return t, no
		}
		typed := strings.EqualFold(text[first:i], "type")
		if i = blanks(text, i); i == len(text) {
			return t, maybe
		}
		if text[i] != '=' {
			return t, no
		}
		t.typed = t.typed || typed
		if i = blanks(text, i+1); i == len(text) {
			return t, maybe
		}
		if i, v = readValue(text, i); v != yes {
			return t, v
		}
	}
}

// readValue gives the end of an attribute's value: in quotes, or a word.
func readValue(text string, i int) (end int, v verdict) {
	if text[i] != '"' && text[i] != '\'' {
		end = i
		for end < len(text) && (isNameByte(text[end]) || text[end] == ',' || text[end] == '+' || text[end] == '%') {
			end++
		}
		switch {
		case end == len(text):
			return 0, maybe
		case end == i:
			return 0, no
		}
		return end, yes
	}
	value := text[i+1:]
	n := strings.IndexByte(value, text[i])
	if n >= 0 {
		value = value[:n]
	}
	switch {
	case strings.IndexByte(value, '<') >= 0:
		return 0, no
	case n < 0:
		return 0, maybe
	}
	return i + n + 2, yes
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == ':' || c == '.'
}

// findEnd finds the byte after the closing tag, or else where another signal begins first. Comments and CDATA are
// passed over.
func findEnd(text string, from int) (end, next int) {
	for i := from; i < len(text); {
		at := strings.IndexByte(text[i:], '<')
		if at < 0 {
			return 0, 0
		}
		i += at
		rest := text[i:]
		if over, known := passOver(rest); known {
			if over == 0 {
				return 0, 0
			}
			i += over
			continue
		}
		if n, v := words(rest, "<", "/", tagName, ">"); v == yes {
			return i + n, 0
		}
		if _, v := begins(rest); v == yes {
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

// passOver gives the length of a comment or CDATA section; 0 if it does not end.
func passOver(text string) (n int, known bool) {
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
