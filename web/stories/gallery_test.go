package stories

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/server/user"
)

// The stories of this file look at every view and dialog: see looks.

func TestConversationsLookAsTheyShould(t *testing.T) {
	onOneStore(t)
	h := open(t)
	p := h.visit(900)
	p.looks("conversations-empty")
	p.says("How is a lease acquired?")
	p.sees("lease.go:")
	p.press("Sources")
	p.sees("cited and read")
	p.looks("conversations-sources")
	p.opensMenu()
	p.looks("menu")
	p.press("Close")
	p.do("a narrow screen", chromedp.EmulateViewport(360, high)) // where the list is a sheet
	p.press("Close")
	p.opensList()
	p.looks("conversations-list")
	p.press("Actions for “How is a lease acquired?”")
	p.press("Rename")
	p.looks("conversations-rename")
	p.press("Cancel")
	p.press("Actions for “How is a lease acquired?”")
	p.press("Delete")
	p.looks("conversations-delete")
	p.press("Cancel")
	p.turnsTo("#/nowhere")
	p.sees("There is nothing at this address.")
	p.looks("nowhere")
	p.forgive("401")
	p.opensMenu()
	p.press("Sign out")
	p.sees("You are signed out")
	p.looks("signed-out")
}

func TestWhatWaitsForAPersonLooksAsItShould(t *testing.T) {
	onOneStore(t)
	p := openWith(t, acts(t, visitor)).visit(900)
	p.says(aboutDana)
	p.sees("May I?")
	p.looks("conversations-allow")
}

func TestModelThatFailsLooksAsItShould(t *testing.T) {
	onOneStore(t)
	p := openWith(t, acts(t, func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Fail: model.RateLimit, RetryAfter: 10 * time.Minute}
	})).visit(900)
	p.says("How is a lease acquired?")
	p.sees("takes no more requests for now")
	p.looks("conversations-failed")
}

func TestWhyLooksAsItShould(t *testing.T) {
	onOneStore(t)
	p := open(t).visit(900)
	asked(p, "How is a lease acquired?")
	p.looks("why-steps")
	row(p, "Turn")
	p.press("What was sent, and what came back")
	p.until("the parts of the prompt", `document.querySelector(".part summary")`)
	p.looks("why-receipt")
	p.press("Tree")
	p.until("nodes that act", `document.querySelector(".outline li.acts")`)
	p.looks("why-tree")
	p.press("Sources")
	p.sees("cited and read")
	p.looks("why-sources")
	p.press("What left")
	p.sees("Nothing left this machine.")
	p.looks("why-left")
	p.press("What if?")
	p.press("The whole tree (XML)")
	p.press("Take this run’s tree")
	p.press("Compare this run")
	p.sees("This tree decides the same in all")
	p.looks("why-compare")
	p.press("Story")
	p.until("the story", `document.querySelector(".story li")`)
	p.both("why-story") // its times are of this machine, so no picture is kept
	for _, width := range widths() {
		p.do("being so wide", chromedp.EmulateViewport(int64(width), high))
		p.fits()
	}
}

func TestTasksLookAsTheyShould(t *testing.T) {
	onOneStore(t)
	h := openWith(t, "")
	p := h.visit(900)
	p.press("Tasks")
	p.sees("Nothing to do.")
	p.looks("tasks-empty")
	h.hasTasks("Call John", "Buy milk",
		"Paint the fence, but not the gate, which is to be oiled first and then left to dry over the weekend")
	p.says("delete Call John")
	p.until("the card", `document.querySelector("section.card")?.innerText.includes("Call John")`)
	p.until("the list", taskTitles+`.includes("Buy milk")`)
	p.sees("Last change: added “Paint the fence")
	p.looks("tasks-card")
	p.do("a narrow screen", chromedp.EmulateViewport(360, high))
	p.press("More about “Call John”")
	p.press("History")
	p.sees("History of “Call John”")
	p.looks("tasks-history")
}

func TestCouncilLooksAsItShould(t *testing.T) {
	onOneStore(t)
	p := openWith(t, reader(t)).visit(900)
	p.turnsTo("#/council")
	p.sees("No conversations yet.")
	p.looks("council-empty")
	p.convenes("I think that we should move the office. The rent is 3000 euros a month.")
	p.checks("Skeptic")
	p.press("Ask")
	p.sees("The rent is high.")
	p.sees("All together")
	p.looks("council-answers", "main article")
	p.press("Rename")
	p.looks("council-rename")
	p.press("Cancel")
	p.press("Delete")
	p.looks("council-delete")
}

func TestInquiriesLookAsTheyShould(t *testing.T) {
	onOneStore(t)
	p := openWith(t, "").visit(900)
	assert.NoError(t, os.WriteFile(filepath.Join(p.dir, "notes", "bridge.md"),
		[]byte("# Bridge\n\nThe bridge was closed on 4 March 2021 because of corrosion. Ada Miller of the city "+
			"council ordered the closure.\n\nThe repair of the bridge began in May 2021. It cost 40000 euros.\n"),
		0o600))
	p.press("Inquiries")
	p.sees("No inquiries yet.")
	p.looks("inquiries-empty")
	p.inquire("The bridge was closed because of corrosion.", "/notes")
	p.sees("Nobody has judged this")
	p.looks("inquiry-board")
	p.press("Where it stands")
	p.looks("inquiry-places")
	p.press("All inquiries")
	p.sees("Collected, not audited")
	p.looks("inquiries")
}

func TestOperationLooksAsItShould(t *testing.T) {
	onOneStore(t)
	h := openWith(t, "")
	h.admits("ops", user.Operate)
	p := h.tab(900)
	p.do("opening the page", chromedp.Navigate(h.signIn("ops")), chromedp.WaitVisible("textarea"))
	p.says("How is a lease acquired?")
	p.sees("lease.go:")
	p.opensMenu()
	p.press("Operation")
	p.sees("alive")
	p.looks("operation-server")
}
