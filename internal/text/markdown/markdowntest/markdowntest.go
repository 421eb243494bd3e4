// Package markdowntest holds texts of strangers that would fetch or run something where Markdown is shown, and checks
// what leaves Sibyl as Markdown.
package markdowntest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// payloads are live unless they are escaped. The bracket is written as {<}, so that no file of ours has such a tag.
var payloads = []string{
	"![p](http://e.example/p.png)", "![p][r]\n\n[r]: http://e.example/p.png",
	"[![p](http://e.example/p.png)](http://e.example)",
	"[x](javascript:alert(1))", "[x](&#106;avascript:alert(1))", "[x](data:text/html,x)", "[x][s]\n\n[s]: vbscript:x",
	"{<}img src=http://e.example/p.png>", "{<}IMG\nsrc=//e.example>", "{<}script>x(){<}/script>",
	"{<}iframe src=//e.example>", "{<}svg/onload=x>",
	"{<}!-- x -->", "{<}a href=javascript:x>y{<}/a>", "{<}javascript:alert(1)>",
}

// places are texts before and after a payload: a bare address is linked together with what follows it.
var places = [][2]string{
	{"", ""}, {"http://e", ""}, {"http://e.example/", " z"}, {"www.e.example/x", ""}, {"a@b.example", ""},
	{`http://e.example/\`, ""}, {`\`, ""},
	{"`", ""}, {"> ", "\n"}, {"- http://e.example/", "\n"}, {"| a |\n|---|\n| ", " |\n"}, {"# ", "\n"}, {"~~", "~~"},
}

// Texts are some two hundred texts: each payload at each place.
func Texts() (all []string) {
	for _, payload := range payloads {
		for _, place := range places {
			all = append(all, place[0]+strings.ReplaceAll(payload, "{<}", "<")+place[1])
		}
	}
	return all
}

// own are the elements that Markdown itself makes; a link leads to the web, to a mail address or into the same text.
var (
	own     = `(p|h[1-6]|ul|ol|li|blockquote|pre|code|em|strong|del|hr|br|a|table|thead|tbody|tr|th|td|input)`
	element = regexp.MustCompile(`(?i)<(?:/?` + own + `\b|[^/a-z!?])`)
	any     = regexp.MustCompile(`(?i)<[/a-z!?]`)
	link    = regexp.MustCompile(`(?i)\b(?:href|src)="([^"]*)"`)
	plain   = regexp.MustCompile(`(?i)^(https?://|mailto:|file:|#|[^:]*$)`)
)

// Check fails if a text loads or runs anything, or has a link that is not plain, for a reader of GFM, or of CommonMark
// with HTML.
func Check(t *testing.T, of, source string) {
	t.Helper()
	for _, m := range []goldmark.Markdown{
		goldmark.New(goldmark.WithRendererOptions(html.WithUnsafe())),
		goldmark.New(goldmark.WithRendererOptions(html.WithUnsafe()), goldmark.WithExtensions(extension.GFM)),
	} {
		var b strings.Builder
		if err := m.Convert([]byte(source), &b); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		if len(any.FindAllString(page, -1)) != len(element.FindAllString(page, -1)) {
			t.Errorf("%q: HTML is live in\n%s\nread as\n%s", of, source, page)
		}
		for _, found := range link.FindAllStringSubmatch(page, -1) {
			if !plain.MatchString(found[1]) {
				t.Errorf("%q: a link leads to %s in\n%s", of, found[1], source)
			}
		}
	}
}
