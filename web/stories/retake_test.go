package stories

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// counts is a model that numbers its answers, and gives the settings that name it, with prices and a second model.
func counts(t testing.TB) (settings string) {
	t.Helper()
	m := modeltest.NewServer(nil)
	m.Models = []string{"player", "other", "text-embedding-3"}
	var n atomic.Int32
	m.Play(func(r modeltest.Request) modeltest.Answer {
		if r.Model == "other" {
			return modeltest.Stream("The other model answers. " + sure)
		}
		return modeltest.Stream(fmt.Sprintf("Answer number-%d. %s", n.Add(1), sure))
	})
	t.Cleanup(m.Close)
	return fmt.Sprintf("model: played:player\nproviders:\n  played: {base_url: %q}\nmodels:\n  prices: "+
		"{\"played:player\": {input: 2, output: 8}}\n", m.BaseURL+"/v1")
}

// turnsInto waits until the page shows one text and not another.
func (p *tab) turnsInto(text, not string) {
	p.Helper()
	p.until("“"+text+"”, and not “"+not+"”",
		`(() => { const t = document.querySelector("main ol")?.innerText ?? ""; return t.includes(`+quoted(text)+
			`) && !t.includes(`+quoted(not)+`) })()`)
}

func TestQuestionThatIsAskedAgainTakesThePlaceOfTheOneBefore(t *testing.T) {
	p := openWith(t, counts(t)).visit(360)
	p.says("Tell me something about leases in general.")
	p.turnsInto("number-1", "number-2")
	p.press("Ask again")
	p.turnsInto("number-2", "number-1")
	p.turnsInto("2/2", "1/2")
	p.press("Earlier version")
	p.turnsInto("number-1", "number-2")
	p.both("an earlier version")
	p.fits()
	p.press("Later version")
	p.turnsInto("number-2", "number-1")
	p.editsQuestion("leases", "Tell me something about doors in general.")
	p.turnsInto("number-3", "number-2")
	p.turnsInto("3/3", "leases")
	p.reload()
	p.turnsInto("3/3", "leases")
}

// editsQuestion changes the question with these words where it is shown.
func (p *tab) editsQuestion(question, words string) {
	p.Helper()
	p.until("the pen of the question", `(() => {
		const li = [...document.querySelectorAll("main ol > li")].find((l) => l.querySelector(".speech")?.innerText.includes(`+
		quoted(question)+`));
		const pen = li?.querySelector('.question button[aria-label="Edit"]');
		pen?.click();
		return pen;
	})()`)
	p.rewrites(words)
}

// rewrites writes other words into the question that is being edited, and asks it.
func (p *tab) rewrites(words string) {
	p.Helper()
	p.until("its field, with the keyboard", `document.activeElement?.matches("main ol textarea")`)
	p.do("writing", chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`),
		chromedp.SendKeys("main ol textarea", words))
	p.enter()
}

func TestEarlierQuestionIsEditedAndBothWaysStay(t *testing.T) {
	house := openWith(t, counts(t))
	p := house.visit(360)
	p.says("Tell me something about leases in general.")
	p.sees("number-1")
	p.says("And about keys?")
	p.sees("number-2")
	p.editsQuestion("leases", "And in particular?")
	p.turnsInto("number-3", "number-2")
	p.turnsInto("2/2", "keys")
	p.fits()
	p.both("a question that was edited")
	p.says("Why is that so?")
	p.turnsInto("number-4", "number-2")
	p.press("Earlier version")
	p.turnsInto("number-2", "number-3")
	p.until("the keyboard on what steps", `document.activeElement?.closest("[role=group]")`)
	p.reload()
	p.turnsInto("number-2", "number-3")
	p.until("an export of what is shown", `(() => { const of = location.hash.split("/")[3]; return of && [...document.querySelectorAll("a[download]")].some((a) => a.href.includes("of=" + of)); })()`)
	p.says("Go on from here.")
	p.turnsInto("number-5", "number-4")
	p.reload()
	p.turnsInto("number-5", "number-4")
	p.press("Later version")
	p.turnsInto("number-4", "number-5")
	p.press("Edit")
	p.until("a field", `document.querySelector("main ol textarea")`)
	p.key("Escape", "Escape", 27)
	p.until("the keyboard where it was", `!document.querySelector("main ol textarea") && document.activeElement?.ariaLabel === "Edit"`)
	p.turnsInto("number-4", "number-5")
}

func TestVersionOfAnotherTabIsNotThrownAtWhoeverReads(t *testing.T) {
	house := openWith(t, counts(t))
	one := house.visit(360)
	one.says("Tell me something about leases in general.")
	one.sees("number-1")
	one.says("And about keys?")
	one.sees("number-2")
	two := house.visit(1000)
	two.do("opening it", chromedp.Evaluate[chromedp.Void](`location.hash = `+quoted(evaluate[string](one, "location.hash"))))
	two.turnsInto("number-2", "number-3")
	one.editsQuestion("leases", "And in particular?")
	one.turnsInto("number-3", "number-2")
	two.turnsInto("New version", "number-3")
	two.turnsInto("number-2", "number-3")
	two.reload()
	two.turnsInto("number-2", "number-3")
	two.press("Later version")
	two.turnsInto("number-3", "number-2")
}

func TestAnotherModelAnswersWhereOneFailed(t *testing.T) {
	for name, fault := range map[string]model.Kind{"and the question waits": model.RateLimit,
		"and there is no answer": model.Auth} {
		t.Run(name, func(t *testing.T) {
			m := modeltest.NewServer(nil)
			m.Models = []string{"player", "other"}
			m.Play(func(r modeltest.Request) modeltest.Answer {
				if r.Model == "other" {
					return modeltest.Stream("The other model answers. " + sure)
				}
				return modeltest.Answer{Fail: fault, RetryAfter: 10 * time.Minute}
			})
			t.Cleanup(m.Close)
			p := openWith(t, fmt.Sprintf("model: played:player\nproviders:\n  played: {base_url: %q}\n", m.BaseURL+"/v1")).
				visit(360)
			p.says("Tell me something about leases in general.")
			p.sees("Try again")
			if fault == model.Auth {
				p.sees("does not accept the key")
			}
			if text := evaluate[string](p, "document.body.innerText"); strings.Contains(text, "sibyl config") {
				t.Error("the page speaks of the command line")
			}
			p.until("another model to choose", `document.querySelector("select[name=other]")`)
			p.both("a model that failed")
			p.fits()
			p.chooses("select[name=other]", "played:other")
			p.turnsInto("The other model answers.", "Try again")
			p.turnsInto("2/2", "1/2")
			p.until("the model of the conversation",
				`document.querySelector("select[name=model]").value === "played:other"`)
			p.reload()
			p.until("the model of the conversation after a reload",
				`document.querySelector("select[name=model]")?.value === "played:other"`)
			p.turnsInto("2/2", "1/2")
		})
	}
}

func TestModelIsChosenForAConversation(t *testing.T) {
	p := openWith(t, counts(t)).visit(1000)
	p.until("the usual model", `document.querySelector(".pick:has(select[name=model]) .text").innerText === "player"`)
	p.until("what the model costs", `[...document.querySelectorAll("select[name=model] option")].some((o) => o.label === "player · US$2.00 in, US$8.00 out per million tokens")`)
	p.chooses("select[name=model]", "played:other")
	p.says("Tell me something about leases in general.")
	p.sees("The other model answers.")
	p.until("the chosen model", `document.querySelector("select[name=model]").value === "played:other"`)
	p.press("New conversation")
	p.sees("What would you like to know?")
	p.until("the usual model in another conversation", `document.querySelector("select[name=model]").value === ""`)
}

func TestEmptyPageSaysWhatCanBeDoneWithoutAModel(t *testing.T) {
	p := open(t).visit(360)
	p.sees("No language model is set up.")
	p.both("the empty page")
	p.fits()
	p.press("Where does this program start?")
	p.until("the words to be changed", `document.querySelector("textarea").value === "Where does this program start?"`)
	p.chooses("select[name=assistant]", "tasks")
	p.sees("Plain commands are understood")
	p.press("Add a task to call Ada")
	p.press("Send")
	p.sees("call Ada' to your tasks")
	p.until("what is said once more as a new message",
		`[...document.querySelectorAll("main ol button")].some((b) => (b.ariaLabel ?? b.innerText) === "Say once more")`)
}

// The examples are in the words of the page, and the assistant understands them.
func TestExamplesOfTasksAreUnderstoodInEveryLanguage(t *testing.T) {
	for language, examples := range map[string][2]string{"de": {"Neue Aufgabe: Ada anrufen", "Die erste ist erledigt"},
		"pt": {"Adiciona uma tarefa: ligar à Ada", "A primeira está feita"}} {
		t.Run(language, func(t *testing.T) {
			p := open(t).visit(1000)
			p.do("choosing the language", chromedp.Evaluate[chromedp.Void](`localStorage.setItem("sibyl.language", `+
				quoted(language)+`)`))
			p.reload()
			p.chooses("select[name=assistant]", "tasks")
			p.press(examples[0])
			p.enter()
			p.until("a task", `document.querySelector("main ol .answer .markdown")?.innerText.includes("Ada")`)
			p.says(examples[1])
			p.until("the task that may be meant",
				`document.querySelectorAll("main ol .answer .markdown").length === 2 && [...document.querySelectorAll("main ol .answer")].at(-1).innerText.includes("Ada")`)
		})
	}
}

func TestSentMessageShowsItsFilesAndKeepsThemWhenItIsAskedAgain(t *testing.T) {
	p := open(t).visit(360)
	p.until("a drop", `(() => { const d = new DataTransfer(); d.items.add(new File(["The bridge is to be green."], "talk.txt")); d.items.add(new File(["The door is to be red."], "door.txt"));
		const f = document.querySelector("form:has(textarea)");
		for (const type of ["dragover", "drop"]) f.dispatchEvent(new DragEvent(type, { dataTransfer: d, bubbles: true, cancelable: true })); return true })()`)
	p.sees("Attached: door.txt")
	p.fits()
	p.says("What colour is the bridge to be?")
	shown := `[...document.querySelectorAll(".question ul li")].map((l) => l.innerText.trim()).join() === "talk.txt,door.txt"`
	p.until("the files of the question", shown)
	p.sees("bridge is to be green")
	p.reload()
	p.until("the files after a reload", shown)
	p.press("Ask again")
	p.turnsInto("2/2", "1/2")
	p.until("the files of the one that was asked again", shown)
	p.sees("bridge is to be green")
	p.press("Edit")
	p.until("the files of the question to be taken away", // those of the conversation have a button of that name, too
		`(() => { const b = document.querySelector('main ol form button[aria-label="Remove talk.txt"]'); b?.click(); return !!b; })()`)
	p.do("the keyboard", chromedp.Focus("main ol textarea"))
	p.rewrites("What colour is the door?")
	p.turnsInto("3/3", "2/3")
	p.until("no files", `!document.querySelector(".question ul")`)
}

// The controls stand in one row at every width, also when everything is there that can be.
func TestComposerIsOneRowAtEveryWidth(t *testing.T) {
	p := openWith(t, counts(t)).visit(1600)
	for _, width := range []int64{360, 480, 700, 900, 1600} {
		p.do("being so wide", chromedp.EmulateViewport(width, 900))
		p.until("one row of controls", `(() => {
			const all = [...document.querySelectorAll("form .row > *:not(input), #extras > *, form .end > *:not(.unseen)")].filter((e) => e.checkVisibility() && e.id !== "extras").map((e) => e.getBoundingClientRect());
			return all.length >= (innerWidth < 450 ? 4 : 7) && /* where a phone has a sheet */ all.every((r) => Math.abs(r.top + r.height / 2 - all[0].top - all[0].height / 2) < 2 && r.right <= innerWidth && r.width >= 44 && r.height >= 44);
		})()`)
		p.fits()
	}
}
