package stories

import (
	"github.com/chromedp/chromedp"

	"sibyl/internal/server/user"
)

// turnsTo shows another place of the page.
func (p *tab) turnsTo(place string) {
	p.Helper()
	p.do("going to "+place, chromedp.Evaluate[chromedp.Void]("location.hash = "+quoted(place)))
}

// visitReading opens a tab for the user of the house, who from here on may only read.
func (h *house) visitReading(width int64) *tab {
	h.Helper()
	h.revokes()
	h.admits(h.user, user.Read)
	p := h.tab(width)
	p.do("opening the page to read", chromedp.Navigate(h.signIn(h.user)), chromedp.WaitVisible("nav"))
	return p
}

// opensMenu opens the menu of the bar, wherever that is.
func (p *tab) opensMenu() {
	p.Helper()
	p.do("going to it", chromedp.Evaluate[chromedp.Void](
		`[...document.querySelectorAll("header button[aria-haspopup=dialog]")].find((e) => e.checkVisibility()).focus()`))
	if evaluate[int](p, "innerWidth") <= 700 { // a story may have made the window narrow
		p.press("More")
	} else {
		p.press("Language, colours, account")
	}
	p.until("the menu", "document.querySelector('dialog[open] select')")
}

// opensList shows the list of conversations on a narrow screen.
func (p *tab) opensList() {
	p.Helper()
	p.until("the list", `(document.querySelector("aside:popover-open") ?? document.querySelector("section > .bar button")?.click(), document.querySelector("aside:popover-open"))`)
}
