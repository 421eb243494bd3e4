package stories

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
)

// away has the server end in the middle of something, and begin again once the page has said so.
func (p *tab) away(meanwhile func()) {
	p.Helper()
	p.forgive("net::ERR_")
	p.stop()
	p.sees("The connection was lost.")
	meanwhile()
	p.start()
	p.until("the connection", `!document.body.innerText.includes("The connection was lost.")`)
}

// offline has the browser say that it has no network, or that it has.
func (p *tab) offline(is bool) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context, patience)
	defer cancel()
	if _, err := chromedp.Call(ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: is,
		DownloadThroughput: -1, UploadThroughput: -1}); err != nil {
		p.fail("being offline", err)
	}
}

// cuts has requests for such addresses fail, and no others.
func (p *tab) cuts(addresses ...string) {
	p.Helper()
	var blocked []*network.BlockPattern
	for _, pattern := range addresses {
		blocked = append(blocked, &network.BlockPattern{URLPattern: p.origin + pattern, Block: true})
	}
	ctx, cancel := context.WithTimeout(p.Context, patience)
	defer cancel()
	if _, err := chromedp.Call(ctx, network.SetBlockedURLs,
		network.SetBlockedURLsParams{URLPatterns: blocked}); err != nil {
		p.fail("cutting off", err)
	}
}

// What goes on while a server ends goes on when it is back, in each view, and what could not be sent is still there to
// send.
func TestConnectionThatIsLostInTheMiddleOfAFlowComesBack(t *testing.T) {
	t.Run("inquiry", func(t *testing.T) {
		hangs := modeltest.Answer{Break: modeltest.Hang}
		witness := modeltest.NewServer(t, modeltest.Stream("Yes."), modeltest.Stream("Yes."),
			modeltest.Stream("It was closed on 4 March 2021."), hangs, hangs, hangs)
		witness.Models = []string{"silent"}
		p := openWith(t, fmt.Sprintf("ollama: {host: '%s'}\ntimeouts: {local_start: 30m, local_silence: 30m}\n",
			witness.BaseURL)).visit(900)
		p.inquire("The bridge was closed because of corrosion.", "ollama:silent")
		p.sees("It was closed on 4 March 2021.")
		p.sees("Question 2")
		p.away(func() { p.sees("It was closed on 4 March 2021.") })
		p.sees("1 of at most 6 questions answered")
	})
	t.Run("sitting", func(t *testing.T) {
		_, settings := convene(t, "Optimist")
		p := openWith(t, settings).visit(900)
		p.convenes("The rent is 3000 euros a month.")
		p.checks("Skeptic")
		p.checks("Optimist")
		p.cuts("/api/runs/*\\?html=true")
		p.press("Ask")
		p.until("a request for what was said",
			`performance.getEntriesByType("resource").some((e) => /api\/runs\/\w+\?html=true$/.test(e.name))`)
		p.away(func() {
			p.cuts()
			p.says("We should ask the landlord.")
			p.sees("The server does not answer.")
		})
		p.sees("I am Skeptic.")
		p.press("Add")
		p.until("the words", `[...document.querySelectorAll("main li .words")].some((e) => e.innerText.includes("landlord"))`)
	})
	t.Run("task", func(t *testing.T) {
		p := openWith(t, "").visit(900)
		p.hasTasks("Call John")
		p.turnsTo("#/tasks")
		p.says("delete Call John")
		p.until("the card", `document.querySelector("section.card")`)
		p.away(func() {
			p.press("Delete")
			p.sees("The server does not answer.")
			p.offline(true)
			p.sees("You are offline.")
			p.offline(false)
			p.sees("The connection was lost.")
		})
		p.press("Delete")
		p.sees("I've deleted 'Call John'")
	})
}

// focused is what has the keyboard: its name, or its words.
const focused = `(() => { const e = document.activeElement; return (e.getAttribute("aria-label") ?? e.labels?.[0]?.innerText ?? e.innerText).trim(); })()`

// The keyboard alone comes to everything that can be pressed, in each view and in the order in which it stands, and
// what has it can be seen to have it.
func TestKeyboardComesToEverythingInEveryView(t *testing.T) {
	p := open(t).visit(1000)
	for _, one := range p.places() {
		p.turnsTo(one.address)
		p.sees(one.shows)
		p.do("beginning at the top",
			chromedp.Evaluate[chromedp.Void](
				`(() => { document.activeElement.blur(); getSelection().removeAllRanges(); document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute("tabindex"); globalThis.reached = []; })()`))
		const reachable = `[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")].filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled && e.tabIndex >= 0 && !(e.type === "radio" && !e.checked))`
		// Twice around: the browser itself takes the keyboard at the end, and what is fetched may come when the
		// keyboard was past its place.
		for tabs := 0; ; tabs++ {
			left := evaluate[[]int](p, `((all) => [all.filter((e) => !reached.includes(e)).length, all.length])(`+
				reachable+`)`)
			if left[0] == 0 || tabs > 2*left[1]+20 {
				break
			}
			p.do("Tab", chromedp.KeyEvent(kb.Tab),
				chromedp.Evaluate[chromedp.Void](
					`(() => { const e = document.activeElement; if (e !== document.body) reached.push(e); })()`))
		}
		lacks := evaluate[[]string](p, reachable+
			`.filter((e) => !reached.includes(e)).map((e) => e.outerHTML.slice(0, 200))`)
		assert.That(t, len(lacks) == 0, "%s: the keyboard does not come to %q", one.address, lacks)
		unseen := evaluate[[]string](p,
			`[...new Set(reached)].filter((e) => { e.focus(); const s = getComputedStyle(e); return s.outlineStyle === "none" && s.boxShadow === "none"; }).map((e) => e.outerHTML.slice(0, 200))`)
		assert.That(t, len(unseen) == 0, "%s: nothing shows that the keyboard is at %q", one.address, unseen)
	}
	p.opensMenu()
	p.do("closing", chromedp.KeyEvent(kb.Escape))
	p.until("no dialog", `!document.querySelector("dialog[open]")`)
	at := evaluate[string](p, focused)
	assert.That(t, at == "Language, colours, account", "after the dialog the keyboard is at %q", at)
}

// Who opens the page while the server is away is told so; what they write then is asked once it is back, and once only.
func TestPageIsThereWhileTheServerIsAwayAndSendsLaterWhatWasWritten(t *testing.T) {
	p := openWith(t, "").visit(1000)
	p.until("the page kept by the browser", `(caches.open("sibyl").then((c) => c.keys()).then((all) => (globalThis.isKept = all.some(({ url }) => url.includes("Away"))), () => 0), globalThis.isKept && navigator.serviceWorker.controller)`)
	p.forgive("net::ERR_")
	p.stop()
	p.reload()
	p.sees("The server does not answer.")
	p.says("How is a lease acquired?")
	p.sees("Kept in this browser: 1")
	p.accessible("the page while the server is away")
	p.reload()
	p.sees("Kept in this browser: 1")
	p.start()
	p.sees("lease.go:")
	p.reload()
	p.sees("lease.go:")
	p.until("one conversation", `document.querySelectorAll("aside li").length === 1`)
}
