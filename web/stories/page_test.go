package stories

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
)

func TestConversationOpensAtItsEndAndIsFoundWhereItWasLeft(t *testing.T) {
	h := openWith(t, "")
	session := h.longSession(120, time.Minute)
	p := h.visit(1000)
	p.turnsTo("#/session/" + session)
	const scroll = `document.querySelector("main section .scroll")`
	const left = scroll + ".scrollHeight - " + scroll + ".scrollTop - " + scroll + ".clientHeight"
	p.sees(asksOfLease(120))
	p.until("the end", scroll+" && "+left+" < 80")
	p.until("earlier messages", `(`+scroll+
		`.scrollTop = 0, document.querySelectorAll("main ol > li .question").length > 60)`)
	p.do("going to the middle", chromedp.Evaluate[chromedp.Void](scroll+`.scrollTop = `+scroll+`.scrollHeight / 2`))
	const seen = `[...document.querySelectorAll("main ol > li")].find((e) => e.querySelector(".question") && e.getBoundingClientRect().bottom > ` + scroll + `.getBoundingClientRect().top)?.querySelector(".question").textContent`
	p.until("it to be at rest", `(globalThis.settled ??= [], settled.push(`+scroll+
		`.scrollTop), settled.length > 20 && new Set(settled.slice(-10)).size === 1)`)
	before := evaluate[string](p, seen)
	p.turnsTo("#/tasks")
	p.sees("Nothing to do.")
	p.do("going back", chromedp.Evaluate[chromedp.Void]("history.back()"))
	p.until("the exchange that was seen: "+before, scroll+" && "+seen+" === "+quoted(before))
}

func TestTitleOfThePageIsWhatOneLooksAt(t *testing.T) {
	p := open(t).visit(1000)
	p.until("the title of a new conversation", `document.title === "New conversation · Sibyl"`)
	p.says("How is a lease acquired?")
	p.until("the title of the conversation", `document.title === "How is a lease acquired? · Sibyl"`)
	p.turnsTo("#/operation")
	p.until("the title of a view", `document.title.endsWith("· Sibyl") && !document.title.startsWith("How")`)
}

func TestPhoneHasABarAtItsFootWithAllViews(t *testing.T) {
	p := open(t).visit(360)
	for _, view := range []string{"Tasks", "Council", "Inquiries", "Conversations"} {
		p.press(view)
		p.until(view+" in the bar", `document.querySelector("nav [aria-current]")?.innerText === `+quoted(view))
		p.fits()
	}
	p.until("a bar at the foot, with targets of 44 px", `(() => {
		const all = [...document.querySelectorAll("header nav > *")].filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect());
		return all.length === 5 && all.every((r) => r.height >= 44 && r.width >= 44 && r.bottom > innerHeight - 10);
	})()`)
	p.press("More")
	p.press("Runs")
	p.until("the view", `location.hash === "#/runs" && !document.querySelector("dialog[open]")`)
}

func TestWhoIsSignedOutSeesHowToComeBackAndDoes(t *testing.T) {
	p := open(t).visit(1000)
	p.forgive("401")
	p.turnsTo("#/tasks")
	p.opensMenu()
	p.press("Sign out")
	p.sees("sibyl user sign-in NAME")
	p.accessible("signed out")
	p.do("signing in with an address", chromedp.Navigate(p.signIn(p.user)))
	p.until("the view where one was", `location.hash.startsWith("#/tasks") && document.querySelector("textarea")`)
}

// mostForChat is what a browser may fetch of the page to show a conversation, in bytes.
const mostForChat = 60_000

// fetched is what came over the wire for the files of the page since it was loaded.
const fetched = `[performance.getEntriesByType("navigation")[0], ...performance.getEntriesByType("resource").filter((e) => !e.name.includes("/api/"))].reduce((sum, e) => sum + e.transferSize, 0)`

func TestPageFetchesWhatAConversationNeedsAndTheOthersWhenOpened(t *testing.T) {
	p := openWith(t, "").visit(1000)
	first := evaluate[int](p, strings.ReplaceAll(fetched, "transferSize", "encodedBodySize"))
	t.Logf("%d bytes were fetched for a conversation", first)
	assert.That(t, first <= mostForChat && first >= mostForChat/3, "%d bytes were fetched, at most %d", first, mostForChat)
	before := evaluate[int](p, fetched)
	p.press("Inquiries")
	p.sees("No inquiries yet.")
	all := evaluate[int](p, fetched)
	assert.That(t, all > before, "of a view that was opened nothing was fetched: %d bytes before, %d after", before, all)
	p.reload()
	p.sees("No inquiries yet.")
	again := evaluate[int](p, fetched)
	assert.That(t, again <= 2000, "%d bytes were fetched again", again)
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
