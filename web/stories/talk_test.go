package stories

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/server/user"
)

func TestQuestionIsAnsweredWithItsSourcesBesideIt(t *testing.T) {
	p := open(t).visit(1400)
	p.says("How is a lease acquired?")
	p.sees("lease.go")
	p.press("Sources")
	p.sees("cited and read")
	p.sees("func Acquire(run string) error")
	p.reload()
	p.sees("How is a lease acquired?")
	p.sees("Acquire takes the lease")
	p.until("its title in the list", `document.querySelector("aside li .title")?.innerText.includes("lease")`)
}

func TestTaskIsAddedAndAQuestionIsAnsweredByAChoice(t *testing.T) {
	p := open(t).visit(900)
	p.press("New conversation")
	p.chooses("select[name=assistant]", "tasks")
	p.says("add a task to call Ada")
	p.sees("call Ada' to your tasks")
	p.says("add a task to call Bob")
	p.sees("call Bob' to your tasks")
	p.says("complete the call")
	p.until("a choice of two", `document.querySelectorAll("section ul[aria-label] button:enabled").length === 2`)
	p.until("a choice that is taken",
		`(() => { document.querySelector("section ul[aria-label] button").click(); return true })()`)
	p.sees("marked 'call Ada' as completed")
}

// What a model says is seen while it says it, also after a reload in the middle of it.
func TestAnswerStreamsAndGoesOnAfterAReload(t *testing.T) {
	m, settings := plays(t, "The **first** half, ", "and the second half."+sure)
	p := openWith(t, settings).visit(1000)
	p.says("Tell me something about leases in general.")
	<-m.asked
	p.until("the first half, rendered", `document.querySelector(".markdown strong")?.innerText === "first"`)
	p.reload()
	p.until("the first half after a reload", `document.querySelector(".markdown strong")?.innerText === "first"`)
	close(m.proceed)
	p.sees("and the second half.")
	p.until("the end of the answer", `!document.querySelector("[aria-busy=true]")`)
	text := evaluate[string](p, "document.body.innerText")
	assert.That(t, !strings.Contains(text, "context_sufficient"), "the signal is shown")
}

func TestAnswerIsStopped(t *testing.T) {
	m, settings := plays(t, "It begins and ", "never comes to its end.")
	p := openWith(t, settings).visit(1000)
	p.says("Tell me something about leases in general.")
	<-m.asked
	p.sees("It begins and")
	p.press("Stop")
	p.sees("Stopped.")
	p.until("no button that stops", `![...document.querySelectorAll("button")].some((b) => b.innerText === "Stop")`)
}

// What happens in one tab is seen in the other, and another user sees nothing of it.
func TestTwoTabsShowTheSameAndTwoUsersDoNot(t *testing.T) {
	h := open(t)
	h.admits(h.user+"-eve", user.Write)
	one, two := h.visit(1000), h.visit(1000)
	eve := h.tab(1000)
	eve.do("signing in", chromedp.Navigate(h.signIn(h.user+"-eve")), chromedp.WaitVisible("textarea"))
	one.says("How is a lease acquired?")
	one.sees("lease.go")
	two.sees("How is a lease acquired?")
	two.until("the session",
		`(() => { document.querySelector("aside li a")?.click(); return location.hash.startsWith("#/session/") })()`)
	two.sees("Acquire takes the lease")
	one.says("Who mended the boiler?")
	two.sees("Dana Reyes")
	eve.sees("No conversations yet.")
	session := evaluate[string](one, "location.hash")
	eve.forgive("404")
	eve.do("opening what is another's", chromedp.Evaluate[chromedp.Void]("location.hash = "+quoted(session)))
	eve.until("that it is not there", `document.querySelector("[role=alert]")`)
	text := evaluate[string](eve, "document.body.innerText")
	assert.That(t, !strings.Contains(text, "lease"), "eve sees %s", text)
}

func TestSessionsAreSearchedRenamedExportedAndDeleted(t *testing.T) {
	p := open(t).visit(1000)
	p.says("How is a lease acquired?")
	p.sees("lease.go:")
	p.press("New conversation")
	p.sees("What would you like to know?")
	p.says("Who mended the boiler?")
	p.sees("Dana Reyes")
	find := func(words string) {
		p.until("the search box", `(() => { const s = document.querySelector("input[type=search]"); s.value = `+
			quoted(words)+`; s.dispatchEvent(new Event("input", { bubbles: true })); return true })()`)
	}
	find("LEASE")
	p.until("one session", `document.querySelectorAll("aside li").length === 1`)
	find("nothing of the kind")
	p.sees("No conversation has these words in its title.")
	find("")
	p.until("both sessions", `document.querySelectorAll("aside li").length === 2`)
	p.press("Actions for “Who mended the boiler?”")
	p.press("Rename")
	corner := `document.querySelector("dialog[open]").getBoundingClientRect()`
	left, top := evaluate[float64](p, corner+".left"), evaluate[float64](p, corner+".top")
	p.do("pressing its edge", chromedp.MouseClickXY(left+4, top+4))
	assert.That(t, evaluate[bool](p, `!!document.querySelector("dialog[open]")`),
		"a press on the edge of a dialog closes it")
	p.do("pressing beside it", chromedp.MouseClickXY(left-4, top+4))
	p.until("no dialog", `!document.querySelector("dialog[open]")`)
	p.press("Actions for “Who mended the boiler?”")
	p.press("Rename")
	p.until("a new title", `(() => { const i = document.querySelector("dialog[open] input"); i.value = "The plumber"; i.dispatchEvent(new Event("input", { bubbles: true })); return true })()`)
	p.press("Save")
	p.until("the title in the list",
		`[...document.querySelectorAll("aside .title")].some((t) => t.innerText === "The plumber")`)
	link := evaluate[string](p,
		`[...document.querySelectorAll("aside a[download]")].map((a) => a.getAttribute("href")).join()`)
	assert.That(t, strings.Count(link, "/export?format=md") == 2 && strings.Count(link, "format=html") == 2, "what exports is %q", link)
	p.press("Actions for “The plumber”")
	p.press("Delete")
	p.sees("This can't be undone.")
	p.press("Delete")
	p.until("one session", `document.querySelectorAll("aside li").length === 1`)
	p.sees("What would you like to know?")
}

// The secret of an address signs in once, and nothing of the page keeps it.
func TestAddressThatSignedInOnceDoesNotDoSoAgain(t *testing.T) {
	h := open(t)
	p := h.tab(600)
	p.forgive("401")
	address := h.signIn(h.user)
	p.do("signing in", chromedp.Navigate(address), chromedp.WaitVisible("textarea"))
	if kept := evaluate[string](p,
		"location.href + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie"); strings.Contains(kept, "sibyl_"+address[strings.Index(address, "#sibyl_")+7:]) {
		t.Errorf("the secret is kept: %s", kept)
	}
	other := h.tab(600)
	other.forgive("401")
	other.do("using the address again", chromedp.Navigate(address))
	other.sees("This address was used before, or has expired.")
}

func TestFileIsAttachedAndAskedAbout(t *testing.T) {
	p := open(t).visit(1000)
	drop := func(name, content string) {
		p.until("a drop", `(() => { const d = new DataTransfer(); d.items.add(new File([`+content+`], `+quoted(name)+
			`)); const f = document.querySelector("form:has(textarea)");
			for (const type of ["dragover", "drop"]) f.dispatchEvent(new DragEvent(type, { dataTransfer: d, bubbles: true, cancelable: true })); return true })()`)
	}
	p.forgive("413")
	p.forgive("415")
	drop("big.txt", `"x".repeat(300000)`)
	p.sees("big.txt: The document can't be read: it has 300000 bytes")
	drop("picture.png", `new Uint8Array([0, 255, 0, 200])`)
	p.sees("picture.png: The document can't be read")
	drop("talk.txt", `"The meeting decided to paint the bridge green in May."`)
	p.sees("Attached: talk.txt")
	p.says("What colour is the bridge to be?")
	p.sees("paint the bridge green")
}

func TestPageIsInGermanAndDarkWhereThatIsChosen(t *testing.T) {
	p := open(t).visit(1000)
	p.opensMenu()
	choose := func(nth, value string) {
		p.until("a choice of "+value, `(() => { const s = document.querySelectorAll("dialog[open] select")[`+nth+
			`]; s.value = `+quoted(value)+`; s.dispatchEvent(new Event("change", { bubbles: true })); return true })()`)
	}
	choose("0", "de")
	choose("1", "dark")
	p.press("Schließen")
	p.sees("Neues Gespräch")
	p.reload()
	p.sees("Neues Gespräch")
	assert.Equalf(t, evaluate[string](p, "document.documentElement.lang"), "de", "the language")
	back := evaluate[string](p, "getComputedStyle(document.documentElement).backgroundColor")
	assert.That(t, back == "rgb(20, 22, 27)", "the background is %s", back)
}

// ‘sibyl open’ signs in as the owner of the command line's sessions, with the folder one stands in.
func TestOpenShowsTheSessionsOfTheCommandLine(t *testing.T) {
	h := openWith(t, "")
	h.sibyl("ask", "--in", h.dir+"/code", "How is a lease acquired?")
	said := h.sibyl("open", "--no-browser")
	assert.Require(t, strings.HasPrefix(said, h.origin+"/#sibyl_"), "it prints %q", said)
	p := h.tab(1000)
	p.do("opening", chromedp.Navigate(strings.TrimSpace(said)), chromedp.WaitVisible("textarea"))
	p.until("the session", `(() => { const a = document.querySelector("aside li a"); a?.click(); return a })()`)
	p.sees("Acquire takes the lease")
}

func TestWhoGoesElsewhereWhileWordsAreSentStaysThere(t *testing.T) {
	p := open(t).visit(1000)
	p.holds("/api/runs")
	p.says("How is a lease acquired?")
	p.until("the answer that is held", "globalThis.goOn")
	p.turnsTo("#/runs")
	p.sees("All runs")
	p.until("the words to be no draft any more",
		`(goOn(), !Object.entries({ ...localStorage, ...sessionStorage }).some(([name, kept]) => kept.includes("lease") && !name.includes("said.")))`)
	p.stands("#/runs")
}

func TestWhoGoesElsewhereWhileAnInquiryBeginsStaysThere(t *testing.T) {
	p := open(t).visit(1000)
	p.holds("/api/inquiries")
	p.inquire("The bridge was closed because of corrosion.", "/notes")
	p.until("the answer that is held", "globalThis.goOn")
	p.turnsTo("#/runs")
	p.sees("All runs")
	p.until("the answer to be taken", `(goOn(), globalThis.taken)`)
	p.stands("#/runs")
}

// holds has what comes back of requests that send something wait for goOn.
func (p *tab) holds(path string) {
	p.Helper()
	p.do("holding what is answered", chromedp.Evaluate[chromedp.Void](`(() => {
		const real = fetch;
		globalThis.fetch = async (...asked) => {
			const answer = await real(...asked);
			if (asked[1]?.method === "POST" && String(asked[0]).endsWith(`+quoted(path)+`)) {
				await new Promise((on) => (globalThis.goOn = on));
				const read = answer.text.bind(answer);
				answer.text = async () => { const text = await read(); setTimeout(() => (globalThis.taken = true)); return text; };
			}
			return answer;
		};
	})()`))
}

func (p *tab) stands(hash string) {
	p.Helper()
	at := evaluate[string](p, "location.hash")
	assert.That(p, at == hash, "the page went to %s", at)
}
