package stories

import (
	"os"
	"strings"
	"testing"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// The stories of this file go through each assistant in each language, and fail where the page speaks English: see
// speaks.

// inTongue are words of people, models and files in a language.
type inTongue map[string]string

func spokenIn(g tongue) inTongue {
	return map[string]inTongue{
		"de": {
			"lease.go": "package lease\n\n// Nimmt den Mietvertrag eines Laufs, wenn niemand ihn hält.\nfunc " +
				"Acquire(run string) {}\n",
			"house.md": "# Heizung\n\nDie Klempnerin, die die Heizung repariert " +
				"hat, heißt Dana Reyes, Telefon 555-0100.\n",
			"ask":     "Was steht in meinen Notizen über Dana Reyes, und was gibt es Neues über sie im Web?",
			"answer":  "Dana Reyes hat die Heizung repariert; ich würde ihre Seite ansehen.",
			"code":    "Wie wird im Code ein Lauf gemietet?",
			"replied": "Acquire mietet ihn, in lease.go.",
			"need":    "wer ihn zurückgibt",
			"fail":    "Wer hat die Heizung repariert?",
			"task":    "Erinnere mich daran, Milch zu kaufen",
			"milk":    "Milch",
			"delete":  "lösche Milch kaufen",
			"quokka":  "Wer hat das Quokka im Garten gesehen?",
			"silent":  "Historiker",
			"said":    "Ich glaube, wir sollten umziehen. Die Miete beträgt 3000 Euro im Monat.",
			"rent":    "Die Miete ist hoch.",
			"commute": "Niemand spricht vom Arbeitsweg.",
			"bridge":  "Die Brücke wurde wegen Rost gesperrt.",
			"bridge.md": "# Brücke\n\nDie Brücke wurde am 4. März 2021 wegen Rost gesperrt. Ada Müller ordnete die " +
				"Sperrung an.\n\nDie Reparatur der Brücke begann im Mai 2021. Sie kostete 40000 Euro.\n",
		},
		"pt": {
			"lease.go": "package lease\n\n// Aluga uma corrida, se ninguém a tem.\nfunc Acquire(run string) {}\n",
			"house.md": "# Caldeira\n\nA canalizadora que reparou a " +
				"caldeira chama-se Dana Reyes, telefone 555-0100.\n",
			"ask": "O que dizem as minhas notas sobre Dana Reyes, e quais são " +
				"as últimas notícias sobre ela na internet?",
			"answer":  "Dana Reyes reparou a caldeira; eu veria a sua página.",
			"code":    "Como é alugada uma corrida no código?",
			"replied": "Acquire aluga-a, em lease.go.",
			"need":    "quem a devolve",
			"fail":    "Quem reparou a caldeira?",
			"task":    "Lembra-me de comprar leite",
			"milk":    "leite",
			"delete":  "apaga comprar leite",
			"quokka":  "Quem viu o quokka no jardim?",
			"silent":  "Historiador",
			"said":    "Acho que devíamos mudar de escritório. A renda é de 3000 euros por mês.",
			"rent":    "A renda é alta.",
			"commute": "Ninguém fala do trajeto.",
			"bridge":  "A ponte foi fechada por causa da ferrugem.",
			"bridge.md": "# Ponte\n\nA ponte foi fechada a 4 de março de 2021 por causa da ferrugem. Ada Moreira " +
				"ordenou o fecho.\n\nA reparação da ponte começou em maio de 2021. Custou 40000 euros.\n",
		},
	}[g.id]
}

// opensAll opens what is folded.
func (p *tab) opensAll() {
	p.Helper()
	p.until("what is folded to be open",
		`(document.querySelectorAll("main details:not(details.menu)").forEach((d) => (d.open = true)), true)`)
}

func TestOracleSpeaksTheLanguageOfThePage(t *testing.T) {
	inEach(t, func(t *testing.T, g tongue) {
		w := spokenIn(g)
		h := openWith(t, acts(t, func(r modeltest.Request) modeltest.Answer {
			switch {
			case said(r, w["fail"]):
				return modeltest.Answer{Fail: model.RateLimit, RetryAfter: 10 * time.Minute}
			case said(r, w["code"]):
				return searcherIn(r, w)
			default:
				return visitorIn(r, w)
			}
		})+"max_turns: 3\n")
		h.files(map[string]string{"code/lease.go": w["lease.go"], "notes/house.md": w["house.md"]})
		p := h.visitIn(g, 1200)
		p.speaks(g, "empty conversations")
		p.chooses("select[name=web]", "on")
		p.says(w["ask"])
		p.until("a card or an answer", `document.querySelector("section.card") || document.body.innerText.includes(`+
			quoted(w["answer"])+`)`)
		held := evaluate[bool](p, `!!document.querySelector("section.card")`)
		p.opensAll()
		p.speaks(g, "a call that waits")
		p.press(g.of("talk.sources"))
		p.until("sources", `document.querySelector(".sources, aside")`)
		p.speaks(g, "sources")
		if held {
			p.press(g.of("allow.not"))
			p.sees(g.of("allow.refused"))
			p.speaks(g, "a call that was refused")
		}
		p.whyIn(g)

		p.turnsTo("#/")
		p.says(w["code"])
		p.sees("lease.go")
		p.sees(g.of("notice.budget_out"))
		p.opensAll()
		p.speaks(g, "a partial answer")
		p.whyIn(g)

		p.turnsTo("#/")
		p.says(w["fail"])
		p.until("a failure", `document.querySelector(".failed")`)
		p.opensAll()
		p.speaks(g, "a failure")
		p.turnsTo("#/runs")
		p.sees(g.of("runs.title"))
		p.until("runs", `document.querySelectorAll("main li").length > 2`)
		p.speaks(g, "runs")
		p.turnsTo("#/")
		p.tellsKey("k", true)
		p.until("the finder", `document.querySelector("dialog[open]")`)
		p.speaks(g, "find")
	})
}

// whyIn looks at each part of why of the last run.
func (p *tab) whyIn(g tongue) {
	p.Helper()
	run := evaluate[string](p,
		`[...document.querySelectorAll("a")].map((a) => a.hash).filter((h) => h.startsWith("#/why/")).at(-1).split("/")[2]`)
	p.explains(run)
	p.until("the story", `document.querySelector(".story li")`)
	p.speaks(g, "story")
	for _, part := range []string{"steps", "tree", "sources", "left", "compare"} {
		p.explains(run, part)
		p.until("the part", `document.querySelector("#why-panel")?.innerText.length > 10 && !document.querySelector("#why-panel").innerText.includes(`+quoted(g.of("app.loading"))+`)`)
		p.opensAll()
		p.speaks(g, "why: "+part)
	}
}

func results(r modeltest.Request) (n int) {
	for _, m := range r.Messages {
		if m.Role == "tool" {
			n++
		}
	}
	return n
}

func calls(name, arguments string) modeltest.Answer {
	return modeltest.Answer{Calls: []model.ToolCall{{ID: "call_" + name, Name: name, Arguments: arguments}}}
}

func visitorIn(r modeltest.Request, w inTongue) modeltest.Answer {
	switch results(r) {
	case 0:
		return calls("vault_read", `{"path":"house.md"}`)
	case 1:
		return calls("web_fetch", `{"url":"https://plumbers.example/reyes"}`)
	}
	return modeltest.Stream(w["answer"] + " " + sure)
}

func searcherIn(r modeltest.Request, w inTongue) modeltest.Answer {
	switch results(r) {
	case 0:
		return calls("code_search", `{"query":"lease"}`)
	case 1:
		return calls("code_read", `{"path":"lease.go"}`)
	}
	return modeltest.Stream(w["replied"] + " <sig" + `nal type="need_turn"><reason>` + w["need"] +
		`</reason><confidence>0.8</confidence></sig` + "nal>")
}

func TestTasksSpeakTheLanguageOfThePage(t *testing.T) {
	inEach(t, func(t *testing.T, g tongue) {
		w := spokenIn(g)
		h := open(t)
		p := h.visitIn(g, 1200)
		p.turnsTo("#/tasks")
		p.sees(g.of("tasks.none.pending"))
		p.speaks(g, "no tasks")
		p.says(w["task"])
		p.until("the task", taskTitles+`.toLowerCase().includes(`+quoted(strings.ToLower(w["milk"]))+`)`)
		p.sees(g.of("tasks.last"))
		p.opensAll()
		p.speaks(g, "a task that was added")
		p.says(w["delete"])
		p.until("the question", `document.querySelector("section.card")`)
		p.speaks(g, "a question")
		p.press(g.of("tasks.ask.leave"))
		p.sees(g.of("tasks.ask.over"))
		p.speaks(g, "a question that is over")
		p.until("the menu", `(document.querySelector(".list li details summary")?.click(), document.querySelector(".list li details[open]"))`)
		p.press(g.of("tasks.history"))
		p.until("the history", `document.querySelector("dialog[open] li")`)
		p.speaks(g, "the history of a task")
		p.press(g.of("app.close"))
		p.whyIn(g)
	})
}

func TestCouncilSpeaksTheLanguageOfThePage(t *testing.T) {
	inEach(t, func(t *testing.T, g tongue) {
		w := spokenIn(g)
		h := openWith(t, heard+acts(t, func(r modeltest.Request) modeltest.Answer {
			asked := r.Messages[len(r.Messages)-1].Content
			for _, m := range r.Messages {
				if m.Role != "system" {
					asked = m.Content
					break
				}
			}
			switch name, _, _ := strings.Cut(strings.TrimPrefix(asked, "# "), "\n"); {
			case said(r, "You preside"):
				return modeltest.Stream(`{"sentences":[{"text":"` + w["rent"] +
					`","by":[],"minority":false}],"agree":[],"differ":[],"overlooked":["` + w["commute"] + `"]}`)
			case name == w["silent"]:
				return modeltest.Answer{Fail: model.Auth}
			}
			return modeltest.Stream(w["rent"])
		}))
		p := h.visitIn(g, 1200)
		p.turnsTo("#/council")
		p.sees(g.of("council.none"))
		p.speaks(g, "no sessions")
		p.press(g.of("council.new"))
		p.sees(g.of("council.said.none"))
		p.says(w["said"])
		p.until("the words", `document.querySelector("main li .words")?.innerText.includes(`+quoted(w["said"])+`)`)
		p.until("three oracles",
			`(() => { const all = [...document.querySelectorAll(".oracle input")]; all.slice(0, 3).forEach((b) => b.checked || b.click()); return all.length > 2; })()`)
		p.opensAll()
		p.speaks(g, "who is asked")
		p.until("a chair", `(() => { const s = document.querySelector("select[name=chair]"); if (s.disabled) return false; s.value = s.options[1].value; s.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`)
		p.press(g.of("council.ask.go"))
		p.sees(w["commute"])
		p.speaks(g, "a sitting")
		p.press(g.of("council.settings"))
		p.speaks(g, "settings of a session")
		p.press(g.of("app.cancel"))
		p.press(g.of("council.delete"))
		p.speaks(g, "deleting")
		p.press(g.of("app.cancel"))
		p.whyIn(g)
	})
}

func TestInquirySpeaksTheLanguageOfThePage(t *testing.T) {
	inEach(t, func(t *testing.T, g tongue) {
		w := spokenIn(g)
		h := open(t)
		if err := os.WriteFile(h.dir+"/notes/bridge.md", []byte(w["bridge.md"]), 0o600); err != nil {
			t.Fatal(err)
		}
		p := h.visitIn(g, 1200)
		p.turnsTo("#/inquiries")
		p.sees(g.of("inquiry.none"))
		p.speaks(g, "no inquiries")
		p.hypothesis(w["bridge"])
		p.chooses("select[name=witness]", "/notes")
		p.chooses("select[name=detective]", "offline:rules")
		p.writes("input[name=limit]", "6")
		p.press(g.of("inquiry.begin"))
		p.sees(g.of("inquiry.judged.none"))
		p.until("the verdict", `document.querySelector(".verdict .says p")`)
		p.opensAll()
		p.speaks(g, "an inquiry without a detective")
		p.whyIn(g)
		p.turnsTo("#/inquiries")
		p.until("the list", `document.querySelector("main li a")`)
		p.speaks(g, "inquiries")
	})
}
