package stories

import (
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
)

// All that is talked about stands in one list, which a person puts in order, with the keyboard too; it says what is new.
func TestOneListHasAllConversations(t *testing.T) {
	p := openWith(t, "").visit(1200)
	p.says("How is a lease acquired?")
	p.until("the end of the answer", `document.querySelector(".foot")`)
	p.turnsTo("#/council")
	for range 2 {
		p.press("New session")
		p.sees("Nothing was said yet.")
	}
	sessions := evaluate[int](p, `fetch("/api/council/sessions").then((a) => a.json()).then((all) => all.sessions.length)`)
	assert.That(t, sessions == 1, "a session that was left empty is one of %d", sessions)
	p.says("The boiler is old.")
	p.until("both in one list", `["#/session/", "#/council/"].every((of) => document.querySelector("aside li a[href^='" + of + "']"))`)

	part := func(name, has string) {
		p.Helper()
		p.until(has+" under “"+name+"”", `document.querySelector("aside section[aria-label='`+name+`']")?.innerText.includes(`+quoted(has)+`)`)
	}
	part("Today", "How is a lease acquired?")
	p.press("Actions for “How is a lease acquired?”")
	p.press("Pin")
	part("Pinned", "How is a lease acquired?")
	p.press("Actions for “The boiler is old.”")
	p.press("Put into a folder")
	p.do("naming it", chromedp.SendKeys("dialog[open] input", "House"))
	p.press("Save")
	part("House", "The boiler is old.")
	p.accessible("a list with a folder")
	p.reload()
	part("Pinned", "How is a lease acquired?")
	p.press("Actions for “How is a lease acquired?”")
	p.press("Unpin")
	p.do("dragging it into the folder", chromedp.Evaluate[chromedp.Void](`(() => {
		const row = [...document.querySelectorAll("aside li")].find((l) => l.innerText.includes("lease"));
		const folder = document.querySelector("aside section[aria-label=House]");
		const dataTransfer = new DataTransfer();
		for (const [what, kind] of [[row, "dragstart"], [folder, "dragover"], [folder, "drop"]])
			what.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }));
	})()`))
	part("House", "How is a lease acquired?")

	p.sends("POST", "/api/runs", map[string]any{"assistant": "oracle", "words": "Who mended the boiler?"})
	part("Today", "· new")
	p.until("the one that is new", `(() => { const a = [...document.querySelectorAll("aside a")].find((a) => a.innerText.includes("Who mended")); a?.click(); return a })()`)
	p.until("nothing that is new", `!document.querySelector("aside").innerText.includes("· new")`)
}

func TestSittingThatEndedWhileOneWasElsewhereIsNew(t *testing.T) {
	allow, settings := convene(t, "Skeptic")
	p := openWith(t, settings).visit(1200)
	p.convenes("The boiler is old.")
	p.checks("Skeptic")
	p.press("Ask")
	p.turnsTo("#/")
	row := `[...document.querySelectorAll("aside li")].find((l) => l.innerText.includes("The boiler is old."))?.innerText`
	p.until("a sitting that goes on", row+`?.includes("in progress")`)
	allow()
	p.until("a sitting that is new", row+`?.includes("· new")`)
	p.reload()
	p.until("a sitting that is still new", row+`?.includes("· new")`)
	p.until("the session", `(() => { const a = document.querySelector("aside a[href^='#/council/']"); a?.click(); return a })()`)
	p.until("nothing that is new", `document.querySelector("aside")?.innerText.includes("· new") === false`)
}
