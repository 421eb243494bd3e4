package stories

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
)

// tellsKey tells the page of a key where the keyboard is.
func (p *tab) tellsKey(key string, control bool) {
	p.Helper()
	evaluate[bool](p, fmt.Sprintf(
		`(document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key: %s, ctrlKey: %t, bubbles: true, cancelable: true })), true`,
		quoted(key), control))
}

// seeks opens the dialog by its key and looks for words.
func (p *tab) seeks(words string) {
	p.Helper()
	p.until("the dialog", `document.querySelector("dialog[open] input[type=search]") || (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true })) && false`)
	p.until("the field to have the keyboard", `document.activeElement.type === "search"`)
	p.do("looking for “"+words+"”", chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`),
		chromedp.SendKeys("dialog[open] input[type=search]", words))
}

func TestWordsOfEverythingAreFoundByTheKeyboard(t *testing.T) {
	h := open(t)
	h.sends("POST", "/api/tasks", map[string]any{"title": "Renew the léase",
		"description": "<img src=x onerror=\"ran='task'\"> of 100% a_b"})
	h.sibyl("--user", h.user, "council", "say", "The boiler is old, and the lease ends in May.")
	p := h.visit(1000)
	p.says("How is a lease acquired?")
	p.sees("lease.go:")
	session := evaluate[string](p, "location.hash")
	p.says("Who mended the boiler?")
	p.until("the second answer", `document.querySelectorAll("li .answer").length === 2`)
	p.turnsTo("#/")
	p.seeks("LEASE")
	p.until("titles first", `document.querySelector("dialog [role=group]")?.innerText.startsWith("In titles")`)
	p.until("each title once, with the words marked", `(() => {
		const titles = [...document.querySelectorAll("dialog [role=group]:first-child [role=option] .title")].map((t) => t.innerText);
		return titles.includes("Renew the léase") && titles.filter((t) => t === "How is a lease acquired?").length === 1 && document.querySelector("dialog mark")?.innerText.toLowerCase() === "lease";
	})()`)
	p.both("find")
	p.seeks("boiler mended")
	p.until("the exchange alone",
		`document.querySelectorAll("dialog [role=option]").length === 1 && document.querySelectorAll("dialog .excerpt mark").length >= 2`)
	p.enter()
	p.until("the exchange in its conversation", `location.hash.startsWith(`+quoted(session+"/")+
		`) && !document.querySelector("dialog[open]") && document.activeElement.innerText.includes("Who mended the boiler?")`)

	p.seeks("100% a_b")
	p.until("the task by the signs in its description",
		`document.querySelectorAll("dialog [role=option]").length === 1 && document.querySelector("dialog .excerpt").innerText.includes("<img src=x")`)
	assert.That(t, !evaluate[bool](p, `"ran" in globalThis || !!document.querySelector("dialog img")`),
		"what is found is more than text")
	p.enter()
	p.until("the task among the others, marked and with the keyboard",
		`location.hash.startsWith("#/tasks/") && document.activeElement.closest("li.marked")?.innerText.includes("Renew the léase")`)
	p.seeks("old")
	p.until("what was said to the Council",
		`[...document.querySelectorAll("dialog [role=option]")].some((o) => o.getAttribute("href").startsWith("#/council/"))`)
	p.chooses("dialog[open] select", "oracle")
	p.until("nothing of the Council",
		`![...document.querySelectorAll("dialog [role=option]")].some((o) => o.getAttribute("href").startsWith("#/council/"))`)
	p.chooses("dialog[open] select", "")
	p.seeks("nowhere to be found")
	p.sees("Nothing was found.")
	p.do("a narrow screen", chromedp.EmulateViewport(360, 740))
	p.seeks("lease")
	p.until("what is found", `document.querySelectorAll("dialog [role=option]").length >= 3`)
	p.fits()
	p.accessible("find on a phone")
}

func TestKeysWorkEverywhereButWhereOneWrites(t *testing.T) {
	p := open(t).visit(1000)
	p.says("How is a lease acquired?")
	p.sees("lease.go:")
	p.until("the field to have the keyboard",
		`(document.querySelector("textarea").focus(), document.activeElement.localName === "textarea")`)
	p.tellsKey("r", false)
	p.tellsKey("?", false)
	assert.That(t, !evaluate[bool](p, `!!document.querySelector("dialog[open]") || location.hash === "#/runs"`),
		"a key that was typed into a field did something else")
	evaluate[bool](p, `(document.activeElement.blur(), true)`)
	p.tellsKey("?", false)
	p.sees("They work everywhere but where you write.")
	p.accessible("keys")
	p.tellsKey("n", false)
	assert.That(t, !evaluate[bool](p, `location.hash === "#/"`), "a key went past an open dialog")
	p.press("Close")
	p.tellsKey("n", false)
	p.stands("#/")
	p.until("the list", `document.querySelector("aside li a")`)
	p.until("the field to have the keyboard", `document.activeElement.localName === "textarea"`)
	evaluate[bool](p, `(document.activeElement.blur(), true)`)
	p.tellsKey("j", false)
	p.until("the first of the list", `location.hash.startsWith("#/session/") && document.querySelector("main .answer")`)
	p.tellsKey("r", false) // no field has taken the keyboard
	p.sees("All runs")
	p.tellsKey("/", false)
	p.until("the dialog", `document.querySelector("dialog[open] input[type=search]")`)
}

func TestAllRunsAreListedWithWhatTheyTookAndFiltered(t *testing.T) {
	h := open(t)
	p := h.visit(1600)
	p.says("How is a lease acquired?")
	p.sees("lease.go:")
	session := evaluate[string](p, "location.hash")
	p.turnsTo("#/tasks/new")
	p.says("delete all tasks")
	p.until("an answer", `document.querySelector("li .answer")`)
	p.opensMenu()
	p.press("Runs")
	p.sees("How is a lease acquired?")
	p.until("how it stands and how long it took",
		`/done · Oracle · .* s/.test(document.querySelector("main").innerText)`)
	p.both("runs")
	p.chooses("main select", "oracle")
	p.until("those of the Oracle alone", `document.querySelectorAll("main li").length === 1`)
	p.until("the day before", `(() => {
		const day = document.querySelector("main input[type=date]");
		day.value = "2020-01-01";
		day.dispatchEvent(new Event("input", { bubbles: true }));
		return true;
	})()`)
	p.sees("No run is like this.")
	p.until("any day", `(() => {
		const day = document.querySelector("main input[type=date]");
		day.value = "";
		day.dispatchEvent(new Event("input", { bubbles: true }));
		return true;
	})()`)
	p.sees("How is a lease acquired?")
	p.do("a narrow screen", chromedp.EmulateViewport(360, 740))
	p.fits()
	p.accessible("runs on a phone")
	p.press("Why: “How is a lease acquired?”")
	p.sees("You asked: “How is a lease acquired?”")
	p.turnsTo("#/runs")
	p.until("the row of the run", `(() => { const row = [...document.querySelectorAll("main li > a")].find((a) => a.innerText.startsWith("How is a lease acquired?")); row?.click(); return row; })()`)
	p.until("its exchange", `location.hash.startsWith(`+quoted(session+"/")+`)`)
}

// A task that was found is gone to wherever it stands: further down than what is fetched at first, or among those that
// are done, which are folded.
func TestTaskThatWasFoundIsShownWhereverItStands(t *testing.T) {
	h := openWith(t, "")
	h.hasTasks("Mend the boiler")
	h.sibyl("--user", h.user, "task", "done", "1")
	for n := range 55 {
		h.hasTasks(fmt.Sprint("Number ", n))
	}
	h.hasTasks("Paint the fence")
	p := h.visit(360)
	inSight := func(title string) string {
		return `(() => { const one = document.activeElement.closest("li.marked"); const box = one?.getBoundingClientRect(); return one?.innerText.includes(` + quoted(title) + `) && box.top >= 0 && box.bottom <= innerHeight; })()`
	}
	p.seeks("fence")
	p.until("the task", `document.querySelectorAll("dialog [role=option]").length === 1`)
	p.enter()
	p.until("the last task of all", inSight("Paint the fence"))
	p.seeks("boiler")
	p.until("the other task", `document.querySelector("dialog [role=option]")?.innerText.includes("boiler")`)
	p.enter()
	p.until("the task that is done", inSight("Mend the boiler"))
	p.reload()
	p.until("it again", inSight("Mend the boiler"))
	p.turnsTo("#/tasks/of-task-999")
	p.sees("There is nothing at this address.")
}
