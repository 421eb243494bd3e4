package origin

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/text"
	"sibyl/internal/text/markdown"
)

// Own returns a reply without what is not the model's own, and what was dropped: echoes of what Sibyl wrote, calls of
// tools written as text, and marks of templates. A reply of nothing else is empty.
func (r *Request) Own(reply string) (own string, dropped []string) {
	c := &cutter{Request: r, text: reply, gone: make([]bool, len(reply)), units: unitsOf(reply),
		starts: []int{0}, lookedUp: map[string]bool{}}
	for at := range reply {
		if reply[at] == '\n' {
			c.starts = append(c.starts, at+1)
		}
	}
	c.cutCalls()
	c.cutEchoes()
	c.cutIntroductions()
	c.cutMarks()
	if !slices.Contains(c.gone, true) {
		return reply, nil
	}
	c.cutFences()
	c.cutIntroductions()
	return c.rest()
}

// cutter drops parts of a reply. gone says of each byte whether it is dropped.
type cutter struct {
	*Request
	text     string
	gone     []bool
	units    []unit
	starts   []int           // of the lines
	ticks    []int32         // backticks before each byte, where marks are looked for
	lookedUp map[string]bool // whether a text is in theirs
}

// unit is a sentence, or the part of one up to a colon, or a line of code.
type unit struct {
	span
	inFence bool
	isFence bool // it begins or ends a block of code
}

// unitsOf splits a reply. A unit has the marks of Markdown around it, and no line break.
func unitsOf(reply string) (all []unit) {
	var f markdown.Fence
	at := 0
	for line := range strings.Lines(reply) {
		from := at
		at += len(line)
		bare := strings.TrimRight(line, "\r\n")
		was := f.End() != ""
		covered := f.Covers(bare)
		is := f.End() != ""
		switch {
		case strings.TrimSpace(bare) == "":
		case covered:
			all = append(all, unit{span: span{from, from + len(bare)}, inFence: true, isFence: was != is})
		default:
			all = append(all, sentencesOf(bare, from)...)
		}
	}
	return all
}

func sentencesOf(line string, offset int) (all []unit) {
	from := 0
	add := func(to int) {
		if strings.TrimSpace(line[from:to]) != "" {
			all = append(all, unit{span: span{offset + from, offset + to}})
			from = to
		}
	}
	for _, s := range text.Sentences(line) {
		for _, colon := range colonPattern().FindAllStringIndex(line[s.From:s.To], -1) {
			add(s.From + colon[1] - 1)
		}
		add(s.To)
	}
	if n := len(all); n > 0 {
		all[n-1].to = offset + len(line)
	}
	return all
}

// lineAt gives where the line of a place begins, and where it ends.
func (c *cutter) lineAt(at int) (from, to int) {
	n, found := slices.BinarySearch(c.starts, at)
	if !found {
		n--
	}
	if to = len(c.text); n+1 < len(c.starts) {
		to = c.starts[n+1] - 1
	}
	return c.starts[n], to
}

func (c *cutter) cut(from, to int) {
	for i := from; i < to; i++ {
		c.gone[i] = true
	}
}

// isGone says whether nothing but blanks and marks is left of a part that had more.
func (c *cutter) isGone(s span) bool {
	had := false
	for at, r := range c.text[s.from:s.to] {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		if !c.gone[s.from+at] {
			return false
		}
		had = true
	}
	return had
}

func (c *cutter) hasWords(s span) bool { return strings.ContainsFunc(c.text[s.from:s.to], isWord) }

// mostLookedUp bounds how many texts of a reply are looked up in theirs. A further one counts as found.
const mostLookedUp = 200

// inTheirs says whether a text stands, to the letter, in words of the person, a source or an earlier answer.
func (c *cutter) inTheirs(said string) bool {
	is, known := c.lookedUp[said]
	if !known {
		is = len(c.lookedUp) >= mostLookedUp ||
			slices.ContainsFunc(c.theirs(), func(text string) bool { return strings.Contains(text, said) })
		if len(c.lookedUp) < mostLookedUp {
			c.lookedUp[said] = is
		}
	}
	return is
}

// cutEchoes cuts the sentences that are echoes. One that introduces words of the model's own stays.
func (c *cutter) cutEchoes() {
	reply := slices.Collect(words(c.text))
	echoed := c.echoed(c.text, reply, leastEcho)
	is := make([]bool, len(c.units))
	next := 0
	for n, u := range c.units {
		all, of := 0, 0
		for ; next < len(reply) && reply[next].from < u.to; next++ {
			all++
			if echoed[next] {
				of++
			}
		}
		is[n] = of > 0 && float64(of) >= echoShare*float64(all) || c.isMarked(u) || c.citesOurs(u)
	}
	for n, u := range c.units {
		if is[n] && (n+1 == len(is) || is[n+1] || !c.introduces(u) || c.isMarked(u)) {
			c.cut(u.from, u.to)
		}
	}
}

// isMarked says whether a unit is a message of the controller with its mark.
func (c *cutter) isMarked(u unit) bool {
	return !u.inFence && c.sent.Mark != "" && c.isMarkedMessage(c.text[u.from:u.to])
}

// citesOurs says whether a unit cites a place, a file in a folder or with its line, that only texts of ours name.
func (c *cutter) citesOurs(u unit) bool {
	said := c.text[u.from:u.to]
	if !strings.ContainsAny(said, "/:") {
		return false
	}
	for _, m := range placePattern().FindAllStringSubmatch(said, -1) {
		place := m[0]
		if strings.Contains(m[1], "/") {
			place = m[1] // whatever line it is said to be
		} else if m[1] == m[0] {
			continue
		}
		holds := func(text string) bool { return strings.Contains(text, place) }
		if slices.ContainsFunc(c.sent.Ours, holds) && !c.inTheirs(place) {
			return true
		}
	}
	return false
}

// introduces says whether a unit is a heading, or ends with a colon.
func (c *cutter) introduces(u unit) bool {
	bare := strings.TrimSpace(c.text[u.from:u.to])
	plain := strings.TrimRight(bare, "*_`\"” ")
	return strings.HasSuffix(plain, ":") || strings.HasSuffix(plain, "：") || strings.HasPrefix(bare, "#") ||
		strings.HasPrefix(bare, "**") && strings.HasSuffix(bare, "**")
}

// mostIntroduction is how many words an introduction of what was dropped has at most.
const mostIntroduction = 12

// cutIntroductions cuts what only introduces something that was dropped.
func (c *cutter) cutIntroductions() {
	for n := len(c.units) - 2; n >= 0; n-- {
		u, next := c.units[n], c.units[n+1]
		if u.inFence || !c.introduces(u) || c.isGone(u.span) || !c.isGone(next.span) ||
			len(slices.Collect(words(c.text[u.from:u.to]))) > mostIntroduction {
			continue
		}
		if before, to := strings.TrimSpace(c.text[u.from:u.to]), c.endOfDropped(n+1); strings.HasPrefix(before, "#") &&
			to < len(c.units) {
			continue // more comes under the heading
		}
		c.cut(u.from, u.to)
	}
}

// endOfDropped is the first unit from n on that is not dropped.
func (c *cutter) endOfDropped(n int) int {
	for n < len(c.units) && (c.isGone(c.units[n].span) || !c.hasWords(c.units[n].span)) {
		n++
	}
	return n
}

// cutFences cuts the marks of blocks of code of which nothing is left, and one that opens nothing.
func (c *cutter) cutFences() {
	open := -1
	for n, u := range c.units {
		switch {
		case !u.isFence:
		case open < 0:
			open = n
		default:
			c.cutFence(open, n)
			open = -1
		}
	}
	if open >= 0 {
		c.cutFence(open, len(c.units)-1)
	}
}

func (c *cutter) cutFence(open, shut int) {
	isClosed := shut > open && c.units[shut].isFence
	wasEmpty := true
	for _, u := range c.units[open+1 : shut+1] {
		if u.isFence {
			continue
		}
		if !c.isGone(u.span) && c.hasWords(u.span) {
			return
		}
		wasEmpty = wasEmpty && !c.isGone(u.span)
	}
	if !wasEmpty || !isClosed {
		c.cut(c.units[open].from, c.units[shut].to)
	}
}

// rest is what is left, without blanks around what was dropped, and what was dropped.
func (c *cutter) rest() (own string, dropped []string) {
	b := &strings.Builder{}
	at, blank := 0, true // the last line that was kept is blank
	touched := false     // lines were dropped since
	for line := range strings.Lines(c.text) {
		from := at
		at += len(line)
		kept, cut := c.keptOf(line, from)
		if cut && !strings.ContainsFunc(kept, func(r rune) bool { return !unicode.IsSpace(r) && !isLineMark(r) }) {
			touched = true
			continue
		}
		isBlank := strings.TrimSpace(kept) == ""
		if isBlank && blank && touched {
			continue
		}
		b.WriteString(kept)
		blank, touched = isBlank, touched && isBlank
	}
	for from := 0; from < len(c.text); {
		to := from
		for to < len(c.text) && (c.gone[to] || to > from && strings.TrimSpace(c.text[to:to+1]) == "") {
			to++
		}
		if part := strings.TrimSpace(c.text[from:to]); part != "" {
			dropped = append(dropped, part)
		}
		from = max(to, from+1)
	}
	if own = strings.TrimSpace(b.String()); !strings.ContainsFunc(own, hasMeaning) {
		own = ""
	}
	return own, dropped
}

// isLineMark says whether a character alone says nothing: marks of lists, headings, quotations and stress.
func isLineMark(r rune) bool { return strings.ContainsRune("-*#>_`.,:;|\"'“”()[]", r) }

// hasMeaning says whether a character alone may be an answer: a letter, a digit, or a sign such as one of approval.
func hasMeaning(r rune) bool { return isWord(r) || unicode.IsSymbol(r) && r >= utf8.RuneSelf }

// keptOf is what is left of a line, and whether anything was dropped.
func (c *cutter) keptOf(line string, from int) (kept string, cut bool) {
	if !slices.Contains(c.gone[from:from+len(line)], true) {
		return line, false
	}
	b := &strings.Builder{}
	for i := range len(line) {
		if !c.gone[from+i] || line[i] == '\n' {
			b.WriteByte(line[i])
		}
	}
	kept = b.String()
	if trimmed := strings.TrimRight(kept, " \t\r\n"); strings.HasSuffix(kept, "\n") {
		kept = trimmed + "\n"
	} else {
		kept = trimmed
	}
	if line[0] != ' ' && line[0] != '\t' {
		kept = strings.TrimLeft(kept, " \t")
	}
	return kept, true
}
