package service

import (
	"html/template"
	"strings"
	"sync"
	"time"

	"sibyl/internal/render"
	"sibyl/internal/text"
)

// page is a conversation as one file: it runs nothing, fetches nothing, and leads back to no server.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(`<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{.Title}}</title>
<style>
:root { color-scheme: light dark; font: 17px/1.55 system-ui, sans-serif }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
h1 { font-size: 24px; line-height: 1.25 }
h2 { margin: 2.5rem 0 .5rem; padding: .6rem 1rem; border-radius: .5rem; font-size: 17px;
	background: light-dark(#dfe6fb, #2a3556); white-space: pre-wrap }
.beside, .notes, footer { color: light-dark(#5a6170, #a3aaba); font-size: 13px }
pre { padding: .75rem; overflow-x: auto; border-radius: .5rem }
pre, code { background: light-dark(#f0f2f6, #20242d); font-size: 15px; tab-size: 4 }
table { display: block; overflow-x: auto; border-collapse: collapse }
th, td { padding: .4rem 1.5rem .4rem 0; border-bottom: 1px solid; text-align: start }
blockquote { margin-inline: 0; padding-inline-start: 1rem; border-inline-start: 3px solid }
</style>
</head>
<body>
<h1 dir="auto">{{.Title}}</h1>
<p class="beside">{{.When}}{{with .LeftOut}} · {{.}}{{end}}</p>
{{range .Exchanges}}<article>
<h2 dir="auto">{{.Question}}</h2>
<div dir="auto">{{.Answer}}</div>
<footer dir="auto">{{.Footer}}</footer>
</article>
{{end}}</body>
</html>
`))
})

// shared is an exchange on a page.
type shared struct {
	Question       string
	Answer, Footer template.HTML
}

// Page gives the conversation as one HTML file that can be shown to anybody: see page.
func (c Conversation) Page() (string, error) {
	given := struct {
		Title, When, LeftOut string
		Exchanges            []shared
	}{Title: render.Clean(c.Title), When: c.CreatedAt.Local().Format(time.DateTime), LeftOut: c.leftOut()}
	for _, x := range c.shown {
		given.Exchanges = append(given.Exchanges, shared{render.Clean(x.Question),
			template.HTML(render.Still(x.Answer)), template.HTML(render.Still(x.Footer))}) //nolint:gosec // inert
	}
	b := &strings.Builder{}
	err := page().Execute(b, given)
	return b.String(), err
}

// leftOut says how many questions are not in it; "" if there are none.
func (c Conversation) leftOut() string {
	if c.Others == 0 {
		return ""
	}
	return "Left out: " + text.Count(c.Others, "question") + " in other branches."
}
