package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/agent"
)

const (
	gap       = "\n\n" // between blocks
	leastKept = 80     // characters of the newest transcript, however small the budget
)

// block is an entry of the context.
type block struct {
	Entry
	header, body string // body is clean, and not yet escaped
	size         int    // characters of text()
	cut          bool
}

func (b *block) text() string {
	if b.body == "" {
		return b.header
	}
	return b.header + "\n" + escape(b.body)
}

// Assemble puts entries, in any order, into a context. Over the budget whole entries are left out: the oldest responses
// first, then the oldest transcripts, never the newest transcript. If that alone is too long, its end is kept, at least
// 80 characters of it, unless it is to stay whole.
func Assemble(entries []Entry, o Options) Context {
	var c Context
	w := wordsOf(o.Language)
	var blocks []*block
	for _, e := range InOrder(entries) {
		switch {
		case e.Oracle != "" && !o.History:
		case e.Missing:
			c.Missing = append(c.Missing, e.ID)
		default:
			b := &block{Entry: e, header: headerOf(e, w), body: clean(e.Text)}
			b.size = utf8.RuneCountInString(b.text())
			blocks = append(blocks, b)
			if e.Oracle == "" {
				c.TranscriptsOf++
			} else {
				c.ResponsesOf++
			}
		}
	}
	c.Transcripts, c.Responses = c.TranscriptsOf, c.ResponsesOf
	if o.Budget > 0 {
		c.cutToBudget(blocks, o, w)
	}
	var parts []string
	if note := c.cutNote(w); note != "" {
		parts = append(parts, note)
	}
	for _, b := range blocks {
		if b.cut {
			c.Cut = append(c.Cut, b.ID)
			continue
		}
		c.Included = append(c.Included, b.ID)
		parts = append(parts, b.text())
	}
	c.Text = strings.Join(parts, gap)
	c.Tokens = agent.Tokens(c.Text)
	return c
}

// InOrder gives entries in the order of a context: by time, on a tie transcripts first, then by sequence.
func InOrder(entries []Entry) []Entry {
	entries = slices.Clone(entries)
	kind := func(e Entry) int {
		if e.Oracle == "" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(kind(a), kind(b)), cmp.Compare(a.Sequence, b.Sequence))
	})
	return entries
}

func headerOf(e Entry, w words) string {
	at := e.At.UTC().Format(timeFormat)
	if e.Oracle == "" {
		return fmt.Sprintf("[%s %d - %s]", w.Transcript, e.Sequence, at)
	}
	return fmt.Sprintf("[%s: %s - %s]", w.Oracle, headerName(e.Oracle), at)
}

// cutToBudget leaves blocks out until the rest is within the budget.
func (c *Context) cutToBudget(blocks []*block, o Options, w words) {
	size, left := 0, 0
	for _, b := range blocks {
		size, left = size+b.size, left+1
	}
	over := func() bool {
		note := utf8.RuneCountInString(c.cutNote(w))
		gaps := max(0, left-1)
		if note > 0 && left > 0 {
			gaps++
		}
		return agent.TokensOf(size+note+gaps*len(gap)) > o.Budget
	}
	var newest *block
	for _, b := range blocks {
		if b.Oracle == "" {
			newest = b
		}
	}
	leaveOut := func(responses bool, count *int) {
		for _, b := range blocks {
			if (b.Oracle != "") == responses && b != newest && over() {
				b.cut = true
				size, left, *count = size-b.size, left-1, *count-1
			}
		}
	}
	leaveOut(true, &c.Responses)
	leaveOut(false, &c.Transcripts)
	if newest != nil && !o.Whole && over() {
		c.Shortened = newest.ID
		room := agent.CharsPerToken*o.Budget - utf8.RuneCountInString(c.cutNote(w)+gap+newest.header+"\n")
		kept := tailWithin(newest.body, max(room, leastKept))
		if kept == newest.body {
			c.Shortened = ""
		}
		newest.body = kept
	}
}

// tailWithin is the last part of a text that has at most so many characters once it is escaped. It begins with a word,
// if one begins near.
func tailWithin(text string, most int) string {
	runes := []rune(text)
	for keep := min(most, len(runes)); ; {
		tail := runes[len(runes)-keep:]
		if keep < len(runes) && !unicode.IsSpace(runes[len(runes)-keep-1]) {
			if i := slices.IndexFunc(tail[:min(keep, leastKept/2)], unicode.IsSpace); i >= 0 {
				tail = tail[i:]
			}
		}
		kept := strings.TrimLeftFunc(string(tail), unicode.IsSpace)
		over := utf8.RuneCountInString(escape(kept)) - most
		if over <= 0 {
			return kept
		}
		keep -= over
	}
}

// cutNote is the line that says what was left out; "" if nothing was.
func (c *Context) cutNote(w words) string {
	var counts, said []string
	left := 0
	count := func(is, of int, nouns [2]string) {
		if is < of {
			left += of - is
			counts = append(counts, fmt.Sprintf("%d %s %d %s", is, w.Of, of, nouns[min(1, of-1)]))
		}
	}
	count(c.Transcripts, c.TranscriptsOf, w.Transcripts)
	count(c.Responses, c.ResponsesOf, w.Responses)
	if left > 0 {
		said = append(said, strings.Join(counts, " "+w.And+" ")+": "+w.Left[min(1, left-1)])
	}
	if c.Shortened != "" {
		said = append(said, w.Shortened)
	}
	if len(said) == 0 {
		return ""
	}
	return "[" + strings.Join(said, "; ") + "]"
}
