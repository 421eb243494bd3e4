package stories

import (
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/model/modeltest"
)

// everybody is a model that plays whoever is asked in the five things.
func everybody(r modeltest.Request) modeltest.Answer {
	switch {
	case said(r, "Give what they said a name"):
		return modeltest.Stream(`{"name":"The office"}`)
	case said(r, "The rent is 3000 euros"):
		return modeltest.Stream("The rent is high, I think.")
	case said(r, "Dana"):
		return visitor(r)
	case said(r, "given back"):
		return searcher(r)
	}
	return leaseReader(r)
}

// Who never saw the page does five things without help. All that is pressed and filled in is found by what a person
// sees of it or hears it called.
func TestPersonWhoNeverSawItDoesFiveThings(t *testing.T) {
	for device, open := range map[string]func(h *house) *tab{
		"at a desk":  func(h *house) *tab { return h.visit(1200) },
		"on a phone": func(h *house) *tab { return h.visitOnPhone(360) },
	} {
		t.Run(device, func(t *testing.T) {
			onOneStore(t)
			p := open(openAlone(t, acts(t, everybody)+"max_turns: 3\n"))
			p.followsACitation()
			p.allowsACall()
			p.ticksATaskAndUndoesIt()
			p.holdsACouncilOfThree()
			p.readsWhyAnAnswerIsPartial()
		})
	}
}

func (p *tab) followsACitation() {
	p.Helper()
	p.fills("Your message", "How is a lease acquired?")
	p.press("Send")
	p.sees("takes it")
	p.press("lease.go:3-4 1")
	p.sees("What the answer cites")
	p.sees("cited and read")
	p.until("the line in sight, marked apart from the others", `(() => {
		const line = (words) => [...document.querySelectorAll("body *")].find((e) => e.checkVisibility() && e.textContent.trim().endsWith(words) && !e.querySelector("*:not([aria-hidden])"));
		const shade = (e) => e && (getComputedStyle(e).backgroundColor !== "rgba(0, 0, 0, 0)" ? getComputedStyle(e).backgroundColor : shade(e.parentElement));
		const [cited, other] = [line("func Acquire(run string) error {"), line("package lease")];
		const box = cited?.getBoundingClientRect();
		return box && box.top >= 0 && box.bottom <= innerHeight && shade(cited) !== shade(other);
	})()`)
	p.press("Close")
}

func (p *tab) allowsACall() {
	p.Helper()
	p.fills("Your message", aboutDana)
	p.press("Send")
	p.sees("May I?")
	p.sees("https://plumbers.example/reyes")
	p.press("Allow once")
	p.sees("I asked the page, and it did not answer.")
}

func (p *tab) ticksATaskAndUndoesIt() {
	p.Helper()
	p.press("Tasks")
	p.fills("Add a task", "Buy milk")
	p.press("Add")
	p.sees("To do 1")
	p.ticks("Done: Buy milk")
	p.sees("Last change: completed “Buy milk”")
	p.sees("To do 0")
	p.reload() // it can be undone for as long as it is the last change
	p.press("Undo")
	p.sees("To do 1")
}

func (p *tab) holdsACouncilOfThree() {
	p.Helper()
	p.press("Council")
	p.press("New session")
	p.fills("Write what you think", "We should move the office. The rent is 3000 euros a month.")
	p.press("Add")
	p.sees("Who is to answer?")
	for _, name := range []string{"Skeptic", "Optimist", "Pragmatist"} {
		p.ticks(name)
	}
	p.press("Ask")
	p.until("three answers", `document.body.innerText.split("The rent is high, I think.").length === 4`)
}

func (p *tab) readsWhyAnAnswerIsPartial() {
	p.Helper()
	p.press("Oracle")
	p.fills("Your message", "How is a lease given back?")
	p.press("Send")
	p.sees("Acquire takes the lease")
	p.press("Why")
	p.sees("Answered with what it had, because a limit was reached")
	p.sees("The limit: 3 turns of the model")
}

// named finds a control by its label, or by the words that stand in it while it is empty.
const named = `const named = (name, of) => [...(document.querySelector("dialog[open]") ?? document).querySelectorAll(of)].find((e) =>
	(e.checkVisibility() || e.labels?.[0]?.checkVisibility()) && [e.ariaLabel, e.placeholder, ...[...(e.labels ?? [])].map((l) => l.innerText.trim().split("\n")[0])].includes(name));`

// fills writes words into what has a name.
func (p *tab) fills(name, words string) {
	p.Helper()
	p.until("a place for words that is called “"+name+"”", `(() => { `+named+` const one = named(`+quoted(name)+
		`, "input, textarea"); one?.focus(); one?.select(); return one && document.activeElement === one; })()`)
	p.do("writing “"+words+"”", chromedp.Evaluate[chromedp.Void](`document.execCommand("insertText", false, `+
		quoted(words)+`); undefined`))
}

// ticks ticks a box that has a name, and waits until it stays so or its row has gone.
func (p *tab) ticks(name string) {
	p.Helper()
	p.until("a box that is called “"+name+"”", `(() => { `+named+` const one = named(`+quoted(name)+
		`, "input[type=checkbox]"); if (one && !one.checked) one.click(); return one && !one.disabled; })()`)
}
