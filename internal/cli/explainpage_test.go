package cli

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// hostilePage explains a run whose every text is an attack; code is the line that was read.
func hostilePage(t *testing.T, text, code string) string {
	t.Helper()
	read := service.Source{Cite: "a.go:2 " + text, Read: true, Cited: true, State: service.SourceSame,
		Lines: []service.Line{{Number: 2, Text: code, Marked: true}, {Number: 3, Text: "line 3"}}}
	changed := service.Source{Cite: "changed.go:2", Read: true, Cited: true, State: service.SourceChanged}
	gone := service.Source{Cite: "gone.go:2", Read: true, Cited: true, State: service.SourceGone}
	never := service.Source{Cite: "never.go:1", Cited: true, State: service.SourceUnread}
	page := assert.Must(explainPage(service.Explanation{
		Run: service.Row{Run: journal.Run{ID: "0abc", Title: text}, State: "satisfied"},
		Steps: []service.Step{
			{Events: []service.Event{{TraceEvent: run.TraceEvent{Rule: "Oracle/" + text, Status: "SUCCESS",
				Reason: text}, Why: bt.Because(text)}}, TookIn: text, At: time.Unix(0, 0)}},
		Story:   []service.Told{{Step: 1, Why: bt.Because(text)}},
		Sent:    []service.Sent{{Kind: "model", To: text}},
		Ending:  []string{text},
		Shown:   &assistant.Shown{Question: text, Answer: text + "\n\n# A head\n\n`a.go:2`"},
		Sources: []service.Source{read, changed, gone, never},
		Left:    []assistant.Left{{Kind: "model", To: text}},
	}, "5 tokens in, 1 out"))(t)
	return page
}

func TestPageOfAnExplanationRunsAndFetchesNothing(t *testing.T) {
	for _, attack := range []string{
		"<script>alert(1)</script>", "<img src=https://e.example/p.png onerror=alert(1)>",
		"![x](https://e.example/p.png)", "[x](javascript:alert(1))", "</style><script>alert(1)</script>",
		"</pre></details><iframe src=//e.example>", "\"><svg onload=alert(1)>", "{{.Run}}",
		"<a href='javascript:alert(1)'>x</a>", "\u202e\x1b[2J", "<link rel=stylesheet href=//e.example>",
		"<base href=//e.example>",
		"<meta http-equiv=refresh content='0;url=//e.example'>", "<form action=//e.example><input>",
	} {
		page := hostilePage(t, attack, printable(attack))
		assert.That(t, printable(page) == page, "%q: the page steers", attack)
		doc := assert.Must(html.Parse(strings.NewReader(page)))(t)
		styles := 0
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			assert.That(t, !slices.Contains([]string{"script", "img", "iframe", "svg", "link", "base", "form", "input", "object",
				"embed"}, n.Data), "%q: the page has <%s>", attack, n.Data)
			if n.Data == "style" {
				styles++
				sum := sha256.Sum256([]byte(n.FirstChild.Data))
				policy := policyOf(doc)
				assert.That(t, strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-"+
					base64.StdEncoding.EncodeToString(sum[:])+"'"), "the policy %q does not allow the style, or allows more", policy)
			}
			for _, a := range n.Attr {
				assert.That(t, !strings.HasPrefix(a.Key, "on") && a.Key != "src" && a.Key != "style" && (a.Key != "href" ||
					!strings.HasPrefix(a.Val, "javascript:")) && (a.Key != "http-equiv" || a.Val == "Content-Security-Policy"),
					"%q: <%s %s=%q>", attack, n.Data, a.Key, a.Val)
			}
		}
		assert.That(t, styles == 1, "%q: %d styles", attack, styles)
	}
}

func policyOf(doc *html.Node) (policy string) {
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if n.Data == "meta" && a.Key == "content" && strings.HasPrefix(a.Val, "default-src") {
				policy = a.Val
			}
		}
	}
	return policy
}

func TestPageOfAnExplanationChecksWhatIsCited(t *testing.T) {
	page := hostilePage(t, "plain", "the line")
	assert.Contains(t, "the page", page,
		"a.go:2 plain</code> <span class=\"good\">cited, and read in this run; unchanged since",
		`<tr class="marked"><th scope="row">2</th><td>the line</td></tr>`,
		`<tr><th scope="row">3</th><td>line 3</td></tr>`,
		"changed.go:2</code> <span class=\"doubtful\">cited, and read in this run; the file has changed since",
		"gone.go:2</code> <span class=\"doubtful\">cited, and read in this run; it can no longer be read",
		"never.go:1</code> <span class=\"bad\">cited, but not read in this run", "<dt>sent to</dt><dd>model plain</dd>",
		"<dd>5 tokens in, 1 out</dd>", "<h3>A head</h3>", "<code>a.go:2</code>", "✓ plain: plain")
	n := strings.Count(page, "class=\"marked\"")
	assert.That(t, n == 1, "%d lines are marked", n)
}
