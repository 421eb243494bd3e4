package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/keys/cleartext"
	"sibyl/internal/redact/redacttest"
	"sibyl/internal/tool"
)

func convertSource(t testing.TB, source string) FetchData {
	t.Helper()
	base := assert.Must(url.Parse("https://example.com/docs/page"))(t)
	var p FetchData
	convertHTML(&p, source, base)
	return p
}

func TestHTMLBecomesMarkdown(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"headings and emphasis", `<h2>One</h2><p>a <b>bold</b> <i>word</i>, <u>plain</u>`,
			"## One\n\na **bold** *word*, plain"},
		{"link", `<p><a href="../x?a=1&b=2#c">there</a>`, "[there](https://example.com/x?a=1&b=2#c)"},
		{"link from a base", `<base href="https://other.test/dir/"><p><a href=x>there</a>`,
			"[there](https://other.test/dir/x)"},
		{"script as link", `<p><a href="javascript:alert(1)">press</a> <a name=x>here</a>`, "press here"},
		{"picture with words", `<p><img src=a.png alt="A cat">`, "![A cat](https://example.com/docs/a.png)"},
		{"picture without", `<p>x<img src=a.png><img alt=dot src="data:image/gif;base64,R0">y`, "xy"},
		{"code", "<pre><code class=language-go>if a &lt; b {\n\treturn *p\n}</code></pre>",
			"```\nif a < b {\n\treturn *p\n}\n```"},
		{"nothing is escaped", `<p>snake_case_name *x* &lt;signal&gt; 1. [a] &amp;lt;`,
			"snake_case_name *x* <signal> 1. [a] &lt;"},
		{"list", `<ul><li>one<li>two</ul>`, "- one\n- two"},
		{"table", `<table><tr><th>a<th>b<tr><td>1<td>x<br>y</table>`, "| a | b |\n|---|---|\n| 1 | x  <br />y |"},
		{"table with a line across", `<table><tr><th>a<th>b<tr><td colspan=1000>-<tr><td>1<td>2</table>`,
			"| a | b |\n|---|---|\n| - |  |\n| 1 | 2 |"},
		{"table for layout", `<table><tr><td><ul><li>a</ul><td>b<tr><td>c</table>`, "- a\n\nb\n\nc"},
		{"what a person does not see", `<p>seen<p hidden>no<p style="Display : none">no<div aria-hidden=true>no</div>` +
			`<style>no</style><template>no</template><script>no</script><!-- no --><svg><title>no</title></svg>`,
			"seen"},
		{"frame of the page", `<nav>menu</nav><header><h1>Title</h1></header><p>text</p><aside>ad</aside><footer>legal</footer>`,
			"# Title\n\ntext"},
		{"formula", `<p>so <math><mi>x</mi><mo>=</mo><mn>1</mn></math> holds`, "so x=1 holds"},
		{"control characters", "<p>a&#27;[2Jb\x01c&#x85;", "a[2Jbc…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := convertSource(t, c.source)
			diff := cmp.Diff(c.want, p.Text)
			assert.That(t, diff == "" && p.Extract == ExtractPage, "extract = %s\n%s", p.Extract, diff)
		})
	}
}

func TestArticleIsTakenOutOfItsPage(t *testing.T) {
	paragraph := "<p>This paragraph is long enough, with commas, clauses, and words, " +
		"to be taken for the main part of a page.</p>"
	p := convertSource(t, `<html lang=en><head><title>A story – The Paper</title><meta name=author content="Ann Author">
		<meta property="article:published_time" content="2026-01-02T03:04:05Z"></head>
		<body><ul class=menu><li><a href=/>Home</a></ul><article><h1>A story</h1>`+strings.Repeat(paragraph, 6)+
		`</article><div class=sidebar><a href=/x>Buy this</a></div></body>`)
	assert.That(t, p.Extract == ExtractArticle && !strings.Contains(p.Text, "Home") && !strings.Contains(p.Text, "Buy"),
		"extract = %s, text:\n%s", p.Extract, p.Text)
	n := strings.Count(p.Text, "main part of a page.")
	assert.That(t, n == 6, "%d of 6 paragraphs were kept", n)
	assert.That(t, strings.HasPrefix(p.Title, "A story") && p.Byline == "Ann Author" &&
		p.Published == "2026-01-02T03:04:05Z", "title %q, byline %q, published %q", p.Title, p.Byline, p.Published)
}

func TestWholePageIsTakenWhereTheArticleIsOnlyASmallPart(t *testing.T) {
	paragraph := "<p>This paragraph is long enough, with commas, clauses, and words, " +
		"to be taken for the main part of a page.</p>"
	var entries strings.Builder
	for i := range 200 {
		fmt.Fprintf(&entries, "<dl><dt>option-%d</dt><dd>sets what number %d says</dd></dl>", i, i)
	}
	p := convertSource(t, "<title>Reference</title><div>"+strings.Repeat(paragraph, 4)+"</div><section>"+entries.String()+
		"</section>")
	assert.That(t, strings.Contains(p.Text, "option-0") && strings.Contains(p.Text, "option-199") &&
		strings.Contains(p.Text, "main part"),
		"extract = %s: part of the reference is lost, %d characters left", p.Extract, len(p.Text))
}

// Each of these is small on the wire and would fill the memory, or run for minutes, without its bound.
func TestHostilePagesCostNoMoreThanTheirSize(t *testing.T) {
	distinct := func(tag string, n int) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, "<%s a=%d>", tag, i)
		}
		return out.String()
	}
	const size = 256 << 10
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	cell := strings.Repeat("long ", 8000)
	for name, source := range map[string]string{
		"formatting that is never closed":     "<p>" + distinct("b", 400) + strings.Repeat("<p>x", 12000),
		"formatting under another name":       "<p>" + distinct("nobr", 400) + strings.Repeat("<p>x", 12000),
		"formatting inside a drawing's title": "<svg><title><p>" + distinct("b", 400) + strings.Repeat("<p>x", 12000),
		"formatting inside a formula": "<math><mtext><title><p>" + distinct("b", 400) + strings.Repeat("<p>x",
			12000),
		"elements nested without end": fill("<div>"),
		"elements without number":     fill("<p>a"),
		"quotations in quotations":    strings.Repeat("<blockquote>", 450) + strings.Repeat("x<br>", 12000),
		"lists in lists":              strings.Repeat("<ul><li>", 220) + strings.Repeat("<li>x", 12000),
		"a cell of a million columns": "<table><tr><td colspan=1000000000>x<tr><td rowspan=1000000000 " +
			"colspan=1000>y</table>",
		"one wide row and many short ones": "<table><tr>" + strings.Repeat("<td>x", 6000) +
			strings.Repeat("<tr><td>y", 6000) + "</table>",
		"one long cell and many short ones": "<table><tr><td>" + cell + strings.Repeat("<tr><td>y", 6000) +
			"</table>",
		"many tables":               fill("<table><tr><td>x</td></tr></table>"),
		"markdown's own characters": fill("*_`[]#>|"),
		"one endless attribute":     "<p title='" + fill("x"),
		"attributes without number": "<p" + distinct(" x", 1) + fill(" a=b") + ">text",
		"links in links":            fill("<a href=x><table><td>"),
		"headings":                  fill("<h2>x</h2>"),
		"an unclosed comment":       "text<!--" + fill("x"),
		"paragraphs that look like an article": fill(
			"<p>Hello there, this is, with commas, a paragraph of some length to be scored."),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p := convertSource(t, source)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d KB in, %d KB of text (%s), %d MB allocated",
				len(source)>>10, len(p.Text)>>10, p.Extract, allocated>>20)
			assert.That(t, allocated <= 256<<20 || underRaceDetector,
				"%d MB were allocated for %d KB", allocated>>20, len(source)>>10)
			assert.That(t, len(p.Text) <= 20*size, "%d KB of text came out of %d KB", len(p.Text)>>10, len(source)>>10)
		})
	}
}

func TestWordsOfAPageThatCannotBeLaidOutAreKept(t *testing.T) {
	for name, source := range map[string]string{
		"too deep": strings.Repeat("<div>", 600) +
			"<p>first <b>second</b><script>no</script><style>no</style><p>third",
		"too large":        strings.Repeat("<i></i>", 120_000) + "<p>first <b>second</b><script>no</script><p>third",
		"unclosed drawing": "<p>first <b>second</b><svg><path><script>no</script><p>third",
	} {
		p := convertSource(t, source)
		assert.That(t, p.Text == "first\nsecond\nthird" && p.Extract == ExtractBare,
			"%s: text = %.80q, extract = %s", name, p.Text, p.Extract)
	}
}

func FuzzConvertedPageIsCleanText(f *testing.F) {
	for _, seed := range []string{
		"<p>a<b>b", "<table><tr><td colspan=3>x", "<svg><title><b>", "<a href='javascript:x'>y", "<ul><li><ul><li>x",
		"<pre><code>a\n`b",
		"<base href='//x'><img src=a alt=b>", "<select><option><textarea></select>", "<template><p>",
		"<math><annotation-xml><p>",
		"<noscript><p>x</noscript>", "<frameset><frame>", "<p>&#0;&#x1F;\x00",
		"<script type='application/ld+json'>{\"@type\":[1]}</script>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		text := convertSource(t, source).Text
		assert.That(t, utf8.ValidString(text) || !utf8.ValidString(source), "the text is not UTF-8")
		i := strings.IndexFunc(text, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t'
		})
		assert.That(t, i < 0, "a control character is left at %d: %q", i, text)
	})
}

func wantNoSecret(t *testing.T, v redacttest.Vector, how string, res tool.Result) {
	t.Helper()
	for _, leak := range v.Leaks(strings.ReplaceAll(res.Text, `\`, "") + "\n" + string(res.Data)) {
		t.Errorf("%s, %s: %q is in\n%s", v.Name, how, leak, res.Text)
	}
}

func TestSecretsInPagesAreTakenOutOfWhatToolsSay(t *testing.T) {
	for _, v := range redacttest.Vectors(t) {
		res, _, err := fetchFrom(t, Config{}, body("text/plain", v.Text+"\n."))
		assert.NoErrorf(t, err, "%s", v.Name)
		wantNoSecret(t, v, "as text", res)
		page := "<html><body><h1>About</h1><p>Some words before it.</p><pre>" + html.EscapeString(v.Text) +
			"</pre><p>And after.</p></body></html>"
		res, _, err = fetchFrom(t, Config{}, body("text/html", page))
		assert.Require(t, err == nil, "%s: %v", v.Name, err)
		wantNoSecret(t, v, "as a page", res)
		hits := assert.Must(json.Marshal(map[string]any{"results": []any{map[string]any{"url": "https://a.test/",
			"title": "A page", "content": v.Text}}}))(t)
		found, err := searchOn(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(hits)
		}, map[string]any{"query": "x"})
		assert.NoErrorf(t, err, "%s", v.Name)
		wantNoSecret(t, v, "as a hit", found)
	}
}

func TestNoKeyOfAnEngineGoesOverPlainHTTPToAnotherMachine(t *testing.T) {
	key := func(context.Context) (string, error) { return "canary-0123456789", nil }
	for name, cfg := range map[string]Config{
		"Brave":   {Engine: Brave, BaseURL: "http://search.test", Key: key},
		"Tavily":  {Engine: Tavily, BaseURL: "http://10.1.2.3:8080", Key: key},
		"SearXNG": {Engine: SearXNG, SearXNG: "http://ada:canary-0123456789@search.test"},
	} {
		cfg.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			t.Errorf("%s: a name was looked up", name)
			return nil, errors.New("no network")
		}}
		_, err := byName(t, cfg, "web_search").Call(t.Context(), args(t, map[string]any{"query": "x"}))
		said := wantKind(t, err, tool.Denied)
		assert.That(t, strings.Contains(said.Message, cleartext.Setting) && !strings.Contains(said.Message, "canary"),
			"%s: got %v", name, err)
	}
}
