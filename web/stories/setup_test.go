package stories

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/server/user"
)

// types writes words into the field of a label by the keyboard.
func (p *tab) types(label, words string) {
	p.Helper()
	p.until("the field “"+label+"”", `(() => {
		const label = [...document.querySelectorAll("label")].find((l) => l.innerText.trim() === `+quoted(label)+`);
		label?.control.scrollIntoView({ block: "center" });
		label?.control.focus();
		label?.control.select();
		return label && document.activeElement === label.control;
	})()`)
	p.do("writing "+label, chromedp.SendKeys(":focus", words))
}

// submits sends the form of the field that has the keyboard.
func (p *tab) submits() {
	p.Helper()
	p.do("sending the form", chromedp.Evaluate[chromedp.Void](`document.activeElement.form.requestSubmit()`))
}

// From a server without a model to a first answer, on the page alone: whoever operates it sets up a model, a key and
// instructions, and is told what can't work.
func TestSetupLeadsFromNothingToAFirstAnswer(t *testing.T) {
	model := modeltest.NewServer(t)
	model.Models = []string{"played"}
	model.Play(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Chunks: []string{"Quokkas sing softly.\n" + sure}}
	})
	h := openWith(t, "")
	h.admits("ops", user.Operate)
	p := h.tab(1280)
	p.forgive("net::ERR_")
	p.forgive("status of 400")
	p.forgive("status of 409")
	p.do("opening the page", chromedp.Navigate(h.signIn("ops")), chromedp.WaitVisible("textarea"))
	p.press("Set up a model")
	p.sees("not set up")
	p.accessible("the set-up")

	p.types("Address of Ollama", model.BaseURL)
	p.submits()
	p.sees("1 model")
	p.types("Model that answers", "nothing-like-it")
	p.submits()
	p.until("why that can't be", `document.querySelector("[role=alert].bad")?.innerText`)
	p.press("Cancel")
	p.types("Model that answers", "played")
	p.submits()
	p.until("the whole name of the model", `[...document.querySelectorAll("input")].some((i) => i.value === "ollama:played")`)
	p.types("Folder of your notes", "/nowhere/at/all")
	p.submits()
	p.sees("no such file or directory")
	p.sees("Keep it anyway")
	p.press("Cancel")
	p.types("Key of brave", "a-key-that-nobody-may-see-1234")
	p.submits()
	p.sees("stored in an encrypted file")
	shown := evaluate[string](p, `fetch("/api/settings").then((a) => a.text())`)
	assert.Lacks(t, "what the server shows", shown+evaluate[string](p, "document.documentElement.outerHTML"), "nobody-may-see")
	p.press("Delete the key")
	p.sees("Delete the key of brave?")
	p.press("Cancel")
	p.sees("stored in an encrypted file")
	p.press("Delete the key")
	p.press("Delete")
	p.until("no key", `!document.body.innerText.includes("stored in an encrypted file")`)
	p.types("Name, such as work", "other")
	p.types("Address of an endpoint that works like OpenAI’s", model.BaseURL+"/v1")
	p.submits()
	p.press("Remove other")
	p.sees("Remove other with its settings?")
	p.press("Remove")
	p.until("no such provider", `!document.querySelector("[aria-label='Remove other']")`)
	p.press("What is set on a terminal")
	p.sees("server.listen")

	p.do("a narrow screen", chromedp.EmulateViewport(390, 844))
	p.fits()
	p.accessible("the set-up on a phone")
	p.do("a wide screen", chromedp.EmulateViewport(1280, 800))
	p.press("Start again now")
	p.until("the server with its settings", `((text) => text?.includes("Models and keys") && !text.includes("Start again now"))(document.body?.innerText)`)
	p.press("Oracle")
	p.says("How do quokkas sing?")
	p.sees("Quokkas sing softly.")
	assert.That(t, strings.Contains(h.said.String(), "starting again"), "the server did not start again: %s", h.said.String())

	guest := h.visit(1280) // who may write, and does not operate
	guest.opensMenu()
	assert.That(t, !evaluate[bool](guest, `document.body.innerText.includes("Set-up")`), "who does not operate is led to the set-up")
	guest.do("opening it nevertheless", chromedp.Evaluate[chromedp.Void](`location.hash = "#/setup"`))
	guest.sees("There is nothing at this address.")
}
