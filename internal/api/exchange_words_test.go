package api_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
	"sibyl/internal/files"
	"sibyl/internal/media/document/documenttest"
	"sibyl/internal/store/teststore"
	"sibyl/internal/task"
)

// houses are those that are not the plain one.
var houses = map[string]func(t testing.TB) *house{
	"council":   withCouncil,
	"task list": withTaskList,
	"inquiry": func(t testing.TB) *house {
		h, _ := withInquiry(t)
		return h
	},
	"notes":  withNotes,
	"oracle": withOracle,
	"tasks":  withTasks,
	"costly": func(t testing.TB) *house {
		h := newHouse(t)
		costly(h, perToken("test:ada", "test:bob", "test:chair"))
		return h
	},
	"tools": func(t testing.TB) *house {
		tasks := task.New(teststore.Empty(t), time.Now, nil)
		_, _, err := tasks.Add(t.Context(), task.By{Owner: "ada", Actor: "test"}, "Buy milk", nil)
		assert.NoError(t, err)
		return offeringOf(t, tasks)
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
	"clock": func(p *player, _ string) { // that stands still
		p.clock = newClock()
		p.config.Now = p.clock.Now
	},
	"proxies": func(p *player, rest string) {
		for network := range strings.FieldsSeq(rest) {
			p.config.Proxies = append(p.config.Proxies, netip.MustParsePrefix(network))
		}
	},
	"metrics": func(p *player, rest string) {
		p.config.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, rest+"\n")
		})
	},
	"recordings say": func(p *player, rest string) {
		p.transcribe = func(context.Context, string) (string, error) { return rest, nil }
	},
	"strict store": func(p *player, _ string) { p.store = strict{p.store, p.TB} },
}

// steps are what happens beside requests.
var steps = map[string]func(p *player, rest string){
	"let": func(p *player, rest string) {
		name, text, _ := strings.Cut(rest, " ")
		p.texts[name] = text
	},
	"always":   func(p *player, rest string) { p.always = append(p.always, texttest.Line{Words: "always", Rest: rest}) },
	"asks":     func(p *player, rest string) { p.panelRun("", rest) },
	"eve asks": func(p *player, rest string) { p.panelRun(evesToken, rest) },
	"ada is revoked": func(p *player, _ string) {
		assert.NoError(p, p.users.RevokeUser(p.Context(), "ada", time.Now()))
	},
	"sits":     func(p *player, rest string) { p.councilSession("", rest) },
	"eve sits": func(p *player, rest string) { p.councilSession(evesToken, rest) },
	"damages": func(p *player, rest string) { // a session of ada's
		assert.NoError(p, os.WriteFile(filepath.Join(p.folder, "ada", rest, "metadata.json"), []byte("{"), 0o600))
	},
	"in the trash": func(p *player, rest string) {
		_, err := os.Stat(filepath.Join(p.folder, "ada", ".trash", rest))
		assert.Nil(p, err)
	},
	"nothing in": func(p *player, rest string) { p.holdsNothing(rest) },
	"remove":     func(p *player, rest string) { assert.NoError(p, os.RemoveAll(rest)) },
	"documents": func(p *player, _ string) { // to be sent: a PDF, a DOCX, their hashes, and some that can't be read
		pdf := documenttest.PDF(true, []string{"Report"}, nil, []string{"The bearing was replaced."})
		docx := documenttest.DOCX(p.TB, documenttest.Para("A memo."), nil)
		maps.Copy(p.texts, map[string]string{
			"docx.type": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
			"pdf":       string(pdf),
			"pdf.hash":  files.Hash(pdf),
			"docx":      string(docx),
			"docx.hash": files.Hash(docx),
			"docx.cut":  string(docx[:len(docx)-30]),
			"locked":    string(documenttest.Locked()),
			"scan":      string(documenttest.PDF(true, nil)),
			"pages":     string(documenttest.PDF(true, []string{"Page one."}, []string{"Page two."})),
		})
	},
	"the witness is asked": func(p *player, _ string) { p.comes("a question to the witness", p.asked) },
	"change": func(p *player, rest string) { // “name: old -> new as other”, once in what was kept, or a part of it
		name, change, _ := strings.Cut(rest, ": ")
		before, after, _ := strings.Cut(change, " -> ")
		after, other, _ := strings.Cut(after, " as ")
		text := p.filled(texttest.Line{}, "{"+name+"}")
		assert.Require(p, strings.Contains(text, before), "%s lacks %s", name, before)
		p.texts[other] = strings.Replace(text, before, after, 1)
	},
	"raw": func(p *player, rest string) { // the status that bytes get
		want, request, _ := strings.Cut(rest, " ")
		status, all := p.house.raw(request)
		assert.That(p, strconv.Itoa(status) == want, "%.80s: %d %s; want %s", request, status, all, want)
	},
	"passes": func(p *player, rest string) {
		d := assert.Must(time.ParseDuration(rest))(p)
		p.clock.pass(d)
	},
	"taken back": func(p *player, rest string) { // the writes to notes, with their owners
		assert.Equalf(p, strings.Join(p.taken, "; "), rest, "taken back")
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
		log := p.log.text()
		assert.That(p, !strings.Contains(log, rest), "the log has %s:\n%s", rest, log)
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

// councilSession begins a session of the Council: “as name”, in which the offer was said, or “as name: words”, or
// “as name:” without any.
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
	"new request id": func(p *player, a answer, _ string) string { // neither the client's nor another's
		id := a.header.Get("X-Request-Id")
		if len(id) < 20 || p.texts[id] != "" {
			return "the request id is " + id
		}
		p.texts[id] = "seen"
		return ""
	},
	"with": nil,
}
