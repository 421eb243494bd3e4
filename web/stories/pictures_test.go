package stories

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
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

// sure ends an answer that says it is enough.
const sure = "<sig" + `nal type="context_sufficient"><sources_found>1</sources_found><confidence>0.9</confidence></sig` + "nal>"

// player is a model of an OpenAI-compatible server. What it says comes in two parts; the second waits until the story
// lets it.
type player struct {
	*httptest.Server
	first, second string
	proceed       chan struct{} // has a value, or is closed, when the second part may come
	asked         chan struct{} // has a value for each request whose first part was sent
}

// plays starts a model, and gives it with the settings that name it.
func plays(t testing.TB, first, second string) (*player, string) {
	t.Helper()
	m := &player{first: first, second: second, proceed: make(chan struct{}), asked: make(chan struct{}, 100)}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m, fmt.Sprintf("model: played:player\nproviders:\n  played: {base_url: %q}\n", m.URL+"/v1")
}

// ServeHTTP implements http.Handler.
func (m *player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		_, _ = fmt.Fprint(w, `{"object":"list","data":[{"id":"player","object":"model"}]}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	m.say(w, m.first)
	m.asked <- struct{}{}
	select {
	case <-m.proceed:
	case <-r.Context().Done():
		return
	}
	m.say(w, m.second)
	_, _ = fmt.Fprint(w, `data: {"id":"1","object":"chat.completion.chunk","model":"player","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}`+"\n\ndata: [DONE]\n\n")
}

func (m *player) say(w http.ResponseWriter, text string) {
	part, err := json.Marshal(text)
	if err != nil {
		panic(err) // no text fails
	}
	_, _ = fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"player\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%s}}]}\n\n", part)
	w.(http.Flusher).Flush()
}

// accessible has axe-core look at what a tab shows, and fails for each thing that it finds.
func (p *tab) accessible(view string) {
	p.Helper()
	p.axe(view, "")
}

// Parts of what axe-core looks at. To find which colours stand on which costs most.
const (
	coloursAlone   = `runOnly: ["color-contrast"]`
	withoutColours = `rules: { "color-contrast": { enabled: false } }`
)

// axe is accessible with options of axe-core.
func (p *tab) axe(view, options string) {
	p.Helper()
	if !evaluate[bool](p, "!!globalThis.axe") {
		axe, err := os.ReadFile("../node_modules/axe-core/axe.min.js")
		assert.Require(p, err == nil, "%v: sh scripts/web.sh fetches it", err)
		p.do("reading axe-core", chromedp.Evaluate[chromedp.Void](string(axe)+"; undefined"))
	}
	p.do("starting axe-core",
		chromedp.Evaluate[chromedp.Void](
			`globalThis.found = undefined; axe.run(document, { resultTypes: ["violations"], `+options+
				` }).then((r) => { globalThis.found = JSON.stringify(r.violations.map((v) => ({ id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.map((n) => n.html + "  " + n.failureSummary) }))) }, (e) => { globalThis.found = JSON.stringify([{ id: String(e), impact: "critical" }]) }); undefined`))
	p.until("axe-core", "globalThis.found !== undefined")
	var found []struct {
		ID, Impact, Help string
		Nodes            []string
	}
	assert.NoError(p, json.Unmarshal([]byte(evaluate[string](p, "globalThis.found")), &found))
	for _, v := range found {
		p.Errorf("%s: %s (%s): %s\n%.1500s", view, v.ID, v.Impact, v.Help, strings.Join(v.Nodes, "\n"))
	}
}

// both looks at a view in light and dark, which differ in colours alone.
func (p *tab) both(view string) {
	p.Helper()
	p.turns("light")
	p.accessible(view + ", light")
	p.turns("dark")
	p.axe(view+", dark", coloursAlone)
}
