package markdown

import (
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/text/markdown/markdowntest"
)

func TestHeadingsAreThoseOfCommonMark(t *testing.T) {
	for line, want := range map[string]struct {
		level int
		text  string
	}{
		"# One": {1, "One"}, "   ###### Six ##": {6, "Six"}, "#\tTab": {1, "Tab"}, "##": {2, ""}, "# C#": {1, "C#"},
		"# #":           {1, ""},
		"####### seven": {}, "#tag": {}, "    # indented code": {}, "text # no": {}, "": {},
	} {
		level, text, is := Heading(line)
		assert.That(t, level == want.level && text == want.text && is == (want.level > 0),
			"%q is a heading %v of level %d: %q; want level %d: %q", line, is, level, text, want.level, want.text)
	}
}

func TestFenceCoversItsBlockToTheMarkThatClosesIt(t *testing.T) {
	for text, want := range map[string]string{ // x: covered
		"a\n```go\n# b\n```\nc":         ".xxx.",
		"~~~\n```\n~~\n~~~~\nc":         "xxxx.",
		"````\n```\n```` go\n````\nc":   "xxxx.",
		"``` a`b\nc":                    "..",
		"    ```\nc":                    "..",
		"   ```\n    ```\n   ```  \nc":  "xxx.",
		"```\nnever closed\n\n# so far": "xxxx",
	} {
		var f Fence
		got := ""
		for line := range strings.SplitSeq(text, "\n") {
			got += map[bool]string{true: "x", false: "."}[f.Covers(line)]
		}
		assert.That(t, got == want, "%q: covered %s, want %s", text, got, want)
	}
}

func TestTextIsWhatAReaderSees(t *testing.T) {
	for line, want := range map[string]string{
		"**Bold**, *slanted* and `c*d*`": "Bold, slanted and c*d*", "2 * 3 * 4 snake_case": "2 * 3 * 4 snake_case",
		"[a](http://x.y) ![b](z)":       "a b",
		"a &amp; b \\*c\\* `&amp; \\*`": "a & b *c* &amp; \\*", "1. one > two # three": "1. one > two # three",
		"<http://x.y> <b>z</b>": "http://x.y z", "": "",
	} {
		assert.Equalf(t, Text(line), want, "%q", line)
	}
}

func TestUnescapedHasTheCharactersThatEscapesStandForAndCodeAsItIs(t *testing.T) {
	for source, want := range map[string]string{
		"1\\. **a** &#91;b&#93; \\& c\\_d": "1. **a** [b] & c_d", "`&lt;` \\* `\\*`": "`&lt;` * `\\*`",
		"a \\*\n\n```\n\\. &amp;\n```\n\n> &lt;b>": "a *\n\n```\n\\. &amp;\n```\n\n> <b>", "": "",
	} {
		assert.Equalf(t, Unescaped(source), want, "%q", source)
	}
}

const lt = "<"

// rendered is what a careless reader makes of Markdown: HTML of it stays, and so do links of any kind.
func rendered(t *testing.T, source string) string {
	t.Helper()
	var b strings.Builder
	assert.NoError(t,
		goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).
			Convert([]byte(source), &b))
	return b.String()
}

// dangers are what must not be in it.
var dangers = regexp.MustCompile(
	`(?i)<(img|script|iframe|svg|style|link|object|embed|form|b |div|!--)|(href|src)="?\s*(javascript|data|vbscript):`)

var live = map[string]string{
	"a picture":                      "see ![x](https://e.example/p.png?d=1) there",
	"a picture by reference":         "![x][r]\n\n[r]: https://e.example/p.png",
	"a picture in a link":            "[![x](https://e.example/p.png)](https://e.example)",
	"pictures without an end":        "!![![x](https://e.example/p.png)",
	"an escaped backslash":           `\\![x](https://e.example/p.png)`,
	"a picture in a table":           "| a |\n|---|\n| ![x](https://e.example/p.png) |",
	"a picture in a quote of a list": "- > ![x](//e.example/p.png)",
	"HTML in a line":                 "a " + lt + "img src=https://e.example/p.png> b",
	"a block of HTML":                lt + "div>\n" + lt + "script>x()" + lt + "/script>\n" + lt + "/div>",
	"a comment":                      lt + "!-- x --> and " + lt + "?php x ?>",
	"code that HTML hides":           lt + "div>`\n\n![x](https://e.example/p.png)`",
	"a fence that HTML hides":        lt + "div>\n```\n" + lt + "/div>\n\n" + lt + "img src=x>\n",
	"a link that runs":               "[x](javascript:alert(1))",
	"one with entities":              "[x](&#106;avascript:alert(1)) [y](java&Tab;script:alert(1))",
	"one in brackets":                "[x](" + lt + "javascript:alert(1)>)",
	"one by reference":               "[x]\n\n[x]: javascript:alert(1)",
	"one in a reference of a quote":  "> [x]\n\n> [x]: " + lt + "data:text/html,x>",
	"an address that runs":           lt + "javascript:alert(1)>",
}

func TestNothingOfAStrangerIsFetchedOrRunWhereMarkdownIsShown(t *testing.T) {
	for name, source := range live {
		if !dangers.MatchString(rendered(t, source)) && name != "pictures without an end" &&
			name != "a picture by reference" {
			t.Errorf("%s: it is harmless as it is: %s", name, rendered(t, source))
		}
		got := Inert("# Title\n\n" + source + "\n\n## Next\n\nwords\n")
		found := dangers.FindString(rendered(t, got))
		assert.That(t, found == "", "%s: %s stays in\n%s", name, found, got)
		again := Inert(got)
		assert.That(t, again == got, "%s: twice it is\n%s", name, again)
		assert.That(t, strings.Contains(rendered(t, got), "words"), "%s: words are lost:\n%s", name, got)
	}
}

func TestEveryReaderFindsInertTextInert(t *testing.T) {
	for _, text := range markdowntest.Texts() {
		got := Inert("# Title\n\n" + text + "\n\n## Next\n")
		markdowntest.Check(t, text, got)
		again := Inert(got)
		assert.That(t, again == got, "%q: twice it is\n%s", text, again)
	}
}

func TestHarmlessMarkdownStaysAsItIs(t *testing.T) {
	for _, source := range []string{"# A\n\n- [x](https://e.example) " + lt +
		"https://e.example> a < b and 2<3\n\n```html\n" + lt + "img src=x> ![x](y)\n```\n",
		"`" + lt + "b>` and `![x](y)`", "    " + lt + "script>\n",
		"mail [me](mailto:a@b.example), [file](notes/a.md), [here](#a:b)", `\![x](https://e.example) and \` + lt +
			"b>"} {
		got := Inert(source)
		assert.That(t, got == source, "%q became %q", source, got)
	}
}

func TestCodeBesideAPictureStaysAsItIs(t *testing.T) {
	const code = "```\n![a](b) " + lt + "i>\n```"
	got := Inert("![x](https://e.example/p.png)\n\n" + code + "\n")
	assert.That(t, strings.Contains(got, code), "the code has changed:\n%s", got)
}

func TestControlCharactersAreGoneFromMarkdown(t *testing.T) {
	assert.Equal(t, Inert("a\x1b]8;;http://e\x07b\u202ec\r\n\u009bd\te"), "a]8;;http://ebc\nd\te")
}

func FuzzInert(f *testing.F) {
	for _, source := range live {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		got := Inert(source)
		_, is := findCode(got)
		assert.Require(t, !is, "%q is live", got)
		again := Inert(got)
		assert.Require(t, again == got, "twice: %q -> %q", got, again)
	})
}
