package cli

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"sibyl/internal/assistant"
	"sibyl/internal/files"
	"sibyl/internal/markdown"
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

// shownPlace is a place that was read or cited, with its lines where the file is as it was read.
type shownPlace struct {
	Cite, Fate, Class string
	Lines             []shownLine
}

type shownLine struct {
	Number int
	Text   string
	Marked bool
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
	points := pointsOf(x)
	if costs != "" {
		points = append(points, assistant.Point{What: "tokens", Text: costs})
	}
	for _, one := range points {
		p.Points = append(p.Points, assistant.Point{What: one.What, Text: printable(one.Text)})
	}
	if x.Shown != nil {
		p.Answer = answerPage(x.Shown.Answer)
		p.Question = printable(x.Shown.Question)
	}
	for _, place := range x.Places {
		p.Places = append(p.Places, checked(place))
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

// answerPage is an answer as HTML: its pictures are links, its HTML is text, and no link leads to anything but the web, mail and files.
func answerPage(answer string) template.HTML {
	var b bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough)).Convert([]byte(markdown.Inert(answer)), &b); err != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(printable(answer)) + "</pre>") //nolint:gosec // it is escaped
	}
	return template.HTML(render.Clean(b.String())) //nolint:gosec // goldmark leaves out what is not Markdown, and nothing that runs is left before it
}

const (
	around    = 3   // lines that are shown before and behind those that were read
	mostShown = 120 // lines of one place
)

// checked says what became of a place, and shows it where it stands as it was read.
func checked(p assistant.Place) shownPlace {
	s := shownPlace{Cite: printable(p.Cite)}
	told := map[bool]string{true: "cited, and read in this run", false: "read in this run, not cited"}[p.Cited]
	switch content, err := placeText(p); {
	case !p.Read:
		s.Fate, s.Class = "cited, but not read in this run", "bad"
	case p.File == "":
		s.Fate, s.Class = told, "good"
	case err != nil:
		s.Fate, s.Class = told+"; it can no longer be read", "doubtful"
	case p.Hash != "" && files.Hash(content) != p.Hash:
		s.Fate, s.Class = told+"; the file has changed since", "doubtful"
	default:
		s.Fate, s.Class, s.Lines = told+map[bool]string{true: "; unchanged since"}[p.Hash != ""], "good", linesAround(content, p.Start, p.End)
	}
	return s
}

// mostRead bounds the file that is read for a place.
const mostRead = 16 << 20

func placeText(p assistant.Place) ([]byte, error) {
	if p.File == "" || !p.Read {
		return nil, nil
	}
	info, err := os.Lstat(p.File)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > mostRead:
		return nil, fmt.Errorf("%s is not a text file", p.File)
	}
	return os.ReadFile(p.File)
}

func linesAround(content []byte, start, end int) (shown []shownLine) {
	if start < 1 {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	for n := max(1, start-around); n <= min(len(lines), max(start, end)+around, start+mostShown); n++ {
		shown = append(shown, shownLine{n, printable(strings.TrimSuffix(lines[n-1], "\r")), start <= n && n <= max(start, end)})
	}
	return shown
}
