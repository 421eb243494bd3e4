package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/config"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

func TestCostsOfAMonthAreToldDayByDayAndInAll(t *testing.T) {
	var out, err bytes.Buffer
	c := &command{Streams: Streams{Out: &out, Err: &err}, prices: config.Prices{}.OrPublic()}
	month := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	known := assistant.Usage{Model: "anthropic:claude-haiku-4-5-20251001", Input: 1_000_000, Output: 100_000}
	unknown := assistant.Usage{Model: "ollama:small", Input: 10, Output: 1}
	days := []service.Spent{{Day: "2026-11-02", Runs: 2, Used: []assistant.Usage{known}},
		{Day: "2026-11-01", Runs: 1, Used: []assistant.Usage{known, unknown}}}
	assert.NoError(t, c.printCosts(month, days))
	want := "2026-11-01  1 run     1000010 tokens in, 100001 out\n" +
		"2026-11-02  2 runs    1000000 tokens in, 100000 out; about 1.50 USD\n" +
		"2026-11     3 runs    2000010 tokens in, 200001 out\n"
	assert.That(t, out.String() == want && strings.Contains(err.String(), "public prices of 20"),
		"%s%s", out.String(), err.String())
}

func TestReportOfShadowsSaysWhyQuestionsAreLeftOut(t *testing.T) {
	var out, err bytes.Buffer
	c := &command{Streams: Streams{Out: &out, Err: &err}}
	assert.NoError(t, c.reportShadows(nil, 2, false))
	assert.Contains(t, "it", err.String(), "2 questions left out", "not ended", "removed", "stopped", "failed", "refused")
}

func TestLongTextGoesThroughThePagerAndNoShell(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the pagers of this test are scripts")
	}
	dir := t.TempDir()
	pager := filepath.Join(dir, "pager")
	if err := os.WriteFile(pager, []byte("#!/bin/sh\necho \"paged with $* and $LESS\"\ncat\n"), 0o700); err != nil { //nolint:gosec // it has to be run
		t.Fatal(err)
	}
	long := strings.Repeat("line\x1b[2J\n", 30)
	for name, c := range map[string]struct {
		environ []string
		tty, no bool
		text    string
		want    string
	}{
		"long": {[]string{"PAGER=" + pager + " $(touch x) ;x"}, true, false, long,
			"paged with $(touch x) ;x and FRX\n" + strings.Repeat("line[2J\n", 30)},
		"its own options": {[]string{"PAGER=" + pager, "LESS=X"}, true, false, long, "paged with  and X\n" +
			strings.Repeat("line[2J\n", 30)},
		"one that ends": {[]string{"PAGER=true"}, true, false, strings.Repeat(long, 1000), ""},
		"none is there": {[]string{"PAGER=" + dir + "/none"}, true, false, long, strings.Repeat("line[2J\n", 30)},
		"no pager":      {[]string{"PAGER=" + pager}, true, true, long, strings.Repeat("line[2J\n", 30)},
		"turned off":    {[]string{"PAGER="}, true, false, long, strings.Repeat("line[2J\n", 30)},
		"dumb": {[]string{"PAGER=" + pager, "TERM=dumb"}, true, false, long,
			strings.Repeat("line[2J\n", 30)},
		"short":             {[]string{"PAGER=" + pager}, true, false, "a\n", "a\n"},
		"not on a terminal": {[]string{"PAGER=" + pager}, false, false, long, long},
	} {
		t.Run(name, func(t *testing.T) {
			out := assert.Must(os.Create(filepath.Join(t.TempDir(), "out")))(t)
			defer func() { _ = out.Close() }()
			cmd := &command{Streams: Streams{Out: filterTerminal(out, c.tty, 80), OutTTY: c.tty, Height: 20},
				environ: append(c.environ, "PATH="+os.Getenv("PATH")), file: out, flags: flags{noPager: c.no}}
			assert.NoError(t, cmd.showInPager(t.Context(), c.text))
			got, err := os.ReadFile(out.Name())
			assert.That(t, err == nil && string(got) == c.want, "%v: it shows %.200q, not %.200q", err, got, c.want)
		})
	}
}

func TestCostsAreToldWhereEveryModelHasAPrice(t *testing.T) {
	prices := config.Prices{Currency: "EUR", Models: map[string]config.Price{"a:*": {Input: 2, Cached: 1, Output: 10},
		"free:*": {}}}
	a, b, free := assistant.Usage{Model: "a:x", Input: 1_000_000, Cached: 500_000, Output: 100_000},
		assistant.Usage{Model: "b:y", Input: 10, Output: 1}, assistant.Usage{Model: "free:z", Input: 5, Output: 5}
	for want, used := range map[string][]assistant.Usage{
		"": nil,
		"1000000 tokens in (500000 cached), 100000 out; 2.50 EUR": {a},
		"1000010 tokens in (500000 cached), 100001 out":           {a, b},
		"5 tokens in, 5 out; 0.00 EUR":                            {free},
		"10 tokens in, 0 out; 0.000020 EUR":                       {{Model: "a:x", Input: 10}},
	} {
		got := costsOf(prices, used, "")
		assert.That(t, got == want, "%q is told, not %q", got, want)
	}
	for sum, want := range map[float64]string{0.999: "1.00", 0.5: "0.50", 0.0123: "0.012", 0.00000001: "0.00000001"} {
		assert.Equalf(t, amount(sum), want, "%v", sum)
	}
}

// hostilePage explains a run whose every text is an attack; code is the line that was read.
func hostilePage(t *testing.T, text, code string) string {
	t.Helper()
	read := service.Source{Cite: "a.go:2 " + text, Read: true, Cited: true, State: service.SourceSame,
		Lines: []service.Line{{Number: 2, Text: code, Marked: true}, {Number: 3, Text: "line 3"}}}
	changed := service.Source{Cite: "changed.go:2", Read: true, Cited: true, State: service.SourceChanged}
	gone := service.Source{Cite: "gone.go:2", Read: true, Cited: true, State: service.SourceGone}
	never := service.Source{Cite: "never.go:1", Cited: true, State: service.SourceUnread}
	page := assert.Must(explainPage(service.Explanation{
		Run: service.Row{Run: journal.Run{ID: "0abc", Title: text}, Standing: run.Standing{State: run.StateEnded, Cause: "satisfied"}},
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
