package markdown

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
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
