package record

import (
	"regexp"
	"strings"
	"sync"
)

// formatted shows Markdown that somebody wrote: headings, lists, quotes, fences, and words that are strong, slanted or code. Whatever else it has is shown as
// it stands, links and HTML among it. It is a function of the text alone, in every version of this form of pages.
func formatted(text string) markup {
	return blocks(strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), 0)
}

// deepest is how far quotes and lists stand in one another.
const deepest = 6

var (
	headingLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(#{1,6})[ \t]+(.*?)[ \t#]*$`) })
	quoteLine   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}> ?(.*)$`) })
	bulletLine  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^( {0,3}[-*+][ \t]+)(\S.*)$`) })
	numberLine  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^( {0,3}\d{1,9}[.)][ \t]+)(\S.*)$`) })
	fenceLine   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^ {0,3}(```|~~~)") })
	ruleLine    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}(-{3,}|\*{3,}|_{3,})[ \t]*$`) })
)

func blocks(lines []string, depth int) markup {
	var all []markup
	for n := 0; n < len(lines); {
		line := lines[n]
		heading := headingLine().FindStringSubmatch(line)
		switch {
		case blank(line):
			n++
		case heading != nil:
			tag := "h4"
			if len(heading[1]) < 3 {
				tag = "h3"
			}
			all = append(all, el(tag+` dir="auto"`, spans(heading[2])), "\n")
			n++
		case ruleLine().MatchString(line):
			all = append(all, "<hr>\n")
			n++
		case fenceLine().MatchString(line):
			mark := fenceLine().FindStringSubmatch(line)[1]
			end := n + 1
			for end < len(lines) && !strings.HasPrefix(strings.TrimLeft(lines[end], " "), mark) {
				end++
			}
			all = append(all, el("pre", strings.Join(lines[n+1:end], "\n")), "\n")
			n = end + 1
		case depth < deepest && quoteLine().MatchString(line):
			var inner []string
			for ; n < len(lines) && quoteLine().MatchString(lines[n]); n++ {
				inner = append(inner, quoteLine().FindStringSubmatch(lines[n])[1])
			}
			all = append(all, el("blockquote", blocks(inner, depth+1)), "\n")
		case depth < deepest && bulletLine().MatchString(line):
			n = listed(lines, n, depth, "ul", bulletLine(), &all)
		case depth < deepest && numberLine().MatchString(line):
			n = listed(lines, n, depth, "ol", numberLine(), &all)
		default:
			end := n + 1
			for end < len(lines) && !begins(lines[end]) {
				end++
			}
			all = append(all, el(`p class="said" dir="auto"`, spans(strings.Join(lines[n:end], "\n"))), "\n")
			n = end
		}
	}
	return join(all)
}

// begins says whether a line ends the paragraph before it.
func begins(line string) bool {
	return blank(line) || headingLine().MatchString(line) || quoteLine().MatchString(line) || bulletLine().MatchString(line) || numberLine().MatchString(line) || fenceLine().MatchString(line) ||
		ruleLine().MatchString(line)
}

// listed adds the list that begins at a line, and gives the line after it. What is indented below an item belongs to it.
func listed(lines []string, n, depth int, tag string, item *regexp.Regexp, all *[]markup) int {
	var items []markup
	for n < len(lines) {
		parts := item.FindStringSubmatch(lines[n])
		if parts == nil || ruleLine().MatchString(lines[n]) {
			break
		}
		indent := strings.Repeat(" ", len(parts[1]))
		var inner []string
		for n++; n < len(lines); n++ {
			rest, below := strings.CutPrefix(lines[n], indent[:min(2, len(indent))])
			if !below || blank(lines[n]) {
				break
			}
			inner = append(inner, strings.TrimPrefix(rest, indent[min(2, len(indent)):]))
		}
		items = append(items, el(`li dir="auto"`, spans(parts[2]), blocks(inner, depth+1)))
		next := n
		for next < len(lines) && blank(lines[next]) {
			next++
		}
		if next < len(lines) && item.MatchString(lines[next]) {
			n = next // a list of which the items stand apart
		}
	}
	*all = append(*all, el(tag, items), "\n")
	return n
}

var span = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("`[^`\n]+`" + `|\*\*[^\s*](?:[^*]*[^\s*])?\*\*|\*[^\s*](?:[^*\n]*[^\s*])?\*`)
})

// spans shows the words of a line.
func spans(text string) markup {
	var parts []any
	for {
		at := span().FindStringIndex(text)
		if at == nil {
			return join(append(parts, text)...)
		}
		parts = append(parts, text[:at[0]])
		word := text[at[0]:at[1]]
		switch {
		case strings.HasPrefix(word, "`"):
			parts = append(parts, el("code", strings.Trim(word, "`")))
		case strings.HasPrefix(word, "**"):
			parts = append(parts, el("strong", strings.Trim(word, "*")))
		default:
			parts = append(parts, el("em", strings.Trim(word, "*")))
		}
		text = text[at[1]:]
	}
}
