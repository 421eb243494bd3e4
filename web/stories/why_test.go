package stories

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// asked has a question answered and opens why, at its details.
func asked(p *tab, question string) {
	p.Helper()
	p.says(question)
	p.explains(p.run("done"), "steps")
	p.until("the steps", `document.querySelector("[role=option]")`)
}

// paced is JavaScript that asks the server at most twice a second, however often it is evaluated: users have a limit of
// requests.
func paced(asks string) string {
	return `performance.now() >= (window.askAgain ?? 0) && (window.askAgain = performance.now() + 500, ` + asks + `)`
}

// run is the id of the latest run, once it stands so.
func (p *tab) run(status string) string {
	p.Helper()
	p.do("forgetting others", chromedp.Evaluate[chromedp.Void](`window.latest = ""; window.askAgain = 0; undefined`))
	p.until("a run that is "+status,
		`(`+paced(`fetch("/api/runs").then((r) => r.json()).then(({ runs }) => { window.latest = runs?.[0]?.status === `+quoted(status)+` ? runs[0].id : ""; }, () => {})`)+`, window.latest)`)
	return evaluate[string](p, "window.latest")
}

// explains opens why, at one of its parts.
func (p *tab) explains(run string, part ...string) {
	p.Helper()
	p.do("opening why", chromedp.Evaluate[chromedp.Void](`location.hash = `+
		quoted("#/"+strings.Join(append([]string{"why", run}, part...), "/"))))
}

// row chooses the first row of the timeline that is of a sort, by its word, and gives what it says.
func row(p *tab, word string) {
	p.Helper()
	p.until("a row of "+word, `(() => {
		const one = [...document.querySelectorAll("[role=option]")].find((e) => e.innerText.split("\n").includes(`+quoted(word)+`));
		one?.click();
		return one;
	})()`)
}

func TestTreeShowsWhichNodesActInAStep(t *testing.T) {
	p := open(t).visit(1400)
	asked(p, "How is a lease acquired?")
	p.press("Tree")
	p.until("nodes that act", `document.querySelector(".outline li.acts")`)
	slide := func(step string) {
		p.until("the slider", `(() => {
			const s = document.querySelector("input[type=range]");
			s.value = `+step+`;
			s.dispatchEvent(new Event("input", { bubbles: true }));
			return s;
		})()`)
	}
	acting := `[...document.querySelectorAll(".outline li.acts > .line > .type, .outline li.acts > details > summary > .type")].map((e) => e.innerText).join()`
	slide("1")
	p.until("Classify in the first step", acting+`.includes("Classify")`)
	slide("2")
	p.until("no Classify in the second", "!"+acting+`.includes("Classify")`)
	if evaluate[bool](p, `[...document.querySelectorAll(".outline li")].some((e) => e.innerText.startsWith("Classify") && !e.innerText.includes("earlier"))`) {
		t.Error("the outline does not say that Classify acted before")
	}
}

// manyEvents is a folder of trees in which the Oracle counts before it answers: in one step, and then in a step each.
func manyEvents(t *testing.T) string {
	t.Helper()
	c := exec.Command(program, "tree", "show", "oracle", "--xml")
	c.Env = []string{"HOME=" + t.TempDir()}
	text := assert.Must(c.Output())(t)
	const before = `<Classify `
	loop := func(times int, in string) string {
		return fmt.Sprintf(`<ForceSuccess><Loop max="%d" until="{never}" turn="{i}" last="{j}">%s</Loop></ForceSuccess>`, times, in)
	}
	counted := strings.Replace(string(text), before, loop(1600, `<Script code="n := i"/>`)+
		loop(400, `<Delay delay_msec="1"><Script code="n := i"/></Delay>`)+before, 1)
	counted = strings.Replace(counted, "done := false;", "done := false; never := false;", 1)
	folder := t.TempDir()
	assert.NoError(t, os.WriteFile(filepath.Join(folder, "oracle.xml"), []byte(counted), 0o600))
	return folder
}

func TestRunOfTenThousandEventsOpensAtOnce(t *testing.T) {
	needs.Long(t, "some time: the page bears much")
	onOneStore(t)
	p := openWith(t, "trees: "+manyEvents(t)+"\n").visit(1400)
	p.says("How is a lease acquired?")
	run := p.run("done")
	took := func(what, act, shown string) {
		p.Helper()
		p.do(what, chromedp.Evaluate[chromedp.Void](`performance.clearMarks(); performance.mark("asked"); `+act+
			`; undefined`))
		p.until(what, `(`+shown+
			`) && (globalThis.took = performance.now() - performance.getEntriesByName("asked")[0].startTime)`)
		t.Logf("%s: %.0f ms", what, evaluate[float64](p, "took"))
	}
	took("opening", `location.hash = "#/why/`+run+`/steps"`, `document.querySelector("[role=option]")`)
	took("showing every node", `document.querySelector("input[type=checkbox]").click()`,
		`Number(document.querySelector("[role=option]").getAttribute("aria-setsize")) >= 10000`)
	const elements = `document.querySelectorAll("*").length`
	n := evaluate[int](p, elements)
	assert.That(t, n <= 2000, "the page has %d elements", n)
	p.do("going to the end", chromedp.Evaluate[chromedp.Void](`document.querySelector("[role=listbox]").focus()`),
		chromedp.KeyEvent(kb.End))
	p.until("the last row", `(() => { const all = [...document.querySelectorAll("[role=option]")]; return all.at(-1).getAttribute("aria-posinset") === all.at(-1).getAttribute("aria-setsize"); })()`)
	took("scrolling through", `(() => {
		const list = document.querySelector("[role=listbox]"), frames = 60;
		globalThis.frame = 0;
		const on = () => { list.scrollTop = (++frame / frames) * list.scrollHeight; if (frame < frames) requestAnimationFrame(on); };
		on();
	})()`, `frame === 60`)
	took("the tree", `location.hash = "#/why/`+run+`/tree"`, `document.querySelector(".outline li")`)
	p.press("Open all")
	took("sliding", `(() => {
		const slider = document.querySelector("input[type=range]");
		for (let at = 0; at < 20; at++) { slider.value = 1 + Math.round((at / 20) * (slider.max - 1)); slider.dispatchEvent(new Event("input", { bubbles: true })); }
	})()`, `document.querySelector(".outline li.acts")`)
	n = evaluate[int](p, elements)
	assert.That(t, n <= 4000, "with the whole tree the page has %d elements", n)
	requests := evaluate[int](p, `performance.getEntriesByType("resource").filter((e) => e.name.includes(`+
		quoted(run)+`)).length`)
	assert.That(t, requests <= 4, "%d requests were sent about the run", requests)
	bytes := evaluate[int](p,
		`Math.max(...performance.getEntriesByType("resource").map((e) => e.transferSize))`)
	assert.That(t, bytes <= 2<<20, "an answer has %d bytes", bytes)
}

// slowModel is a model that answers once it is let.
func slowModel(t *testing.T) (settings string, answer func()) {
	t.Helper()
	gate := make(chan struct{})
	answer = sync.OnceFunc(func() { close(gate) })
	s := modeltest.NewServer(t)
	t.Cleanup(answer) // before the server is closed, which waits for it
	s.Models = []string{"slow"}
	s.Play(func(modeltest.Request) modeltest.Answer {
		<-gate
		return modeltest.Answer{Chunks: []string{"A lease is held by one." + sure}, Usage: model.Usage{InputTokens: 900,
			OutputTokens: 12}}
	})
	return fmt.Sprintf("model: house:slow\nproviders:\n  house: {base_url: %s/v1, local: true}\n", s.BaseURL), answer
}

func TestRunThatGoesOnIsWatchedToItsEnd(t *testing.T) {
	settings, answer := slowModel(t)
	p := openWith(t, settings).visit(1400)
	p.says("Who holds a lease?")
	p.explains(p.run("running"), "tree")
	p.sees("This run goes on.")
	p.until("a node that waits",
		`[...document.querySelectorAll(".outline li.acts")].some((e) => e.innerText.includes("waits"))`)
	p.press("Steps")
	began := time.Now()
	answer()
	row(p, "Answer")
	p.until("the end", `!document.body.innerText.includes("This run goes on.")`)
	t.Logf("told after %s", time.Since(began))
	p.press("What left")
	p.sees("house:slow")
}

// edits replaces what a regular expression of JavaScript finds in the tree that is to be compared.
func (p *tab) edits(from, to string) {
	p.Helper()
	p.until("the tree to be edited", `(() => {
		const t = document.querySelector("section textarea");
		t.value = t.value.replace(`+from+`, () => `+quoted(to)+`);
		t.dispatchEvent(new Event("input", { bubbles: true }));
		return t.value.includes(`+quoted(to)+`);
	})()`)
}

func TestAnotherTreeIsComparedWithThisRunAndWithPastOnes(t *testing.T) {
	p := open(t).visit(1400)
	asked(p, "How is a lease acquired?")
	p.press("What if?")
	p.press("The whole tree (XML)")
	p.press("Take this run’s tree")
	p.until("the tree", `document.querySelector("section textarea").value.includes("<BehaviorTree")`)
	p.press("Compare this run")
	p.sees("This tree decides the same in all")
	p.edits(`/<SubTree ID="UseTools"[^>]*last[^>]*>/`, `<ForceSuccess><AlwaysFailure name="no tools"/></ForceSuccess>`)
	p.press("Compare this run")
	p.sees("another decision")
	p.sees("asks for turn 2 of 30")
	p.press("Compare past runs")
	p.sees("Runs: 1. The same: 0. Otherwise: 1.")
	p.edits(`/<Classify/`, `<Clarify`)
	p.press("Compare this run")
	p.sees("This tree does not load.")
}
