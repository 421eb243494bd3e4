package stories

import (
	"strings"
	"testing"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// The stories of this file use the page in each language, and fail where it speaks English: see speaks. Whether all that
// it can say is in the words of each language is known without a browser, in web/src/words.

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
		},
	}[g.id]
}

// opensAll opens what is folded.
func (p *tab) opensAll() {
	p.Helper()
	p.until("what is folded to be open",
		`(document.querySelectorAll("main details:not(details.menu)").forEach((d) => (d.open = true)), true)`)
}

func TestPageSpeaksTheLanguageThatIsChosen(t *testing.T) {
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
		p.until("a call that waits", `document.querySelector("section.card")`)
		p.opensAll()
		p.speaks(g, "a call that waits")
		p.press(g.of("talk.sources"))
		p.until("sources", `document.querySelector(".sources, aside")`)
		p.speaks(g, "sources")
		p.press(g.of("allow.not"))
		p.sees(g.of("allow.declined"))
		p.speaks(g, "a call that was refused")

		p.turnsTo("#/")
		p.says(w["code"])
		p.sees("lease.go")
		p.until("what was checked", `document.querySelector("main details > summary.tag")`)
		p.opensAll()
		p.sees(g.of("notice.budget_out"))
		p.speaks(g, "a partial answer")
		p.whyIn(g)

		p.turnsTo("#/")
		p.says(w["fail"])
		p.until("a failure", `document.querySelector(".failed")`)
		p.opensAll()
		p.speaks(g, "a failure")
		p.turnsTo("#/runs")
		p.until("runs", `document.querySelectorAll("main li").length > 2`)
		p.speaks(g, "runs")
		p.tasksIn(g, w)
	})
}

// tasksIn adds a task in a language, and leaves it.
func (p *tab) tasksIn(g tongue, w inTongue) {
	p.Helper()
	p.turnsTo("#/tasks")
	p.sees(g.of("tasks.none.pending"))
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
