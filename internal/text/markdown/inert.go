package markdown

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Inert makes a Markdown text fetch nothing and run nothing where it is shown: pictures become links, HTML becomes
// text, and links lead to http, https, mail or files. Control characters and those that change the direction of writing
// are removed. A text without any of these stays as it is, and a second call changes nothing.
func Inert(source string) string {
	source = dropControls(source)
	for range maxPasses {
		code, live := findCode(source)
		if !live {
			return source
		}
		source = escape(source, code)
	}
	return asCode(source)
}

// InertBehind makes a text that stays inert after another one: blocks that are open there may change what is code here.
// The text before must end with a line break; if it is live itself, the result is that of Inert.
func InertBehind(before, source string) string {
	added := Inert(source)
	if !Live(before+added) || Live(before) {
		return added
	}
	if added = escape(dropControls(source), nil); !Live(before + added) {
		return added
	}
	return "\n" + asCode(dropControls(source))
}

// Live says whether a Markdown text has a picture, HTML, or a link that Inert does not allow.
func Live(source string) bool {
	_, live := findCode(source)
	return live
}

// maxPasses bounds how often a text is escaped: escaping may change what is code.
const maxPasses = 5

// dropControls removes the characters that control a terminal or change the direction of writing.
func dropControls(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r &&
			r <= '\u2069' {
			return -1
		}
		return r
	}, s)
}

// readers are two ways in which Markdown is read elsewhere. GFM links a bare address together with a backslash after
// it: so what is text in CommonMark may be live in GFM.
var readers = [][]goldmark.Extender{nil, {extension.GFM}}

// findCode finds what is code for every reader, as pairs of places in ascending order, and says whether anything
// outside of code is live for any of them.
func findCode(source string) (code [][2]int, live bool) {
	raw := []byte(source)
	for i, extensions := range readers {
		found, isLive := findCodeBy(goldmark.New(goldmark.WithExtensions(extensions...)).Parser(), raw)
		if i == 0 {
			code = found
		} else {
			code = overlap(code, found)
		}
		live = live || isLive
	}
	return code, live
}

// findCodeBy is findCode for one reader.
func findCodeBy(p parser.Parser, raw []byte) (code [][2]int, live bool) {
	// nothing in it fails
	_ = ast.Walk(p.Parse(text.NewReader(raw)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image, *ast.RawHTML, *ast.HTMLBlock:
			live = true
		case *ast.Link:
			live = live || leadsAstray(string(n.Destination))
		case *ast.AutoLink:
			live = live || n.AutoLinkType == ast.AutoLinkURL && leadsAstray(string(n.URL(raw)))
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				s := n.Lines().At(i)
				code = append(code, [2]int{s.Start, s.Stop})
			}
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if words, ok := c.(*ast.Text); ok {
					code = append(code, [2]int{words.Segment.Start, words.Segment.Stop})
				}
			}
		}
		return ast.WalkContinue, nil
	})
	slices.SortFunc(code, func(a, b [2]int) int { return a[0] - b[0] })
	return code, live
}

// overlap is what is in both lists.
func overlap(a, b [][2]int) (both [][2]int) {
	for len(a) > 0 && len(b) > 0 {
		if from, to := max(a[0][0], b[0][0]), min(a[0][1], b[0][1]); from < to {
			both = append(both, [2]int{from, to})
		}
		if a[0][1] < b[0][1] {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// leadsAstray says whether an address has a scheme that is not allowed.
func leadsAstray(address string) bool {
	plain := strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, string(resolveEscapes(address))))
	scheme, _, has := strings.Cut(plain, ":")
	return has && !strings.ContainsAny(scheme, "/?#") && !slices.Contains([]string{"http", "https", "mailto", "file"},
		scheme)
}

// escape turns what may be a picture, HTML, or a link that is not allowed into text. It writes character references, as
// a backslash may itself be escaped.
func escape(source string, code [][2]int) string {
	var out []byte
	escaped := false // by the backslash before
	for i := 0; i < len(source); {
		if len(code) > 0 && i >= code[0][0] {
			end := max(i, code[0][1])
			out = append(out, source[i:end]...)
			i, code, escaped = end, code[1:], false
			continue
		}
		c, rest := source[i], source[i+1:]
		reference := ""
		switch {
		case c == '!' && strings.HasPrefix(rest, "["):
			reference = "&#33;"
		case c == '<' && mayBeHTML(rest):
			reference = "&lt;"
		case c == ']' && (strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, ":")) &&
			leadsAstray(linkDestination(rest[1:])):
			reference = "&#93;"
		}
		if reference == "" {
			out = append(out, c)
		} else {
			if escaped {
				out = out[:len(out)-1]
			}
			out = append(out, reference...)
		}
		escaped = c == '\\' && !escaped
		i++
	}
	return string(out)
}

// mayBeHTML says whether a bracket with this text after it is that of a tag, or of an address that is not allowed.
func mayBeHTML(rest string) bool {
	if rest == "" || !strings.ContainsRune("/!?", rune(rest[0])) && (rest[0]|0x20 < 'a' || 'z' < rest[0]|0x20) {
		return false
	}
	address, _, closed := strings.Cut(rest, ">")
	return !closed || strings.ContainsAny(address, " \t\n<") || !strings.HasPrefix(address, "https://") &&
		!strings.HasPrefix(address, "http://")
}

// linkDestination is the address in a link.
func linkDestination(rest string) string {
	rest = strings.TrimLeft(rest, " \t\n")
	if inner, ok := strings.CutPrefix(rest, "<"); ok {
		inner, _, _ = strings.Cut(inner, ">")
		return inner
	}
	if end := strings.IndexAny(rest, " \t\n"); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// asCode is a text as a code block.
func asCode(source string) string {
	mark := "```"
	for strings.Contains(source, mark) {
		mark += "`"
	}
	return mark + "\n" + strings.TrimRight(source, "\n") + "\n" + mark + "\n"
}
