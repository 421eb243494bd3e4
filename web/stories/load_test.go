package stories

import (
	"strings"
	"testing"
)

// mostForChat is what a browser may fetch of the page to show a conversation, in bytes.
const mostForChat = 60_000

// fetched is what came over the wire for the files of the page since it was loaded.
const fetched = `[performance.getEntriesByType("navigation")[0], ...performance.getEntriesByType("resource").filter((e) => !e.name.includes("/api/"))].reduce((sum, e) => sum + e.transferSize, 0)`

func TestPageFetchesWhatAConversationNeedsAndTheOthersWhenOpened(t *testing.T) {
	p := openWith(t, "").visit(1000)
	first := evaluate[int](p, strings.ReplaceAll(fetched, "transferSize", "encodedBodySize"))
	t.Logf("%d bytes were fetched for a conversation", first)
	if first > mostForChat || first < mostForChat/3 {
		t.Errorf("%d bytes were fetched, at most %d", first, mostForChat)
	}
	before := evaluate[int](p, fetched)
	p.press("Inquiries")
	p.sees("No inquiries yet.")
	if all := evaluate[int](p, fetched); all <= before {
		t.Errorf("of a view that was opened nothing was fetched: %d bytes before, %d after", before, all)
	}
	p.reload()
	p.sees("No inquiries yet.")
	if again := evaluate[int](p, fetched); again > 2000 {
		t.Errorf("%d bytes were fetched again", again)
	}
	p.opensMenu()
	p.chooses("dialog select", "de")
	p.sees("Befragungen")
	p.sees("Noch keine Befragungen.")
}

// otherPage has the server's page be that of another program, until the tab loads it.
const otherPage = `const real = fetch; globalThis.fetch = (what, ...more) => (what === "/" ? Promise.resolve(new Response("<script src=/assets/index-other.js>")) : real(what, ...more)); globalThis.old = true`

func TestTabThatWasOpenWhileTheProgramWasReplacedLoadsTheNewPageOnce(t *testing.T) {
	p := openWith(t, "").visit(1000)
	p.forgive("/assets/")
	p.forgive("ERR_BLOCKED")
	p.cuts("/assets/Inquiry-*")
	p.requests(otherPage)
	p.press("Inquiries")
	p.until("the page to be loaded anew", "!globalThis.old && document.querySelector('main')")
	// its file is still not there, though the page is that of the server: it is not loaded again
	p.sees("The server does not answer.")
	p.cuts()
	p.press("Try again")
	p.sees("No inquiries yet.")
}
