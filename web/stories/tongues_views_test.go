package stories

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/model/modeltest"
)

// closesDialog closes the dialog that is open.
func (p *tab) closesDialog() {
	p.Helper()
	p.until("no dialog", `(document.querySelector("dialog[open]")?.close(), !document.querySelector("dialog[open]"))`)
}

// examined are the words of an examination in a language.
type examined struct{ hypothesis, first, forty, second, march, third, sixty, clash, gap, lost, summary string }

func examinedIn(g tongue) examined {
	return map[string]examined{
		"de": {
			hypothesis: "Die Brücke hat 40 Balken.", first: "Wie viele Balken waren es?", forty: "Es waren 40 Balken.",
			second: "Wann wurden sie gesetzt?", march: "Sie wurden am 4. März 2021 gesetzt.",
			third: "Was wurde insgesamt gesetzt?", sixty: "Insgesamt wurden 60 Balken gesetzt.",
			clash: "Die Zahl der Balken ist nicht dieselbe.", gap: "Es wird kein Datum genannt.",
			lost: "Es gab keine Balken.", summary: "Die Zahl der Balken bleibt offen.",
		},
		"pt": {
			hypothesis: "A ponte tem 40 vigas.", first: "Quantas vigas havia?", forty: "Havia 40 vigas.",
			second: "Quando foram colocadas?", march: "Foram colocadas a 4 de março de 2021.",
			third: "O que foi colocado ao todo?", sixty: "Ao todo, foram colocadas 60 vigas.",
			clash: "O número de vigas não é o mesmo.", gap: "Não é indicada nenhuma data.",
			lost: "Não havia vigas.", summary: "O número de vigas fica em aberto.",
		},
	}[g.id]
}

func TestInquiryWithADetectiveSpeaksTheLanguageOfThePage(t *testing.T) {
	inEach(t, func(t *testing.T, g tongue) {
		w := examinedIn(g)
		clash := func(second int, words string) map[string]any {
			return map[string]any{"first": 1, "second": second, "first_words": strings.TrimSuffix(w.forty, "."),
				"second_words": words, "kind": "number", "description": w.clash}
		}
		real := []map[string]any{clash(3, strings.TrimSuffix(w.sixty, "."))}
		yes := modeltest.Stream("OK")
		m := modeltest.NewServer(t, yes, yes, yes, asks(w.first), modeltest.Stream(w.forty),
			finds(30, []map[string]any{{"id": "", "category": "missing_information", "severity": "high", "aspect": "when",
				"description": w.gap, "pair": 1}}, nil),
			asks(w.second), modeltest.Stream(w.march), finds(70, nil, []map[string]any{clash(2, w.lost)}),
			asks(w.third), modeltest.Stream(w.sixty), finds(75, nil, real),
			asks(w.first), modeltest.Stream(w.forty), finds(90, nil, real), modeltest.Stream(w.summary))
		m.Models = []string{"played"}
		p := openWith(t, fmt.Sprintf("ollama: {host: '%s'}\nmodel: ollama:played\n", m.BaseURL)).visitIn(g, 1200)
		p.turnsTo("#/inquiries")
		p.hypothesis(w.hypothesis)
		p.chooses("select[name=witness]", "ollama:played")
		p.press(g.of("inquiry.begin"))
		p.sees(w.summary)
		p.sees(g.of("inquiry.trail"))
		p.opensAll()
		p.sees(w.lost)
		p.speaks(g, "an inquiry with a detective")
		p.whyIn(g)
		p.turnsTo("#/inquiries")
		p.until("the list", `document.querySelector("main li a")`)
		p.speaks(g, "its list")
	})
}

func TestAnswersWithoutAModelSpeakTheLanguageOfThePage(t *testing.T) {
	inEach(t, func(t *testing.T, g tongue) {
		w := spokenIn(g)
		h := open(t)
		h.files(map[string]string{"code/lease.go": w["lease.go"], "notes/house.md": w["house.md"]})
		p := h.visitIn(g, 1200)
		p.speaks(g, "no model")
		p.says(w["fail"])
		p.sees("555-0100")
		p.opensAll()
		p.speaks(g, "passages")
		p.press(g.of("talk.sources"))
		p.until("sources", `document.querySelector(".sources, aside")`)
		p.speaks(g, "their sources")
		p.whyIn(g)
		p.turnsTo("#/")
		p.says(w["quokka"])
		p.until("an answer", `document.querySelector("li .answer")`)
		p.opensAll()
		p.speaks(g, "nothing that was found")
	})
}

func TestInterruptedAnswersSpeakTheLanguageOfThePage(t *testing.T) {
	inEach(t, func(t *testing.T, g tongue) {
		w := spokenIn(g)
		hangs := modeltest.Answer{Break: modeltest.Hang}
		m := modeltest.NewServer(t, hangs, hangs, hangs, hangs)
		m.Models = []string{"played"}
		h := openWith(t, fmt.Sprintf("ollama: {host: '%s'}\nmodel: ollama:played\ntimeouts: {local_start: 30m, "+
			"local_silence: 30m}\n", m.BaseURL))
		p := h.visitIn(g, 1200)
		p.forgive("net::ERR_")
		p.says(w["fail"])
		p.until("the run", `location.hash.startsWith("#/session/")`)
		<-m.Hanging()
		p.speaks(g, "an answer that is under way")
		h.stop()
		p.sees(g.of("link.lost"))
		p.speaks(g, "a connection that is lost")
		h.start()
		p.until("the connection", `!document.body.innerText.includes(`+quoted(g.of("link.lost"))+`)`)
		p.turnsTo("#/runs")
		p.sees(w["fail"])
		p.speaks(g, "runs that go on")
		p.until("a button that stops it", `(() => { const one = [...document.querySelectorAll("main button")].find((b) => b.getAttribute("aria-label")?.includes(`+
			quoted(w["fail"])+`)); one?.click(); return one; })()`)
		p.sees(g.of("status.cancelled"))
		p.speaks(g, "a run that was stopped")
		p.chooses("main [role=group] select:last-of-type", "cancelled")
		p.until("that run alone", `document.querySelectorAll("main li").length === 1`)
		p.speaks(g, "runs of one status")
	})
}

func TestFindingSettingsAndSigningOutSpeakTheLanguageOfThePage(t *testing.T) {
	inEach(t, func(t *testing.T, g tongue) {
		w := spokenIn(g)
		h := open(t)
		h.files(map[string]string{"notes/house.md": w["house.md"]})
		p := h.visitIn(g, 1200)
		p.forgive("401")
		p.says(w["fail"])
		p.sees("555-0100")
		p.turnsTo("#/")
		p.seeks("555-0100")
		p.until("what was found", `document.querySelector("dialog [role=option]")`)
		p.speaks(g, "what was found")
		p.seeks("quokka")
		p.sees(g.of("find.none"))
		p.speaks(g, "nothing that is found")
		p.closesDialog()
		evaluate[bool](p, `(document.activeElement.blur(), true)`)
		p.tellsKey("?", false)
		p.sees(g.of("keys.title"))
		p.speaks(g, "keys")
		p.closesDialog()
		p.until("the menu", `([...document.querySelectorAll("header button[aria-haspopup=dialog]")].find((e) => e.checkVisibility())?.click(), document.querySelector("dialog[open] select"))`)
		p.speaks(g, "settings")
		p.press(g.of("account.sign-out"))
		p.sees(g.of("account.out"))
		p.speaks(g, "signed out")
	})
}

func TestOperationSpeaksTheLanguageOfThePage(t *testing.T) {
	inEach(t, func(t *testing.T, g tongue) {
		h := open(t)
		h.sibyl("user", "add", "ops", "--scope", "operate")
		p := h.visitIn(g, 1200)
		p.says(spokenIn(g)["fail"])
		p.until("an answer", `document.querySelector("li .answer")`)
		p.do("opening the page", chromedp.Navigate(h.signIn("ops")))
		p.turnsTo("#/operation")
		p.sees(g.of("operation.node.lives"))
		p.opensAll()
		p.speaks(g, "operation")
	})
}
