package stories

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Of a long conversation the page shows the last part, fetches what is looked at, and takes what comes before when it is asked for.
func TestLongConversationIsShownInParts(t *testing.T) {
	h := open(t, "")
	const many = 60
	p := h.visit(1000)
	p.forgive("429") // it asks for much at once, and goes on when it may
	session := ""
	for from := 0; from < many; from += 50 { // in parts, each within patience
		session = evaluate[string](p, `(async () => {
			let session = `+quoted(session)+`;
			const ask = (i) => fetch("/api/chat", { method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" },
				body: JSON.stringify({ message: "what is on my list? " + i, ...(session ? { conversation_id: session } : {}) }) });
			for (let i = `+strconv.Itoa(from)+`; i < `+strconv.Itoa(min(many, from+50))+`; i++) {
				let r = await ask(i);
				for (; r.status === 429; r = await ask(i)) await new Promise((done) => setTimeout(done, 200));
				if (!r.ok) throw new Error(await r.text());
				session = (await r.json()).conversation_id;
			}
			return session;
		})()`)
	}
	p.do("opening it", chromedp.Evaluate[chromedp.Void]("performance.mark('asked'); location.hash = '#/session/"+session+"'; undefined"))
	last := "what is on my list? " + strconv.Itoa(many-1)
	p.sees(last)
	p.until("the last answer", `[...document.querySelectorAll("main ol > li")].at(-1).querySelector(".markdown")`)
	t.Logf("%d exchanges: the last answer after %.0f ms", many, evaluate[float64](p, "performance.now() - performance.getEntriesByName('asked')[0].startTime"))
	if shown, rendered := evaluate[int](p, `document.querySelectorAll("main ol > li").length`), evaluate[int](p, `document.querySelectorAll("main ol > li .markdown").length`); shown != 50 || rendered > 30 {
		t.Errorf("%d exchanges are in the page, %d of them with their answers", shown, rendered)
	}
	p.press("Earlier messages")
	p.sees("what is on my list? " + strconv.Itoa(max(0, many-100)) + "\n")
}

// An answer of 100 KB arrives without holding the page up.
func TestLongAnswerStreamsWithoutHoldingThePageUp(t *testing.T) {
	line := "A sentence of **some** length, with `code` and [a link](https://e.example/x), that is said again and again.\n\n"
	m, settings := plays(t, strings.Repeat(line, 100_000/len(line)), "The end."+sure)
	close(m.proceed)
	p := open(t, settings).visit(1000)
	p.do("watching frames", chromedp.Evaluate[chromedp.Void](`(() => { globalThis.longest = 0; let before = performance.now(); const look = (now) => { longest = Math.max(longest, now - before); before = now; requestAnimationFrame(look); }; requestAnimationFrame(look); })()`))
	p.says("Tell me something about leases in general.")
	p.sees("The end.")
	p.until("the end of the answer", `!document.querySelector("[aria-busy=true]")`)
	t.Logf("the longest time between two frames was %.0f ms", evaluate[float64](p, "longest"))
}
