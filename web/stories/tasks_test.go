package stories

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// taskTitles are those of the list.
const taskTitles = `[...document.querySelectorAll("aside .title")].map((e) => e.innerText).join("; ")`

func TestTaskListChangesAsItIsSpokenAndTheLastChangeIsTakenBack(t *testing.T) {
	h := open(t, "")
	p := h.visit(1200)
	p.press("Tasks")
	p.sees("Nothing to do.")
	p.sees("What is to be done?")
	p.says("add tasks: buy milk, call mum")
	p.until("both tasks", taskTitles+` === "buy milk; call mum"`)
	p.reload()
	p.sees("add tasks: buy milk, call mum") // the conversation goes on where it was
	p.says("the first one is done")         // no list was shown in this conversation
	p.until("a choice", `document.querySelectorAll("section ul[role=group] button:enabled").length === 2`)
	p.do("choosing the first", chromedp.Evaluate[chromedp.Void](`document.querySelector("section ul[role=group] button").click()`))
	p.until("a task that is done", `document.querySelector("#tasks-completed").parentElement.innerText.includes("buy milk")`)
	p.sees("Last change: completed “buy milk”")
	p.press("Undo")
	p.sees("Last change: added “call mum”")
	h.sibyl("task", "add", "Water the plants", "--description", "and the one in the hall")
	p.says("show my tasks")
	p.until("what another program added", taskTitles+` === "buy milk; call mum; Water the plants"`)
	p.do("opening the history of a task", chromedp.Evaluate[chromedp.Void](`(() => { const task = document.querySelector("aside .task"); task.focus(); task.click(); })()`))
	p.sees("History of “buy milk”")
	p.sees("Undo: opened “buy milk” again")
	p.press("Close")
	p.until("no dialog", `!document.querySelector("dialog[open]")`)
	if focus := evaluate[string](p, "document.activeElement.innerText"); !strings.Contains(focus, "buy milk") {
		t.Errorf("after the history is closed, the focus is on %q", focus)
	}
}

func TestDeletionIsConfirmedOnACardWithTheTaskAndItsVersion(t *testing.T) {
	h := open(t, "")
	h.sibyl("task", "add", "Call John", "--description", "about the roof")
	h.sibyl("task", "edit", "1", "--title", "Call John Smith")
	h.sibyl("task", "add", "Call Anna")
	p := h.visit(360)
	p.turnsTo("#/tasks")
	p.says("complete call")
	p.sees("Which")
	p.until("a choice of two", `document.querySelectorAll("section ul[role=group] button").length === 2`)
	p.do("choosing the second", chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("section ul[role=group] button")[1].click()`))
	p.sees("Call Anna' as completed")
	p.says("delete Call John Smith")
	p.until("the card", `document.querySelector("section.card")?.innerText.includes("#1 · version 2")`)
	p.fits()
	p.reload()
	p.until("the card after a reload", `document.querySelector("section.card")?.innerText.includes("about the roof")`)
	h.sibyl("task", "edit", "1", "--title", "Call John Miller")
	p.press("☰ Task list")
	p.sees("Call John Miller")
	p.fits()
	p.press("← Conversation")
	p.sees("This has changed since, to version 3.")
	p.press("Delete")
	p.sees("This question is over.")
	p.until("the question anew, of the task as it is", `[...document.querySelectorAll("section.card")].at(-1).innerText.includes("version 3")`)
	p.press("Delete")
	p.sees("I've deleted 'Call John Miller'")
	p.press("☰ Task list")
	p.sees("Last change: deleted “Call John Miller”")
}

func TestTaskIsAddedTickedEditedDeletedAndBroughtBackOnTheList(t *testing.T) {
	p := open(t, "").visit(1200)
	p.press("Tasks")
	p.sees("Nothing to do.")
	add := func(title string) {
		p.do("adding “"+title+"”", chromedp.SendKeys("aside form input", title), chromedp.KeyEvent("\r"))
	}
	add("Buy milk")
	p.until("one task", taskTitles+` === "Buy milk"`)
	add("Call mum")
	p.until("both tasks", taskTitles+` === "Buy milk; Call mum"`)
	p.do("ticking the first", chromedp.Evaluate[chromedp.Void](`document.querySelector("aside li input").click()`))
	p.until("a task that is done", `document.querySelector("#tasks-completed").parentElement.querySelector("input:checked") && !document.querySelector("#tasks-pending").parentElement.innerText.includes("Buy milk")`)
	p.press("Undo")
	p.until("both tasks again", `document.querySelector("#tasks-pending").parentElement.innerText.includes("Buy milk")`)
	p.press("Delete “Call mum”")
	p.until("one task", taskTitles+` === "Buy milk"`)
	p.sees("Last change: deleted “Call mum”")
	p.press("Undo")
	p.until("what was deleted", taskTitles+` === "Buy milk; Call mum"`)
	p.do("opening a task", chromedp.Evaluate[chromedp.Void](`document.querySelector("aside .task").click()`))
	p.sees("History of “Buy milk”")
	p.do("another title", chromedp.Evaluate[chromedp.Void](`document.querySelector("dialog form input").select()`), chromedp.SendKeys("dialog form input", "Buy oat milk"))
	p.press("Save")
	p.until("the other title", taskTitles+` === "Buy oat milk; Call mum"`)
}
