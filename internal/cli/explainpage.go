package cli

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/assistant"
	"sibyl/internal/render"
	"sibyl/internal/service"
)

// pageStyle is how a page looks: it needs no script, and nothing that lies elsewhere.
//
//go:embed explainpage.css
var pageStyle string

// explained is what a page shows. All texts are clean.
type explained struct {
	Policy   string
	Run      string
	State    string
	Question string
	Began    time.Time
	Points   []assistant.Point
	Answer   string // as HTML
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
	At     time.Time
	TookIn string
	Asks   string
	Nodes  string
}

// explainPage writes an explanation as a page that needs nothing else.
func explainPage(x service.Explanation, costs string) string {
	sum := sha256.Sum256([]byte(pageStyle))
	p := explained{Run: x.Run.ID, State: x.Run.State, Question: printable(x.Run.Title), Began: x.Run.StartedAt.UTC(),
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"}
	points := x.Points
	if costs != "" {
		points = append(points, assistant.Point{What: "tokens", Text: costs})
	}
	for _, one := range points {
		p.Points = append(p.Points, assistant.Point{What: one.What, Text: printable(one.Text)})
	}
	if x.Shown != nil {
		p.Answer = render.HTML(x.Shown.Answer) // nothing in it runs
		p.Question = printable(x.Shown.Question)
	}
	for _, place := range x.Sources {
		p.Places = append(p.Places, shownPlaceOf(place))
	}
	for _, s := range x.Steps {
		var asks []string
		for _, asked := range s.Started {
			asks = append(asks, printable(asked.Name()))
		}
		p.Steps = append(p.Steps, shownStep{At: s.At.UTC(), TookIn: oneLine(s.TookIn), Asks: strings.Join(asks, ", "), Nodes: stepText(s)})
	}
	p.Ending = printable(strings.Join(x.Ending, "\n"))
	return p.html()
}

// page is HTML as it is written. A template would do as well, but who links one keeps every method of every type, 4 MB of them.
type page struct{ strings.Builder }

// put writes a form, with texts in it as texts, or as values of attributes in double quotes.
func (p *page) put(form string, texts ...string) {
	escaped := make([]any, len(texts))
	for i, t := range texts {
		escaped[i] = html.EscapeString(t)
	}
	fmt.Fprintf(p, form, escaped...)
}

const (
	machineTime = "2006-01-02T15:04:05.000Z"
	pageTop     = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Why: %s</title>
`
	pageHeader = `</head>
<body>
<header>
<p class="kind">Why it answered so</p>
<h1>%s</h1>
<p>Run <code>%s</code>, %s, begun <time datetime="%s">%s UTC</time></p>
</header>
<main>
<section id="points">
<h2>In short</h2>
<dl>
`
)

func (x *explained) html() string {
	var p page
	p.put(pageTop, x.Policy, x.Question)
	p.WriteString("<style>" + pageStyle + "</style>\n")
	p.put(pageHeader, x.Question, x.Run, x.State, x.Began.Format(machineTime), x.Began.Format(time.DateTime))
	for _, one := range x.Points {
		p.put("<dt>%s</dt><dd>%s</dd>\n", one.What, one.Text)
	}
	p.put("</dl>\n</section>\n")
	if x.Answer != "" {
		p.put("<section id=\"answer\">\n<h2>Answer</h2>\n<div class=\"answer\">\n")
		p.WriteString(x.Answer)
		p.put("</div>\n</section>\n")
	}
	if len(x.Places) > 0 {
		p.put("<section id=\"sources\">\n<h2>Sources and citations</h2>\n")
		for _, place := range x.Places {
			p.place(place)
		}
		p.put("</section>\n")
	}
	p.put("<section id=\"steps\">\n<h2>Steps</h2>\n<ol>\n")
	for _, s := range x.Steps {
		p.step(s)
	}
	p.put("</ol>\n")
	if x.Ending != "" {
		p.put("<pre class=\"ending\">%s</pre>\n", x.Ending)
	}
	p.put("</section>\n</main>\n</body>\n</html>\n")
	return p.String()
}

func (p *page) place(s shownPlace) {
	p.put("<article>\n<h3><code>%s</code> <span class=\"%s\">%s</span></h3>\n", s.Cite, s.Class, s.Fate)
	if len(s.Lines) > 0 {
		p.put("<table class=\"lines\">\n")
		for _, l := range s.Lines {
			row := "<tr>"
			if l.Marked {
				row = `<tr class="marked">`
			}
			p.put(row+"<th scope=\"row\">%s</th><td>%s</td></tr>\n", strconv.Itoa(l.Number), l.Text)
		}
		p.put("</table>\n")
	}
	p.put("</article>\n")
}

func (p *page) step(s shownStep) {
	p.put("<li><details>\n<summary>")
	if !s.At.IsZero() {
		p.put("<time datetime=\"%s\">%s</time> ", s.At.Format(machineTime), s.At.Format("15:04:05.000"))
	}
	p.put("after %s", s.TookIn)
	if s.Asks != "" {
		p.put(": asks for %s", s.Asks)
	}
	p.put("</summary>\n<pre>%s</pre>\n</details></li>\n", s.Nodes)
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
