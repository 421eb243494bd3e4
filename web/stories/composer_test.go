package stories

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
)

// shoots keeps what a tab shows in the folder that SIBYL_SHOTS names, for people who look at it.
func (p *tab) shoots(name string) {
	p.Helper()
	folder := os.Getenv("SIBYL_SHOTS")
	if folder == "" {
		return
	}
	shot, err := chromedp.Run(p.Context, chromedp.CaptureScreenshot())
	assert.NoError(p, err)
	assert.NoError(p, os.WriteFile(filepath.Join(folder, name+".png"), shot, 0o600))
}

func TestThinkingIsAFoldWhileItComesAndNoPartOfTheAnswer(t *testing.T) {
	m, settings := plays(t, "<th"+"ink>First the lease, then who holds it.", " No more.</th"+"ink>Acquire takes it.")
	p := openWith(t, settings).visit(1100)
	p.says("How is the lease taken?")
	<-m.asked
	p.sees("Thinking…")
	p.press("Thoughts")
	p.until("what the model thinks", `document.querySelector("details.thinking[open] p")?.innerText.includes("then who holds it")`)
	p.shoots("thinking")
	close(m.proceed)
	p.sees("Acquire takes it.")
	p.until("no thoughts", `!document.body.textContent.includes("then who holds it")`)
	p.until("an answer that is told as ready", `[...document.querySelectorAll("[role=status]")].some((e) => e.textContent === "The answer is ready.")`)
}

func TestSourcesOfASessionStayOverThreeQuestionsAndAReload(t *testing.T) {
	var shown atomic.Int64 // requests that hold the document
	h := openWith(t, acts(t, func(r modeltest.Request) modeltest.Answer {
		if said(r, "The capstan was repaired in May.") {
			shown.Add(1)
		}
		return modeltest.Stream("In May. " + sure)
	}))
	file := filepath.Join(t.TempDir(), "log.txt")
	assert.NoError(t, os.WriteFile(file, []byte("The capstan was repaired in May.\n"), 0o600))
	p := h.visit(1100)
	p.do("attaching", chromedp.SetUploadFiles("input[type=file]", []string{file}))
	p.sees("Attached: log.txt")
	p.says("When was the capstan repaired?")
	p.sees("In May.")
	chip := `document.querySelector("[aria-label='In this conversation']")?.innerText.includes("log.txt")`
	p.until("the document, which stays", chip)
	p.until("the folder of code", `document.querySelector("select[name=code]").value === "code"`)
	p.shoots("sources")
	p.chooses("select[name=code]", "")
	p.says("Who repaired it?")
	p.until("two answers", `document.querySelectorAll("main li .answer .foot").length === 2`)
	p.reload()
	p.until("the document after a reload", chip)
	p.until("no folder of code", `document.querySelector("select[name=code]").value === ""`)
	p.says("And why?")
	p.until("three answers", `document.querySelectorAll("main li .answer .foot").length === 3`)
	assert.That(t, shown.Load() >= 3, "the document was shown to the model in %d requests", shown.Load())
	setup := evaluate[string](p, `fetch("/api/sessions/" + location.hash.split("/")[2] + "?brief=true").then((a) => a.json()).then((s) => JSON.stringify(s.setup))`)
	assert.That(t, strings.Contains(setup, `"files":["log.txt"]`) && !strings.Contains(setup, `"code":`) &&
		strings.Contains(setup, `"vault":"notes"`), "the session is set up so: %s", setup)

	before := shown.Load()
	p.press("Remove log.txt")
	p.says("Who was on watch?")
	p.until("four answers", `document.querySelectorAll("main li .answer .foot").length === 4`)
	p.reload()
	p.until("four answers without the document", `document.querySelectorAll("main li .answer .foot").length === 4 && !(`+chip+`)`)
	assert.That(t, shown.Load() == before, "what was removed is shown to the model")
}

func TestWhatIsDictatedStandsInTheFieldToBeEdited(t *testing.T) {
	_, settings := plays(t, "", "")
	hears, answers := listens(t)
	h := openWith(t, answers+settings)
	p := h.visit(1100)
	p.forgive("net::ERR_")
	p.forgive("Failed to load resource")
	dictates := func() {
		p.Helper()
		p.press("Dictate")
		p.until("a recording of a second that can be ended", `(() => {
			const one = document.querySelector("button[aria-label='Stop dictating']");
			const second = document.querySelector("[role=timer]")?.textContent === "0:01";
			if (second) one.click();
			return second;
		})()`)
	}
	p.cuts("/api/dictation")
	dictates()
	p.sees("What you said is kept in this browser")
	p.reload()
	p.sees("What you said is kept in this browser")
	assert.That(t, len(hears.Requests()) == 0, "the server heard something")
	p.do("a narrow screen", chromedp.EmulateViewport(390, 844))
	p.fits()
	p.shoots("dictation-kept")
	p.do("a wide screen", chromedp.EmulateViewport(1100, 800))
	p.cuts()
	p.press("Write it down")
	p.until("the words in the field", `document.querySelector("#words").value.startsWith("We should move the office in May.")`)
	p.shoots("dictated")
	assert.That(t, evaluate[bool](p, `!document.querySelector("main .question") && document.activeElement === document.querySelector("#words")`),
		"what was dictated was sent, or is not where it can be edited")
}

func TestChairThatFailedIsHadMergeTheSameAnswersOnceMore(t *testing.T) {
	var asked, chaired atomic.Int64
	var poor atomic.Bool
	poor.Store(true)
	s := modeltest.NewServer(t)
	s.Models = []string{"council"}
	s.Play(func(r modeltest.Request) modeltest.Answer {
		switch {
		case !said(r, "You preside"):
			asked.Add(1)
			return modeltest.Stream("The rent is high.")
		case poor.Load():
			chaired.Add(1)
			return modeltest.Stream("Hm.")
		}
		return modeltest.Stream(presided)
	})
	p := openWith(t, "model: played:council\nproviders:\n  played: {base_url: '"+s.BaseURL+"/v1'}\n").visit(1400)
	p.convenes("The rent is 3000 euros a month.")
	p.shoots("council")
	p.checks("Skeptic")
	p.checks("Optimist")
	p.press("More")
	p.chooses("select[name=chair]",
		evaluate[string](p, `[...document.querySelectorAll("select[name=chair] option")].find((o) => o.text === "Pragmatist").value`))
	p.press("Ask")
	p.until("a chair that can be asked again", `[...document.querySelectorAll("article button")].some((b) => b.innerText === "Have them merged again")`)
	p.shoots("chair")
	oracles := asked.Load()
	poor.Store(false)
	p.press("Have them merged again")
	p.until("what the chair made, first", `document.querySelector("article section.made")?.innerText.includes("Nobody speaks of the commute")`)
	p.until("one sitting", `[...document.querySelectorAll("article")].filter((a) => a.checkVisibility()).length === 1`)
	assert.That(t, asked.Load() == oracles, "%d requests to oracles, and %d before", asked.Load(), oracles)
}
