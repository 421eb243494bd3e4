package render

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// hostile are texts by which a stranger would have a page run, fetch or hide something.
var hostile = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, "![x](https://evil.example/pixel.png)", "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))",
	"[x](&#106;avascript:alert(1))", "[x](data:text/html,<script>)", "[x](vbscript:x)", "<javascript:alert(1)>", "[x]: javascript:alert(1)\n\n[x]",
	"<svg><script>alert(1)</script></svg>", "<a href='https://ok.example' onclick='x'>y</a>", "`<script>`", "    <script>alert(1)</script>", "```html\n<script>\n```",
	"```\" onmouseover=\"alert(1)\nx\n```", "| a | b |\n|:-:|--:|\n| <b>x</b> | [l](javascript:x) |", "<!-- <script> -->", "# <iframe src=x>", "[file](file:///etc/passwd)",
	"[own](/api/sign-out)", "[own](#/settings)", "[a](https://e.example \"t\" onclick=x)", "<style>*{display:none}</style>", "[x](//evil.example/a)", "https://plain.example/x",
	"<details open ontoggle=alert(1)>", "[![x](https://evil.example/p.png)](https://e.example)", "\u202egnp.exe", "a[b](<javascript:x>)",
}

// Whatever is said, the page gets no more than text, links to the web, and the elements of Markdown.
func TestHTMLHoldsNothingThatRunsOrFetches(t *testing.T) {
	allowed := map[string]string{ // elements with the attributes that they may have
		"p": "", "h3": "", "h4": "", "h5": "", "h6": "", "ul": "", "ol": "start", "li": "", "pre": "", "code": "class", "em": "", "strong": "", "del": "", "hr": "", "br": "",
		"blockquote": "", "a": "href target rel title", "table": "", "thead": "", "tbody": "", "tr": "", "th": "align", "td": "align",
	}
	for _, source := range append(hostile, strings.Join(hostile, "\n\n")) {
		z := html.NewTokenizer(strings.NewReader(HTML(source)))
		for z.Next() != html.ErrorToken {
			token := z.Token()
			if token.Type == html.CommentToken && !strings.Contains(token.Data, "raw HTML omitted") {
				t.Errorf("%q: a comment %q", source, token.Data)
			}
			if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
				continue
			}
			attributes, ok := allowed[token.Data]
			if !ok {
				t.Errorf("%q has the element %s", source, token.Data)
			}
			for _, a := range token.Attr {
				if !strings.Contains(" "+attributes+" ", " "+a.Key+" ") {
					t.Errorf("%q has the attribute %s of %s", source, a.Key, token.Data)
				}
				if a.Key == "href" && !strings.HasPrefix(a.Val, "https://") {
					t.Errorf("%q leads to %q", source, a.Val)
				}
			}
		}
	}
}

func TestHTMLKeepsTheWordsAndTheStructure(t *testing.T) {
	got := HTML("# One\n\nA *word* with `code` and [a place](https://e.example/x).\n\n- a\n- b\n\n| h |\n|--:|\n| 1 |\n\n[f](file:///tmp/x) <b>bold</b>")
	for _, want := range []string{"<h3>One</h3>", "<em>word</em>", "<code>code</code>", `<a href="https://e.example/x" target="_blank" rel="noopener noreferrer nofollow">a place</a>`,
		"<li>a</li>", `<td align="right">1</td>`, "f &lt;b&gt;bold&lt;/b&gt;"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// Headings go on from those of the page, so that none is skipped where the text begins; deeper ones stay deeper.
func TestHeadingsBeginAtTheThirdLevel(t *testing.T) {
	for source, want := range map[string]string{
		"# a\n## b\n# c":           "<h3>a</h3>\n<h4>b</h4>\n<h3>c</h3>\n",
		"## a\n### b\n## c\n# d":   "<h3>a</h3>\n<h4>b</h4>\n<h3>c</h3>\n<h3>d</h3>\n",
		"### a\n###### b\n### c":   "<h3>a</h3>\n<h6>b</h6>\n<h3>c</h3>\n",
		"###### a\nwords\n### b":   "<h3>a</h3>\n<p>words</p>\n<h3>b</h3>\n",
		"# a\n##### b\n###### c\n": "<h3>a</h3>\n<h6>b</h6>\n<h6>c</h6>\n",
	} {
		if got := HTML(source); got != want {
			t.Errorf("%q is %q, wanted %q", source, got, want)
		}
	}
}
