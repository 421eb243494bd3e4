package stories

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// taskTitles are those of the list.
const taskTitles = `[...document.querySelectorAll("aside .title")].filter((e) => e.checkVisibility()).map((e) => e.innerText).join("; ")`

func TestTaskListChangesAsItIsSpokenAndTheLastChangeIsTakenBack(t *testing.T) {
	h := open(t)
	p := h.visit(1200)
	p.press("Tasks")
	p.sees("Nothing to do.")
	p.sees("What is to be done?")
	p.says("add tasks: buy milk, call mum")
	p.until("both tasks", taskTitles+` === "buy milk; call mum"`)
	p.reload()
	p.sees("add tasks: buy milk, call mum") // the conversation goes on where it was
	p.says("the first one is done")         // of the list on the screen
	p.until("no such task to be done", taskTitles+` === "call mum"`)
	p.press("Done 1")
	p.until("a task that is done",
		`document.querySelector("#tasks-completed").parentElement.innerText.includes("buy milk")`)
	p.sees("Last change: completed “buy milk”")
	p.press("Undo")
	p.sees("Last change: added “call mum”")
	h.hasTasks("Water the plants")
	p.says("show my tasks")
	p.until("what another program added", taskTitles+` === "buy milk; call mum; Water the plants"`)
	p.press("More about “buy milk”")
	p.press("History")
	p.sees("History of “buy milk”")
	p.sees("Undo: opened “buy milk” again")
	p.press("Close")
	p.until("no dialog", `!document.querySelector("dialog[open]")`)
	p.until("the keyboard on the task whose history was closed",
		`document.activeElement.closest("[data-task]")?.innerText.includes("buy milk")`)
}

func TestDeletionIsConfirmedOnACardWithTheTaskAndItsVersion(t *testing.T) {
	h := openWith(t, "")
	h.sends("POST", "/api/tasks", map[string]any{"title": "Call John", "description": "about the roof"})
	h.sibyl("--user", h.user, "task", "edit", "1", "--title", "Call John Smith")
	h.hasTasks("Call Anna")
	p := h.visit(360)
	p.turnsTo("#/tasks")
	p.press("Conversation")
	p.says("complete call")
	p.sees("Which")
	p.until("a choice of two", `document.querySelectorAll("section ul[aria-label] button").length === 2`)
	p.do("choosing the second",
		chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("section ul[aria-label] button")[1].click()`))
	p.sees("Call Anna' as completed")
	p.says("delete Call John Smith")
	p.until("the card", `document.querySelector("section.card")?.innerText.includes("Call John Smith")`)
	p.fits()
	p.reload()
	p.press("Conversation")
	p.until("the card after a reload", `document.querySelector("section.card")?.innerText.includes("about the roof")`)
	h.sibyl("--user", h.user, "task", "edit", "1", "--title", "Call John Miller")
	p.press("Conversation")
	p.until("a conversation that is folded", `!document.querySelector(".tasks > section")`)
	p.reload() // another program's change is seen when the list is looked at
	p.until("the other title", taskTitles+`.includes("Call John Miller")`)
	p.fits()
	p.press("Conversation")
	p.sees("This has changed since.")
	p.press("Delete")
	p.sees("This question is over.")
	p.until("the question anew, of the task as it is",
		`[...document.querySelectorAll("section.card")].at(-1).innerText.includes("Call John Miller")`)
	p.press("Delete")
	p.sees("I've deleted 'Call John Miller'")
	p.sees("Last change: deleted “Call John Miller”")
}

func TestConversationThatComesLeavesTheKeyboardToWhoWritesATask(t *testing.T) {
	p := open(t).visit(1200)
	p.press("Tasks")
	p.sees("Nothing to do.")
	p.until("a conversation", `document.querySelector("#words")`)
	p.requests(hangs)
	p.turnsTo("#/tasks")
	p.until("no conversation", `!document.querySelector("#words")`)
	p.do("writing", chromedp.SendKeys("aside form input", "Buy"))
	p.requests(answered)
	p.until("a conversation", `document.querySelector("#words")`)
	p.do("writing on", chromedp.KeyEvent(" milk"))
	p.until("all of it in the field", `document.querySelector("aside form input").value === "Buy milk"`)
}

func TestTaskIsAddedTickedEditedDeletedAndBroughtBackOnTheList(t *testing.T) {
	p := open(t).visit(1200)
	p.press("Tasks")
	p.sees("Nothing to do.")
	add := func(title string) {
		p.do("adding “"+title+"”", chromedp.SendKeys("aside form input", title), chromedp.KeyEvent("\r"))
		p.until("the field to be empty for the next one", `document.querySelector("aside form input").value === ""`)
	}
	add("Buy milk")
	p.until("one task", taskTitles+` === "Buy milk"`)
	add("Call mum")
	p.until("both tasks", taskTitles+` === "Buy milk; Call mum"`)
	p.until("the first to be ticked",
		`(() => { const box = document.querySelector("aside li input"); return !box.disabled && (box.click(), true) })()`)
	p.press("Done 1")
	p.until("a task that is done",
		`document.querySelector("#tasks-completed").parentElement.querySelector("input:checked") && !document.querySelector("#tasks-pending").parentElement.innerText.includes("Buy milk")`)
	p.press("Undo")
	p.until("both tasks again", `document.querySelector("#tasks-pending").parentElement.innerText.includes("Buy milk")`)
	p.press("More about “Call mum”")
	p.press("Delete")
	p.until("one task", taskTitles+` === "Buy milk"`)
	p.sees("Last change: deleted “Call mum”")
	p.press("Undo")
	p.until("what was deleted", taskTitles+` === "Buy milk; Call mum"`)
	p.until("the title that is edited",
		`(() => { if (document.activeElement.value === "Buy milk") return true; document.querySelector("aside .task").click() })()`)
	p.do("another title", chromedp.SendKeys("aside li form input", "Buy oat milk"))
	p.enter()
	p.until("the other title", taskTitles+` === "Buy oat milk; Call mum"`)
	p.press("More about “Buy oat milk”")
	p.press("History")
	p.sees("renamed “Buy milk” to “Buy oat milk”")
}

func TestTaskListIsUsedByTheKeyboardAlone(t *testing.T) {
	h := openWith(t, "")
	h.hasTasks("One", "Two", "Three")
	p := h.visit(1200)
	p.turnsTo("#/tasks")
	p.until("the list", taskTitles+` === "One; Two; Three"`)
	p.do("the first row", chromedp.Focus(`[data-task="1"] .task`))
	has := func(task int, what string) {
		p.Helper()
		p.until(what, fmt.Sprintf(`document.activeElement.closest("[data-task]")?.dataset.task === "%d"`, task))
	}
	p.do("down", chromedp.KeyEvent(kb.ArrowDown))
	has(2, "the keyboard on the second")
	p.key(" ", "Space", 32)
	p.until("two tasks", `document.querySelector("#tasks-pending").parentElement.innerText.includes("Three") && `+
		taskTitles+` === "One; Three"`)
	has(3, "the keyboard on the one that came there")
	p.key("e", "KeyE", 69)
	p.until("the field", `document.activeElement.value === "Three"`)
	p.do("not saving", chromedp.SendKeys("aside li form input", "Nothing"), chromedp.KeyEvent(kb.Escape))
	has(3, "the keyboard on its row again")
	p.until("the title as it was", taskTitles+` === "One; Three"`)
	p.do("deleting it", chromedp.KeyEvent(kb.Delete))
	p.until("one task", taskTitles+` === "One"`)
	has(1, "the keyboard on the one that is left")
	p.do("up, where nothing is", chromedp.KeyEvent(kb.ArrowUp))
	has(1, "the keyboard where it was")
	p.press("Undo")
	p.until("what was deleted", taskTitles+` === "One; Three"`)
}
