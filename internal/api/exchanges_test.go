package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/texttest"
	"sibyl/internal/files"
	"sibyl/internal/media/document/documenttest"
)

// A text in testdata is what is asked of a house, line by line, and what it must answer. testdata/README.md says how it is read.

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
	always  []texttest.Line   // what must be so of each answer, behind the status of those that it is about, if it is not about all
	held    map[string]func() // personas by name, and how they are released

	conforms    held
	asked       <-chan struct{} // has something when the witness is asked what it waits with
	description string          // of the API: names all there is
}

func TestExchanges(t *testing.T) {
	known := slices.Concat(slices.Collect(maps.Keys(worlds)), slices.Collect(maps.Keys(steps)), slices.Collect(maps.Keys(checks)))
	description, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	texttest.Play(t, known, func(t *testing.T, lines []texttest.Line) {
		p := &player{description: string(description), texts: map[string]string{"offer": offer, "hypothesis": hypothesis, "ada": adasToken, "reader": adasReader, "eve": evesToken,
			"operator": operators, "cookie": adasCookie, "once": adasOnce, "stranger": nobodys, "tea": `{"assistant":"panel","words":"Tea?","options":{"personas":["ada","bob"]}}`}, answers: map[string]answer{}, held: map[string]func(){}}
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
		if first.Words == "raw" {
			first.Rest = plain(first.Rest)
		}
		step(p, p.filled(first, first.Rest))
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
	requestLine = regexp.MustCompile(`^(?:(eve|reader|operator|nobody|stranger|browser) )?([A-Z]+[A-Z0-9]) (\S+)(?: (.*?))??(?: -> (\d{3})(?: ([a-z_]+))?)?$`)
	typedBody   = regexp.MustCompile(`^<(in chunks )?([^>]*)> ?(.*)$`)
	insertion   = regexp.MustCompile(`\{("?[A-Za-z]\w*(?:[.:][\w*#-]+)*"?|\d+\*[^}]*)\}`)
)

// tokens are those of who asks; without one ada does, with a token that writes.
var tokens = map[string]string{"": "", "eve": evesToken, "reader": adasReader, "operator": operators, "nobody": "-", "stranger": nobodys, "browser": ""}

// request reads the line of a request: who, method, path, body, and after an arrow the status and the kind of the problem.
func (p *player) request(l texttest.Line) exchange {
	p.Helper()
	m := requestLine.FindStringSubmatch(strings.TrimSpace(l.Words + " " + l.Rest))
	if m == nil || l.Deep {
		p.Fatalf("line %d is nothing that is known: %s %s", l.At, l.Words, l.Rest)
	}
	e := exchange{line: l, kind: m[6], q: question{method: m[2], path: p.filled(l, m[3]), token: tokens[m[1]], header: map[string]string{}}}
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
		if a = p.ask(e.q); a.status != e.status {
			p.Fatalf("%s: %d %s; want %d", about, a.status, a.body, e.status)
		}
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
		if name := part[strings.LastIndex(part, ".")+1:]; said == none && !strings.Contains(p.description, fmt.Sprintf("%q:", name)) {
			l.Check(p, "nothing is ever called "+name)
		}
		said = p.filled(l, plain(said))
		if part == "body" {
			said = strings.TrimSuffix(said, "\n")
		}
		l.Check(p, texttest.Wrong(manner, partOf(a.body, part), said))
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

// filled puts in what stands in braces: {name}, {name.part.of.its.JSON}, {name:Header}, {300*x}, which is so many of it, or {"name"}, as JSON.
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
		if !is || found == none {
			p.Fatalf("line %d: there is no %s", l.At, in)
		}
		return found
	})
}

// none is a part of JSON that is not there, or null.
const none = "none"

// partOf is a part of JSON as text, by names, numbers, * for each of a list, and # for how many; nothing is all of it, and “body” all but a line break at its end. Of a list it is the
// parts, with “; ” between them.
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

// houses are those that are not the plain one.
var houses = map[string]func(t testing.TB) *house{
	"council":   withCouncil,
	"task list": withTaskList,
	"inquiry": func(t testing.TB) *house {
		h, _ := withInquiry(t)
		return h
	},
	"retakes": func(t testing.TB) *house {
		h := newHouse(t)
		h.panel.Retakes = true
		return h
	},
	"of the oracle": withTheOracle,
}

// worlds change the house before it is opened.
var worlds = map[string]func(p *player, rest string){
	"house": func(p *player, _ string) { p.Fatal("a house stands in the first line") },
	"limit": func(p *player, rest string) { // a field of api.Limits and its number, or its time
		name, value, _ := strings.Cut(rest, " ")
		field := reflect.ValueOf(&p.config.Limits).Elem().FieldByName(name)
		if d, err := time.ParseDuration(value); err == nil {
			field.SetInt(int64(d))
		} else if n, err := strconv.ParseFloat(value, 64); err == nil {
			field.Set(reflect.ValueOf(n).Convert(field.Type()))
		} else {
			p.Fatal(err)
		}
	},
	"witness waits from": func(p *player, rest string) { // such an answer on, until it is released
		n, _ := strconv.Atoi(rest)
		p.asked, p.held["witness"] = p.silentFrom(n)
	},
	"strict store": func(p *player, _ string) { p.store = strict{p.store, p.TB} },
}

// steps are what happens beside requests.
var steps = map[string]func(p *player, rest string){
	"let": func(p *player, rest string) {
		name, text, _ := strings.Cut(rest, " ")
		p.texts[name] = text
	},
	"always": func(p *player, rest string) { p.always = append(p.always, texttest.Line{Words: "always", Rest: rest}) },
	"asks":   func(p *player, rest string) { p.panelRun("", rest) },
	"eve asks": func(p *player, rest string) {
		p.panelRun(evesToken, rest)
	},
	"ada is revoked": func(p *player, _ string) {
		if err := p.users.RevokeUser(p.Context(), "ada", time.Now()); err != nil {
			p.Fatal(err)
		}
	},
	"sits": func(p *player, rest string) { p.councilSession("", rest) },
	"eve sits": func(p *player, rest string) {
		p.councilSession(evesToken, rest)
	},
	"damages": func(p *player, rest string) { // a session of ada's
		if err := os.WriteFile(filepath.Join(p.folder, "ada", rest, "metadata.json"), []byte("{"), 0o600); err != nil {
			p.Fatal(err)
		}
	},
	"in the trash": func(p *player, rest string) {
		if _, err := os.Stat(filepath.Join(p.folder, "ada", ".trash", rest)); err != nil {
			p.Error(err)
		}
	},
	"nothing in": func(p *player, rest string) { p.holdsNothing(rest) },
	"remove": func(p *player, rest string) {
		if err := os.RemoveAll(rest); err != nil {
			p.Fatal(err)
		}
	},
	"documents": func(p *player, _ string) { // to be sent: a PDF, a DOCX, their hashes, and some that can't be read
		pdf := documenttest.PDF(true, []string{"Report"}, nil, []string{"The bearing was replaced."})
		docx := documenttest.DOCX(p.TB, documenttest.Para("A memo."), nil)
		maps.Copy(p.texts, map[string]string{"docx.type": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "pdf": string(pdf), "pdf.hash": files.Hash(pdf), "docx": string(docx), "docx.hash": files.Hash(docx),
			"docx.cut": string(docx[:len(docx)-30]), "locked": string(documenttest.Locked()), "scan": string(documenttest.PDF(true, nil)),
			"pages": string(documenttest.PDF(true, []string{"Page one."}, []string{"Page two."}))})
	},
	"the witness is asked": func(p *player, _ string) { p.comes("a question to the witness", p.asked) },
	"change": func(p *player, rest string) { // “name: old -> new as other”, once in what was kept
		name, change, _ := strings.Cut(rest, ": ")
		before, after, _ := strings.Cut(change, " -> ")
		after, other, _ := strings.Cut(after, " as ")
		text := string(p.answers[name].body)
		if !strings.Contains(text, before) {
			p.Fatalf("%s lacks %s", name, before)
		}
		p.texts[other] = strings.Replace(text, before, after, 1)
	},
	"raw": func(p *player, rest string) { // the status that bytes get
		want, request, _ := strings.Cut(rest, " ")
		if status, all := p.house.raw(request); strconv.Itoa(status) != want {
			p.Errorf("%.80s: %d %s; want %s", request, status, all, want)
		}
	},
	"over": func(p *player, rest string) { p.over(rest) },
	"holds": func(p *player, rest string) { // a persona, until it is released
		p.held[rest] = p.holds(rest)
	},
	"releases": func(p *player, rest string) {
		p.held[rest]()
		p.house.answers(rest)
	},
	"answers": func(p *player, rest string) { p.house.answers(rest) },
	"logs":    func(p *player, rest string) { p.log.waitFor(p, rest) },
	"never logs": func(p *player, rest string) {
		if log := p.log.text(); strings.Contains(log, rest) {
			p.Errorf("the log has %s:\n%s", rest, log)
		}
	},
}

// panelRun has somebody ask the panel for an answer, and waits for it: “words as name”. The run's beginning is kept.
func (p *player) panelRun(token, rest string) {
	p.Helper()
	words, name, _ := strings.Cut(rest, " as ")
	a := p.get(question{method: "POST", path: "/api/runs", token: token, body: asking(words)}, nil)
	p.answers[name] = a
	p.over(partOf(a.body, "run"))
}

// councilSession begins a session of the Council: “as name”, in which the offer was said, or “as name: words”, or “as name:” without any.
func (p *player) councilSession(token, rest string) {
	p.Helper()
	name, words, isSaid := strings.Cut(strings.TrimPrefix(rest, "as "), ":")
	if !isSaid {
		words = offer
	}
	var said []string
	if words = strings.TrimSpace(words); words != "" {
		said = append(said, words)
	}
	s := p.sitting(token, said...)
	p.answers[name] = p.get(question{path: councils + "/" + s.ID, token: token}, nil)
}

// checks are those of an answer that are not of a part of its JSON.
var checks = map[string]func(p *player, a answer, rest string) string{
	"as": func(p *player, a answer, rest string) string {
		p.answers[rest] = a
		return ""
	},
	"header": func(_ *player, a answer, rest string) string {
		name, manner, said := mannerOf(rest)
		return texttest.Wrong(manner, strings.Join(a.header.Values(name), ", "), said)
	},
	"conforms to": func(p *player, a answer, rest string) string {
		if p.conforms == nil {
			p.conforms = p.described()
		}
		p.conforms("the answer", rest, a)
		return ""
	},
	"new request id": func(p *player, a answer, _ string) string { // that is none of the client, and none of another request
		id := a.header.Get("X-Request-Id")
		if len(id) < 20 || p.texts[id] != "" {
			return "the request id is " + id
		}
		p.texts[id] = "seen"
		return ""
	},
	"with": nil,
}
