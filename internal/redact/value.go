package redact

// value is what a sign gives to a name.
type value struct {
	start, end int
	literal    bool // it stands in quotes, or alone on a line of settings: no expression
	words      bool // there are blanks in it
	line       bool // it ends its line
}

// valueAfter finds the value that begins after the sign at i.
func valueAfter[T text](t T, i int) value {
	at := i + 1
	for at < len(t) && (t[at] == '=' || t[at] == '>' || t[at] == ':' || t[at] == '~') { // :=, =>, ==
		at++
	}
	if next := afterSlashes(t, at); next > at && holdsAt(t, next, escapedMore) { // =>
		at = next + len(escapedMore)
	}
	joined := at == i+1 && at < len(t) && t[at] != ' '
	for gap := 0; gap < longestGap && at < len(t) && (t[at] == ' ' || t[at] == '\t' || t[at] == '*'); gap++ {
		at++
	}
	quote := at
	if quote+1 < len(t) && (t[quote] == 'b' || t[quote] == 'r' || t[quote] == 'u' || t[quote] == '@') && isQuote(t[quote+1]) {
		quote++
	}
	for quote < len(t) && t[quote] == '\\' {
		quote++
	}
	if quote < len(t) && isQuote(t[quote]) {
		return quotedValue(t, quote)
	}
	switch start := nameStart(t, i); {
	case !joined || t[i] != '=':
	case start > 0 && isQuote(t[start-1]): // a setting that stands in quotes
		v := plainValue(t, at)
		v.literal = true
		return v
	case beginsSetting(t, start):
		return settingValue(t, at)
	}
	return plainValue(t, at)
}

// quotedValue ends at the quote that it begins with, before which there may be backslashes. Blanks in it say that it is prose.
func quotedValue[T text](t T, quote int) value {
	end := quote + 1
	for stop := min(len(t), end+longestValue); end < stop && t[end] != t[quote] && t[end] > ' '; end++ {
		if t[end] == '\\' && end+1 < len(t) && (t[end+1] == 'n' || t[end+1] == 'r' || t[end+1] == 'x' || t[end+1] == t[quote]) {
			return value{start: quote + 1, end: end, literal: true}
		}
	}
	if end < len(t) && t[end] == ' ' && end > quote+1 {
		return wordsValue(t, quote, end)
	}
	for last := end; last > quote+1 && last < len(t) && t[last-1] == '\\'; last-- { // of the closing quote
		end = last - 1
	}
	return value{start: quote + 1, end: end, literal: true}
}

// wordsValue is a quoted value with blanks: prose, unless it is that of a header.
func wordsValue[T text](t T, quote, blank int) value {
	end := blank
	for stop := min(len(t), blank+longestValue); end < stop && t[end] != t[quote] && t[end] >= ' ' && t[end] != '\\'; end++ {
	}
	return value{start: quote + 1, end: end, words: true}
}

// beginsSetting says whether the name at start begins its line, as in a file of environment variables.
func beginsSetting[T text](t T, start int) bool {
	const export = "export "
	if endsWith(t, start, export) {
		start -= len(export)
	}
	return start == 0 || t[start-1] == '\n' || endsWith(t, start, `\n`)
}

// settingValue goes to the end of the line, or to a blank.
func settingValue[T text](t T, at int) value {
	end := at
	for stop := min(len(t), at+longestValue); end < stop && t[end] > ' ' && t[end] != '"' && !escapeEnds(t, end); end++ {
	}
	for end > at && (t[end-1] == '.' || t[end-1] == ',') {
		end--
	}
	return value{start: at, end: end, literal: true}
}

// How JSON may write < and >, behind a backslash.
const escapedLess, escapedMore = "u003c", "u003e"

func holdsAt[T text](t T, i int, word string) bool {
	return len(t)-i >= len(word) && string(t[i:i+len(word)]) == word
}

// afterSlashes is where the backslashes end that begin at i.
func afterSlashes[T text](t T, i int) int {
	for i < len(t) && t[i] == '\\' {
		i++
	}
	return i
}

// taggedSecret returns where the secret stands between tags whose signs JSON has escaped, behind the one at i.
func taggedSecret[T text](t T, i int) (start, end int) {
	slash := i
	for slash > 0 && t[slash-1] == '\\' {
		slash--
	}
	name := nameStart(t, slash)
	if slash == i || name == slash || !endsWith(t, name, escapedLess) {
		return -1, -1
	}
	kind, v := kindOf(t, name, slash), plainValue(t, i+len(escapedMore))
	if kind < strong || v.end <= v.start || !isSecret(t, v, kind, false) {
		return -1, -1
	}
	return v.start, v.end
}

// escapeEnds says whether an escape at i ends a value: all but \/ and \u0026, which stand for signs within.
func escapeEnds[T text](t T, i int) bool {
	if t[i] != '\\' || i+1 == len(t) {
		return false
	}
	c := t[i+1]
	if holdsAt(t, afterSlashes(t, i), escapedLess) {
		return true
	}
	return c == 'n' || c == 'r' || c == 't' || c == 'x' || isQuote(c) || c == '\\' && i+2 < len(t) && (t[i+2] == 'n' || t[i+2] == 'r' || isQuote(t[i+2]))
}

// plainValue ends where an unquoted value does in code, YAML, a URL or a connection string. What goes on as an expression is none.
func plainValue[T text](t T, at int) value {
	end := at
	for stop := min(len(t), at+longestValue); end < stop && t[end] > ' ' && !isQuote(t[end]) && !escapeEnds(t, end); end++ {
		switch t[end] {
		case '(', '[', '{':
			return value{start: at, end: at}
		case ')', ']', '}', '<', '>', ';', '|':
			return value{start: at, end: trimmed(t, at, end)}
		case '&':
			if nextOfQuery(t, end+1) {
				return value{start: at, end: trimmed(t, at, end)}
			}
		case ',':
			if end+1 == len(t) || t[end+1] <= ' ' || t[end+1] == '\\' || isQuote(t[end+1]) {
				return value{start: at, end: trimmed(t, at, end)}
			}
		}
	}
	if end < len(t) && isQuote(t[end]) {
		return value{start: at, end: end, line: true}
	}
	return value{start: at, end: trimmed(t, at, end), line: end == len(t) || t[end] == '\n' || t[end] == '\r' || t[end] == '\\'}
}

// nextOfQuery says whether what follows & is no part of a value: another name with its value, an entity of HTML, a second &.
func nextOfQuery[T text](t T, i int) bool {
	end := i
	for end < len(t) && end-i < longestName && (isURLSafe(t[end]) || t[end] == '.' || t[end] == '%') {
		end++
	}
	return end == len(t) || t[end] == '=' || t[end] == ';' || t[end] == '&'
}

// trimmed leaves out the signs that end a sentence.
func trimmed[T text](t T, start, end int) int {
	for end > start && (t[end-1] == '.' || t[end-1] == ',' || t[end-1] == ':' || t[end-1] == '!' || t[end-1] == '?' || t[end-1] == '*') {
		end--
	}
	return end
}

// The measure. Of random characters less than one value in a hundred falls below enough bits for each of them; words, paths and identifiers stay
// below as well.
const (
	leastSecret = 8
	leastWeak   = 20
	leastHex    = 16
	enoughBits  = 4.4
	manyBits    = 4.8 // where the name says little, or an expression or a word may stand
	mostBits    = 5.0 // where joined words or a path may stand
)

// isSecret says whether a value is one, beside a name of that kind. joined: the sign was =.
func isSecret[T text](t T, v value, kind telling, joined bool) bool {
	text := t[v.start:v.end]
	n, c := len(text), classes(text)
	if v.words || n < leastSecret || isPlaceholder(text) || c.digits+c.signs == n {
		return false
	}
	rate := surprise(text) / float64(n)
	switch {
	case kind == weak:
		return n >= leastWeak && (v.literal || joined) && c.digits > 0 && c.letters() > 0 && !isUUID(text) && !c.hex && rate >= manyBits
	case c.hex && c.digits > 0 && n >= leastHex:
		return true
	case isUUID(text):
		return true
	case kind == password && (v.literal || v.line) && c.kinds() >= 3 && c.signs > 0 && !c.path:
		return true
	case c.path && c.signs > 0:
		return rate >= mostBits
	case v.literal && c.digits+c.signs > 0:
		return rate >= enoughBits
	}
	return rate >= manyBits && (v.literal || c.digits > 0)
}

// counts says of which classes the characters of a text are.
type counts struct {
	lower, upper, digits, signs int
	hex                         bool // digits and letters of hexadecimal numbers alone
	path                        bool // holds the signs of paths and of joined words, and no others
}

func (c counts) letters() int { return c.lower + c.upper }

func (c counts) kinds() (n int) {
	for _, some := range []int{c.lower, c.upper, c.digits, c.signs} {
		if some > 0 {
			n++
		}
	}
	return n
}

func classes[T text](t T) counts {
	c := counts{hex: true, path: true}
	for i := range len(t) {
		switch b := t[i]; {
		case isDigit(b):
			c.digits++
		case isLower(b):
			c.lower++
			c.hex = c.hex && b <= 'f'
		case isUpper(b):
			c.upper++
			c.hex = c.hex && b <= 'F'
		default:
			c.signs++
			c.hex = false
			c.path = c.path && (b == '/' || b == '.' || b == '-' || b == '_' || b == ':')
		}
	}
	return c
}

// isPlaceholder says whether a text stands for a secret that is elsewhere: a variable, a verb of a format, an address, a mask.
func isPlaceholder[T text](t T) bool {
	if len(t) == 0 || t[0] == '<' || t[0] == '{' || t[0] == '[' || t[0] == ',' {
		return true
	}
	for i := 0; i+1 < len(t); i++ {
		switch c, next := t[i], t[i+1]; {
		case c == '$' && (next == '{' || next == '('), c == '{' && next == '{', c == '%' && (next == '(' || next == '{'):
			return true
		case c == '$' && i == 0 && (isUpper(next) || next == '_'):
			return true
		case c == '%' && (next == 's' || next == 'v' || next == 'q' || next == 'd') && i+2 == len(t):
			return true
		case c == ':' && next == '/' && i+2 < len(t) && (t[i+2] == '/' || t[i+2] == '\\'):
			return true
		case c == '*' && next == '*', c == '.' && next == '.' && i+2 == len(t):
			return true
		}
	}
	return false
}

// isUUID says whether t is one, in its usual spelling.
func isUUID[T text](t T) bool {
	if len(t) != 36 {
		return false
	}
	for i := range len(t) {
		switch c := t[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f'):
			return false
		}
	}
	return true
}
