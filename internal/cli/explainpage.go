package cli

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strings"
	"sync"
	"time"

	"sibyl/internal/render"
	"sibyl/internal/service"
)

// pageStyle is the style of the page.
//
//go:embed explainpage.css
var pageStyle template.CSS

//go:embed explainpage.html
var pageText string

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"clean":    printable,
		"line":     oneLine,
		"fate":     fateOf,
		"nodes":    stepText,
		"told":     toldLine,
		"standing": standingWords,
		"machine":  func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") },
	}).Parse(pageText))
})

// explained is the data for the template of the page.
type explained struct {
	service.Explanation
	Facts    []fact
	Policy   string
	Style    template.CSS
	Question string
	Answer   template.HTML
}

// explainPage gives an explanation as one HTML page, without scripts or other files.
func explainPage(x service.Explanation, costs string) (string, error) {
	sum := sha256.Sum256([]byte(pageStyle))
	hash := base64.StdEncoding.EncodeToString(sum[:])
	p := explained{
		Explanation: x,
		Facts:       storyFacts(x, costs),
		Policy:      "default-src 'none'; style-src 'sha256-" + hash + "'; base-uri 'none'; form-action 'none'",
		Style:       pageStyle,
		Question:    printable(x.Run.Title),
	}
	if x.Shown != nil {
		p.Question = printable(x.Shown.Question)
		p.Answer = template.HTML(render.HTML(x.Shown.Answer)) // #nosec G203 -- nothing in it runs
	}
	var b strings.Builder
	err := pageTemplate().Execute(&b, p)
	return b.String(), err
}

// fate says whether a source was read and cited and has changed since, with a class for the style.
type fate struct{ Words, Class string }

func fateOf(p service.Source) fate {
	told := "read in this run, not cited"
	if p.Cited {
		told = "cited, and read in this run"
	}
	switch p.State {
	case service.SourceUnread:
		return fate{"cited, but not read in this run", "bad"}
	case service.SourceGone:
		return fate{told + "; it can no longer be read", "doubtful"}
	case service.SourceChanged:
		return fate{told + "; the file has changed since", "doubtful"}
	case service.SourceSame:
		return fate{told + "; unchanged since", "good"}
	}
	return fate{told, "good"}
}
