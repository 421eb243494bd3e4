package stories

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
)

var pictures = flag.Bool("pictures", false, "write the pictures of docs/pictures anew")

// mostPicture is how large a picture of the documents may be, in bytes.
const mostPicture = 90_000

// pictured takes a picture for the documents, where they are written; else the one that is there is looked at.
func (p *tab) pictured(name string) {
	p.Helper()
	file := filepath.Join("../../docs/pictures", name+".webp")
	if *pictures {
		p.do("being as wide as in the documents", chromedp.EmulateViewport(1280, 800))
		p.turns("light")
		p.fits()
		ctx, cancel := context.WithTimeout(p.Context, patience)
		defer cancel()
		quality := int64(80)
		taken, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
			Format: page.CaptureScreenshotFormatWebp, Quality: &quality})
		if err != nil {
			p.fail("taking a picture", err)
		}
		assert.NoError(p, os.MkdirAll(filepath.Dir(file), 0o755))
		assert.NoError(p, os.WriteFile(file, taken.Data, 0o644))
	}
	content, err := os.ReadFile(file)
	assert.That(p, err == nil && len(content) <= mostPicture, "%s: %d bytes, %v; -pictures writes it", file, len(content), err)
}

const leaseOfTheDocuments = `package lease

import "time"

// lasts is how long a holder may be silent before its lease is taken from it.
const lasts = 8 * time.Second

// Acquire takes the lease of a run: at once if nobody holds it or the process of its holder is gone, else once it has
// run out.
func (s *Store) Acquire(run, holder string, now time.Time) error {
	l, held := s.leases[run]
	if held && !s.dead(l.holder) && now.Before(l.until) {
		return ErrHeld
	}
	s.leases[run] = lease{holder: holder, until: now.Add(lasts)}
	return nil
}
`

// The pictures of the documents are of the program as it is.
func TestDocumentsShowAnAnswerWithItsSources(t *testing.T) {
	h := openWith(t, acts(t, func(r modeltest.Request) modeltest.Answer {
		if !strings.Contains(r.Messages[len(r.Messages)-1].Content, "package lease") {
			return calls("code_read", `{"path":"lease.go"}`)
		}
		return modeltest.Stream("A dead holder keeps nothing: `Acquire` takes its lease **at once** [lease.go:12-15].\n\n" +
			"- A holder that lives keeps its lease until it runs out; until then one is told `ErrHeld` [lease.go:12-14].\n" +
			"- A lease runs out after eight seconds without a sign of its holder [lease.go:5-6].\n\n" + sure)
	}))
	assert.NoError(t, os.WriteFile(filepath.Join(h.dir, "code", "lease.go"), []byte(leaseOfTheDocuments), 0o600))
	p := h.visit(1280)
	p.says("How is a lease acquired when its holder is dead?")
	p.until("the citations", `document.querySelectorAll(".markdown .cite").length === 3`)
	p.do("pressing the first citation", chromedp.Click(`.markdown .cite[value="1"]`))
	p.sees("What the answer cites")
	p.pictured("conversation")
}

func TestDocumentsShowASittingOfTheCouncil(t *testing.T) {
	const doubts = "Who pays for the desks that stay empty?"
	const hopes = "A larger room lets the team grow by four."
	s := modeltest.NewServer(t)
	s.Models = []string{"council"}
	s.Play(func(r modeltest.Request) modeltest.Answer {
		all := ""
		for _, m := range r.Messages {
			all += m.Content + "\n"
		}
		switch {
		case strings.Contains(all, "Give what they said a name"):
			return modeltest.Stream(`{"name":"Moving the office"}`)
		case strings.Contains(all, "You preside"):
			return modeltest.Stream(`{"sentences":[{"text":"The move is worth its rent only if the team grows.","by":[` +
				`{"oracle":"Optimist","words":"` + hopes + `"}],"minority":false}],"agree":[{"text":"What matters is who sits there.",` +
				`"by":[{"oracle":"Skeptic","words":"` + doubts + `"},{"oracle":"Optimist","words":"` + hopes + `"}]}],` +
				`"differ":[{"text":"Whether four more will come.","by":[{"oracle":"Skeptic","words":"` + doubts + `"}]}],"overlooked":["How everybody gets to work."]}`)
		case strings.Contains(r.Messages[0].Content+r.Messages[len(r.Messages)-1].Content, "Skeptic"):
			return modeltest.Stream("The rent is 3000 euros a month, whether people come or not. ", doubts)
		}
		return modeltest.Stream(hopes+" ", "Three thousand euros a month is less than a second office would cost.")
	})
	p := openWith(t, "model: played:council\nproviders:\n  played: {base_url: '"+s.BaseURL+"/v1'}\n").visit(1280)
	p.convenes("I think that we should move the office in May. The rent is 3000 euros a month, and we would be near the station.")
	p.checks("Skeptic")
	p.checks("Optimist")
	p.press("More")
	p.chooses("select[name=chair]",
		evaluate[string](p, `[...document.querySelectorAll("select[name=chair] option")].find((o) => o.text === "Pragmatist").value`))
	p.press("Ask")
	p.sees("How everybody gets to work.")
	p.until("all that is answered", `!document.body.innerText.includes("They are answering")`)
	p.do("its beginning", chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); document.querySelector("main article").scrollIntoView()`))
	p.pictured("council")
}
