package service

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/service/assistant"
)

// Whoever gets the page runs nothing by it, fetches nothing, and is led to no server but those that the answers name.
func TestPageOfAConversationCanBeShownToAnybody(t *testing.T) {
	c := Conversation{Session: journal.Session{Title: "<b>A</b> lease", Place: "/home/ada/secret"}, Others: 2}
	c.shown = []assistant.Shown{
		{Question: "What <script>alert(1)</script>\nis it?", Answer: "It is **held**[^1] (lease.go:3), $x<y$: " +
			"![x](https://evil.example/p.png) [own](/api/me) [out](https://ok.example/)\n\n[^1]: By a run.",
			Footer: "1. `lease.go:3`", Citations: []assistant.Citation{{Text: "lease.go:3", Number: 1, Read: true}}},
		{Question: "And then?", Answer: "- [x] `done`", Files: []string{"a.txt"}},
	}
	text := assert.Must(c.Export("html", nil))(t)
	assert.Contains(t, "the page", text, "<title>&lt;b&gt;A&lt;/b&gt; lease</title>", "<strong>held</strong><sup>1</sup>",
		"(lease.go:3)", `<code class="math">x&lt;y</code>`, "2 questions in other branches", "And then?", "☑")
	assert.Lacks(t, "the page", text, "/home/ada", "/api/")
	z := html.NewTokenizer(strings.NewReader(text))
	for z.Next() != html.ErrorToken {
		token := z.Token()
		if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
			continue
		}
		assert.Lacks(t, "the elements", " script img iframe link form button input object ", " "+token.Data+" ")
		for _, a := range token.Attr {
			assert.That(t, a.Key != "href" && a.Key != "src" || strings.HasPrefix(a.Val, "https://"),
				"%s leads to %s", token.Data, a.Val)
		}
	}
}
