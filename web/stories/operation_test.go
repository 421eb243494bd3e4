package stories

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/server/user"
)

func TestRunOfOnesOwnIsStoppedAndWhoOperatesSeesNumbersAlone(t *testing.T) {
	model := modeltest.NewServer(t, modeltest.Answer{Break: modeltest.Hang}, modeltest.Answer{Break: modeltest.Hang},
		modeltest.Answer{Break: modeltest.Hang})
	model.Models = []string{"played"}
	h := openWith(t, fmt.Sprintf("ollama: {host: '%s'}\nmodel: ollama:played\ntimeouts: {local_start: 30m, "+
		"local_silence: 30m}\n", model.BaseURL))
	p := h.visit(1400)
	p.press("Inquiries")
	p.hypothesis("The boiler was mended.")
	p.chooses("select[name=witness]", "/notes")
	p.chooses("select[name=detective]", "offline:rules")
	p.press("Begin an inquiry")
	p.sees("Collected, not audited")
	p.press("Oracle")
	p.says("How does the quokka sing?")
	p.until("the run", `location.hash.startsWith("#/session/")`)
	<-model.Hanging()
	p.opensMenu()
	p.press("Runs")
	p.sees("How does the quokka sing?")
	p.sees("in progress")
	if evaluate[bool](p, `[...document.querySelectorAll("header a")].some((a) => a.innerText === "Operation")`) {
		t.Error("who does not operate the server is led to its operation")
	}
	p.reload()
	p.sees("How does the quokka sing?")

	h.admits("ops", user.Operate)
	ops := h.tab(1400)
	ops.do("opening the page", chromedp.Navigate(h.signIn("ops")))
	ops.opensMenu()
	ops.press("Operation")
	ops.until("the run of another as a number", `document.querySelector("td.driven")?.innerText === "1"`)
	ops.sees("1 of 16 at work")
	ops.sees("alive")
	assert.That(t, !evaluate[bool](ops, `document.body.innerText.includes("quokka")`), "the words of another are shown")
	ops.do("a narrow screen", chromedp.EmulateViewport(360, 900))
	ops.sees("alive")
	ops.fits()

	p.press("Stop “How does the quokka sing?”")
	p.sees("Stopped: How does the quokka sing?")
	p.until("the keyboard where the list begins", `document.activeElement.localName === "h1"`)

	h.admits("guest", user.Read)
	guest := h.tab(360)
	guest.do("opening the page", chromedp.Navigate(h.signIn("guest")), chromedp.WaitVisible("nav"))
	guest.opensMenu()
	guest.press("Runs")
	guest.sees("You have asked nothing yet.")
	guest.fits()
}

// A run that one process after another ended with is set aside: it is said why, and it can be tried once more or
// stopped.
func TestRunThatIsSetAsideSaysWhyAndIsTriedOnceMore(t *testing.T) {
	model := modeltest.NewServer(t, modeltest.Answer{Break: modeltest.Hang}, modeltest.Answer{Break: modeltest.Hang})
	model.Models = []string{"played"}
	h := openWith(t, fmt.Sprintf("ollama: {host: '%s'}\nmodel: ollama:played\ntimeouts: {local_start: 30m, "+
		"local_silence: 30m}\n", model.BaseURL))
	p := h.visit(900)
	p.forgive("net::ERR_")
	p.says("How does the quokka sing?")
	p.until("the run", `location.hash.startsWith("#/session/")`)
	<-model.Hanging()
	run := p.run("running")
	h.stop()
	h.takenUpInVain(run)
	h.start()
	p.opensMenu()
	p.press("Runs")
	p.sees("Waiting for you")
	p.sees("set aside")
	p.sees("taken up")
	p.both("runs-set-aside")
	p.press("Try once more: “How does the quokka sing?”")
	p.sees("may end the program again")
	p.accessible("the question before it is tried")
	p.press("Try once more")
	p.sees("Goes on: How does the quokka sing?")
	p.sees("in progress")
	<-model.Hanging()
	p.press("Stop “How does the quokka sing?”")
	p.sees("Stopped: How does the quokka sing?")
}

// takenUpInVain has so many processes take a run up, and end, that no further one will. The server is stopped.
func (h *house) takenUpInVain(run string) {
	h.Helper()
	later := time.Now().Add(time.Hour) // whatever lease it had is over
	h.database(func(db app.Database) error {
		for n := range journal.MaxTries {
			if err := db.Acquire(h.Context(), "local", run, fmt.Sprint("gone ", n), later, time.Now()); err != nil {
				return err
			}
		}
		return nil
	})
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// What models took is shown by day and model, as a plot and in figures.
func TestCostsAreShownByDayAndModel(t *testing.T) {
	m, settings := plays(t, "It is ", "so."+sure)
	close(m.proceed)
	p := openWith(t, settings).visit(1000)
	p.says("Tell me something about leases in general.")
	p.until("the end of the answer", `document.querySelector(".foot")`)
	p.opensMenu()
	p.press("Costs")
	p.until("a bar", `[...document.querySelectorAll("svg[role=img] rect")].some((r) => r.getAttribute("fill").startsWith("hsl") && r.getAttribute("height") > 0)`)
	p.until("a model and a day", `document.querySelectorAll("table.figures tbody tr").length === 2`)
	p.accessible("costs")
	p.chooses("select[aria-label=Days]", "7")
	p.until("seven days", `document.querySelectorAll("svg[role=img] g").length === 7`)
	p.fits()
}
