package cli

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

const answerText = `# Retries

The helper **waits**, *doubles* and ~~never~~ stops; see ` + "`retry.go:12`" + ` and [the
guide](https://example.com/a?x=1&copy=2 "t"), or <https://example.com>.
Second line.\
Third \*line\* &amp; &lt;tag&gt; &#233; <b>html</b>

- one
- two
  with more
  1. deep
  2. deeper
- [x] done

7. seven

   still seven
8. eight

> quoted
> on

` + "```go\nfunc main() {\n\n\t*x = 1 &amp; 2\n}\n```" + `

| name | n | note |
|:-----|--:|:----:|
| ä` + "`b`" + ` | 12 | mid |
| long name | 3 | centre |

---
<div>
raw
</div>
`

func TestAnswerIsLaidOutAsMarkdown(t *testing.T) {
	want := strings.Join([]string{
		"# Retries",
		"",
		"The helper **waits**, *doubles* and ~~never~~ stops; see `retry.go:12` and the guide https://example.com/a?x=1&copy=2, or https://example.com. Second line.",
		"Third *line* & <tag> é <b>html</b>",
		"",
		"• one",
		"• two with more",
		"  1. deep",
		"  2. deeper",
		"• [x] done",
		"",
		"7. seven",
		"",
		"   still seven",
		"",
		"8. eight",
		"",
		"│ quoted on",
		"",
		"    func main() {",
		"",
		"    \t*x = 1 &amp; 2",
		"    }",
		"",
		"name      │  n │  note",
		"──────────┼────┼───────",
		"ä`b`      │ 12 │  mid",
		"long name │  3 │ centre",
		"",
		"────────",
		"",
		"<div>",
		"raw",
		"</div>",
	}, "\n")
	if diff := cmp.Diff(want, markdown(answerText, false)); diff != "" {
		t.Errorf("without colours (-want +got):\n%s", diff)
	}
	coloured := markdown(answerText, true)
	if diff := cmp.Diff(strings.NewReplacer("`b`", "b  ", "**", "", "*doubles*", "doubles", "~~", "", "`", "").Replace(want), ansi.Strip(coloured)); diff != "" {
		t.Errorf("with colours, beside them (-want +got):\n%s", diff)
	}
	for what, sequence := range map[string]string{
		"heading": "\x1b[1;34m# Retries\x1b[22;39m", "strong": "\x1b[1mwaits\x1b[22m", "emphasis": "\x1b[3mdoubles\x1b[23m", "struck": "\x1b[9mnever\x1b[29m",
		"code": "\x1b[36mretry.go:12\x1b[39m", "link": "\x1b[4mhttps://example.com\x1b[24m",
	} {
		if !strings.Contains(coloured, sequence) {
			t.Errorf("with colours: the %s is not %q", what, sequence)
		}
	}
}

func TestNoCharacterOfAnAnswerSteersTheTerminal(t *testing.T) {
	for _, text := range []string{
		"&#27;[2J", "&#x1b;]0;t&#7;", "`\x1b[2J`", "[a](https://x/&#27;[2J)", "<https://x/\x1b[2J>", "```\n\x1b[2J\n```", "| \x1b |\n|--|\n| &#27; |", "&#&#50;7;[2J", "<b \x1b>", "<div>\x1b</div>",
		"&#x202e;x", "![\x1b](\u202ey)",
	} {
		if got := markdown(text, false); printable(got) != got {
			t.Errorf("%q became %q", text, got)
		}
	}
}
