package stories

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
)

// drops drops a tiny picture where one writes.
func (p *tab) drops(name string) {
	p.Helper()
	p.until("a drop", `(() => { const d = new DataTransfer(); d.items.add(new File([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0])], `+quoted(name)+`)); const f = document.querySelector("form:has(textarea)");
		for (const type of ["dragover", "drop"]) f.dispatchEvent(new DragEvent(type, { dataTransfer: d, bubbles: true, cancelable: true })); return true })()`)
}

func TestPictureIsShownToTheModelAndNamedAmongTheSources(t *testing.T) {
	m := modeltest.NewServer(nil)
	t.Cleanup(m.Close)
	m.Models = []string{"seer"}
	m.Play(func(modeltest.Request) modeltest.Answer { return modeltest.Stream("It is a bridge. " + sure) })
	p := openWith(t, fmt.Sprintf("model: played:seer\nproviders:\n  played: {base_url: %q}\n", m.BaseURL+"/v1")).visit(1000)
	p.drops("car.png")
	p.sees("Attached: car.png")
	p.says("What do you see?")
	p.sees("It is a bridge.")
	asked := m.Requests()
	assert.That(t, slices.ContainsFunc(asked, func(r modeltest.Request) bool {
		return strings.Contains(r.Body, "data:image/png;base64,iVBORw0KGgoA")
	}), "the model was shown nothing in %d requests", len(asked))
	p.press("Sources")
	p.sees("Attached, not cited")
	p.until("the picture among the sources", `document.querySelector("aside article")?.innerText.includes("car.png")`)
	p.both("a picture that was attached")
}

func TestPictureWithoutAModelIsRefusedByName(t *testing.T) {
	p := open(t).visit(1000)
	p.forgive("400")
	p.drops("car.png")
	p.sees("Attached: car.png")
	p.says("What do you see?")
	p.sees("No language model is in use, and without one nobody can look at car.png.")
	p.sees("Attached: car.png")
}

func TestQuestionOverTheLimitOfADayBeginsOnlyAfterAYes(t *testing.T) {
	p := openWith(t, strings.Replace(reader(t), "models: {", "models: {limit: 0.001, ", 1)).visit(1000)
	p.forgive("402")
	answers := func(n int) {
		t.Helper()
		p.until(fmt.Sprintf("%d answers", n),
			fmt.Sprintf(`(document.querySelector("main ol")?.innerText ?? "").split("The rent is high.").length === %d`,
				n+1))
	}
	p.says("Tell me something about leases in general.")
	answers(1)
	p.until("the end of the answer", `!document.querySelector("[aria-label='Stop']")`)
	p.says("And about doors?")
	p.sees("Today's limit is reached")
	p.both("the limit of a day")
	p.press("Cancel")
	p.enter() // the next key is heard where the words were written, though it comes at once
	p.sees("Today's limit is reached")
	p.key("Escape", "Escape", 27)
	p.enter()
	p.sees("Today's limit is reached")
	answers(1)
	p.press("Go on anyway")
	p.do("writing on", chromedp.KeyEvent("!"))
	answers(2)
	p.until("what was written meanwhile, and nothing that has arrived", `document.querySelector("textarea").value === "!"`)
	p.says("And about windows?")
	p.sees("Today's limit is reached") // a yes is for one question
}
