package render

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/lineartest"
)

// hostile are texts by which a stranger would have a page run, fetch or hide something.
var hostile = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, "![x](https://evil.example/pixel.png)",
	"[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))",
	"[x](&#106;avascript:alert(1))", "[x](data:text/html,<script>)", "[x](vbscript:x)", "<javascript:alert(1)>",
	"[x]: javascript:alert(1)\n\n[x]",
	"<svg><script>alert(1)</script></svg>", "<a href='https://ok.example' onclick='x'>y</a>", "`<script>`",
	"    <script>alert(1)</script>", "```html\n<script>\n```",
	"```\" onmouseover=\"alert(1)\nx\n```", "| a | b |\n|:-:|--:|\n| <b>x</b> | [l](javascript:x) |",
	"<!-- <script> -->", "# <iframe src=x>", "[file](file:///etc/passwd)",
	"[own](/api/sign-out)", "[own](#/settings)", "[a](https://e.example \"t\" onclick=x)",
	"<style>*{display:none}</style>", "[x](//evil.example/a)", "https://plain.example/x",
	"<details open ontoggle=alert(1)>", "[![x](https://evil.example/p.png)](https://e.example)", "\u202egnp.exe",
	"a[b](<javascript:x>)",
	"$a `b$ ` <img src=x onerror=alert(1)> `", "$$\n```\n$$\n![x](https://evil.example/p.png) <b>\n```",
	"\\(a `\\) ![x](https://evil.example/p.png)`", "$<script>alert(1)</script>$", "[^1]\n\n[^1]: <img src=x>",
	"- [x] <input onfocus=alert(1) autofocus>", "```math\n</code><script>\n```",
}

// Whatever is said, the page gets no more than text, links to the web, and the elements of Markdown.
func TestHTMLHoldsNothingThatRunsOrFetches(t *testing.T) {
	allowed := map[string]string{ // elements with the attributes that they may have
		"p": "", "h3": "", "h4": "", "h5": "", "h6": "", "ul": "", "ol": "start class", "li": "", "sup": "", "pre": "", "code": "class",
		"em": "", "strong": "", "del": "", "hr": "", "br": "",
		"span": "class", "button": "type class value title",
		"blockquote": "", "a": "href target rel title", "table": "", "thead": "", "tbody": "", "tr": "", "th": "align",
		"td": "align",
	}
	for _, source := range append(hostile, strings.Join(hostile, "\n\n")) {
		z := html.NewTokenizer(strings.NewReader(HTML(source)))
		for z.Next() != html.ErrorToken {
			token := z.Token()
			assert.That(t, token.Type != html.CommentToken || strings.Contains(token.Data, "raw HTML omitted"),
				"%q: a comment %q", source, token.Data)
			if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
				continue
			}
			attributes, ok := allowed[token.Data]
			assert.That(t, ok, "%q has the element %s", source, token.Data)
			for _, a := range token.Attr {
				assert.That(t, strings.Contains(" "+attributes+" ", " "+a.Key+" "),
					"%q has the attribute %s of %s", source, a.Key, token.Data)
				assert.That(t, a.Key != "href" || strings.HasPrefix(a.Val, "https://"), "%q leads to %q", source, a.Val)
			}
		}
	}
}

func TestFormulasAreToldFromAmountsAndCode(t *testing.T) {
	for source, want := range map[string]string{
		"It is $x_1*y_2*z$.":           `<p>It is <code class="math">x_1*y_2*z</code>.</p>`,
		`So \(a<b\) holds.`:            `<p>So <code class="math">a&lt;b</code> holds.</p>`,
		"Thus $$E = mc^2$$ holds.":     `<p>Thus <code class="math display">E = mc^2</code> holds.</p>`,
		"$$\na_1\n\n+ b\n$$\nwords":    "<pre><code class=\"math display\">a_1\n\n+ b</code></pre>\n<p>words</p>",
		"a\n\\[\n\\frac{1}{2}\n\\]\nb": "<p>a</p>\n<pre><code class=\"math display\">\\frac{1}{2}</code></pre>\n<p>b</p>",
		"- one\n  $$\n  x\n  $$\n":     "<ul>\n<li>one\n<pre><code class=\"math display\">x</code></pre>\n</li>\n</ul>",
		"```math\n\\sqrt{2}\n```":      "<pre><code class=\"math display\">\\sqrt{2}</code></pre>",
		"From $5 to $10, or US$20":     "<p>From $5 to $10, or US$20</p>",
		"Set $HOME/bin:$PATH first":    "<p>Set $HOME/bin:$PATH first</p>",
		"`$x$` and \\$y$":              "<p><code>$x$</code> and $y$</p>",
		"$$\nnothing closes it":        "<p>$$\nnothing closes it</p>",
		"It is $x\n= y$ here":          "<p>It is <code class=\"math\">x\n= y</code> here</p>",
		"empty $$ and $ $ and \\(\\)":  "<p>empty $$ and $ $ and ()</p>",
	} {
		got := strings.TrimSpace(HTML(source))
		assert.That(t, got == want, "%q is %q, wanted %q", source, got, want)
	}
}

func TestFootnotesAndCheckBoxesAreShown(t *testing.T) {
	got := HTML("A claim[^a], and *another*[^b].\n\n- [x] done\n- [ ] to do\n\n[^b]: Second.\n[^a]: The **first**.")
	assert.Contains(t, "the page", got, `claim<sup><button type="button" class="note" value="1">1</button></sup>`,
		"<ol class=\"notes\">\n<li>\n<p>The <strong>first</strong>.</p>\n</li>\n<li>\n<p>Second.</p>\n</li>\n</ol>",
		`<li><span class="check">☑</span> done</li>`, `<li><span class="check">☐</span> to do</li>`)
}

func TestHTMLKeepsTheWordsAndTheStructure(t *testing.T) {
	got := HTML("# One\n\nA *word* with `code` and [a place](https://e.example/x).\n\n- a\n- b\n\n| h |\n|--:|\n| 1 " +
		"|\n\n[f](file:///tmp/x) <b>bold</b>")
	assert.Contains(t, "the page", got, "<h3>One</h3>", "<em>word</em>", "<code>code</code>",
		`<a href="https://e.example/x" target="_blank" rel="noopener noreferrer nofollow">a place</a>`,
		"<li>a</li>", `<td align="right">1</td>`, "f &lt;b&gt;bold&lt;/b&gt;")
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
		got := HTML(source)
		assert.That(t, got == want, "%q is %q, wanted %q", source, got, want)
	}
}

func TestCodeIsColouredByTheNameOfItsLanguage(t *testing.T) {
	for source, want := range map[string]string{
		"```go\n// a\nfunc f() { return 1 }\n```": "<pre><code class=\"language-go\"><span class=\"comment\">// " +
			"a</span>\n<span class=\"keyword\">func</span> <span class=\"name\">f</span>() { <span " +
			"class=\"keyword\">return</span> <span class=\"number\">1</span> }\n</code></pre>\n",
		"```\nfunc f() {}\n```": "<pre><code>func f() {}\n</code></pre>\n",
		"```nothing\nfunc <b>\n```": "<pre><code class=\"language-nothing\">func " +
			"&lt;b&gt;\n</code></pre>\n",
		"    func f() {}": "<pre><code>func f() {}\n</code></pre>\n",
		"```diff\n-a\n+b\n```": "<pre><code class=\"language-diff\"><span " +
			"class=\"deleted\">-a\n</span><span class=\"inserted\">+b\n</span></code></pre>\n",
	} {
		got := HTML(source)
		assert.That(t, got == want, "%q is %s, wanted %s", source, got, want)
	}
	got := Draft("```go\nfunc f() {}\n```")
	assert.That(t, !strings.Contains(got, "span"), "a draft is coloured: %s", got)
}

// Whatever the language is, the page shows the code as it was written.
func TestColouringKeepsEveryLetter(t *testing.T) {
	forLanguages(t, keepsEveryLetter)
}

func keepsEveryLetter(t *testing.T, names []string) {
	t.Helper()
	code := "<script>alert(\"1\")</script> & 'x' /* ö \u00a0 */ # $a {{b}} <?php echo 1 ?>\n\ttab\n\n`q` \\\\ %s\n"
	for _, language := range names {
		shown := &strings.Builder{}
		z := html.NewTokenizer(strings.NewReader(HTML("~~~~" + language + "\n" + code + "~~~~")))
		for z.Next() != html.ErrorToken {
			if token := z.Token(); token.Type == html.TextToken {
				shown.WriteString(token.Data)
			} else if token.Data != "pre" && token.Data != "code" && token.Data != "span" {
				t.Errorf("%s: a %s", language, token.Data)
			}
		}
		assert.That(t, strings.TrimSpace(shown.String()) == strings.TrimSpace(code),
			"as %s it is shown as %q", language, shown)
	}
}

func TestTooMuchCodeStaysPlain(t *testing.T) {
	long := "```go\n" + strings.Repeat("return 1\n", mostColoured/9+1) + "```\n"
	got := HTML(long)
	assert.That(t, !strings.Contains(got, "span"), "code beyond the bound is coloured")
	half := "```go\n" + strings.Repeat("return 1\n", mostColoured/18+1) + "```\n"
	got = HTML(half + half)
	assert.That(t, strings.Count(got, "</pre>") == 2 && strings.HasSuffix(got, "return 1\n</code></pre>\n") &&
		strings.Contains(got, "span"), "the bound is not one for the whole text")
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	(&colouring{left: mostColoured}).write(w, "go", "return <1>")
	_ = w.Flush()
	assert.That(t, b.String() == "return &lt;1&gt;", "when the time is over it is %q", b.String())
}

func TestCitationsBecomeNumbers(t *testing.T) {
	chip := func(n, place string) string {
		return `<button type="button" class="cite" value="` + n + `" title="` + place + `"><span class="place">` +
			place + `</span> <span class="number">` + n + `</span></button>`
	}
	alone := func(n, place string) string { return strings.Replace(chip(n, place), `"place"`, `"place unseen"`, 1) }
	cited := []Citation{{Text: "run/lease.go:42", Number: 1}, {Text: "lease.go:4", Number: 2},
		{Text: "my notes/a b.md:3-5", Number: 3}, {Text: "https://e.example/x", Number: 4},
		{Text: "gone.go:1", Number: 5, Unread: true}, {Text: "report.pdf p. 3", Number: 6},
		{Text: "a<b>.go:1", Number: 7}}
	one, two := chip("1", "run/lease.go:42"), chip("2", "lease.go:4")
	for source, want := range map[string]string{
		"See run/lease.go:42.": "<p>See " + one + ".</p>\n",
		"It is renewed (run/lease.go:42).": "<p>It is renewed " + alone("1", "run/lease.go:42") +
			".</p>\n",
		"Both (run/lease.go:42, lease.go:4) do.": "<p>Both " + alone("1", "run/lease.go:42") +
			alone("2", "lease.go:4") + " do.</p>\n",
		"Both [`run/lease.go:42` and `lease.go:4`].": "<p>Both " + alone("1", "run/lease.go:42") +
			alone("2", "lease.go:4") + ".</p>\n",
		"(in run/lease.go:42)":          "<p>(in " + one + ")</p>\n",
		"`run/lease.go:42`, lease.go:4": "<p>" + one + ", " + two + "</p>\n",
		"`see lease.go:4` lease.go:42 clease.go:4": "<p><code>see lease.go:4</code> lease.go:42 " +
			"clease.go:4</p>\n",
		"**lease.go:4** and *a* [b](https://e.example/x)": "<p><strong>" + two +
			"</strong> and <em>a</em> <a href=\"https://e.example/x\" target=\"_blank\" rel=\"noopener noreferrer " +
			"nofollow\">b</a>" + strings.Replace(alone("4", "https://e.example/x"), ">https://e.example/x<",
			">e.example<", 1) + "</p>\n",
		"[lease.go:4](https://other.example)": "<p><a href=\"https://other.example\" target=\"_blank\" " +
			"rel=\"noopener noreferrer nofollow\">lease.go:4</a></p>\n",
		"my notes/a b.md:3-5 holds it\nand more": "<p>" + chip("3", "my notes/a b.md:3-5") +
			" holds it\nand more</p>\n",
		"https://e.example/x. <https://e.example/x>": "<p>" + strings.Replace(chip("4", "https://e.example/x"),
			">https://e.example/x<", ">e.example<", 1) + ". " + strings.Replace(chip("4", "https://e.example/x"),
			">https://e.example/x<", ">e.example<", 1) + "</p>\n",
		"https://e.example/x/y": "<p>https://e.example/x/y</p>\n",
		"gone.go:1": "<p>" + strings.Replace(chip("5", "gone.go:1"), `"cite"`,
			`"cite unread"`, 1) + "</p>\n",
		"- a report.pdf p. 3": "<ul>\n<li>a " + chip("6", "report.pdf p. 3") +
			"</li>\n</ul>\n",
		"```\nlease.go:4\n```": "<pre><code>lease.go:4\n</code></pre>\n",
		"# lease.go:4":         "<h3>" + two + "</h3>\n",
		"`a<b>.go:1`":          "<p>" + chip("7", "a&lt;b&gt;.go:1") + "</p>\n",
	} {
		got := HTML(source, cited...)
		assert.That(t, got == want, "%q is\n%s, wanted\n%s", source, got, want)
	}
	assert.Equalf(t, HTML("See lease.go:4."), "<p>See lease.go:4.</p>\n", "without citations it")
}

func TestManyCitationsAndFencesTakeNoTimeThatGrowsFaster(t *testing.T) {
	cited := []Citation{{Text: "a.go:1", Number: 1}}
	for about, source := range map[string]string{
		"citations in one line":        "a.go:1, ",
		"citations without blanks":     "a.go:1",
		"blocks of no known language":  "```zork\n```\n",
		"blocks with words in no such": "```zork\nx\n```\n",
		"blocks of many languages":     "```zork0\nx\n```\n", // 0: the number of the block
		"formulas that nothing closes": `\(a `,
		"formulas that code closes":    "\\(a\\(b`",
		"dollars":                      "$a$1",
		"dollars that are escaped":     `$x\$`,
		"lines of dollars":             "$$\n",
		"footnotes":                    "[^0]\n\n[^0]: x\n\n",
	} {
		t.Run(about, func(t *testing.T) {
			lineartest.Check(t, 1000, func(size int) func() {
				var b strings.Builder
				for n := range size {
					b.WriteString(strings.ReplaceAll(source, "0", strconv.Itoa(n)))
				}
				return func() { HTML(b.String(), cited...) }
			})
		})
	}
}

func TestCodeThatBreaksALexerStaysPlain(t *testing.T) {
	code := strings.Repeat("/*{[#", 100)
	got := HTML("~~~YANG\n" + code + "\n~~~\n")
	assert.That(t, strings.Contains(got, code[len(code)-50:]), "the code is %q", got)
}
