package stories

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestTmpMany(t *testing.T) {
	p := open(t, "trees: "+manyEvents(t)+"\n").visit(1400)
	p.says("How is a lease acquired?")
	r := p.run("done")
	for i := range 3 {
		p.turnsTo("#/")
		p.until("away", `!document.querySelector("[role=option]")`)
		p.do("opening", chromedp.Evaluate[chromedp.Void]("performance.clearMarks(); performance.clearResourceTimings(); performance.mark('asked'); location.hash = '#/why/"+r+"'; undefined"))
		p.until("rows", `document.querySelector("[role=option]") && (globalThis.at = performance.now() - performance.getEntriesByName('asked')[0].startTime)`)
		t.Logf("%d: %.0f ms", i, evaluate[float64](p, "at"))
		t.Log(evaluate[string](p, `JSON.stringify(performance.getEntriesByType("resource").map((e) => [e.name.replace(location.origin, ""), Math.round(e.startTime - performance.getEntriesByName('asked')[0].startTime), Math.round(e.duration), e.transferSize, e.decodedBodySize]))`))
	}
	p.until("every node to be shown", `(() => { globalThis.t0 = performance.now(); const c = document.querySelector("input[type=checkbox]"); c.click(); return c.checked; })()`)
	p.until("ten thousand rows", `Number(document.querySelector("[role=option]")?.getAttribute("aria-setsize")) >= 10000 && (globalThis.at = performance.now() - t0)`)
	t.Logf("all: %.0f", evaluate[float64](p, "at"))
	t.Log(evaluate[string](p, `fetch("/api/runs/`+r+`/explanation").then((r) => r.json()).then((x) => x.steps.map((s) => s.events.length).join() + " " + JSON.stringify(x.steps[0].events.slice(100,102)))`))
}
