package signal

import "strings"

// MaxHeld bounds, in bytes, how much text is held back while it may still be a signal.
const MaxHeld = 8 << 10

// Extract takes the signals out of a whole text.
func Extract(text string) (clean string, r Result) {
	var x Extractor
	clean = x.Write(text)
	rest, r := x.Close()
	return clean + rest, r
}

// Extractor takes signals out of a stream. Its zero value is ready. It is not safe for concurrent use.
type Extractor struct {
	held   string // begins with the bracket that may begin a signal
	offset int64  // of held in the stream
	mute   int    // so many bytes from here on are text, whatever they look like
	md     markdown
	result Result
}

// Write takes the next chunk and gives the text that can be shown by now. Text without markup is passed through without a copy.
func (x *Extractor) Write(chunk string) string {
	if x.held == "" && x.mute == 0 && !strings.ContainsAny(chunk, "<`~") {
		x.offset += int64(len(chunk))
		x.md.plain(chunk)
		return chunk
	}
	return x.scan(x.held+chunk, false)
}

// Close ends the stream: it gives the rest of the text, and what was found. The Extractor is not to be used any more.
func (x *Extractor) Close() (clean string, r Result) {
	clean = x.scan(x.held, true)
	return clean, x.result
}

// scan goes through held text and what follows it, and keeps what can't be decided yet.
func (x *Extractor) scan(text string, final bool) string {
	var out strings.Builder
	kept, i := 0, 0
	for i < len(text) {
		if text[i] != '<' || x.mute > 0 {
			if x.mute == 0 && !special[text[i]] && x.md.quiet() {
				// Nothing but a bracket or a mark of Markdown matters inside a line.
				for i++; i < len(text) && !special[text[i]]; i++ {
				}
				continue
			}
			x.md.byte(text[i])
			x.mute = max(0, x.mute-1)
			i++
			continue
		}
		d := x.decide(text[i:], final)
		switch d.what {
		case undecided:
			out.WriteString(text[kept:i])
			x.held = strings.Clone(text[i:])
			x.offset += int64(i)
			return out.String()
		case isText:
			x.mute = d.n
		case isMarkup:
			d.enter(&x.result, text[i:i+d.n], x.offset+int64(i))
			out.WriteString(text[kept:i])
			i += d.n
			kept = i
		}
	}
	x.held = ""
	x.offset += int64(len(text))
	if kept == 0 {
		return text
	}
	out.WriteString(text[kept:])
	return out.String()
}

// special marks the bytes that may begin a signal, or change what Markdown makes of the text.
var special = [256]bool{'<': true, '`': true, '~': true, '\n': true}

// decide settles what stands at a bracket. Within MaxHeld bytes it looks the same wherever the stream was cut.
func (x *Extractor) decide(rest string, final bool) decision {
	full := len(rest) >= MaxHeld
	window := rest[:min(len(rest), MaxHeld)]
	switch begins(window) {
	case no:
		return decision{what: isText, n: 1}
	case maybe:
		if final {
			return decision{what: isText, n: 1}
		}
		return decision{what: undecided}
	}
	if n, verdict := x.md.shields(window, final && !full); verdict != no {
		switch {
		case verdict == yes:
			return decision{what: isText, n: n}
		case full:
			return decision{what: isText, n: MaxHeld}
		case !final:
			return decision{what: undecided}
		}
		// The stream ends inside an open fence: what stands there counts.
	}
	return readMarkup(window, final && !full, full)
}

// decision is what stands at a bracket: n bytes of text, or n bytes of markup.
type decision struct {
	what   what
	n      int
	reason string // of markup that is no signal
}

type what uint8

const (
	undecided what = iota
	isText
	isMarkup
)

// enter keeps what the markup was.
func (d decision) enter(r *Result, raw string, offset int64) {
	if d.reason != "" {
		r.problem(d.reason, raw, offset)
		return
	}
	s, err := Parse(raw)
	if err != nil {
		r.problem(err.Error(), raw, offset)
		return
	}
	r.add(s)
}

type verdict uint8

const (
	no verdict = iota
	maybe
	yes
)

const (
	openTag  = "<signal"
	closeTag = "</signal"
)

// begins says whether text begins with the open tag's name.
func begins(text string) verdict {
	n := min(len(text), len(openTag))
	switch {
	case text[:n] != openTag[:n]:
		return no
	case len(text) <= len(openTag):
		return maybe
	case isSpace(text[n]) || text[n] == '>' || text[n] == '/':
		return yes
	}
	return no
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// spaces counts those that text begins with.
func spaces(text string) int { return len(text) - len(strings.TrimLeft(text, " \t\n\r")) }

// readMarkup reads from an open tag to the end of the signal. What does not read as a tag was a mention, and is text. A signal
// began once its open tag is complete and names a type; from then on its markup is never shown:
// without an end it is stripped up to the next signal, to the end of the stream, or, where MaxHeld bytes hold no end, the tag alone.
func readMarkup(text string, final, full bool) decision {
	tag, v := readTag(text)
	switch {
	case v == no:
		return decision{what: isText, n: 1}
	case v == maybe && full:
		return decision{what: isText, n: 1}
	case v == maybe && !final:
		return decision{what: undecided}
	case v == maybe && tag.typed:
		return decision{what: isMarkup, n: len(text), reason: "the text ends inside the signal's first tag"}
	case v == maybe:
		return decision{what: isText, n: 1}
	case tag.selfClosed:
		return decision{what: isMarkup, n: tag.n}
	}
	end, next := findEnd(text, tag.n)
	switch {
	case end > 0:
		return decision{what: isMarkup, n: end}
	case next > 0 && tag.typed:
		return decision{what: isMarkup, n: next, reason: "another signal begins before this one ends"}
	case next > 0:
		return decision{what: isText, n: 1}
	case full && tag.typed:
		return decision{what: isMarkup, n: tag.n, reason: "the signal has no end"}
	case final && tag.typed:
		return decision{what: isMarkup, n: len(text), reason: "the text ends inside the signal"}
	case full || final:
		return decision{what: isText, n: 1}
	}
	return decision{what: undecided}
}

// tag is an open tag: n bytes long, with a type attribute or not.
type tag struct {
	n          int
	typed      bool
	selfClosed bool
}

// readTag reads attributes, each a name and a quoted value, to the end of the tag. Anything else is no tag.
func readTag(text string) (t tag, v verdict) {
	i := len(openTag)
	for {
		spaced := i
		i += spaces(text[i:])
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
		name := i
		for i < len(text) && isNameByte(text[i]) {
			i++
		}
		if i == name {
			return t, no
		}
		typed := text[name:i] == "type"
		i += spaces(text[i:])
		if i == len(text) {
			return t, maybe
		}
		if text[i] != '=' {
			return t, no
		}
		t.typed = t.typed || typed
		i++
		i += spaces(text[i:])
		if i == len(text) {
			return t, maybe
		}
		if text[i] != '"' && text[i] != '\'' {
			return t, no
		}
		n := strings.IndexByte(text[i+1:], text[i])
		value := text[i+1:]
		if n >= 0 {
			value = value[:n]
		}
		if strings.IndexByte(value, '<') >= 0 {
			return t, no
		}
		if n < 0 {
			return t, maybe
		}
		i += n + 2
	}
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == ':' || c == '.'
}

// findEnd finds the byte after the closing tag, or else where another signal begins first. Comments and CDATA are passed over.
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
		if strings.HasPrefix(rest, closeTag) {
			k := len(closeTag) + spaces(rest[len(closeTag):])
			if k == len(rest) {
				return 0, 0
			}
			if rest[k] == '>' {
				return i + k + 1, 0
			}
		}
		if begins(rest) == yes {
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
	for open, shut := range map[string]string{"<!--": "-->", "<![CDATA[": "]]>"} {
		if strings.HasPrefix(text, open) {
			if at := strings.Index(text[len(open):], shut); at >= 0 {
				return len(open) + at + len(shut), true
			}
			return 0, true
		}
	}
	return 0, false
}
