package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
)

// A text in testdata is what is asked of a house, line by line, and what it must answer. testdata/README.md says how it
// is read.

// exchange is a request with what must be so of its answer.
type exchange struct {
	line   texttest.Line
	q      question
	status int // 0: any of success
	kind   string
	checks []texttest.Line
}

// player plays a text in a house.
type player struct {
	*house
	texts   map[string]string // by name
	answers map[string]answer // that were kept, by name
	always  []texttest.Line   // what must be so of each answer, or behind a status of those that have it
	held    map[string]func() // personas by name, and how they are released

	clock       *clock
	conforms    held
	asked       <-chan struct{} // has something when the witness is asked what it waits with
	description string          // of the API: names all there is
}

func TestExchanges(t *testing.T) {
	known := slices.Concat(slices.Collect(maps.Keys(worlds)), slices.Collect(maps.Keys(steps)),
		slices.Collect(maps.Keys(checks)))
	description := assert.Must(os.ReadFile(golden))(t)
	texttest.Play(t, known, func(t *testing.T, lines []texttest.Line) {
		p := &player{
			description: string(description),
			answers:     map[string]answer{},
			held:        map[string]func(){},
			texts: map[string]string{
				"ada": adasToken, "reader": adasReader, "eve": evesToken, "operator": operators, "stranger": nobodys,
				"cookie": adasCookie, "once": adasOnce,
				"offer": offer, "hypothesis": hypothesis, "panel": panelTree(t),
				"tea": `{"assistant":"panel","words":"Tea?","options":{"personas":["ada","bob"]}}`,
			},
		}
		lines = p.build(t, lines)
		defer func() {
			for _, release := range p.held {
				release()
			}
		}()
		for len(lines) > 0 {
			lines = p.play(lines)
		}
	})
}

// build makes the house of the first lines, and opens it.
func (p *player) build(t *testing.T, lines []texttest.Line) (rest []texttest.Line) {
	make := newHouse
	n := 0
	if len(lines) > 0 && lines[0].Words == "house" {
		n, make = 1, houses[lines[0].Rest]
	}
	if make == nil {
		t.Fatalf("line %d: there is no house %s", lines[0].At, lines[0].Rest)
	}
	p.house = make(t)
	for ; n < len(lines) && worlds[lines[n].Words] != nil; n++ {
		worlds[lines[n].Words](p, lines[n].Rest)
	}
	if p.url == "" {
		p.open()
	}
	p.texts["port"], p.texts["addr"], p.texts["folder"] = p.port(), p.addr, p.folder
	return lines[n:]
}

// play does what the first line says, with what stands under it.
func (p *player) play(lines []texttest.Line) (rest []texttest.Line) {
	p.Helper()
	first := lines[0]
	if step := steps[first.Words]; step != nil && !first.Deep {
		switch first.Words {
		case "change": // texts with braces of their own
		case "raw":
			first.Rest = p.filled(first, plain(first.Rest))
		default:
			first.Rest = p.filled(first, first.Rest)
		}
		step(p, first.Rest)
		return lines[1:]
	}
	e := p.request(first)
	for lines = lines[1:]; len(lines) > 0 && lines[0].Deep; lines = lines[1:] {
		if lines[0].Words != "with" {
			e.checks = append(e.checks, lines[0])
			continue
		}
		name, value, _ := strings.Cut(p.filled(lines[0], lines[0].Rest), ":")
		if e.q.header[name] = plain(strings.TrimSpace(value)); name == "Host" {
			e.q.host = e.q.header[name]
		}
	}
	p.exchange(e)
	return lines
}

var (
	requestLine = regexp.MustCompile(`^(?:(eve|reader|operator|nobody|stranger|browser) )?([A-Z]+[A-Z0-9]) (\S+)` +
		`(?: (.*?))??(?: -> (\d{3})(?: ([a-z_]+))?)?$`)
	typedBody = regexp.MustCompile(`^<(in chunks )?([^>]*)> ?(.*)$`)
	insertion = regexp.MustCompile(`\{("?[A-Za-z]\w*(?:[.:][\w*#-]+)*"?|\d+\*[^}]*)\}`)
)

// tokens are those of who asks; without one ada does, with a token that writes.
var tokens = map[string]string{"": "", "eve": evesToken, "reader": adasReader, "operator": operators, "nobody": "-",
	"stranger": nobodys, "browser": ""}

// request reads the line of a request: who, method, path, body, and after an arrow the status and the kind of the
// problem.
func (p *player) request(l texttest.Line) exchange {
	p.Helper()
	m := requestLine.FindStringSubmatch(strings.TrimSpace(l.Words + " " + l.Rest))
	assert.Require(p, m != nil && !l.Deep, "line %d is nothing that is known: %s %s", l.At, l.Words, l.Rest)
	q := question{method: m[2], path: p.filled(l, m[3]), token: tokens[m[1]], header: map[string]string{}}
	e := exchange{line: l, kind: m[6], q: q}
	e.status, _ = strconv.Atoi(m[5])
	if m[1] == "browser" {
		e.q.cookie = "sibyl_" + p.port() + "=" + adasCookie
	}
	typed := typedBody.FindStringSubmatch(m[4])
	switch {
	case typed != nil:
		e.q.header["Content-Type"] = p.filled(l, typed[2])
		body := p.filled(l, plain(typed[3]))
		if e.q.body = body; typed[1] != "" {
			e.q.body = struct{ io.Reader }{strings.NewReader(body)} // of a length that is not known
		}
	case m[4] != "":
		e.q.body = p.filled(l, m[4])
	}
	return e
}

// exchange sends a request, and checks its answer.
func (p *player) exchange(e exchange) {
	p.Helper()
	about, failed := fmt.Sprintf("line %d, %s %s", e.line.At, e.q.method, e.q.path), p.Failed()
	var a answer
	switch {
	case e.kind != "":
		a = p.refused(about, e.q, e.status, e.kind)
	case e.status == 0:
		a = p.get(e.q, nil)
	default:
		a = p.ask(e.q)
		assert.Require(p, a.status == e.status, "%s: %d %s; want %d", about, a.status, a.body, e.status)
	}
	for _, l := range p.always {
		if status, rest, is := strings.Cut(l.Rest, " "); is && status == strconv.Itoa(a.status) {
			l.Rest = rest
		} else if status[0] <= '9' {
			continue
		}
		for words := range checks {
			if rest, is := strings.CutPrefix(l.Rest+" ", words+" "); is {
				l.Words, l.Rest = words, strings.TrimSpace(rest)
			}
		}
		l.At = e.line.At
		e.checks = append(e.checks, l)
	}
	for _, l := range e.checks {
		if check := checks[l.Words]; check != nil {
			l.Check(p, check(p, a, p.filled(l, l.Rest)))
			continue
		}
		part, manner, said := mannerOf(l.Rest)
		name := part[strings.LastIndex(part, ".")+1:]
		if said == none && !strings.Contains(p.description, fmt.Sprintf("%q:", name)) {
			l.Check(p, "nothing is ever called "+name)
		}
		got := partOf(a.body, part)
		if said = p.filled(l, plain(said)); got == none && said != none {
			l.Check(p, "there is no "+part)
			continue
		}
		if part == "body" {
			said = strings.TrimSuffix(said, "\n")
		}
		l.Check(p, texttest.Wrong(manner, got, said))
	}
	if p.Failed() && !failed {
		p.Logf("%s: %d %.2000s", about, a.status, a.body)
	}
}

var mannerIn = regexp.MustCompile(`^(\S+) (is not|is|has|lacks|begins|once)(?: (.*))?$`)

// mannerOf takes “name is text” apart.
func mannerOf(rest string) (name, manner, said string) {
	m := mannerIn.FindStringSubmatch(rest)
	if m == nil {
		return rest, "", ""
	}
	return m[1], m[2], m[3]
}

// plain is a text in which \n, \x00 and the like stand for what they do in Go.
func plain(text string) string {
	if unquoted, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`); err == nil {
		return unquoted
	}
	return text
}

// filled puts in what stands in braces: {name}, {name.part.of.its.JSON}, {name:Header}, {300*x}, which is so many of
// it, or {"name"}, as JSON.
func (p *player) filled(l texttest.Line, text string) string {
	p.Helper()
	return insertion.ReplaceAllStringFunc(text, func(in string) string {
		in = in[1 : len(in)-1]
		if quoted := strings.Trim(in, `"`); quoted != in {
			raw, _ := json.Marshal(p.filled(l, "{"+quoted+"}")) // of a text
			return string(raw)
		}
		if n, one, is := strings.Cut(in, "*"); is && n[0] <= '9' {
			times, _ := strconv.Atoi(n)
			return strings.Repeat(plain(one), times)
		}
		if text, is := p.texts[in]; is {
			return text
		}
		if name, header, is := strings.Cut(in, ":"); is {
			return p.answers[name].header.Get(header)
		}
		name, part, _ := strings.Cut(in, ".")
		a, is := p.answers[name]
		found := partOf(a.body, part)
		assert.Require(p, is && found != none, "line %d: there is no %s", l.At, in)
		return found
	})
}

// none is a part of JSON that is not there, or null.
const none = "none"

// partOf is a part of JSON as text, by names, numbers, * for each of a list, and # for how many; nothing is all of it,
// and “body” all but a line break at its end. Of a list it is the parts, with “; ” between them.
func partOf(body []byte, path string) string {
	switch path {
	case "":
		return string(body)
	case "body":
		return strings.TrimSuffix(string(body), "\n")
	}
	var whole any
	if err := json.Unmarshal(body, &whole); err != nil {
		return "no JSON"
	}
	return textOf(whole, strings.Split(path, "."))
}

func textOf(v any, path []string) string {
	list, isList := v.([]any)
	switch {
	case len(path) == 0 && isList, len(path) > 0 && path[0] == "*" && isList:
		var all []string
		for _, one := range list {
			all = append(all, textOf(one, path[min(1, len(path)):]))
		}
		return strings.Join(all, "; ")
	case len(path) > 0 && path[0] == "#" && isList:
		return strconv.Itoa(len(list))
	case len(path) > 0:
		if n, err := strconv.Atoi(path[0]); err == nil && isList && n < len(list) {
			return textOf(list[n], path[1:])
		}
		if object, is := v.(map[string]any); is && object[path[0]] != nil {
			return textOf(object[path[0]], path[1:])
		}
		return none
	}
	if text, is := v.(string); is {
		return text
	}
	text, _ := json.Marshal(v) // it was JSON
	return strings.Replace(string(text), "null", none, 1)
}
