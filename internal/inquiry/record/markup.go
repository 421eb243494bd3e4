package record

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"
)

// markup is HTML. Whatever else goes into a page is escaped: a text becomes markup in no other way than by el and said.
type markup string

// el is an element: its tag, with attributes that hold no text from outside, and what is in it: markup as it is, texts and numbers escaped.
func el(tag string, content ...any) markup {
	var b strings.Builder
	b.WriteString("<" + tag + ">")
	b.WriteString(string(join(content...)))
	name, _, _ := strings.Cut(tag, " ")
	b.WriteString("</" + name + ">")
	return markup(b.String())
}

// join puts contents one after the other.
func join(content ...any) markup {
	var b strings.Builder
	for _, c := range content {
		switch c := c.(type) {
		case markup:
			b.WriteString(string(c))
		case []markup:
			for _, one := range c {
				b.WriteString(string(one))
			}
		default:
			b.WriteString(html.EscapeString(visible(fmt.Sprint(c))))
		}
	}
	return markup(b.String())
}

// visible shows what a reader would not see, or what would make a text look like another: control characters, and those that turn the direction of
// writing. What joins letters and marks a direction stays.
func visible(text string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case r == '\n' || r == '\t' || '\u200c' <= r && r <= '\u200f':
			b.WriteRune(r)
		case unicode.Is(unicode.Cf, r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// said is what somebody wrote, with its line breaks, and with some words of it marked where they stand first, whatever white space is between them.
func said(tag, words string, marked ...string) markup {
	var spans [][2]int
	for _, m := range marked {
		if at := find(words, m); at[1] > at[0] {
			spans = append(spans, at)
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	var parts []any
	from := 0
	for _, at := range spans {
		if at[1] > from {
			at[0] = max(at[0], from)
			parts = append(parts, words[from:at[0]], el("mark", words[at[0]:at[1]]))
			from = at[1]
		}
	}
	return el(tag+` class="said" dir="auto"`, append(parts, words[from:])...)
}

// find says where words stand in a text, whatever white space is between them; nowhere: from 0 to 0.
func find(text, words string) (at [2]int) {
	fields := strings.Fields(words)
	for from := 0; len(fields) > 0; {
		first := strings.Index(text[from:], fields[0])
		if first < 0 {
			return at
		}
		first += from
		end := first + len(fields[0])
		for _, f := range fields[1:] {
			rest := strings.TrimLeftFunc(text[end:], unicode.IsSpace)
			if len(rest) == len(text[end:]) || !strings.HasPrefix(rest, f) {
				end = -1
				break
			}
			end = len(text) - len(rest) + len(f)
		}
		if end > 0 {
			return [2]int{first, end}
		}
		from = first + len(fields[0])
	}
	return at
}

// bullets is an unordered list; nothing if it is empty.
func bullets(items []markup) markup {
	if len(items) == 0 {
		return ""
	}
	var all []markup
	for _, i := range items {
		all = append(all, el("li", i))
	}
	return el("ul", all)
}

// mostNarrow is how many columns a small screen has room for.
const mostNarrow = 3

// table is one with a row of heads, in a frame that scrolls.
func table(heads []string, rows [][]any) markup {
	var head, body []markup
	for _, h := range heads {
		head = append(head, el(`th scope="col"`, h))
	}
	for _, row := range rows {
		var cells []markup
		for _, c := range row {
			cells = append(cells, el("td", c))
		}
		body = append(body, el("tr", cells), "\n")
	}
	frame := "wide"
	if len(heads) > mostNarrow {
		frame += " many"
	}
	return el(`div class="`+frame+`"`, el("table", el("thead", el("tr", head)), "\n", el("tbody", "\n", body)))
}
