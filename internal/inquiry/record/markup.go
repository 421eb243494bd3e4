package record

import (
	"fmt"
	"html"
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

// said is what somebody wrote, with its line breaks, and with some words of it marked where they stand first.
func said(tag, words, marked string) markup {
	before, after, found := strings.Cut(words, marked)
	if marked == "" || !found {
		return el(tag+` class="said" dir="auto"`, words)
	}
	return el(tag+` class="said" dir="auto"`, before, el("mark", marked), after)
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
	return el(`div class="wide"`, el("table", el("thead", el("tr", head)), "\n", el("tbody", "\n", body)))
}
