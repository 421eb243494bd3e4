package stories

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// mathematician is a model that answers with all that Markdown has beside words.
func mathematician(modeltest.Request) modeltest.Answer {
	return modeltest.Stream("It is $\\frac{a_1}{b}$, or \\(x<y\\), for $5 to $10[^1].\n\n$$\n\\sum_{i=1}^n i\n$$\n\n" +
		"$$\\nonsense{$$\n\n- [x] read\n- [ ] written\n\n```go\nfunc Acquire(run string) error { return nil } // " +
		strings.Repeat("long ", 60) + "\n```\n\n[^1]: As of today.\n" + sure)
}

// Formulas are shown as such and can be copied as they were written; one that is not understood stays as it is.
func TestAnswerShowsFormulasNotesAndBoxes(t *testing.T) {
	p := openWith(t, acts(t, mathematician)).visit(1000)
	p.says("What is the sum?")
	p.until("the end of the answer", `document.querySelector(".foot")`)
	p.until("three formulas", `document.querySelectorAll(".markdown math").length === 3`)
	for what, expression := range map[string]string{
		"a fraction":                          `document.querySelector(".markdown p math mfrac").clientHeight >= 0`,
		"its TeX":                             `document.querySelector(".markdown math annotation").textContent === "\\frac{a_1}{b}"`,
		"one that stands by itself":           `document.querySelector(".markdown math[display=block] munderover")`,
		"one that is not understood":          `document.querySelector(".markdown code.math").textContent === "\\nonsense{"`,
		"amounts":                             `document.querySelector(".markdown p").innerText.includes("$5 to $10")`,
		"a box that is ticked, and one not":   `[...document.querySelectorAll(".markdown li .check")].map((c) => c.innerText).join("") === "☑☐"`,
		"the language of the code":            `document.querySelector(".markdown .tools span").innerText === "go"`,
		"code that is wider than the page":    `(() => { const c = document.querySelector(".markdown pre"); return c.scrollWidth > c.clientWidth })()`,
		"no button for what is no code":       `document.querySelectorAll(".markdown .tools").length === 1`,
		"what is read larger than the rest":   `getComputedStyle(document.querySelector(".markdown p")).fontSize === "17px"`,
		"one line of what was done, and when": `document.querySelectorAll(".did").length === 1`,
	} {
		p.until(what, expression)
	}
	p.press("Wrap lines")
	p.until("code in the page", `(() => { const c = document.querySelector(".markdown pre"); return c.scrollWidth <= c.clientWidth })()`)
	p.press("Note 1")
	p.until("the note, with the focus", `document.activeElement.innerText.includes("As of today.")`)
	p.accessible("an answer with formulas")
	for _, width := range widths() {
		p.do("being so wide", chromedp.EmulateViewport(int64(width), high))
		p.fits()
	}
}

// What was checked is one quiet line, which opens to the places and to what an answer lacks.
func TestWhatWasCheckedIsOneLineThatOpens(t *testing.T) {
	p := openWith(t, acts(t, leaseReader)).visit(1400)
	p.says("How is a lease acquired?")
	p.press("Checked: 2 cited, 1 not read")
	p.sees("cited, but not read")
	amber := evaluate[int](p, `document.querySelectorAll(".answer p.warn").length`)
	assert.That(t, amber == 0, "%d lines are amber", amber)
	p.accessible("what was checked")
	p.until("a place that is pressed", `(() => { document.querySelector(".foot details .cite").click(); return true })()`)
	p.until("its source, with the focus", `document.activeElement.dataset.number === "1"`)
}

// The stops of tabs are counted from where a line's text begins, and only what is cited is marked.
func TestSourcesShowTabsAndMarkOnlyWhatIsCited(t *testing.T) {
	p := openWith(t, acts(t, func(r modeltest.Request) modeltest.Answer {
		if r.Messages[len(r.Messages)-1].Role != "tool" {
			return modeltest.Answer{Calls: []model.ToolCall{{ID: "a", Name: "code_read", Arguments: `{"path":"lease.go"}`},
				{ID: "b", Name: "vault_read", Arguments: `{"path":"house.md"}`}}}
		}
		return modeltest.Stream("It takes it (lease.go:3-5). " + sure)
	})).visit(1400)
	p.says("How is a lease acquired?")
	p.until("the end of the answer", `document.querySelector(".foot")`)
	p.press("Sources")
	p.sees("Also read")
	marked := evaluate[string](p, `[...document.querySelectorAll("aside .line.marked .number")].map((n) => n.innerText).join(" ")`)
	assert.That(t, marked == "3 4 5", "marked are the lines %s", marked)
	columns := evaluate[float64](p, `(() => {
		const line = [...document.querySelectorAll("aside .line .text")].find((l) => l.textContent.startsWith("\treturn")).firstChild;
		const wide = (from, to) => { const r = document.createRange(); r.setStart(line, from); r.setEnd(line, to); return r.getBoundingClientRect().width };
		return wide(0, 1) / wide(1, 2);
	})()`)
	assert.That(t, columns > 3.9 && columns < 4.1, "a tab is %.1f letters wide", columns)
}
