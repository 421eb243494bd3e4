package stories

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// reader is a model that answers in whatever form it is asked for. Its tokens have a price.
func reader(t testing.TB) (settings string) {
	t.Helper()
	var questions atomic.Int64
	s := modeltest.NewServer(t)
	s.Models = []string{"reader"}
	s.Play(func(r modeltest.Request) modeltest.Answer {
		system, now := r.Messages[0].Content, r.Messages[len(r.Messages)-1].Content
		text := "The rent is high.\n" + sure
		switch {
		case strings.Contains(system, `"intent"`):
			text = `{"intent":"create","task":"pick up the parcel","new":"","more":false,"language":"en","reply":""}`
		case strings.Contains(system, `"agree"`):
			text = `{"sentences":[{"text":"The rent is high.","by":[],"minority":false}],"agree":[],"differ":[],"overlooked":[]}`
		case strings.Contains(now, "(“To analyse”)"):
			text = `{"evidence":[{"pair":1,"words":"The rent is high","says":"for"}],"gaps":[],"completenessScore":95,"requiresFollowUp":false,"contradictions":[],"retracted":[]}`
		case strings.Contains(now, "(“To ask”)"):
			text = fmt.Sprintf(`{"question":"Who mended boiler %d?","strategy":"breadth","aspect":"who","gaps":[]}`,
				questions.Add(1))
		}
		return modeltest.Answer{Chunks: []string{text}, Usage: model.Usage{InputTokens: 1000, OutputTokens: 500}}
	})
	return fmt.Sprintf("model: played:reader\nmodels: {currency: EUR, prices: {\"played:*\": {input: 2, output: "+
		"8}}}\nproviders:\n  played: {base_url: %q}\n", s.BaseURL+"/v1")
}

// posts sends something to the API as the page does, and gives a property of the answer.
func posts(p *tab, path, body, property string) string {
	p.Helper()
	return evaluate[string](p, `fetch(`+quoted(path)+
		`, { method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" }, body: `+
		quoted(body)+` }).then((r) => r.json()).then((r) => String(r.`+property+` ?? JSON.stringify(r)))`)
}

// over waits for the end of a run.
func (p *tab) over(run string) {
	p.Helper()
	p.until("the end of run "+run, `(() => {
		const states = (window.states ??= {});
		`+paced(`fetch("/api/runs/`+run+`").then((r) => r.json()).then((r) => { states["`+run+`"] = r.status; })`)+`;
		return !["running", undefined].includes(states["`+run+`"]);
	})()`)
}

// sent opens what the model of a run was sent in the first step with such a word, and waits for each of these segments.
func sent(p *tab, run, step string, segments ...string) {
	p.Helper()
	p.explains(run, "steps")
	p.until("a step of “"+step+"”", `(() => {
		const one = [...document.querySelectorAll("[role=option]")].find((e) => e.innerText.includes(`+quoted(step)+`));
		one?.click();
		return one;
	})()`)
	p.until("what was sent",
		`(() => { const d = document.querySelector("details.receipt"); if (d && !d.open) d.querySelector("summary").click(); return document.querySelector(".part"); })()`)
	for _, s := range segments {
		p.until("the segment "+s, `[...document.querySelectorAll(".part .begins")].some((e) => e.innerText === `+
			quoted(s)+`)`)
	}
	p.until("the tokens", `[...document.querySelectorAll(".part .size")].some((e) => e.innerText.includes("tokens"))`)
}

func TestWhatModelsWereSentAndCostIsShownForEachAssistant(t *testing.T) {
	p := openWith(t, reader(t)).visit(1400)
	p.turnsTo("#/tasks")
	p.says("I'd better pick up the parcel")
	tasks := p.run("done")
	p.sees("€0.006")
	sent(p, tasks, "Understood what is wanted: a new task", "how to read a message", "the form of the answer")
	p.sees("1,000 tokens in, 500 out")
	p.accessible("prompt")

	council := posts(p, "/api/council/sessions", `{}`, "session_id")
	posts(p, "/api/council/sessions/"+council+"/entries", `{"text":"I think that we should move the office."}`, "kind")
	sitting := posts(p, "/api/council/sessions/"+council+"/answers",
		`{"oracles":["skeptic","optimist"],"chair":"optimist"}`, "id")
	p.over(sitting)
	sent(p, sitting, "compared the answers: agreed", "chair", "what was said", "Skeptic")
	p.turnsTo("#/council/" + council)
	p.sees("All together: €0.018")
	member := evaluate[string](p,
		`fetch("/api/runs").then((r) => r.json()).then(({ runs }) => runs.find((r) => r.assistant === "council.member").id)`)
	sent(p, member, " answers: done", "what was said")

	inquiry := posts(p, "/api/inquiries",
		`{"hypothesis":"The boiler was mended.","witness":"notes","detective":"played:reader","limit":5}`, "run")
	p.over(inquiry)
	sent(p, inquiry, "Asked question 1:", "detective", "the hypothesis")
	sent(p, inquiry, "Judged the answers after question 1 of", "analyse", "pair 1")
	p.turnsTo("#/inquiries/" + inquiry)
	p.sees("All together: €0.096") // replies of no use, and questions that nothing answers, too

	for name, run := range map[string]string{"tasks": tasks, "council": sitting, "oracle": member, "inquiry": inquiry} {
		p.explains(run, "tree")
		p.until("the tree of "+name+" with nodes that act", `document.querySelector(".outline li.acts")`)
	}
	p.do("speaking German", chromedp.Evaluate[chromedp.Void](`localStorage.setItem("sibyl.language", "de")`))
	p.reload()
	p.explains(tasks, "steps")
	p.sees("Verstanden, was gewünscht ist: eine neue Aufgabe")
	p.sees("Aufruf: add_task ‘pick up the parcel’: fertig")
	p.explains(inquiry, "steps")
	p.sees("Aufgehört zu fragen: Es kam nichts Neues")
}
