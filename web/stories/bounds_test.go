package stories

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Of a long conversation the page shows the last part, fetches what comes near, and lets go of what is far away again.
func TestConversationOfAThousandExchangesIsGoneThroughToItsFirst(t *testing.T) {
	const many = 1000
	h := open(t, "")
	session := h.longSession(many)
	p := h.visit(1000)
	p.do("opening it", chromedp.Evaluate[chromedp.Void]("performance.mark('asked'); location.hash = '#/session/"+session+"'; undefined"))
	p.until("the last answer", `[...document.querySelectorAll("main ol > li")].at(-1)?.querySelector(".markdown") && (globalThis.took ??= performance.now() - performance.getEntriesByName("asked")[0].startTime)`)
	p.sees(asksOfLease(many))
	t.Logf("%d exchanges: the last answer after %.0f ms", many, evaluate[float64](p, "took"))
	const whole = `document.querySelectorAll("main ol > li .markdown").length`
	if n := evaluate[int](p, whole); n > 20 {
		t.Errorf("%d exchanges are whole of those that are near", n)
	}
	p.press("Earlier messages")
	for first := many; first > 1; { // to the first one that is shown, until nothing comes before it
		before := first
		p.until("what was said before", `(() => {
			const at = Number(document.querySelector("main ol > li .question").textContent.match(/lease (\d+)/)[1]);
			if (at > 1) document.querySelector("main .scroll").scrollTop = 0;
			return (globalThis.firstAt = at) < `+strconv.Itoa(before)+`;
		})()`)
		first = evaluate[int](p, "firstAt")
	}
	p.until("the first answer", `[...document.querySelectorAll("main ol > li")][0].querySelector(".markdown")`)
	p.picture("first-of-a-thousand")
	p.until("the others to be light", whole+" <= 30")
	if rows, elements := evaluate[int](p, `document.querySelectorAll("main ol > li").length`), evaluate[int](p, `document.querySelectorAll("main ol *").length`); rows != many || elements > 4*many {
		t.Errorf("%d exchanges are %d elements", rows, elements)
	}
	if requests := evaluate[int](p, `performance.getEntriesByType("resource").filter((e) => e.name.includes("/api/")).length`); requests > 150 {
		t.Errorf("%d requests were sent", requests)
	}
	p.do("going to the end", chromedp.Evaluate[chromedp.Void](`document.querySelector("main .scroll").scrollTop = 1e9`))
	p.until("the last answer again", `[...document.querySelectorAll("main ol > li")].at(-1).querySelector(".markdown")`)
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
