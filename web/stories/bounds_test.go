package stories

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
)

// watchTasks notes the long tasks of the page, those that hold it up for more than 50 ms.
func (p *tab) watchTasks() {
	p.Helper()
	p.do("watching long tasks",
		chromedp.Evaluate[chromedp.Void](
			`globalThis.longTasks = []; new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((e) => Math.round(e.duration)))).observe({ type: "longtask" })`))
}

// tellTasks logs the long tasks since they were watched or told. How long one takes depends on what else the machine
// does.
func (p *tab) tellTasks(what string) {
	p.Helper()
	p.Logf("%s: the long tasks took %v ms", what, evaluate[[]int](p, "longTasks.splice(0)"))
}

// Of a long conversation the page shows the last part, fetches what comes near, and lets go of what is far away again.
func TestConversationOfAThousandExchangesIsGoneThroughToItsFirst(t *testing.T) {
	needs.Long(t, "some time: the page bears much")
	onOneStore(t)
	const many = 1000
	h := openWith(t, "")
	session := h.longSession(many, time.Minute)
	p := h.visit(1000)
	p.watchTasks()
	p.do("opening it", chromedp.Evaluate[chromedp.Void](`(() => {
		const asked = performance.now();
		new MutationObserver((_, watch) => {
			if (![...document.querySelectorAll("main ol > li:not(.markdown *)")].at(-1)?.querySelector(".markdown")) return;
			watch.disconnect();
			globalThis.took = performance.now() - asked;
		}).observe(document.body, { childList: true, subtree: true });
		location.hash = "#/session/`+session+`";
	})()`))
	p.until("the last answer", "globalThis.took")
	p.do("what it came with", chromedp.Evaluate[chromedp.Void](
		`globalThis.awaited = new URL(performance.getEntriesByType("resource").find((e) => e.name.includes("/api/results?")).name).searchParams.get("run").split(",").length; undefined`))
	p.sees(asksOfLease(many))
	p.tellTasks("opening it")
	t.Logf("%d exchanges: the last answer after %.0f ms", many, evaluate[float64](p, "took"))
	const whole = `document.querySelectorAll("main ol > li .markdown").length`
	n := evaluate[int](p, whole)
	assert.That(t, n <= 12, "%d exchanges are whole of those that are near", n)
	n = evaluate[int](p, "awaited")
	assert.That(t, n >= 1 && n <= 6, "the last answer came with %d others", n-1)
	p.press("Earlier messages")
	for first := many; first > 1; { // to the first one that is shown, until nothing comes before it
		before := first
		p.until("what was said before", `(() => {
			const at = Number(document.querySelector("main ol > li .question").textContent.match(/lease (\d+)/)[1]);
			if (at > 1) document.querySelector("main section .scroll").scrollTop = 0;
			return (globalThis.firstAt = at) < `+strconv.Itoa(before)+`;
		})()`)
		first = evaluate[int](p, "firstAt")
	}
	p.tellTasks("going to the first")
	p.until("the first answer",
		`[...document.querySelectorAll("main ol > li:not(.markdown *)")][0].querySelector(".markdown")`)
	p.until("the others to be light", whole+" <= 30")
	rows, elements := evaluate[int](p, `document.querySelectorAll("main ol > li:not(.markdown *)").length`),
		evaluate[int](p, `document.querySelectorAll("main ol *").length`)
	assert.That(t, rows == many && elements <= 4*many, "%d exchanges are %d elements", rows, elements)
	requests := evaluate[int](p,
		`performance.getEntriesByType("resource").filter((e) => e.name.includes("/api/")).length`)
	assert.That(t, requests <= 150, "%d requests were sent", requests)
	p.do("going to the end", chromedp.Evaluate[chromedp.Void](`document.querySelector("main section .scroll").scrollTop = 1e9`))
	p.until("the last answer again",
		`[...document.querySelectorAll("main ol > li:not(.markdown *)")].at(-1).querySelector(".markdown")`)
}

// heap is how much memory the page's own objects take once nothing is left of what it let go of.
func (p *tab) heap() int {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context, patience)
	defer cancel()
	_, err := chromedp.Call(ctx, heapprofiler.CollectGarbage, cdp.Empty{})
	used, failed := chromedp.Call(ctx, runtime.GetHeapUsage, cdp.Empty{})
	if err = errors.Join(err, failed); err != nil {
		p.fail("looking at the heap", err)
	}
	return int(used.UsedSize)
}

// mostHeap is by how many bytes the heap may grow where nothing is kept: far less than what goes through the page.
const mostHeap = 3 << 20

// An answer of 100 KB arrives without holding the page up, and nothing is kept of it where it is not shown. What is
// kept would make the heap grow in every round; what the browser compiles and has not yet let go of does in some.
func TestLongAnswerStreamsWithoutHoldingThePageUp(t *testing.T) {
	needs.Long(t, "some time: the page bears much")
	onOneStore(t)
	const rounds = 3
	line := "A sentence of **some** length, with `code` and [a link](https://e.example/x), that is said again and " +
		"again.\n\n"
	m, settings := plays(t, strings.Repeat(line, 100_000/len(line)), "The end."+sure)
	close(m.proceed)
	p := openAlone(t, settings).visit(1000)
	p.reload()
	p.until("the first paint",
		`document.querySelector("textarea") && performance.getEntriesByName("first-contentful-paint").length`)
	t.Logf("the first paint came after %.0f ms",
		evaluate[float64](p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	p.watchTasks()
	p.do("watching frames", chromedp.Evaluate[chromedp.Void](`(() => {
		globalThis.longest = 0; let before = performance.now();
		const look = (now) => { longest = Math.max(longest, now - before); before = now; requestAnimationFrame(look); };
		requestAnimationFrame(look);
		globalThis.mostLaid = globalThis.allRead = 0;
		const inner = Object.getOwnPropertyDescriptor(Element.prototype, "innerHTML");
		Object.defineProperty(Element.prototype, "innerHTML", { ...inner, set(html) { allRead += String(html).length; inner.set.call(this, html); } });
		new MutationObserver((all) => {
			const added = new Set(all.flatMap((m) => [...m.addedNodes]));
			const within = (n) => { for (let over = n.parentNode; over; over = over.parentNode) if (added.has(over)) return true; }; // and is counted with that
			mostLaid = Math.max(mostLaid, [...added].filter((n) => !within(n)).reduce((sum, n) => sum + n.textContent.length, 0));
		}).observe(document.body, { childList: true, subtree: true });
	})()`))
	for before, round := p.heap(), 1; ; round++ {
		p.says("Tell me something about leases in general.")
		p.until("the end of the answer",
			`!document.querySelector("[aria-busy=true]") && document.querySelector(".markdown")?.lastElementChild?.textContent.startsWith("The end.")`)
		t.Logf("the longest time between two frames was %.0f ms", evaluate[float64](p, "longest"))
		p.tellTasks("the answer")
		laid := evaluate[int](p, "mostLaid")
		assert.That(t, laid >= 2000 && laid <= 6500, "%d characters were laid out at once", laid)
		// what is still to grow is read more than once, and nothing else
		read := evaluate[float64](p, `allRead / document.querySelector(".markdown").innerHTML.length`)
		assert.That(t, read >= 1 && read <= 1.5*float64(round), "of the answer %.1f times as much was read as is shown", read)
		p.turnsTo("#/runs")
		p.sees("Tell me something about leases in general.")
		now := p.heap()
		t.Logf("in round %d the heap went from %d to %d bytes", round, before, now)
		if now-before <= mostHeap {
			return
		}
		assert.Require(t, round != rounds, "in each of %d rounds the heap grew by more than %d bytes", rounds, mostHeap)
		before = now
		p.turnsTo("#/")
		p.do("a new conversation", chromedp.WaitVisible("textarea"))
	}
}

// Of runs that are not shown nothing is kept, however many the event stream tells of. What is kept of them would make
// the heap grow in every round; what the browser compiles and has not yet let go of does in some.
func TestRunsThatAreNotShownTakeNoMemory(t *testing.T) {
	needs.Long(t, "some time: the page bears much")
	onOneStore(t)
	const rounds, runs, mostOfOne = 4, 300, 800 // bytes
	h := openWith(t, "")
	p := h.visit(1000)
	p.turnsTo("#/runs")
	p.sees("You have asked nothing yet.")
	p.hears(runs)
	for before, round := p.heap(), 1; ; round++ {
		p.hears(runs)
		now := p.heap()
		t.Logf("after %d runs more the heap went from %d to %d bytes", runs, before, now)
		if now-before <= runs*mostOfOne {
			return
		}
		assert.Require(t, round != rounds,
			"in each of %d rounds the heap grew by more than %d bytes a run", rounds, mostOfOne)
		before = now
	}
}

// hears waits until the event stream has told of so many more runs, to their ends.
func (p *tab) hears(runs int) {
	p.Helper()
	ended := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.ended
	}
	wanted := ended() + runs
	p.longSession(runs, time.Millisecond)
	for until := time.Now().Add(patience); ended() < wanted; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			p.Fatalf("the stream told of %d ends, not of %d", ended(), wanted)
		}
	}
}
