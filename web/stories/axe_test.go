package stories

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
)

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
