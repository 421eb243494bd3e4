package origin

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

var (
	// elementPattern matches the tags of elements.
	elementPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`<(/?)([A-Za-z][\w:.-]*)(=[^<>\n]*|[ \t][^<>\n]*)?>`)
	})
	// tokenPattern matches tokens that no language of markup has: names between bars, and in doubled or square brackets.
	tokenPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`<[|｜]{1,2}/?[\pL_][\pL\pN_▁.:-]{0,60}[|｜]{1,2}>|<</?[A-Z]+>>|\[/?[A-Z][A-Z_]{2,}\]`)
	})
	// colonPattern matches a colon that ends a part of a sentence, with the marks and the blank behind it.
	colonPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[:：][*_`\"”)]*\\s") })
	// placePattern matches a file, with its line if that is named.
	placePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([\w./-]*\w\.[A-Za-z]\w*)(?::[0-9]+)?`)
	})
)

// element is a tag at text[from:to].
type element struct {
	span
	name    string
	closes  bool
	value   string // attributes, or what an equals sign gives
	partner int    // the index of the other tag; -1: there is none
}

// elementsIn finds the tags of a text, but for those at places to skip, with their partners.
func elementsIn(text string, skip func(at int) bool) (all []element) {
	if !strings.Contains(text, "<") {
		return nil
	}
	for _, m := range elementPattern().FindAllStringSubmatchIndex(text, -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:m[0]])
		e := element{span: span{m[0], m[1]}, name: strings.ToLower(text[m[4]:m[5]]), closes: m[2] < m[3], partner: -1}
		isParameter := !e.closes && isWord(before) // of a type
		if isParameter || skip(e.from) {
			continue
		}
		if m[6] >= 0 {
			e.value = text[m[6]:m[7]]
		}
		all = append(all, e)
	}
	open := map[string][]int{}
	for i := range all {
		e := &all[i]
		switch stack := open[e.name]; {
		case strings.HasSuffix(e.value, "/"):
		case !e.closes:
			open[e.name] = append(stack, i)
		case len(stack) > 0:
			last := stack[len(stack)-1]
			e.partner, all[last].partner = last, i
			open[e.name] = stack[:len(stack)-1]
		}
	}
	return all
}

func nowhere(int) bool { return false }

// cutMarks cuts elements of the prompt with what they hold, elements around nothing but what was dropped, those around
// a repeated result, tags that nothing belongs to, and the tokens of templates.
func (c *cutter) cutMarks() {
	c.cutControlMark()
	if strings.ContainsAny(c.text, "<[") {
		c.countTicks()
		c.cutTokens()
		c.cutElements()
	}
}

// cutControlMark cuts the mark of the controller where it begins a line.
func (c *cutter) cutControlMark() {
	mark := strings.TrimSpace(c.sent.Mark)
	if mark == "" {
		return
	}
	for _, u := range c.units {
		line := strings.TrimLeft(c.text[u.from:u.to], " \t*->#")
		if strings.HasPrefix(line, mark) && !u.inFence && !c.inTheirs(mark) {
			at := u.to - len(line)
			c.cut(at, at+len(mark))
		}
	}
}

// bars are the signs of special tokens.
const bars = "|｜"

func (c *cutter) cutTokens() {
	for _, m := range tokenPattern().FindAllStringIndex(c.text, -1) {
		token := c.text[m[0]:m[1]]
		if c.inCode(m[0]) || c.inTheirs(token) || c.inTheirs(strings.Replace(token, "/", "", 1)) {
			continue
		}
		bracket := "["
		if token[0] == '<' {
			bracket = "<<"
		}
		ending := bracket + "/" + strings.TrimPrefix(strings.TrimPrefix(token, bracket), "/")
		if !strings.ContainsAny(token, bars) && !strings.Contains(c.text, ending) {
			continue // nothing ends it: it is a word in brackets
		}
		c.cut(m[0], m[1])
	}
}

func (c *cutter) countTicks() {
	c.ticks = make([]int32, len(c.text)+1)
	for i := range len(c.text) {
		c.ticks[i+1] = c.ticks[i]
		if c.text[i] == '`' {
			c.ticks[i+1]++
		}
	}
}

// inCode says whether a place is in code, or in a quoted line.
func (c *cutter) inCode(at int) bool {
	begin, _ := c.lineAt(at)
	isQuoted := strings.HasPrefix(strings.TrimLeft(c.text[begin:at], " "), ">")
	if isQuoted || (c.ticks[at]-c.ticks[begin])%2 == 1 {
		return true
	}
	n, _ := slices.BinarySearchFunc(c.units, at, func(u unit, at int) int { return u.to - 1 - at })
	return n < len(c.units) && c.units[n].inFence
}

func (c *cutter) cutElements() {
	all := elementsIn(c.text, c.inCode)
	isMarkup := false // the reply has elements of its own
	inside := -1      // the end of one
	for _, e := range all {
		if e.from < inside || e.closes || e.partner < 0 || c.inTheirs("<"+e.name) {
			continue
		}
		if !c.cutElement(e, all[e.partner]) {
			isMarkup, inside = true, all[e.partner].to
		}
	}
	for _, e := range all {
		if !isMarkup && !c.gone[e.from] && c.belongsToNothing(e) && !c.inTheirs("<"+e.name) {
			c.cut(e.from, e.to)
		}
	}
}

// cutElement cuts an element of the prompt, or the tags of one that holds nothing of the reply's own; false if it is
// any other.
func (c *cutter) cutElement(open, shut element) bool {
	inner := span{open.to, shut.from}
	isEmpty := open.value == "" && strings.TrimSpace(c.text[inner.from:inner.to]) == ""
	switch {
	case c.marked()[open.name] && c.beginsLine(open.from):
		c.cut(open.from, shut.to)
	case c.isGone(inner), isEmpty && c.beginsLine(open.from), c.wrapsResult(open, shut):
		c.cut(open.from, open.to)
		c.cut(shut.from, shut.to)
	default:
		return false
	}
	return true
}

func (c *cutter) beginsLine(at int) bool {
	from, _ := c.lineAt(at)
	return strings.TrimLeft(c.text[from:at], " \t*-#") == ""
}

// belongsToNothing says whether a tag without a partner is at an end of its line and closes, or is of the prompt; or
// whether it opens, and all behind it is dropped or the reply has nothing else. A name with an underscore is of no
// language of markup: it may begin or end the reply, too.
func (c *cutter) belongsToNothing(e element) bool {
	if e.partner >= 0 || e.value != "" {
		return false
	}
	_, end := c.lineAt(e.from)
	begins, ends := c.beginsLine(e.from), strings.TrimSpace(c.text[e.to:end]) == ""
	if e.closes || c.marked()[e.name] {
		return begins || ends
	}
	isFirst, isLast := strings.TrimSpace(c.text[:e.from]) == "", strings.TrimSpace(c.text[e.to:]) == ""
	attached := e.from > 0 && strings.TrimSpace(c.text[e.from-1:e.from]) != ""
	if strings.Contains(e.name, "_") && (begins && ends && isFirst || isLast && (begins || attached)) {
		return true
	}
	return begins && ends && (c.isGone(span{e.to, len(c.text)}) || isFirst && isLast)
}

// wrapsResult says whether an element is around the whole reply, and holds what a tool returned.
func (c *cutter) wrapsResult(open, shut element) bool {
	return strings.TrimSpace(c.text[:open.from]+c.text[shut.to:]) == "" &&
		!slices.ContainsFunc(c.theirs(), func(text string) bool {
			return strings.Contains(wordsOnly(text), open.name+" ")
		}) && c.repeatsResult(c.text[open.to:shut.from])
}

// repeatsResult says whether most words of a text stand in what tools returned.
func (c *cutter) repeatsResult(text string) bool {
	all := slices.Collect(words(text))
	n := 0
	for _, is := range known(all, c.sent.Results) {
		if is {
			n++
		}
	}
	return n > 0 && float64(n) >= echoShare*float64(len(all))
}

// The forms of calls in text.
var (
	quotedName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`:\s*"(?:[\w-]+[.:/])?([\w.-]+)"`)
	})
	jsonKey  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([^"\n]*)"\s*:`) })
	bareCall = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[\s\[]*(?:print\()?(?:[\w-]+[.:])?([\w-]+)\(.*\)[\s\])]*$`)
	})
	// labelledName matches a name alone in a line or before a bracket; labelledValue matches a value in a line.
	labelledName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^[\\s*-]*(?:[\\pL ]{1,20}:)?[\\s*`]*(?:[\\w-]+[.:])?([\\w-]+)[\\s*`:]*(?:\\{.*)?$")
	})
	labelledValue = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^[\\s*-]*(?:[\\pL ]{1,20}:)?[\\s*`]*\\{")
	})
)

// isTool says whether the request describes a tool of this name, and neither the person nor a source nor an earlier
// answer speaks of it.
func (c *cutter) isTool(name string) bool {
	return slices.ContainsFunc(c.sent.Tools, func(t Tool) bool { return strings.EqualFold(t.Name, name) }) &&
		!c.inTheirs(name)
}

// mostOpen is how many values without an end are looked at.
const mostOpen = 32

// cutCalls cuts calls of the request's tools that were written as text: as JSON, as a function, behind a label, or as
// an element. A tool that the person, a source or an earlier answer names may be shown in any form.
func (c *cutter) cutCalls() {
	if len(c.sent.Tools) == 0 && len(c.sent.Results) == 0 {
		return
	}
	at, upTo, open := 0, 0, 0
	for line := range strings.Lines(c.text) {
		from := at
		at += len(line)
		bare := strings.TrimSpace(line)
		if bare == "" || from < upTo {
			continue
		}
		switch {
		case open < mostOpen && (bare[0] == '{' || bare[0] == '[' && !c.names(bareCall(), bare)):
			from += strings.IndexByte(line, bare[0])
			to, whole := c.endOfValue(from)
			if c.isCall(c.text[from:to]) {
				c.cut(from, to)
			}
			if upTo = to; !whole {
				upTo, open = 0, open+1
			}
		case c.names(bareCall(), bare):
			c.cut(from, at)
		case c.names(labelledName(), bare):
			if to := c.endOfArguments(from); to > 0 && open < mostOpen {
				c.cut(from, to)
				upTo = to
			}
		}
	}
	all := elementsIn(c.text, nowhere)
	for _, e := range all {
		value := func(w word) bool { return c.isTool(w.text) }
		if e.closes || !c.isTool(e.name) && !slices.ContainsFunc(slices.Collect(words(e.value)), value) {
			continue
		}
		end := strings.IndexByte(c.text[e.to:], '\n')
		switch {
		case e.partner >= 0:
			c.cut(e.from, all[e.partner].to)
		case end >= 0:
			c.cut(e.from, e.to+end)
		default:
			c.cut(e.from, len(c.text))
		}
	}
}

func (c *cutter) names(form *regexp.Regexp, line string) bool {
	found := form.FindStringSubmatch(line)
	return found != nil && c.isTool(found[1])
}

// endOfArguments is where the arguments end that follow a name in its line, or alone in one of the next; 0: there are
// none.
func (c *cutter) endOfArguments(from int) int {
	at := from
	for line := range strings.Lines(c.text[from:]) {
		bare := strings.TrimSpace(line)
		open := strings.IndexByte(line, '{')
		switch {
		case open >= 0 && (at == from || labelledValue().MatchString(bare)):
			to, _ := c.endOfValue(at + open)
			return to
		case at > from && bare != "" && !strings.HasPrefix(bare, "```"):
			return 0
		}
		at += len(line)
	}
	return 0
}

// endOfValue is where a value of JSON ends, whose texts may have line breaks: at its last bracket, or with its block of
// code, or with the reply.
func (c *cutter) endOfValue(from int) (to int, whole bool) {
	depth, quoted := 0, false
	for i := from; i < len(c.text); i++ {
		switch b := c.text[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	if end := strings.Index(c.text[from:], "\n```"); end >= 0 {
		return from + end, false
	}
	return len(c.text), false
}

// isCall says whether a value of JSON names a tool of the request and has more, or is a result.
func (c *cutter) isCall(value string) bool {
	keys := jsonKey().FindAllStringSubmatch(value, -1)
	isTool := func(m []string) bool { return c.isTool(m[1]) }
	return len(keys) > 1 && slices.ContainsFunc(quotedName().FindAllStringSubmatch(value, -1), isTool) ||
		slices.ContainsFunc(keys, isTool) || c.isResult(value)
}

// isResult says whether a value of JSON is the whole reply, and only frames what a tool returned. It is an answer if
// the person or a source speaks of JSON, or the result itself has that form.
func (c *cutter) isResult(value string) bool {
	plain := strings.Trim(c.text, "` \n\t")
	if plain = strings.TrimSpace(strings.TrimPrefix(plain, "json")); plain != strings.TrimSpace(value) ||
		!json.Valid([]byte(value)) || c.inTheirs("JSON") || c.inTheirs("json") {
		return false
	}
	keys := jsonKey().FindAllString(value, -1)
	return !slices.ContainsFunc(keys, c.inTheirs) && c.repeatsResult(value)
}
