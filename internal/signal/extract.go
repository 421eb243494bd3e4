package signal

import "strings"

// MaxHeld bounds, in bytes, how much text is held back while it may still be a signal.
const MaxHeld = 8 << 10

// Held text is scanned again when it has grown by an eighth, and always while it is short. So the work is in proportion
// to the text, however small its chunks are.
const (
	shortHeld     = 64
	growthDivisor = 8
)

// It may take MaxHeld bytes to see that something is a mention, and the next one may begin right after it. So beyond a
// number of such mentions, which no honest text has, only tags with a type are examined.
const (
	freeMentions    = 256
	bytesPerMention = 512 // so many bytes of text allow one more
)

// Extract removes the signals from a whole text, and returns both.
func Extract(text string) (clean string, r Result) {
	var x Extractor
	clean = x.Write(text)
	rest, r := x.Close()
	return clean + rest, r
}

// Extractor removes signals from a stream. Its zero value is ready. It is not safe for concurrent use.
type Extractor struct {
	held         []byte // text that is held back: it begins with what may be a signal
	rescanAt     int    // the length of held at which it is scanned again
	offset       int64  // of held in the stream
	textLeft     int    // so many of the next bytes are text, whatever they look like
	md           markdown
	result       Result
	longMentions int64 // mentions that took a long look
	work         int64 // bytes that were examined, for tests
}

// Write adds a chunk, and returns the text that can be shown now.
func (x *Extractor) Write(chunk string) string {
	if len(x.held) == 0 {
		return x.scan(chunk, false)
	}
	x.held = append(x.held, chunk...)
	if len(x.held) < x.rescanAt {
		return ""
	}
	return x.scan(string(x.held), false)
}

// Close ends the stream. It returns the rest of the text, and what was found. The Extractor must not be used any more.
func (x *Extractor) Close() (clean string, r Result) {
	clean = x.scan(string(x.held), true)
	return clean, x.result
}

// scan reads text, returns what is to be shown, and holds what can't be decided yet.
func (x *Extractor) scan(text string, final bool) string {
	var out strings.Builder
	x.work += int64(len(text))
	kept, i := 0, 0
	for i < len(text) {
		if x.textLeft > 0 || !x.mayBegin(text[i]) {
			x.md.addByte(text[i])
			x.textLeft = max(0, x.textLeft-1)
			i++
			continue
		}
		rest := text[i:]
		d := x.decide(window{text: rest[:min(len(rest), MaxHeld)], final: final && len(rest) < MaxHeld,
			full: len(rest) >= MaxHeld}, x.offset+int64(i))
		if d.kind == isText {
			if d.form == Code {
				x.result.addMentionsIn(rest[:d.n], x.offset+int64(i))
			}
			x.textLeft = d.n
			continue
		}
		out.WriteString(text[kept:i])
		switch d.kind {
		case undecided:
			x.hold(text, i)
			return out.String()
		case isMarkup:
			d.addTo(&x.result, x.offset+int64(i))
		}
		i += d.n
		kept = i
	}
	x.hold(text, len(text))
	if kept == 0 {
		return text
	}
	out.WriteString(text[kept:])
	return out.String()
}

// hold holds back the text from i on.
func (x *Extractor) hold(text string, i int) {
	rest := len(text) - i
	x.held = append(x.held[:0], text[i:]...)
	x.offset += int64(i)
	x.rescanAt = rest + 1
	if rest >= shortHeld {
		x.rescanAt = min(rest+max(1, rest/growthDivisor), MaxHeld)
	}
}

// mayBegin says whether a signal may begin with this byte, at this place.
func (x *Extractor) mayBegin(c byte) bool {
	switch c {
	case '<':
		return true
	case '&':
		return !x.md.inCode()
	case '`', '~', '{', '#', '*', '_', 's', 'S':
		return x.md.beginsLine() && !x.md.inCode()
	}
	return false
}

// window is the text from where something may begin: at most MaxHeld bytes, however the stream is cut into chunks.
type window struct {
	text  string
	final bool // the stream ends with it
	full  bool // it has MaxHeld bytes: more are not examined
}

// decide decides what is at the beginning of a window, which is at that place of the stream.
func (x *Extractor) decide(w window, at int64) decision {
	tooMany := x.longMentions > freeMentions+at/bytesPerMention
	switch {
	case w.text[0] != '<':
		d, long := readReport(w, tooMany)
		return x.countLook(w, x.markQuoted(d), long)
	case !mayBeTagName(w.text):
		return aMention
	}
	switch _, v := readTagName(w.text); {
	case v == no || v == maybe && (w.final || w.full):
		return aMention
	case v == maybe:
		return decision{kind: undecided}
	}
	if tooMany {
		if tag, v := readTag(w.text); v == no || v == yes && !tag.typed {
			return aMention
		}
	}
	if d, is := x.decideCode(w); is {
		return x.countLook(w, d, true)
	}
	return x.countLook(w, x.markQuoted(readMarkup(w)), true)
}

// markQuoted marks a signal that is in a quotation as quoted.
func (x *Extractor) markQuoted(d decision) decision {
	if d.kind == isMarkup {
		d.form = x.md.quotationForm()
	}
	return d
}

// countLook counts the bytes of a window that took a long look, and the mention that it turned out to be.
func (x *Extractor) countLook(w window, d decision, long bool) decision {
	if long {
		x.work += int64(len(w.text))
		if d == aMention {
			x.longMentions++
		}
	}
	return d
}

// mayBeTagName says whether the word after a bracket may be the name of a signal.
func mayBeTagName(text string) bool {
	i := skipBlanks(text, 1)
	if i < len(text) && text[i] == '/' {
		i = skipBlanks(text, i+1)
	}
	return i == len(text) || text[i] == 's' || text[i] == 'S'
}

// decideCode decides whether the text is code: is says that it is, or may be. In a fence that is still open at the end
// of the stream, signals count.
func (x *Extractor) decideCode(w window) (d decision, is bool) {
	n, v := x.md.codeFrom(w.text, w.final)
	switch {
	case v == no || v == maybe && w.final:
		return d, false
	case v == yes:
		return decision{kind: isText, n: n, form: Code}, true
	case w.full:
		return decision{kind: isText, n: MaxHeld, form: Code}, true
	}
	return decision{kind: undecided}, true
}

// decision is what is at a place: n bytes of text, or n bytes that are not shown.
type decision struct {
	kind   decisionKind
	n      int
	raw    string // the signal, as it was written
	reason string // of markup that is no signal
	form   Form   // of the quotation around it
}

type decisionKind uint8

const (
	undecided decisionKind = iota
	isText
	isMarkup
)

// aMention is text that looks like a signal.
var aMention = decision{kind: isText, n: 1}

// signalAt is a signal from..to; all bytes up to n are removed with it.
func (w window) signalAt(from, to, n int) decision {
	return decision{kind: isMarkup, n: n, raw: w.text[from:to]}
}

// brokenSignal is markup that is not a valid signal.
func (w window) brokenSignal(n int, reason string) decision {
	return decision{kind: isMarkup, n: n, raw: w.text[:n], reason: reason}
}

// addTo adds the markup to the result.
func (d decision) addTo(r *Result, offset int64) {
	if d.form != "" {
		r.addMention(d.form, d.raw, offset)
		return
	}
	if d.reason != "" {
		r.addProblem(d.reason, d.raw, offset)
		return
	}
	s, err := Parse(d.raw)
	if err != nil {
		r.addProblem(err.Error(), d.raw, offset)
		return
	}
	r.addSignal(s)
}

type verdict uint8

const (
	no verdict = iota
	maybe
	yes
	begun // a signal has begun, and has no end yet
)
