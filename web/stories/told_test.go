package stories

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// searcher is a model that reads a file, and wants to go on after that.
func searcher(r modeltest.Request) modeltest.Answer {
	return searcherIn(r, inTongue{"replied": "Acquire takes the lease, in lease.go.", "need": "to see who gives it back"})
}

// told is what the story says, line by line.
func (p *tab) told() string {
	p.Helper()
	p.until("the end of the story",
		`document.querySelector(".story li .told.good, .story li .told.warn, .story li .told.bad")`)
	return evaluate[string](p, `[...document.querySelectorAll(".story .told")].map((e) => e.textContent).join("\n")`)
}

func TestStepHasAnAddressThatIsMarkedAndKept(t *testing.T) {
	p := open(t).visit(360)
	p.says("How is a lease acquired?")
	run := p.run("done")
	p.explains(run, "step", "2")
	marked := `[...document.querySelectorAll(".story li.marked")].map((e) => e.innerText).join()`
	p.until("the step to be marked and in sight", `(() => {
		const one = document.querySelector(".story li.marked");
		const box = one?.getBoundingClientRect();
		return box && box.top >= 0 && box.bottom <= innerHeight;
	})()`)
	first := evaluate[string](p, marked)
	p.reload()
	p.until("the same step after a reload", marked+` === `+quoted(first))
	p.do("choosing the beginning", chromedp.Evaluate[chromedp.Void](`document.querySelector(".story .told").click()`))
	p.until("another step", `location.hash.endsWith("/step/1") && `+marked+`.includes("You asked")`)
	p.do("going back", chromedp.Evaluate[chromedp.Void](`history.back()`))
	p.until("the step of before", marked+` === `+quoted(first))
	p.press("Details of step 2")
	p.until("the details of that step", `document.querySelector("article h2")?.innerText.startsWith("Step 2 of")`)
	p.press("Story")
	p.until("the step in the story", marked+` === `+quoted(first))
	p.explains(run, "step", "999")
	p.until("no step marked", `document.querySelector(".story li") && !document.querySelector(".story li.marked")`)
}

func TestOtherTurnsAreTriedByAField(t *testing.T) {
	p := open(t).visit(360)
	p.says("How is a lease acquired?")
	p.explains(p.run("done"))
	p.told()
	p.press("What if?")
	p.until("the turns that are in force",
		`[...document.querySelectorAll(".fields label")].some((e) => e.textContent.includes("Turns of the model") && e.querySelector("input").value === "30")`)
	p.press("Compare this run")
	p.sees("decides the same in all")
	p.until("fewer turns", `(() => {
		const field = [...document.querySelectorAll(".fields label")].find((e) => e.textContent.includes("Turns of the model")).querySelector("input");
		field.value = "1";
		field.dispatchEvent(new Event("input", { bubbles: true }));
		return document.querySelector("section textarea").value.includes('max_turns="1"');
	})()`)
	p.press("Compare this run")
	p.sees("First difference: step 1")
	p.press("Compare past runs")
	p.sees("Otherwise: 1.")
	p.fits()
	p.accessible("what if")
}

// acts starts a model that says what a function has it say, and gives the settings that name it.
func acts(t testing.TB, answer func(modeltest.Request) modeltest.Answer) (settings string) {
	t.Helper()
	m := modeltest.NewServer(nil)
	m.Models = []string{"player"}
	m.Play(answer)
	t.Cleanup(m.Close)
	return fmt.Sprintf("model: played:player\nproviders:\n  played: {base_url: %q}\n", m.BaseURL+"/v1")
}

// said says whether words stand in what a model is sent.
func said(r modeltest.Request, words string) bool {
	for _, m := range r.Messages {
		if strings.Contains(m.Content, words) {
			return true
		}
	}
	return false
}

// aboutDana is a question for which notes and the web are offered.
const aboutDana = "What do my notes say about Dana Reyes, and what is the latest news about her on the internet?"

// visitor is a model that reads a note and then wants to open a page that nobody named.
func visitor(r modeltest.Request) modeltest.Answer {
	if said(r, "The person has said yes") {
		return modeltest.Stream("I asked the page, and it did not answer. " + sure)
	}
	return visitorIn(r, inTongue{"answer": "Dana Reyes mended it; I would look her page up."})
}

func TestCallThatWaitsIsAllowedOnACardOrNot(t *testing.T) {
	p := openWith(t, acts(t, visitor)).visit(1000)
	ask := func() {
		p.chooses("select[name=web]", "on")
		p.says(aboutDana)
		p.sees("latest news about her on the internet?") // the whole question
		p.sees("May I?")
		p.sees("Open the page https://plumbers.example/reyes")
		p.sees("nobody but the model named this address")
	}
	ask()
	if text := evaluate[string](p, "document.body.innerText"); strings.Contains(text, "sibyl ask") ||
		strings.Contains(text, "needs_user") {
		t.Errorf("the page speaks of the command line: %s", text)
	}
	p.press("Don’t")
	p.sees("Declined. It was not done.")
	p.reload()
	p.sees("Declined. It was not done.")
	p.press("New conversation")
	p.sees("What would you like to know?")
	ask()
	p.press("Allow once")
	p.sees("I asked the page, and it did not answer.")
	p.sees("Allowed once.")
	p.until("nothing said in the person's name", `!document.body.innerText.includes("yes 1")`)
	p.reload()
	p.sees("Allowed once.")
	p.sees("It goes on with what you allowed.")
}

func TestWriteIsCheckedBeforeItIsAskedForAndShowsWhatItChanges(t *testing.T) {
	write := func(mode, content string) modeltest.Answer {
		arguments, _ := json.Marshal(map[string]string{"path": "ideas.md", "mode": mode, "content": content}) // texts
		return calls("vault_write", string(arguments))
	}
	h := openWith(t, acts(t, func(r modeltest.Request) modeltest.Answer {
		switch {
		case said(r, "The person has said yes"):
			return modeltest.Stream("It is noted. " + sure)
		case said(r, "ideas.md exists already") && said(r, "stands behind"):
			return modeltest.Stream("I would add it to the note. " + sure)
		case said(r, "ideas.md exists already"):
			return write("append", "- stands behind\n")
		}
		return write("create", "# Ideas\n")
	}))
	h.files(map[string]string{"notes/ideas.md": "# Ideas\n\n- stands there\n"})
	p := h.visit(1000)
	var begun struct{ Session string }
	answer := h.sends("POST", "/api/runs", map[string]any{"assistant": "oracle", "words": "Create a note of this in my notes",
		"options": map[string]any{"vault": "notes", "material": "An idea."}})
	assert.NoError(t, json.Unmarshal([]byte(answer), &begun))
	p.turnsTo("#/session/" + begun.Session)
	p.sees("May I?")
	p.sees("stands there")
	p.sees("stands behind")
	p.until("one call to allow, which adds a line", `document.querySelectorAll("section.card strong").length === 1 &&
		document.querySelector("section.card .added")?.innerText.includes("stands behind")`)
	p.press("Allow once")
	p.sees("It is noted.")
	p.sees("Allowed once.")
}

func TestWhatIsSentInMidAnswerWaitsAndCanBeTakenBack(t *testing.T) {
	model, settings := plays(t, "The first", " answer. "+sure)
	p := openWith(t, settings).visit(1000)
	p.says("What is first?")
	p.sees("The first")
	p.says("What is second?")
	p.says("What is third?")
	p.until("two that wait", `document.querySelectorAll("form li .waiting").length === 2 && document.querySelectorAll("ol > li").length === 1`)
	p.press("Take back: What is third?")
	p.until("the words where they can be changed", `document.querySelector("#words").value === "What is third?"`)
	close(model.proceed)
	p.until("the answer to what waited", `document.querySelectorAll("ol > li .answer").length === 2 && !document.querySelector("form li .waiting")`)
	p.sees("What is second?")
}

func TestWhatIsSentWhileTheFirstQuestionArrivesWaitsInItsConversation(t *testing.T) {
	model, settings := plays(t, "The first", " answer. "+sure)
	p := openWith(t, settings).visit(1000)
	p.requests(`const real = fetch;
		const held = new Promise((on) => (globalThis.arrive = on));
		globalThis.fetch = async (what, how) => { const answer = await real(what, how); if (how?.method === "POST" && String(what).endsWith("/api/runs")) await held; return answer; };
		undefined`)
	p.says("What is first?")
	p.do("writing on", chromedp.SendKeys("textarea", " What is second?"))
	p.enter()
	p.do("its arrival", chromedp.Evaluate[chromedp.Void]("arrive()"))
	p.until("one that waits", `document.querySelector("form li .waiting")?.innerText === "What is second?" && location.hash.startsWith("#/session/")`)
	close(model.proceed)
	p.until("both answers in one conversation", `document.querySelectorAll("ol > li .answer").length === 2 &&
		document.querySelectorAll("aside li a[href^='#/session/']").length === 1`)
}

func TestEscapeStopsAndThenLeavesTheField(t *testing.T) {
	_, settings := plays(t, "The first", " answer. "+sure)
	p := openWith(t, settings).visit(1000)
	p.says("What is first?")
	p.sees("The first")
	p.key("Escape", "Escape", 27)
	p.sees("Stopped.")
	p.until("the field in use", `document.activeElement.id === "words"`)
	p.key("ArrowUp", "ArrowUp", 38)
	p.until("the words before", `document.querySelector("#words").value === "What is first?"`)
	p.key("Escape", "Escape", 27)
	p.until("a field that is left", `document.activeElement.id !== "words"`)
}

func TestModelThatIsBusyIsNamedWithTheTimeItIsAskedAgain(t *testing.T) {
	var asked atomic.Int32
	p := openWith(t, acts(t, func(modeltest.Request) modeltest.Answer {
		if asked.Add(1) > 1 {
			return modeltest.Stream("A lease is taken by Acquire. " + sure)
		}
		return modeltest.Answer{Fail: model.RateLimit, RetryAfter: 4 * time.Second}
	})).visit(1000)
	p.says("How is a lease acquired?")
	p.sees("player is busy. Again in")
	p.sees("A lease is taken by Acquire.")
}

func TestModelThatFailsIsAskedAgainInPlace(t *testing.T) {
	var mended atomic.Bool
	p := openWith(t, acts(t, func(modeltest.Request) modeltest.Answer {
		if mended.Load() {
			return modeltest.Stream("A lease is taken by Acquire. " + sure)
		}
		return modeltest.Answer{Fail: model.RateLimit, RetryAfter: 10 * time.Minute}
	})).visit(1000)
	p.says("How is a lease acquired?")
	p.sees("takes no more requests for now")
	p.until("nothing that beats",
		`!document.querySelector("main [aria-busy=true] .beat, main .answer > p > span[aria-hidden]")`)
	mended.Store(true)
	p.press("Go on")
	p.sees("A lease is taken by Acquire.")
	p.until("that what was wrong is told no more", `!document.body.innerText.includes("takes no more requests")`)
}
