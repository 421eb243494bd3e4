package signal

import (
	"encoding/json"
	"errors"
	"html"
	"io"
	"strings"
)

// readReport reads, at the beginning of a line, a signal with a label above it, or one in a form that counts only at
// the end of the reply: in a fence or span with nothing else, with escaped brackets (also within a line), or as JSON.
// long says that it took more than a look at the beginning. With tooMany, it does no more than that.
func readReport(w window, tooMany bool) (d decision, long bool) {
	i, v := readLabel(w.text)
	if v == yes && i < len(w.text) {
		if tooMany {
			return aMention, false
		}
		v, long = no, true
		switch w.text[i] {
		case '<':
			d := readMarkup(window{w.text[i:], w.final, w.full})
			v = map[decisionKind]verdict{undecided: maybe, isMarkup: yes}[d.kind]
			if v == yes && w.full && d.reason != "" {
				v = no // without the label, the signal may still have an end
			}
			if v == yes {
				d.n += i
				return d, long
			}
		case '`', '~', '&', '{':
			var d decision
			if d, v = readAtEnd(w, i); v == yes {
				return d, long
			}
		}
	}
	if v == no || w.final || w.full {
		return aMention, long
	}
	return decision{kind: undecided}, long
}

// readLabel reads "Signal:", in any markup that models use, and the blanks after it. n is 0 if the line begins with
// something else that may be a report.
func readLabel(text string) (n int, v verdict) {
	if strings.IndexByte("`~&{", text[0]) >= 0 {
		return 0, yes
	}
	marks := func(i int, of string) int { return len(text) - len(strings.TrimLeft(text[i:], of)) }
	first := marks(0, "#*_")
	n, v = readWord(text, marks(first, " "), tagName)
	if v == yes {
		last := marks(marks(marks(n, "*_"), ":"), "*_")
		marked := first > 0 || last > n
		n = skipBlanks(text, last)
		switch {
		case n == len(text):
			v = maybe
		case !marked:
			v = no
		}
	}
	if n > maxName {
		v = no
	}
	return n, v
}

// readAtEnd reads a report that counts only at the end of a reply: in a span or fence of code, with escaped brackets,
// or as JSON. It begins at `at`, with its fence. The verdict is yes only once the stream has ended; until then it is
// maybe.
func readAtEnd(w window, at int) (d decision, v verdict) {
	text, i := w.text, at
	mark, fence := text[i], 0 // fence: how many marks open it; 0: none
	if mark == '`' || mark == '~' {
		for i < len(text) && text[i] == mark {
			i++
		}
		fence = i - at
		if mark == '~' && fence < 3 && i < len(text) {
			return d, no
		}
		if fence >= 3 { // the rest of the first line of the fence
			for i < len(text) && strings.IndexByte("\n`<&{", text[i]) < 0 {
				i++
			}
		}
	}
	from := skipBlanks(text, i)
	if from == len(text) {
		return d, maybe
	}
	n, v := readSignal(text[from:])
	if v == begun && w.final {
		// A span that closes, with words behind it, only mentions a signal.
		_, after, closed := strings.Cut(text[from:], text[at:at+fence])
		if fence > 0 && closed && strings.Trim(after, string(mark)+" \t\r\n") != "" {
			return d, no
		}
		return decision{kind: isMarkup, n: len(text), raw: text[from:], reason: reasonCutOff}, yes
	}
	if v != yes {
		return d, min(v, maybe) // begun, too: its end may still come
	}
	to := from + n
	if i = to; fence > 0 {
		last := skipBlanks(text, to)
		for i = last; i < len(text) && text[i] == mark; i++ {
		}
		switch closing := i - last; {
		case closing == fence || closing > fence && fence >= 3:
		case closing == 0 && i == len(text) && fence >= 3:
			i = to // a fence may be left open
		case i < len(text) || w.final:
			return d, no
		} // else the closing marks may still come
	}
	switch {
	case skipBlanks(text, i) < len(text):
		return d, no
	case !w.final:
		return d, maybe
	}
	return w.signalAt(from, to, i), yes
}

// readSignal reads a signal in any form, and says where it ends.
func readSignal(text string) (n int, v verdict) {
	switch text[0] {
	case '<':
		return readElementText(text)
	case '&':
		return readEscaped(text)
	case '{':
		return readObject(text)
	}
	return 0, no
}

// readElementText reads an element from its first tag to its last.
func readElementText(text string) (n int, v verdict) {
	tag, v := readTag(text)
	if v == no || v == yes && !tag.typed {
		return 0, no
	}
	switch d := readMarkup(window{text: text}); {
	case d.kind == undecided && tag.typed:
		return 0, begun
	case d.kind == undecided:
		return 0, maybe
	case d.kind == isMarkup && d.reason == "":
		return d.n, yes
	}
	return 0, no
}

const escaped = "&lt;"

// readEscaped reads an element whose brackets are entities. Without its end it is text: tags are mentioned like this.
func readEscaped(text string) (n int, v verdict) {
	if _, v = readWords(text, escaped, tagName); v != yes {
		return 0, v
	}
	n = strings.IndexByte(text, '>') + 1
	if at := strings.Index(text, "&gt;"); at >= 0 && (n == 0 || at < n) {
		n = at + len("&gt;")
	}
	if n == 0 {
		return 0, maybe
	}
	tag, v := readTag(html.UnescapeString(text[:n]))
	if v != yes || !tag.typed {
		return 0, no
	}
	for ; n < len(text); n++ {
		if text[n] != '&' {
			continue
		}
		for _, shut := range [...]string{">", "&gt;"} {
			if end, v := readWords(text[n:], escaped, "/", tagName, shut); v == yes {
				return n + end, yes
			}
		}
	}
	return 0, maybe
}

// readObject reads a signal as JSON. If it has a field that its type does not have, it is text.
func readObject(text string) (n int, v verdict) {
	if v = beginsObject(text); v != yes {
		return 0, v
	}
	var object json.RawMessage
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&object); errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, begun
	} else if err != nil {
		return 0, no
	}
	n = int(d.InputOffset())
	if _, err := elementFromObject(text[:n]); err != nil {
		return 0, no
	}
	return n, yes
}

// beginsObject says whether an object begins as a signal does: with its type.
func beginsObject(text string) (v verdict) {
	for _, first := range [][]string{{"{", `"type"`, ":"}, {"{", `"signal"`, ":"}, {"{", `"signal"`, ":", "{", `"type"`,
		":"}} {
		n, as := readWords(text, first...)
		if as != yes {
			v = max(v, as)
			continue
		}
		for _, s := range Specs() {
			_, as := readWord(text, skipBlanks(text, n), `"`+string(s.Type)+`"`)
			v = max(v, as)
		}
	}
	return v
}
