package stories

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/server/user"
)

// heard is a configuration in which every recording is taken for the same words.
const heard = "transcription:\n  command: [sh, -c, \"echo 'We should move the office in " +
	"May. The rent is 3000 euros.'\", \"{file}\"]\n"

// convene starts a model that plays every oracle, and gives the configuration by which it is asked. Who is to speak
// last waits until that is allowed.
func convene(t testing.TB, last string) (allow func(), settings string) {
	gate := make(chan struct{})
	allow = sync.OnceFunc(func() { close(gate) })
	s := modeltest.NewServer(t)
	t.Cleanup(allow) // before the server is closed, which waits for it
	s.Models = []string{"council"}
	s.Play(func(r modeltest.Request) modeltest.Answer {
		told, asked := "", ""
		for _, m := range r.Messages {
			if m.Role == "system" {
				told = m.Content
			} else if asked == "" {
				asked = m.Content
			}
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(asked, "# "), "\n")
		switch {
		case strings.Contains(told, "Give what they said a name"):
			return modeltest.Stream(`{"name":"Old boiler"}`)
		case strings.Contains(told, "You preside"):
			return modeltest.Stream(presided)
		case name == last:
			<-gate
		}
		return modeltest.Stream("I am **"+name+"**. ", "The rent is high.")
	})
	return allow, "model: played:council\nproviders:\n  played: {base_url: '" + s.BaseURL + "/v1'}\n"
}

// presided is what a chair makes of the answers of Skeptic and Optimist.
const presided = `{"sentences":[{"text":"The rent is high.","by":[{"oracle":"Skeptic","words":"The rent is high."}],"minority":false},
	{"text":"It is low.","by":[{"oracle":"Optimist","words":"the rent is low"}],"minority":true}],
	"agree":[{"text":"Both speak of the rent.","by":[{"oracle":"Optimist","words":"The rent is high"}]}],
	"differ":[],"overlooked":["Nobody speaks of the commute."]}`

// convenes opens a new session of the Council and adds words.
func (p *tab) convenes(words string) {
	p.Helper()
	p.turnsTo("#/council")
	p.press("New session")
	p.sees("Nothing was said yet.")
	p.says(words)
	p.until("the words", `document.querySelector("main li .words")?.innerText.includes(`+quoted(words)+`)`)
}

// checks ticks a box by its label.
func (p *tab) checks(label string) {
	p.Helper()
	p.until("a box “"+label+"”", `(() => {
		const one = [...document.querySelectorAll("label")].find((l) => l.innerText.trim().startsWith(`+quoted(label)+
		`))?.querySelector("input");
		if (one && !one.checked) one.click();
		return one?.checked;
	})()`)
}

// looksTwice has the first look at the sittings end only when they are looked at once more.
const looksTwice = `const real = fetch;
let looked;
globalThis.fetch = (what, ...more) => {
	const answer = real(what, ...more);
	if (!String(what).includes("/sittings")) return answer;
	looked?.();
	return looked ? answer : new Promise((on) => (looked = on)).then(() => answer);
};
undefined`

func TestOraclesAnswerSideBySideAlsoWhenThePageIsLoadedAnewInTheMiddle(t *testing.T) {
	allow, settings := convene(t, "Optimist")
	p := openWith(t, settings).visit(1400)
	p.convenes("I think that we should move the office. The rent is 3000 euros a month.")
	p.checks("Skeptic")
	p.checks("Optimist")
	p.press("More")
	p.chooses("select[name=chair]",
		evaluate[string](p, `[...document.querySelectorAll("select[name=chair] option")].find((o) => o.text === "Pragmatist").value`))
	all := evaluate[string](p,
		`[...document.querySelectorAll("select[name=chair] optgroup")].map((g) => g.label).join()`)
	assert.That(t, all == "English", "the chair is chosen among %s", all)
	p.requests(looksTwice)
	p.press("Ask")
	p.until("who is answering, in sight", `(() => {
		const seats = [...document.querySelectorAll("article section")], place = document.querySelector("article")?.getBoundingClientRect();
		return seats.length === 2 && seats.every((s) => s.querySelector("h3 svg")) && place.top >= 0 && place.top < innerHeight - 80;
	})()`)
	p.until("what was said beside them",
		`(() => { const said = document.querySelector("#council-said"), answers = document.querySelector("#council-answers"); return said.getBoundingClientRect().right <= answers.getBoundingClientRect().left; })()`)
	p.sees("I am Skeptic.")
	p.sees("They are answering…")
	p.reload()
	p.until("both oracles after a reload",
		`["Skeptic", "Optimist"].every((name) => document.querySelector('article section[aria-label="' + name + '"]'))`)
	p.sees("I am Skeptic.")
	allow()
	p.sees("I am Optimist.")
	p.sees("Pragmatist, in the chair")
	p.sees("Both speak of the rent.")
	p.sees("Nobody speaks of the commute.")
	p.sees("Optimist?")
	p.press("Optimist")
	p.until("the answer that a point is from",
		`document.activeElement.ariaLabel === "Optimist" && document.activeElement.innerText.includes("I am Optimist.")`)
	p.do("making it dark", chromedp.Evaluate[chromedp.Void](
		`document.documentElement.dataset.colours = "dark"; document.querySelector("article").scrollIntoView()`))
	broad := evaluate[bool](p,
		`(() => { const [a, b] = document.querySelectorAll("article .columns section"); return a.offsetTop === b.offsetTop && a.offsetLeft < b.offsetLeft; })()`)
	assert.That(t, broad, "the answers are not side by side")
	const asked = `location.hash.split("/")[2]` // the session that the address names
	session := asked + ` === ` + quoted(evaluate[string](p, asked)) + ` && document.querySelector("article section")`
	p.press("Why")
	p.press("Back")
	p.until("the session after Why", session)
	p.turnsTo("#/")
	p.until("the session in the one list", `document.querySelector("aside li a[href^='#/council/']")`)
	p.turnsTo("#/runs")
	p.until("its row among all runs",
		`(() => { const row = document.querySelector("main li > a"); row?.click(); return row; })()`)
	p.until("the session from the list", session)
	p.until("the oracles folded to their names", `document.querySelector("form.box details")?.open === false`)
	p.do("using another browser", chromedp.Evaluate[chromedp.Void](`localStorage.clear()`))
	p.reload()
	p.until("the oracles to choose from", `document.querySelector("form.box details")?.open`)
}

func TestVoiceIsRecordedWrittenDownAndAnswered(t *testing.T) {
	p := openWith(t, heard+reader(t)).visit(360)
	p.convenes("A first thought.")
	p.press("Record")
	p.sees("Recording, 0:01")
	p.until("a level", `document.querySelector("meter").value > 0`)
	p.press("Pause")
	p.sees("Paused, 0:01")
	p.fits()
	p.press("Go on")
	p.press("Stop and add")
	p.sees("We should move the office in May.")
	p.until("a recording that can be played", `document.querySelector("main audio")?.readyState > 0`)
	p.checks("Skeptic")
	p.press("Ask")
	p.sees("The rent is high.")
	p.fits()
	kept := evaluate[int](p, p.keptSounds())
	assert.That(t, kept == 0, "%d sounds are kept though the server has the recording", kept)
}

// keptSounds counts what the browser keeps of recordings.
func (p *tab) keptSounds() string {
	p.do("counting what is kept", chromedp.Evaluate[chromedp.Void](`window.keptNow = undefined;
		(() => { const o = indexedDB.open("sibyl-recordings"); o.onsuccess = () => { const t = o.result.transaction("sounds"); const all = t.objectStore("sounds").count(); t.oncomplete = () => { window.keptNow = all.result; o.result.close(); }; }; })()`))
	p.until("the count", "window.keptNow !== undefined")
	return "window.keptNow"
}

func TestFilesAreAddedAndOneThatIsThereAlreadyOrRefusedIsNamed(t *testing.T) {
	h := open(t)
	p := h.visit(900)
	p.convenes("A first thought.")
	drop := func(name, kind, text string) {
		p.do("dropping "+name, chromedp.Evaluate[chromedp.Void](`(() => {
			const data = new DataTransfer();
			data.items.add(new File([`+quoted(text)+`], `+quoted(name)+`, { type: `+quoted(kind)+` }));
			const form = document.querySelector("main form:not(aside form)");
			for (const kind of ["dragover", "drop"]) form.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
		})()`))
	}
	drop("notes.txt", "text/plain", "The <b>landlord</b> wants 3000 euros.")
	p.sees("The <b>landlord</b> wants 3000 euros.")
	p.sees("2 · Written")
	drop("copy.txt", "text/plain", "The <b>landlord</b> wants 3000 euros.")
	p.sees("“copy.txt” is here already, as 2.")
	p.forgive("415")
	drop("picture.png", "image/png", "PNG")
	p.sees("“picture.png” was not added: This is nothing that can be added to a session.")
	p.shoots("refused")
	p.says("A third thought.") // which a file that is refused does not hold up
	p.until("the words", `document.querySelector("main ol").innerText.includes("A third thought.")`)
}

func TestMicrophoneThatIsRefusedIsSaid(t *testing.T) {
	p := open(t).visit(900)
	p.convenes("A first thought.")
	p.do("refusing the microphone",
		chromedp.Evaluate[chromedp.Void](
			`navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", "NotAllowedError"))`))
	p.press("Record")
	p.sees("The microphone may not be used.")
}

// opensTheFirst goes to the first session of the list.
func (p *tab) opensTheFirst() {
	p.Helper()
	p.until("a session in the list",
		`(() => { const one = document.querySelector("aside li a"); one?.click(); return one; })()`)
}

func TestSessionOfTheCouncilIsNamedSetFoundAndDeleted(t *testing.T) {
	_, settings := convene(t, "")
	h := openWith(t, settings)
	p := h.visit(1000)
	p.turnsTo("#/council")
	p.sees("No conversations yet.")
	p.convenes("The boiler is old.")
	p.press("Rename")
	p.press("Suggest a name")
	p.until("the name that a model suggests", `document.querySelector("aside li .title")?.innerText === "Old boiler"`)
	p.press("Settings")
	p.chooses("dialog[open] select", "de")
	p.checks("Fewer choices")
	p.press("Save")
	p.sees("Language: German")
	assert.That(t, !evaluate[bool](p, `[...document.querySelectorAll("summary")].some((e) => e.innerText === "More")`),
		"what is to be left out is shown")
	p.press("Rename")
	p.do("writing a name", chromedp.Evaluate[chromedp.Void](`document.querySelector("dialog[open] input").select()`),
		chromedp.SendKeys("dialog[open] input", "Heating"))
	p.press("Save")
	p.until("the name in the list", `document.querySelector("aside li .title")?.innerText === "Heating"`)
	p.do("looking for words that were said", chromedp.SendKeys("aside input[type=search]", "boiler"))
	p.sees("In what was said and answered")
	p.until("a hit that leads to its place",
		`(() => { [...document.querySelectorAll("aside li .passage")][0]?.closest("a").click(); return document.activeElement.dataset.place === "t1"; })()`)
	p.do("looking for another", chromedp.SendKeys("aside input[type=search]", " zebra"))
	p.sees("No conversation has these words in its title.")
	p.reload()
	p.sees("Heating")
	p.forgive("401") // it is open while its user is revoked
	r := h.visitReading(1000)
	r.turnsTo("#/council")
	r.opensTheFirst()
	r.sees("The boiler is old.")
	assert.That(t, !evaluate[bool](r, `!!document.querySelector("main textarea, aside button.button")`),
		"who may only read has something to add words with")
	r.forgive("401")
	h.revokes()
	h.admits(h.user, user.Write)
	q := h.visit(1000)
	q.turnsTo("#/council")
	q.opensTheFirst()
	q.press("Delete")
	q.sees("to the trash?")
	q.press("Delete")
	q.sees("No conversations yet.")
	p.forgive("401")
}

// Whoever operates the server writes its oracles on the page, sees what comes of the text first, and asks them at once.
func TestOracleIsWrittenAndChangedOnThePage(t *testing.T) {
	folder := t.TempDir()
	h := openWith(t, "council:\n  oracles: "+folder+"\n")
	h.admits("ops", user.Operate)
	p := h.tab(1000)
	p.do("opening the page", chromedp.Navigate(h.signIn("ops")), chromedp.WaitVisible("textarea"))
	p.turnsTo("#/council")
	p.press("New session")
	p.press("Write a new oracle")
	p.do("writing it", chromedp.SetValue("dialog[open] textarea", "# The Gardener\n\nYou tend what grows."),
		chromedp.SendKeys("dialog[open] textarea", " "))
	p.sees("You tend what grows.")
	p.press("The prompt that a model gets")
	p.until("the prompt", `document.querySelector("dialog[open] pre").innerText.includes("Here stands what was said.")`)
	p.accessible("an oracle that is written")
	p.press("Save")
	p.until("the oracle, chosen", `document.querySelector(".oracle input:checked")`)
	p.press("Edit The Gardener")
	p.until("its text", `document.querySelector("dialog[open] textarea")?.value.includes("You tend")`)
	p.do("changing it", chromedp.SetValue("dialog[open] textarea", "# The Gardener\n\nYou prune."),
		chromedp.SendKeys("dialog[open] textarea", " "))
	p.press("Save")
	p.until("no dialog", `!document.querySelector("dialog[open]")`)
	text := assert.Must(os.ReadFile(filepath.Join(folder, "the-gardener.md")))(t)
	assert.That(t, strings.HasPrefix(string(text), "# The Gardener\n\nYou prune."), "the file is %q", text)
}
