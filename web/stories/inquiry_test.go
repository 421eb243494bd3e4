package stories

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/server/user"
)

// inquire opens the view of inquiries and begins one.
func (p *tab) inquire(hypothesis, witness string) {
	p.Helper()
	p.press("Inquiries")
	p.sees("No inquiries yet.")
	p.hypothesis(hypothesis)
	p.chooses("select[name=witness]", witness)
	p.chooses("select[name=detective]", "offline:rules")
	p.writes("input[name=limit]", "6")
	p.press("Begin an inquiry")
}

func (p *tab) hypothesis(text string) { p.writes("textarea", text) }

// writes puts a text into a field.
func (p *tab) writes(selector, text string) {
	p.Helper()
	p.until("a field "+selector, `(() => {
		const field = document.querySelector(`+quoted(selector)+`);
		if (!field) return false;
		field.value = `+quoted(text)+`;
		field.dispatchEvent(new Event("input", { bubbles: true }));
		return true;
	})()`)
}

func TestInquiryIntoDocumentsWithoutADetectiveEndsWithItsQuotationsAndItsEvidence(t *testing.T) {
	p := openWith(t, "").visit(1400)
	reports := filepath.Join(p.dir, "notes", "bridge.md")
	assert.NoError(t, os.WriteFile(reports,
		[]byte("# Bridge\n\nThe bridge was closed on 4 March 2021 because of corrosion. Ada Miller of the city "+
			"council ordered the closure.\n\nThe repair of the bridge began in May 2021. It cost 40000 euros.\n"),
		0o600))
	p.inquire("The bridge was closed because of corrosion.", "/notes")
	p.sees("Nobody has judged this")
	p.sees("Where it stands")
	p.sees("Collected, not audited: a detective needs a model.")
	p.sees("asked by template · passages found by search · not judged")
	p.until("a verdict before all answers, without any number", `(() => {
		const verdict = document.querySelector("section.verdict"), first = document.getElementById("answer-1");
		return verdict && first && verdict.compareDocumentPosition(first) & Node.DOCUMENT_POSITION_FOLLOWING && !/%|\/ 100/.test(document.querySelector("main").innerText);
	})()`)
	p.press("Where it stands")
	p.sees("bridge.md, page 1")
	p.until("the evidence page", `(() => {
		const link = [...document.querySelectorAll("a[download]")].find((a) => a.innerText === "Evidence page");
		window.fetched ??= fetch(link.href).then((r) => r.text()).then((text) => (window.evidence = text));
		return window.evidence;
	})()`)
	page := evaluate[string](p, "window.evidence")
	assert.That(t, strings.Contains(page, "The bridge was closed on 4 March 2021 because of corrosion. Ada Miller"),
		"the evidence page is %.300q", page)
	p.reload()
	p.sees("Collected, not audited")
	p.press("All inquiries")
	p.sees("The bridge was closed because of corrosion.")
	p.sees("Collected, not audited")
}

func TestInquiryThatGoesOnIsFollowedAfterAReloadAndStopped(t *testing.T) {
	witness := modeltest.NewServer(t, modeltest.Stream("Yes."), modeltest.Stream("Yes."),
		modeltest.Stream("It was closed on 4 March 2021."), modeltest.Answer{Break: modeltest.Hang})
	witness.Models = []string{"silent"}
	h := openWith(t, fmt.Sprintf("ollama: {host: '%s'}\ntimeouts: {local_start: 30m, local_silence: 30m}\n",
		witness.BaseURL))
	p := h.visit(1400)
	p.inquire("The bridge was closed because of <b>corrosion</b>.", "ollama:silent")
	p.sees("It was closed on 4 March 2021.")
	p.sees("The witness is thinking…")
	p.sees("Question 2")
	p.reload()
	p.sees("It was closed on 4 March 2021.")
	p.sees("Question 2")
	p.sees("1 of at most 6 questions answered")

	other := h.visit(360)
	other.forgive("409")
	other.do("the view", chromedp.Navigate(h.origin+"/#/inquiries"))
	other.sees("in progress")
	other.hypothesis("The bridge was never closed.")
	other.press("Begin an inquiry")
	other.sees("An inquiry of yours goes on.")
	other.press("Go to it")
	other.sees("Question 2")
	other.fits()

	p.press("Stop the inquiry")
	p.sees("can't go on later")
	p.press("Stop the inquiry")
	p.sees("It was stopped.")
	p.sees("No model looked for contradictions.")
	other.sees("No model looked for contradictions.")
	other.fits()
	shown := evaluate[string](p,
		`document.querySelector("h1").innerText`)
	assert.That(t, shown == "The bridge was closed because of <b>corrosion</b>.", "the hypothesis is shown as %q", shown)
}

func asks(text string) modeltest.Answer {
	return modeltest.Stream(inJSON(map[string]any{"question": text, "strategy": "breadth", "aspect": "what",
		"gaps": []string{}}))
}

func finds(complete int, gaps, clashes []map[string]any) modeltest.Answer {
	evidence := []map[string]any{{"pair": 1, "words": "closed", "says": "for"}, // as far as it was said
		{"pair": 1, "words": "40 beams", "says": "for"}}
	return modeltest.Stream(inJSON(map[string]any{"evidence": evidence, "gaps": append([]map[string]any{}, gaps...),
		"completenessScore": complete, "requiresFollowUp": complete < 80, "contradictions": append([]map[string]any{},
			clashes...), "retracted": []string{}}))
}

func inJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // what stories are made of can be encoded
	}
	return string(raw)
}

func TestInquiryWhoseModelFailsSaysWhyAndGoesOn(t *testing.T) {
	answers := []modeltest.Answer{modeltest.Stream("Yes."), modeltest.Stream("Yes."), modeltest.Stream("Yes."),
		asks("How many beams were there?"), modeltest.Stream("There were 40 beams.")}
	var mended atomic.Bool
	var next atomic.Int32
	p := openWith(t, acts(t, func(modeltest.Request) modeltest.Answer {
		n := int(next.Load())
		if n == 3 && !mended.Load() {
			return modeltest.Answer{Fail: model.RateLimit, RetryAfter: 10 * time.Minute}
		}
		next.Add(1)
		return answers[min(n, len(answers)-1)]
	})).visit(1000)
	p.press("Inquiries")
	p.hypothesis("The bridge has 40 beams.")
	p.chooses("select[name=witness]", "played:player")
	p.press("Begin an inquiry")
	p.sees("takes no more requests for now")
	p.until("that it has paused, and nothing that beats", `document.querySelector("header .tag").innerText === "paused" &&
		!document.querySelector("main .beat")`)
	p.axe("an inquiry that has paused", "")
	p.reload()
	p.sees("takes no more requests for now")
	mended.Store(true)
	p.press("Go on")
	p.sees("How many beams were there?")
}

func TestContradictionStandsAtBothAnswersAndSideBySide(t *testing.T) {
	clash := []map[string]any{{"first": 1, "second": 3, "first_words": "40 beams", "second_words": "60 beams",
		"kind": "number", "description": "The number of beams differs. " + hostile}}
	model := modeltest.NewServer(t, modeltest.Stream("Yes."), modeltest.Stream("Yes."), modeltest.Stream("Yes."),
		asks("How many beams were there?"), modeltest.Stream("There were 40 beams."),
		finds(30, []map[string]any{{"id": "", "category": "missing_information", "severity": "high", "aspect": "when",
			"description": "No date is given.", "pair": 1}, {"id": "", "category": "vagueness", "severity": "low",
			"aspect": "who", "description": "Nobody is named. " + hostile, "pair": 1}}, nil),
		asks("When were they set? "+hostile), modeltest.Stream("They were set on 4 March 2021 by Ada Miller. "+hostile),
		finds(70, nil, nil),
		asks("What was set in all?"), modeltest.Stream("In all, 60 beams were set."), finds(75, nil, clash),
		asks("You said “40 beams” and “60 beams”: which holds?"), modeltest.Stream("Both are what I said."),
		finds(90, nil, clash),
		modeltest.Stream("## Beams\n\nThe *number* of beams is **not settled**.\n\n"+hostile))
	model.Models = []string{"played"}
	h := openWith(t, fmt.Sprintf("ollama: {host: '%s'}\nmodel: ollama:played\n", model.BaseURL))
	p := h.visit(1400)
	p.press("Inquiries")
	p.hypothesis("The bridge has 40 beams.")
	p.chooses("select[name=witness]", "ollama:played")
	p.press("Begin an inquiry")
	p.sees("Contradicts answer 3")
	p.sees("not settled")
	marks := evaluate[string](p,
		`[...document.querySelectorAll("mark")].map((m) => m.innerText).join()`)
	assert.That(t, marks == "40 beams,60 beams", "marked is %q", marks)
	p.sees("Judged by ollama:played")
	p.until("what contradicts side by side",
		`(() => { const [a, b] = document.querySelectorAll(".sides button"); return a.innerText.includes("40 beams") && b.innerText.includes("60 beams") && a.offsetTop === b.offsetTop; })()`)
	p.do("going to its second side",
		chromedp.Evaluate[chromedp.Void](`document.querySelectorAll(".sides button")[1].click()`))
	p.until("that answer to have the keyboard", `document.activeElement.id === "answer-3"`)
	p.do("leaving it", chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	p.press("Contradicts answer 3")
	p.until("the other answer to have the keyboard", `document.activeElement.id === "answer-3"`)
	p.do("a narrow screen", chromedp.EmulateViewport(360, 900))
	for _, place := range []string{"li strong", "li .answer", "li .clash", ".markdown", "main section li"} {
		p.shows(place)
	}
	p.harmless("inquiry-of-a-model")

	h.admits("guest", user.Read)
	guest := h.tab(360)
	guest.do("opening the page", chromedp.Navigate(h.signIn("guest")))
	guest.press("Inquiries")
	guest.sees("You may look at everything here and change nothing.")
	guest.sees("No inquiries yet.")
	assert.That(t, !evaluate[bool](guest, `!!document.querySelector("main form")`),
		"who may only read is offered to begin one")
	guest.fits()
	guest.forgive("404")
	id := strings.TrimPrefix(evaluate[string](p, "location.hash"), "#/inquiries/")
	guest.do("the inquiry of another", chromedp.Navigate(h.origin+"/#/inquiries/"+id))
	guest.sees("There is no such inquiry.")
}

// uploads puts files into the page's own picker of files.
func (p *tab) uploads(selector string, files ...string) {
	p.Helper()
	p.do("choosing files", chromedp.SetUploadFiles(selector, files))
}

func TestDocumentsAreUploadedForAnInquiryAndAFolderInAFolderIsChosen(t *testing.T) {
	h := openWith(t, "")
	write := func(name, text string) string {
		path := filepath.Join(h.dir, name)
		assert.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
		return path
	}
	bridge := write("up/bridge.md",
		"The bridge was closed on 4 March 2021 because of corrosion. Ada Miller ordered the closure.\n")
	scan := write("up/scan.pdf", "%PDF-1.4 and nothing else")
	other := write("up/other "+hostile[:20]+".txt", "The repair of the bridge cost 40000 euros.\n")
	write("notes/reports/2024/tunnel.md", "The tunnel was closed in May 2024 because of water.\n")
	p := h.visit(360)
	p.forgive("400")
	p.turnsTo("#/inquiries")
	p.sees("No inquiries yet.")
	p.hypothesis("The bridge was closed because of corrosion.")
	p.chooses("select[name=witness]", "own")
	p.writes("input[name=limit]", "50")
	p.press("Begin an inquiry")
	p.sees("Attach a document, or choose another witness.")
	p.sees("A whole number from 5 to 20.")
	p.until("the keyboard at the field that lacks something", `document.activeElement.name === "witness"`)
	p.axe("lacks", "")
	p.shoots("lacks")
	p.writes("input[name=limit]", "10")
	p.uploads("form input[type=file]", bridge, scan, other)
	p.sees("bridge.md")
	p.sees("scan.pdf: The document can't be read")
	p.until("both that can be read", `document.querySelectorAll("form [aria-label=Files] li").length === 2 && !document.querySelector("form .bad#words-problem, form [aria-invalid=true]")`)
	p.fits()
	p.axe("upload", "")
	p.chooses("select[name=detective]", "offline:rules")
	p.press("Begin an inquiry")
	p.sees("Nobody has judged this")
	p.press("Where it stands")
	p.sees("bridge.md, page 1")
	p.fits()
	h.stop() // as a crash would, and with the files gone
	assert.NoError(t, os.RemoveAll(filepath.Join(h.dir, "up")))
	h.start()
	p.forgive("ERR_CONNECTION_REFUSED")
	p.forgive("ERR_INCOMPLETE_CHUNKED_ENCODING")
	p.reload()
	p.sees("Nobody has judged this")
	p.press("All inquiries")
	p.sees("Past inquiries")
	p.hypothesis("The tunnel was closed because of water.")
	p.chooses("select[name=witness]", "/notes/reports/2024")
	p.chooses("select[name=detective]", "offline:rules")
	p.press("Begin an inquiry")
	p.sees("Nobody has judged this")
	p.press("Where it stands")
	p.sees("tunnel.md, page 1")
}
