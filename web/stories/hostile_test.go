package stories

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/server/node"
	"sibyl/internal/server/user"
)

// hostileTexts are what nobody should be harmed by who looks at it. Each would set ran, ask another host, or break the
// page.
var hostileTexts = []string{
	begins + `"ran='img'">`,
	"\u202egnp.exe\u2066\u200f",
	`<script>ran='script'</script>`,
	`<svg onload="ran='svg'"><a xlink:href="javascript:ran='xlink'">svg</a></svg>`,
	`[press](javascript:ran='link') <javascript:ran='auto'> [data](data:text/html,<script>ran='data'</script>)`,
	`![beacon](http://evil.example/p.png) <iframe src="http://evil.example/"></iframe> <link rel=stylesheet href=http://evil.example/s.css>`,
	"**`_[| a |\\n|---|\\n``` ~~~ > # </details></main>{@html ran}",
}

// begins is how a hostile text begins: so much of it is shown wherever there is room for a title.
const begins = "<img src=x onerror="

// hostile is all of it in one line, and hostileTitle what no line has room for.
var hostile, hostileTitle = strings.Join(hostileTexts, " "), strings.Join(hostileTexts[:6], " ") +
	strings.Repeat("W", 10_000)

// hostileLong has 60,000 letters without a blank that never come again in the same order: a model that repeats itself is
// stopped, and may say little more.
var hostileLong = func() string {
	b := &strings.Builder{}
	b.WriteString(hostile + "\n\n")
	for n := range uint32(60_000 / 8) {
		fmt.Fprintf(b, "%08X", n*2654435761)
	}
	return b.String()
}()

// attribute makes a text the value of an attribute of XML.
var attribute = strings.NewReplacer("<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

// hostileFile is the name of a file.
const hostileFile = begins + "1>.md"

// hostileModel is a model that says what is hostile, in every form that is asked of it, and reads a file before it
// answers. Who is told to wait waits for good.
func hostileModel(t testing.TB) (settings string) {
	t.Helper()
	s := modeltest.NewServer(t)
	s.Models = []string{"hostile"}
	s.Play(func(r modeltest.Request) modeltest.Answer {
		said := ""
		for _, m := range r.Messages {
			said += m.Role + ": " + m.Content + "\n"
		}
		switch {
		case strings.Contains(said, "You preside"):
			by := []any{map[string]any{"oracle": "Skeptic", "words": hostile}}
			return modeltest.Stream(
				inJSON(map[string]any{"sentences": []any{map[string]any{"text": hostile, "by": by, "minority": false}},
					"agree": []any{map[string]any{"text": "Both: " + hostile, "by": by}}, "differ": []any{},
					"overlooked": []any{"Nobody: " + hostile}}))
		case strings.Contains(said, "oracle of a council"):
			return modeltest.Stream(hostile)
		case strings.Contains(said, "Wait for it."):
			return modeltest.Answer{Break: modeltest.Hang}
		case len(r.Tools) > 0 && !strings.Contains(said, "tool: "):
			return modeltest.Answer{Calls: []model.ToolCall{{ID: "call_1", Name: "code_read",
				Arguments: inJSON(map[string]string{"path": hostileFile})}}}
		}
		return modeltest.Stream(hostileLong, "\n\n| a |\n|---|\n| <b>"+sure)
	})
	return "model: played:hostile\nproviders:\n  played: {base_url: '" + s.BaseURL + "'}\n"
}

// harmless fails if something of a hostile text ran, became more than text, or is wider than the page, and if the page
// does no longer what it is asked to.
func (p *tab) harmless(place string) {
	p.Helper()
	for _, wrong := range evaluate[[]string](p, `(() => {
		const wrong = [], about = (e) => e.outerHTML.slice(0, 200);
		if (typeof ran !== "undefined") wrong.push("it ran: " + ran);
		if (!/(^|· )Sibyl$/.test(document.title) || /[\u202a-\u202e\u2066-\u2069]/.test(document.title)) wrong.push("the title is " + document.title);
		for (const e of document.querySelectorAll("main :is(img, script, iframe, object, embed, link, style, base, meta, [onload], [onerror], [onclick], [style*=url])")) wrong.push("an element: " + about(e));
		for (const a of document.querySelectorAll("a[href]")) {
			if (!["http:", "https:", "blob:"].includes(a.protocol)) wrong.push("a link: " + about(a));
			else if (a.origin !== location.origin && !a.relList.contains("noopener")) wrong.push("a link that tells of the page: " + about(a));
		}
		const turns = /[\u202a-\u202e\u2066-\u2069]/, texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		for (let t; (t = texts.nextNode()); ) {
			const of = getComputedStyle(t.parentElement);
			if (turns.test(t.data) && of.display === "inline" && !/isolate|plaintext/.test(of.unicodeBidi)) wrong.push("it turns what stands beside it: " + about(t.parentElement));
		}
		// What sticks out may do so in what is made to scroll or to be cut.
		const holds = (e) => e.matches("pre, table, nav, [role=listbox]") || ["hidden", "clip"].includes(getComputedStyle(e).overflowX);
		for (const e of document.querySelectorAll("body *")) {
			if (e.matches(".skip, .unseen, .unseen *, head *") || !e.checkVisibility()) continue;
			const r = e.getBoundingClientRect();
			if (!r.width || r.right <= innerWidth + 1 && r.left >= -1) continue;
			let box = e.parentElement;
			while (box !== document.body && !holds(box)) box = box.parentElement;
			if (box === document.body) wrong.push("from " + Math.round(r.left) + " to " + Math.round(r.right) + " px: " + about(e));
		}
		return wrong.slice(0, 5);
	})()`) {
		p.Errorf("%s: %s", place, wrong)
	}
	p.opensMenu()
	p.press("Close")
}

// shows waits until a hostile text stands in an element, as text.
func (p *tab) shows(selector string) {
	p.Helper()
	p.until("hostile text in "+selector, `[...document.querySelectorAll(`+quoted(selector)+
		`)].some((e) => e.textContent.includes(`+quoted(begins)+`))`)
}

// posts sends JSON from the page, and gives a field of what comes back.
func (p *tab) posts(method, path string, body map[string]any, field string) string {
	p.Helper()
	return evaluate[string](p, `fetch(`+quoted(path)+`, { method: `+quoted(method)+
		`, headers: { "Content-Type": "application/json", Accept: "application/json" }, body: `+quoted(inJSON(body))+
		` })
		.then(async (r) => { const text = await r.text(); if (!r.ok) throw new Error(r.status + " " + text); return String(JSON.parse(text)[`+quoted(field)+`] ?? ""); })`)
}

// hostileHouse is one in which everything that people and models can name or say is hostile.
func hostileHouse(t *testing.T) *house {
	t.Helper()
	needs.All(t, "Chromium")
	oracles := t.TempDir()
	trees := t.TempDir()
	write := func(folder, name, text string) {
		assert.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	for _, name := range []string{"Skeptic", "Optimist"} {
		write(oracles, name+".md", "# "+name+" "+hostile[:120]+"\n\nYou are an oracle of a council.\n\n{{CONTEXT}}\n")
	}
	c := exec.Command(program, "tree", "show", "oracle", "--xml")
	c.Env = []string{"HOME=" + t.TempDir()}
	named := strings.Replace(string(must(c.Output())), "<Classify", `<Classify name="`+
		attribute.Replace(hostileTexts[0])+`"`, 1)
	write(trees, "oracle.xml", named)
	h := openWith(t, hostileModel(t)+"trees: "+trees+"\ncouncil: {oracles: '"+oracles+"'}\n")
	for _, folder := range []string{"code", "notes"} {
		write(filepath.Join(h.dir, folder), hostileFile, "# "+hostile+
			"\n\nThe lease was signed on 4 March 2021 by Ada Miller. "+hostile+"\n\n"+strings.Repeat("W", 100_000)+"\n")
	}
	return h
}

func TestHostileTextIsTextInEveryView(t *testing.T) {
	h := hostileHouse(t)
	h.sends("POST", "/api/tasks", map[string]any{"title": hostile[:200], "description": hostileTitle[:1000]})
	h.admits("ops", user.Operate)
	p := h.visit(360)
	run := p.posts("POST", "/api/ask", map[string]any{"question": hostileTitle,
		"options": map[string]any{"code": "code", "vault": "notes", "material": strings.Repeat("W", 100_000)}}, "id")
	session := evaluate[string](p, `fetch("/api/runs/`+run+`").then((r) => r.json()).then((r) => r.session_id)`)
	p.posts("POST", "/api/runs", map[string]any{"assistant": "oracle", "words": hostile + " Wait for it.",
		"session": session}, "run")
	council := p.posts("POST", "/api/council/sessions", map[string]any{"name": hostile[:200]}, "session_id")
	said := "/api/council/sessions/" + council
	p.posts("POST", said+"/entries", map[string]any{"text": hostileTitle}, "state")
	p.posts("POST", said+"/answers", map[string]any{"oracles": []string{"Skeptic", "Optimist"}, "chair": "Skeptic"},
		"id")
	inquiry := p.posts("POST", "/api/inquiries", map[string]any{"hypothesis": "The lease was signed. " + hostile,
		"witness": "notes", "detective": "offline:rules", "limit": 5}, "id")

	for _, place := range []struct {
		name, at string
		look     func()
	}{
		{"question-and-answer", "#/session/" + session, func() {
			p.shows(".question")
			p.until("the answer", `document.querySelector(".markdown table")`)
			p.shows(".markdown")
		}},
		{"what-was-done", "", func() {
			p.until("the steps", `(() => { const all = [...document.querySelectorAll(".did details")]; all.forEach((d) => (d.open = true)); return all.length })()`)
		}},
		{"sources", "", func() { p.press("Sources"); p.shows("aside article") }},
		{"list", "", func() {
			p.press("Close")
			p.opensList()
			p.shows("aside .title")
		}},
		{"why-story", "#/why/" + run, func() {
			p.shows("h1")
			p.until("the story", `document.querySelector(".story li")`)
		}},
		{"why-steps", "#/why/" + run + "/steps", func() {
			p.shows("h1")
			p.until("the steps", `document.querySelector("[role=option]")`)
		}},
		{"why-receipt", "", func() {
			row(p, "Turn")
			p.press("What was sent, and what came back")
			p.until("all parts", `(() => { const all = [...document.querySelectorAll(".part")]; all.forEach((e) => (e.open = true)); return all.length; })()`)
			p.shows(".part pre")
		}},
		{"why-tree", "#/why/" + run + "/tree", func() { p.shows(".outline") }},
		{"why-sources", "#/why/" + run + "/sources", func() {
			p.until("sources or none", `document.querySelector("#why-panel .scroll > *")`)
		}},
		{"why-compare", "#/why/" + run + "/compare", func() {
			p.press("The whole tree (XML)")
			p.press("Take this run’s tree")
			p.until("the tree", `document.querySelector("section textarea").value.includes("<BehaviorTree")`)
			p.edits(`/<SubTree ID="UseTools"[^>]*last[^>]*>/`, `<ForceSuccess><AlwaysFailure name="`+
				attribute.Replace(hostileTexts[0])+`"/></ForceSuccess>`)
			p.press("Compare this run")
			p.sees("another decision")
			p.until("both sides", `document.querySelectorAll("#why-panel li").length`)
		}},
		{"why-compare-broken", "", func() {
			p.edits(`/<AlwaysFailure [^>]*>/`, `<SubTree ID="`+attribute.Replace(hostileTexts[0])+`"/>`)
			p.press("Compare past runs")
			p.sees("This tree does not load.")
			p.shows("#why-panel code")
		}},
		{"why-left", "#/why/" + run + "/left", func() {
			p.until("what left", `document.querySelector("#why-panel li")`)
		}},
		{"tasks", "#/tasks", func() { p.shows("aside .title") }},
		{"task-history", "", func() {
			p.do("opening it", chromedp.Evaluate[chromedp.Void](
				`(() => { const menu = document.querySelector("aside li details"); menu.open = true; menu.querySelector("button[aria-haspopup]").click(); })()`))
			p.shows("dialog[open]")
			p.harmlessDialog("task-history")
		}},
		{"council", "#/council/" + council, func() {
			p.shows("main li .words")
			p.shows("article section")
			p.until("the chair", `document.querySelectorAll("article").length && document.body.textContent.includes("in the chair")`)
		}},
		{"inquiries", "#/inquiries", func() { p.shows("main li, main td, main a") }},
		{"inquiry", "#/inquiries/" + inquiry, func() {
			p.shows("h1")
			p.sees("Nobody has judged this")
			p.shows("li .answer")
			p.until("all details", `(() => { const all = [...document.querySelectorAll("main details")]; all.forEach((e) => (e.open = true)); return all.length; })()`)
			p.shows("cite")
		}},
		{"runs", "#/runs", func() { p.shows("main") }},
	} {
		if place.at != "" {
			p.turnsTo(place.at)
		}
		place.look()
		p.harmless(place.name)
	}
	p.until("the way to stop the run that waits",
		`(() => { const stop = document.querySelector("main button[aria-label^=Stop]"); stop?.click(); return stop; })()`)
	p.sees("Stopped:")

	for name, at := range map[string]string{"evidence": "/api/inquiries/" + inquiry + "/export?format=html",
		"inquiry": "/api/inquiries/" + inquiry + "/export?format=md",
		"session": "/api/sessions/" + session + "/export", "council": said + "/export"} {
		p.exportIsHarmless(name, at)
	}

	h.database(func(db app.Database) error {
		now := time.Now()
		return db.Keep(t.Context(), node.Node{Holder: hostile, Name: hostile, Build: hostile,
			Address: "javascript:ran='node'", StartedAt: now, SeenAt: now})
	})
	ops := h.tab(360)
	ops.do("opening the page", chromedp.Navigate(h.signIn("ops")))
	ops.until("the bar", "document.querySelector('header nav')")
	ops.opensMenu()
	ops.press("Operation")
	ops.until("the nodes", `document.querySelector("main li")`)
	ops.shows("main table, main li")
	ops.harmless("server")
}

// exportIsHarmless looks at what is exported in a page of its own: Markdown as who lets everything through would show
// it.
func (p *tab) exportIsHarmless(name, at string) {
	p.Helper()
	text := evaluate[string](p, `fetch(`+quoted(at)+`).then((r) => r.text())`)
	if !strings.Contains(at, "format=html") {
		var b strings.Builder
		assert.NoError(p,
			goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).
				Convert([]byte(text), &b))
		text = `<!doctype html><meta charset="utf-8"><body style="overflow-wrap: anywhere">` + b.String()
	}
	exported := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, text)
	}))
	defer exported.Close()
	q := p.tab(360)
	q.house = &house{TB: p.TB, server: &server{dir: p.dir, origin: exported.URL, said: p.said}}
	q.forgive("favicon.ico")
	q.do("opening what was exported", chromedp.Navigate(exported.URL))
	q.shows("body")
	wrong := evaluate[string](q,
		`typeof ran !== "undefined" || document.querySelector("img, iframe, script:not([type='application/json']), link, svg, [onload], [onerror], a[href^=javascript], a[href^=data]")?.outerHTML.slice(0, 2000) || ""`)
	assert.That(p, wrong == "", "what is exported of the %s has %s", name, wrong)
	wide := evaluate[int](q, "document.documentElement.scrollWidth")
	assert.That(p, name != "evidence" || wide <= 360, "the evidence page is %d px wide", wide)
}

// harmlessDialog looks at a dialog that is open, and closes it.
func (p *tab) harmlessDialog(place string) {
	p.Helper()
	over := evaluate[int](p,
		`Math.max(...[...document.querySelectorAll("dialog[open], dialog[open] *")].map((e) => e.getBoundingClientRect().right)) - innerWidth`)
	assert.That(p, over <= 0, "%s: the dialog is %d px too wide", place, over)
	p.press("Close")
}
