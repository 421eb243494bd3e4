package stories

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/media/document/documenttest"
	"sibyl/internal/model/modeltest"
)

// leaseReader is a model that reads two places and cites the lines of one, and one that nobody read.
func leaseReader(r modeltest.Request) modeltest.Answer {
	if !strings.Contains(r.Messages[len(r.Messages)-1].Content, "package lease") {
		return calls("code_read", `{"path":"lease.go"}`)
	}
	return modeltest.Stream(
		"`Acquire` takes it (lease.go:3-4), and not [gone.go:7]. As lease.go:6 shows, nothing follows.\n\n" +
			"```go\n// a comment\nfunc Acquire(run string) error { return nil }\n```\n\n" +
			"| Gesellschaft | Versicherung | b |\n|---|---|---|\n| Donaudampfschifffahrtsgesellschaft | " +
			"Kraftfahrzeughaftpflichtversicherung | Vermögensverwaltungsgesellschaft |\n" + sure)
}

// A citation is a number that opens what it names: the source stands beside the answer with its lines marked, and has
// the focus.
func TestCitationOpensItsSourceAtTheVeryLines(t *testing.T) {
	p := openWith(t, acts(t, leaseReader)).visit(1400)
	p.says("How is a lease acquired?")
	p.until("the citations", `document.querySelectorAll(".markdown .cite").length === 3`)
	numbers := evaluate[string](p,
		`[...document.querySelectorAll(".markdown .cite")].map((c) => c.value + c.title).join(" ")`)
	assert.That(t, numbers == "1lease.go:3-4 2gone.go:7 3lease.go:6", "the citations are %s", numbers)
	cited := func(number string) string {
		return evaluate[string](p, `[...document.querySelectorAll("aside article[data-number='`+number+
			`'] .marked")].map((l) => l.querySelector(".number").innerText).join(" ")`)
	}
	p.do("pressing the first citation", chromedp.Click(`.markdown .cite[value="1"]`))
	p.until("its source, with the focus", `document.activeElement.dataset.number === "1"`)
	lines := cited("1")
	assert.That(t, lines == "3 4", "marked are the lines %s", lines)
	p.sees("What the answer cites")
	p.sees("cited, but not read")
	p.do("the third one, by the keyboard", chromedp.Focus(`.markdown .cite[value="3"]`), chromedp.KeyEvent(" "))
	p.until("the third source, with the focus", `document.activeElement.dataset.number === "3"`)
	lines = cited("3")
	assert.That(t, lines == "6", "marked are the lines %s", lines)
	p.do("closing the sources", chromedp.KeyEvent("\x1b"))
	p.until("the citation, with the focus again", `document.activeElement.value === "3"`)
	p.sees("Read 1 file")
	p.do("opening what was done", chromedp.Click(`.did summary`))
	p.sees("Read lease.go")
	p.accessible("an answer with citations")
	for _, width := range widths() {
		p.do("being so wide", chromedp.EmulateViewport(int64(width), high))
		p.fits()
	}
	p.until("whole words in the table",
		`(() => { const t = document.querySelector(".markdown table"); return t.scrollWidth > t.clientWidth || innerWidth > 1000 })()`)
}

// A page of a PDF has no lines in a file: its source shows what the run had read of it, also when the file has gone.
func TestCitedPageOfADocumentShowsWhatWasRead(t *testing.T) {
	h := openWith(t, acts(t, func(r modeltest.Request) modeltest.Answer {
		if r.Messages[len(r.Messages)-1].Role != "tool" {
			return calls("vault_read", `{"path":"report.pdf"}`)
		}
		return modeltest.Stream("It is new (report.pdf p. 3). " + sure)
	}))
	file := filepath.Join(h.dir, "notes", "report.pdf")
	assert.NoError(t, os.WriteFile(file, documenttest.PDF(true, []string{"A report"}, []string{"It cost 12 EUR."},
		[]string{"The bearing was replaced."}), 0o600))
	p := h.visit(1400)
	p.says("What do my notes say about the bearing?")
	shows := func(fate string) {
		p.Helper()
		p.press("report.pdf p. 3 1")
		p.until("the page, and none of the others",
			`(() => { const one = document.activeElement; return one.dataset.number === "1" && one.innerText.includes(`+
				quoted(fate)+`) && one.innerText.includes("The bearing was replaced.") && !one.innerText.includes("12 EUR"); })()`)
	}
	shows("cited and read")
	p.press("Close")
	assert.NoError(t, os.Remove(file))
	p.reload()
	shows("can't be read any more")
}

// An answer that stands on nothing is taken back: the page says why, and keeps the draft folded while it goes on.
func TestDraftThatIsTakenBackSaysWhy(t *testing.T) {
	proceed := make(chan struct{})
	p := openWith(t, acts(t, func(r modeltest.Request) modeltest.Answer {
		if len(r.Messages) < 3 {
			return modeltest.Stream("A lease is taken by magic. " + sure)
		}
		<-proceed
		return leaseReader(r)
	})).visit(1000)
	p.says("Which function acquires a lease?")
	p.sees("I checked this draft: nothing was read yet. I go on.")
	text := evaluate[string](p, "document.body.innerText")
	assert.That(t, !strings.Contains(text, "magic"), "the draft is not folded")
	p.do("opening the draft", chromedp.Click(`.answer > details summary`))
	p.sees("by magic")
	close(proceed)
	p.sees("nothing follows.")
	p.until("the end of it",
		`!document.querySelector("[aria-busy=true]") && !document.body.innerText.includes("magic")`)
}

func TestCodeIsColouredAndCopied(t *testing.T) {
	p := openWith(t, acts(t, leaseReader)).visit(1000)
	p.says("How is a lease acquired?")
	p.until("code in colours",
		`(() => { const k = document.querySelector("pre code .keyword"); return k && getComputedStyle(k).color !== getComputedStyle(k.parentElement).color })()`)
	p.do("copying it", chromedp.Focus(`.markdown .copy`), chromedp.KeyEvent(" "))
	p.until("that it was copied, or that the browser does not allow it",
		`document.querySelector(".markdown .copy").innerText !== "Copy"`)
}

// A note that was written can be looked at and taken back where it is told.
func TestWrittenNoteShowsWhatChangedAndIsTakenBack(t *testing.T) {
	p := openWith(t, acts(t, func(r modeltest.Request) modeltest.Answer {
		if r.Messages[len(r.Messages)-1].Role != "tool" {
			return calls("vault_write", `{"path":"house.md","mode":"append","content":"Pay Dana."}`)
		}
		return modeltest.Stream("It is written down. " + sure)
	})).visit(1000)
	p.says("Add to my note house.md that I have to pay Dana.")
	p.sees("Changed note house.md")
	p.sees("Wrote 1 note")
	p.do("looking at what changed", chromedp.Click(`.note details summary`))
	p.sees("+ Pay Dana.")
	p.accessible("a written note")
	p.press("Undo the change to house.md")
	p.sees("Taken back: house.md")
	p.sees("The note is as it was before.")
}
