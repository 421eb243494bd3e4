package stories

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
)

// holding makes the tab a telephone's: it is touched, and so wide and high.
func (p *tab) holding(width, height int64) {
	p.Helper()
	p.do("holding a phone", chromedp.EmulateViewport(width, height, chromedp.EmulateMobile, chromedp.EmulateTouch))
}

// visitOnPhone opens a tab of a telephone that is signed in.
func (h *house) visitOnPhone(width int64) *tab {
	h.Helper()
	p := h.tab(width)
	p.holding(width, 740)
	p.do("opening the page", chromedp.Navigate(h.signIn(h.user)), chromedp.WaitVisible("textarea"))
	return p
}

// tooSmall lists what is pressed in less than 44 by 44 pixels, but for links within a sentence. What is drawn smaller
// may reach further than it looks.
const tooSmall = `(() => {
	const within = (e, over) => over && (e.contains(over) || over.contains(e) && over.matches("label"));
	const pane = (e) => !e ? { top: 0, bottom: innerHeight } : /auto|scroll/.test(getComputedStyle(e).overflowY) ? e.getBoundingClientRect() : pane(e.parentElement);
	const reaches = (e, box) => {
		const [left, top] = [box.left + box.width / 2, box.top + box.height / 2];
		const far = (step) => { let at = 0; while (Math.abs(at) < 44 && within(e, document.elementFromPoint(left, top + at))) at += step; return Math.abs(at); };
		const seen = pane(e.parentElement);
		return far(-1) + far(1) >= 44 || top - 22 < seen.top || top + 22 > seen.bottom;
	};
	const over = document.querySelector("dialog[open], [popover]:popover-open") ?? document;
	return [...over.querySelectorAll("a, button, summary, select, textarea, input:not([type=file])")].filter((e) => {
		const box = (e.closest("label") ?? e).getBoundingClientRect();
		if (!e.checkVisibility({ visibilityProperty: true }) || getComputedStyle(e).display === "inline" || e.matches(".skip") || e.closest(".unseen")) return false;
		if (!box.width || box.bottom <= 0 || box.top >= innerHeight || box.height >= 43.5 && box.width >= 43.5) return false;
		return !reaches(e, box);
	}).map((e) => e.tagName + " “" + (e.ariaLabel ?? e.innerText ?? e.name).trim() + "” " + Math.round(e.getBoundingClientRect().width) + "×" + Math.round(e.getBoundingClientRect().height));
})()`

// fitsAHand checks that nothing scrolls sideways and that all that is pressed has room for a finger.
func (p *tab) fitsAHand(what string) {
	p.Helper()
	p.fits()
	small := evaluate[[]string](p, tooSmall)
	assert.That(p, len(small) == 0, "%s: too small for a finger: %q", what, small)
}

func TestEveryViewFitsAPhoneAndAFinger(t *testing.T) {
	onOneStore(t)
	h := open(t)
	p := h.visit(1000)
	places := p.places()
	places[0].shows = "What would you like to know?" // the list is a sheet
	for _, width := range []int64{360, 320} {
		p.holding(width, 740)
		p.reload()
		for _, one := range places {
			p.turnsTo(one.address)
			p.until(one.shows, `document.body.textContent.includes(`+quoted(one.shows)+`)`) // it may stand further down
			p.fitsAHand(fmt.Sprintf("%s at %d px", one.address, width))
		}
		p.turnsTo("#/nowhere")
		p.turnsTo("#/")
		p.sees("What would you like to know?")
		p.press("Files, folders and web")
		p.until("a sheet", `document.querySelector("[popover]:popover-open")`)
		p.fitsAHand("what a question takes along")
		if width == 360 {
			p.accessible("what a question takes along")
		}
		p.turnsTo("#/runs")
		p.press("More")
		p.sees("Find")
		p.fitsAHand("the menu")
		p.press("Close")
	}
}

// Safari on a phone leaves the window as high as it was where its keyboard lies over it, comes closer where letters to
// be written are small, and makes no field as high as what is in it.
func TestPageDoesWhatSafariOnAPhoneDoesNot(t *testing.T) {
	p := open(t).visitOnPhone(360)
	p.fills("Your message", "How is a lease acquired?")
	p.press("Send")
	p.sees("lease.go:")
	small := evaluate[[]string](p,
		`[...document.querySelectorAll("input, select, textarea")].filter((e) => parseFloat(getComputedStyle(e).fontSize) < 16).map((e) => e.outerHTML)`)
	assert.That(t, len(small) == 0, "Safari comes closer to %q", small)
	p.do("a browser whose fields stay as they are", chromedp.Evaluate[chromedp.Void](`(() => {
		CSS.supports = () => false;
		const s = new CSSStyleSheet();
		s.replaceSync("textarea { field-sizing: fixed !important }");
		document.adoptedStyleSheets = [s];
	})()`))
	p.fills("Your message", "one\ntwo\nthree\nfour\nfive")
	const high = `document.querySelector("main textarea").clientHeight`
	p.until("a field of five lines", high+" > 110 && "+high+" < 200")
	p.fills("Your message", "one")
	p.until("a field of one line", high+" < 60")
	p.opensList()
	p.do("a keyboard over it", chromedp.Evaluate[chromedp.Void](
		`Object.defineProperty(visualViewport, "height", { value: 400 }); visualViewport.dispatchEvent(new Event("scroll")); undefined`))
	above := func(what, selector string) {
		t.Helper()
		p.until(what+" above it", `(() => { const box = document.querySelector(`+quoted(selector)+
			`).getBoundingClientRect(); return box.top >= 0 && Math.round(box.bottom) === 400; })()`)
	}
	above("the list", "aside:popover-open")
	p.press("Actions for “How is a lease acquired?”")
	p.press("Rename")
	above("the dialog", "dialog[open]")
}

func TestListIsASheetOnAPhone(t *testing.T) {
	p := open(t).visitOnPhone(360)
	p.fills("Your message", "How is a lease acquired?")
	p.press("Send")
	p.sees("lease.go:")
	const isOpen = `document.querySelector("aside:popover-open")`
	inSight := `(() => { const box = ` + isOpen +
		`?.getBoundingClientRect(); return box && Math.round(box.bottom) === innerHeight && box.top > 40; })()`
	p.opensList()
	p.until("the sheet over the conversation, which stays in sight", inSight)
	p.fitsAHand("the list")
	p.both("the list as a sheet")
	p.do("leaving it", chromedp.KeyEvent("\x1b"))
	p.until("the conversation", `!`+isOpen)
	p.opensList()
	p.do("pressing beside it", chromedp.MouseClickXY(180, 30))
	p.until("the conversation, by a press beside the list", `!`+isOpen)
	p.opensList()
	p.do("choosing what is shown", chromedp.Evaluate[chromedp.Void](`document.querySelector("aside li a").click()`))
	p.until("the conversation that was chosen", `!`+isOpen+
		` && document.querySelector("main .markdown").checkVisibility()`)
	p.opensList()
	p.press("Actions for “How is a lease acquired?”")
	p.press("Rename")
	p.fills("New title", "Leases")
	p.press("Save")
	p.until("the sheet with the other title", isOpen+`?.innerText.includes("Leases")`)
	p.do("turning the phone", chromedp.EmulateViewport(900, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	p.until("the list beside the conversation", `!`+isOpen+
		` && document.querySelector("aside").getBoundingClientRect().right <= document.querySelector("main section:not(aside section)").getBoundingClientRect().left + 1`)
}

// A keyboard on the screen takes half of it: what is typed stands above it, and the bar goes meanwhile.
func TestComposerStandsAboveTheKeyboard(t *testing.T) {
	p := open(t).visitOnPhone(360)
	p.fills("Your message", "How is a lease")
	const bar = `document.querySelector("header nav").checkVisibility()`
	p.until("the bar, while nothing lies over it", bar)
	p.holding(360, 400)
	p.until("the composer whole, and no bar",
		`(() => { const box = document.querySelector("main textarea").form.getBoundingClientRect(); return box.top > 100 && box.bottom <= 400 && !`+bar+`; })()`)
	p.do("typing no more", chromedp.Blur("textarea"))
	p.until("the bar again", bar)
	p.holding(360, 740)
	p.until("all of the height", `document.body.clientHeight === 740`)
}
