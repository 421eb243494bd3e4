package stories

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/server/user"
)

// place is one of the page: its address, what it shows once it is there, and what is done there that asks the server
// for something, if that is another thing than elsewhere.
type place struct {
	address, shows string
	asks           func(p *tab)
}

// places makes something to see in every view, and says where it is.
func (p *tab) places() []place {
	p.Helper()
	p.says("How is a lease acquired?")
	p.sees("lease.go:")
	session := evaluate[string](p, "location.hash")
	run := p.run("done")
	p.hasTasks("Call John")
	p.convenes("The boiler is old.")
	council := evaluate[string](p, "location.hash")
	p.inquire("The plumber is Dana Reyes.", "/notes")
	p.sees("Collected, not audited")
	inquiry := evaluate[string](p, "location.hash")
	return []place{
		{"#/", "How is a lease acquired?", nil},
		{session, "Acquire takes the lease", func(p *tab) { p.says("Who mended the boiler?") }},
		{"#/why/" + run, "How is a lease acquired?", func(p *tab) { p.press("Details") }},
		{"#/tasks", "Call John", nil},
		{council, "The boiler is old.", func(p *tab) { p.says("Who mended it?") }},
		{"#/inquiries", "The plumber is Dana Reyes.", nil},
		{inquiry, "Collected, not audited", nil},
		{"#/runs", "How is a lease acquired?", func(*tab) {}}, // it asks by itself
	}
}

// What the page asks the server for, from here on: it hangs, it fails, or it is answered as ever.
const (
	hangs    = `globalThis.real ??= fetch; globalThis.held = []; globalThis.fetch = (...asked) => new Promise((done, failed) => held.push(() => real(...asked).then(done, failed))); undefined`
	fails    = `globalThis.real ??= fetch; globalThis.fetch = () => Promise.reject(new TypeError("nobody is there")); undefined`
	answered = `globalThis.fetch = real; globalThis.held?.splice(0).forEach((ask) => ask()); undefined`
)

func (p *tab) requests(state string) {
	p.Helper()
	p.do("doing something to requests", chromedp.Evaluate[chromedp.Void](state))
}

// Every view says that it loads, and that it could not and how to try again.
func TestEveryViewSaysThatItLoadsAndTriesAgain(t *testing.T) {
	p := open(t).visit(1000)
	for _, one := range p.places() {
		p.turnsTo("#/nowhere")
		p.sees("There is nothing at this address.")
		p.requests(hangs)
		p.turnsTo(one.address)
		p.until("that "+one.address+" loads", `document.querySelector("main").innerText.includes("Loading…")`)
		p.requests(answered)
		p.sees(one.shows)
		p.turnsTo("#/nowhere")
		p.requests(fails)
		p.turnsTo(one.address)
		p.until("what went wrong in "+one.address,
			`document.querySelector("main [role=alert]")?.innerText.includes("The server does not answer.")`)
		if one.address == "#/" {
			p.axe("an error", withoutColours)
		}
		p.requests(hangs)
		p.until("that it is tried again, once", `(() => {
			const again = [...document.querySelectorAll("main [role=alert] button:not([aria-disabled=true])")];
			again.forEach((b) => { b.focus(); b.click(); });
			return !again.length && document.activeElement.matches("[role=alert] button");
		})()`)
		p.requests(answered)
		p.until("nothing that is wrong", `!document.querySelector("main [role=alert]")`)
		p.until("the keyboard in the page", `document.activeElement !== document.body`)
		p.sees(one.shows)
	}
	p.forgive("404")
	for _, nothing := range []string{"#/session/nothing", "#/why/nothing", "#/tasks/nothing", "#/council/nothing",
		"#/inquiries/nothing", "#/nothing"} {
		p.turnsTo("#/")
		p.sees("What would you like to know?")
		p.turnsTo(nothing)
		p.until("that there is nothing at "+nothing,
			`/(nothing|no such|not found|no )/i.test((document.querySelector("main [role=alert]") ?? document.querySelector("main .blank h1"))?.innerText)`)
	}
}

// Who is revoked in the middle of something is told so, and goes on in the same tab with an address that signs in.
func TestWhoIsRevokedInTheMiddleOfAViewSignsInAgain(t *testing.T) {
	h := open(t)
	p := h.visit(1000)
	p.forgive("401")
	for _, one := range p.places() {
		if one.asks == nil {
			continue
		}
		p.turnsTo(one.address)
		p.sees(one.shows)
		p.requests(hangs) // else the page might be told before it asks
		h.revokes()
		one.asks(p)
		p.requests(answered)
		p.sees("You are signed out")
		text := evaluate[string](p, "document.querySelector('main').innerText")
		assert.That(t, !strings.Contains(text, one.shows), "%s is still shown", one.address)
		h.admits(h.user, user.Write)
		p.do("signing in", chromedp.Navigate(h.signIn(h.user)))
		p.sees(one.shows) // where one was
		where := evaluate[string](p, "location.hash")
		assert.That(t, strings.HasPrefix(where, one.address), "who signs in again at %s is at %s", one.address, where)
	}
	p.turnsTo("#/")
	p.until("a place for words", `document.querySelector("textarea")`)
	p.do("writing", chromedp.SendKeys("textarea", "half a question"))
	p.reload()
	p.until("the words that were not sent", `document.querySelector("textarea")?.value === "half a question"`)
}

// Who may only read can press whatever is there: nothing of it is refused.
func TestReaderPressesEverythingAndNothingIsRefused(t *testing.T) {
	h := open(t)
	p := h.visit(1000)
	places := p.places()
	p.forgive("401") // it is open while its user is revoked
	r := h.visitReading(1000)
	r.do("watching requests", chromedp.Evaluate[chromedp.Void](`(() => {
		const real = fetch;
		[globalThis.flying, globalThis.refused] = [0, []];
		globalThis.fetch = async (...asked) => {
			flying++;
			try {
				const answer = await real(...asked);
				if (answer.status === 403) refused.push(asked[0]);
				return answer;
			} finally {
				flying--;
			}
		};
	})()`))
	for _, one := range places {
		r.turnsTo(one.address)
		r.sees(one.shows)
		r.until("all that was asked for", "flying === 0")
		assert.That(t, !evaluate[bool](r, `!!document.querySelector("main textarea, main .last button")`),
			"%s: who may only read has something to change things with", one.address)
		r.do("pressing everything",
			chromedp.Evaluate[chromedp.Void](
				`document.querySelectorAll("main button, main summary").forEach((e) => e.checkVisibility() && e.click()); document.querySelectorAll("dialog[open]").forEach((d) => d.close()); undefined`))
		r.until("all that was asked for by that", "flying === 0")
		refused := evaluate[[]string](r, "refused.splice(0)")
		assert.That(t, len(refused) == 0, "%s: who may only read is refused %q", one.address, refused)
	}
	r.turnsTo("#/tasks")
	r.sees("To do")
	h.sibyl("--user", h.user, "task", "add", "Sweep the yard")
	r.do("coming back to the page",
		chromedp.Evaluate[chromedp.Void](`document.dispatchEvent(new Event("visibilitychange")); undefined`))
	r.sees("Last change: added “Sweep the yard”")
	assert.That(t, !evaluate[bool](r, `!!document.querySelector("main .last button")`),
		"who may only read is offered to take a change back")
}
