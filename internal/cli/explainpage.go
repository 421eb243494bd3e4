package cli

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"slices"
	"strings"
	"sync"
	"time"

	"sibyl/internal/assistant"
	"sibyl/internal/render"
	"sibyl/internal/service"
)

// The parts of a page: it needs no script, and nothing that lies elsewhere.
var (
	//go:embed explainpage.css
	pageStyle string
	//go:embed explainpage.html
	pageForm string
)

// pageTemplate escapes all that is put into it by where it stands.
var pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageForm)) })

// explained is what a page shows. All texts are clean.
type explained struct {
	Style    template.CSS
	Policy   string
	Run      string
	State    string
	Question string
	Began    time.Time
	Points   []assistant.Point
	Answer   template.HTML
	Places   []shownPlace
	Steps    []shownStep
	Ending   string
}

// shownPlace is a place that was read or cited, with what became of it in words.
type shownPlace struct {
	service.Source
	Fate, Class string
}

type shownStep struct {
	Number int
	At     time.Time
	TookIn string
	Asks   string
	Nodes  string
}

// explainPage writes an explanation as a page that needs nothing else.
func explainPage(x service.Explanation, costs string) (string, error) {
	sum := sha256.Sum256([]byte(pageStyle))
	p := explained{Style: template.CSS(pageStyle), Run: x.Run.ID, State: x.Run.State, Question: printable(x.Run.Title), Began: x.Began.UTC(), //nolint:gosec // it is ours
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"}
	points := x.Points()
	if costs != "" {
		points = append(points, assistant.Point{What: "tokens", Text: costs})
	}
	for _, one := range points {
		p.Points = append(p.Points, assistant.Point{What: one.What, Text: printable(one.Text)})
	}
	if x.Shown != nil {
		p.Answer = template.HTML(render.HTML(x.Shown.Answer)) //nolint:gosec // nothing in it runs
		p.Question = printable(x.Shown.Question)
	}
	for _, place := range x.Sources {
		p.Places = append(p.Places, shownPlaceOf(place))
	}
	for i, s := range x.Steps {
		var asks []string
		for _, asked := range s.Start {
			asks = append(asks, printable(asked.Name()))
		}
		p.Steps = append(p.Steps, shownStep{Number: i + 1, At: s.At.UTC(), TookIn: oneLine(s.TookIn), Asks: strings.Join(asks, ", "), Nodes: stepText(s)})
	}
	p.Ending = printable(strings.Join(x.Ending, "\n"))
	var b bytes.Buffer
	err := pageTemplate().Execute(&b, p)
	return b.String(), err
}

// shownPlaceOf says what became of a place.
func shownPlaceOf(p service.Source) shownPlace {
	p.Cite, p.Lines = printable(p.Cite), slices.Clone(p.Lines)
	for i := range p.Lines {
		p.Lines[i].Text = printable(p.Lines[i].Text)
	}
	told := map[bool]string{true: "cited, and read in this run", false: "read in this run, not cited"}[p.Cited]
	switch p.State {
	case service.SourceUnread:
		return shownPlace{p, "cited, but not read in this run", "bad"}
	case service.SourceGone:
		return shownPlace{p, told + "; it can no longer be read", "doubtful"}
	case service.SourceChanged:
		return shownPlace{p, told + "; the file has changed since", "doubtful"}
	case service.SourceSame:
		return shownPlace{p, told + "; unchanged since", "good"}
	}
	return shownPlace{p, told, "good"}
}
