package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/server/telemetry"
	begins "sibyl/internal/service/assistant"
	"sibyl/internal/store/teststore"
	"sibyl/internal/tool"
	"sibyl/prompts"
	"sibyl/trees"
)

// The words of the question, of the tool's call and text, of the provider and of the answer, none of which is the
// program's.
const (
	asked    = "How does the zanzibar() function in quokka.go work?"
	called   = `{"path":"quokka.go"}`
	read     = "1| func zanzibar() { yodel() }"
	scolded  = "your prompt says zanzibar too often"
	answered = `It calls yodel (quokka.go:1), says the xylophone. <signal type="context_sufficient"><sources_found>1</sources_found><confidence>0.9</confidence></signal>`
	secret   = "sk-Zq8vT2nB7yH4mK9w1xR5c3"
	owner    = "ada.lovelace"
)

// words are those that nobody may find outside.
func words() []string {
	return []string{"zanzibar", "quokka", "yodel", "xylophone", "prompt says", "How does", owner, secret}
}

// reader is a tool.
type reader struct{}

func (reader) Spec() tool.Spec {
	return tool.Spec{Name: "code_read", Description: "Reads a file.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		Source: tool.Code, Effect: tool.Repeatable}
}

func (reader) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Text: read, Items: 1, Refs: []tool.Ref{{Source: tool.Code, Path: "quokka.go",
		Start: 1, End: 1, Opened: true}}}, nil
}

// node is a server whose requests ask the Oracle and wait for it.
type node struct {
	*httptest.Server
	t       *testing.T
	engine  *run.Engine
	started chan *run.Live
	run     string // the last
}

// newNode serves POST /ask/{session}, and /metrics, with two models of which the second answers where the first does
// not.
func newNode(t *testing.T, tel *telemetry.Telemetry, log *slog.Logger, first, second []modeltest.Turn) *node {
	t.Helper()
	n := &node{t: t, started: make(chan *run.Live, 10)}
	models := model.Chain(model.ChainPolicy{}, tel.Model(modeltest.Script(t, first...).As("openai:gpt-4.1:mini",
		false)),
		tel.Model(modeltest.Script(t, second...).As("gemini:flash", false)))
	tools := tool.NewSet(reader{})
	assistant := assert.Must(oracle.New(oracle.Deps{
		Model: func(context.Context, oracle.Env) (model.Model, error) { return models, nil },
		Tools: func(context.Context, oracle.Env) (*tool.Set, func(), error) { return tools, func() {}, nil }}))(t)
	store := teststore.Empty(t)
	n.engine = assert.Must(run.NewEngine(run.Config{Store: store, Assistants: []*run.Assistant{assistant}, Build: "test",
		Holder: "test", Log: log,
		Observer: tel.Observer()}))(t)
	tree := assert.Must(trees.Set{}.Get(oracle.Name))(t)
	texts := assert.Must(prompt.Load(prompts.FS))(t)
	from := oracle.Surroundings{Store: store, Choose: func(context.Context, string) (string, error) {
		return models.ID(), nil
	},
		Known: func(context.Context, string) model.Info {
			return model.Info{}
		}, ReportForm: func(string) model.ReportForm { return "" },
		LearnKeys: func(context.Context, oracle.Env) {}, Prompts: func() (*prompt.Set, error) { return texts, nil },
		Tools: func(context.Context, oracle.Env) (*tool.Set, func(), error) { return tools, func() {}, nil }}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ask/{session}", func(w http.ResponseWriter, r *http.Request) {
		now, id := time.Now(), r.PathValue("session")
		spec, err := from.Begin(r.Context(), begins.Request{Owner: owner, Words: asked},
			oracle.Options{Code: schema.Folder{Path: "/"}})
		assert.Nil(t, err)
		spec.Owner, spec.Assistant, spec.Session, spec.TreeFile, spec.Tree = owner, oracle.Name, id, tree.File,
			tree.Text
		spec.NewSession = &journal.Session{ID: id, Owner: owner, Assistant: oracle.Name, CreatedAt: now, UpdatedAt: now}
		live, err := n.engine.Start(context.WithoutCancel(r.Context()), spec)
		if err != nil {
			t.Error(err)
			return
		}
		n.run = live.ID
		n.started <- live
		_, err = live.Wait(r.Context())
		assert.Nil(t, err)
	})
	mux.Handle("GET /metrics", tel.Handler())
	n.Server = httptest.NewServer(tel.HTTP(mux))
	t.Cleanup(n.Close)
	return n
}

// post asks a question in a session, waits for its answer, and gives the id of the request.
func (n *node) post(session string, header ...string) (id string) {
	n.t.Helper()
	req, err := http.NewRequestWithContext(n.t.Context(), http.MethodPost, n.URL+"/ask/"+session+"?q=zanzibar", nil)
	assert.NoError(n.t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := n.Client().Do(req)
	assert.NoError(n.t, err)
	_ = resp.Body.Close()
	return resp.Header.Get("X-Request-Id")
}

// wholeRun is one with a call, a request that fails, and an answer of the second model.
func wholeRun() (of, other []modeltest.Turn) {
	failing := modeltest.Turn{Err: &model.Error{Kind: model.Server, Status: 500, Message: scolded}}
	first := modeltest.Call("code_read", called)
	first.Usage = model.Usage{InputTokens: 100, OutputTokens: 10, CachedTokens: 60}
	last := modeltest.Say(answered)
	last.Usage = model.Usage{InputTokens: 200, OutputTokens: 20}
	return []modeltest.Turn{first, failing}, []modeltest.Turn{last}
}

func TestSpansOfAWholeRunTellWhatItDidAndNoWordOfIt(t *testing.T) {
	c := newCollector(t)
	var lines bytes.Buffer
	redact := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(secret), []byte("[redacted]")) }
	log := telemetry.Logger(&lines, slog.LevelDebug, redact)
	tel := telemetryOf(t, telemetry.Config{Build: "v1", Instance: "node/" + secret, Endpoint: c.URL + "/",
		Header: map[string]string{"Authorization": "Bearer " + secret}, Ratio: 1,
		Log: log, Redact: redact})
	first, second := wholeRun()
	n := newNode(t, tel, log, first, second)
	id := n.post("talk")
	n.Close()
	closed(t, tel)

	request, driven, call := c.one("POST /ask/{session}"), c.one("invoke_agent oracle"), c.one("tool.call")
	turns, chats, last := c.spans()["model.turn"], c.spans()["chat gpt-4.1:mini"], c.one("chat flash")
	assert.Require(t, len(turns) == 2 && len(chats) == 2 && len(c.spans()) == 6, "the spans are %v", names(c.spans()))
	assert.That(t, c.header.Get("Authorization") == "Bearer "+secret, "the header of an export is %v", c.header)
	assert.That(t, request.ParentSpanId == nil && driven.ParentSpanId == nil &&
		!bytes.Equal(request.TraceId, driven.TraceId), "the request and the run are not two traces")
	l := driven.GetLinks()
	assert.That(t, len(l) == 1 && bytes.Equal(l[0].SpanId, request.SpanId) && bytes.Equal(l[0].TraceId, request.TraceId),
		"the run is linked to %v", l)
	for what, pair := range map[string][2]span{"the first turn": {turns[0], driven},
		"the second turn": {turns[1], driven}, "the call": {call, driven},
		"the first request to the model": {chats[0], turns[0]}, "the second": {chats[1], turns[1]},
		"the third": {last, turns[1]}} {
		assert.That(t, pair[0].under(pair[1]) && pair[0].within(pair[1]),
			"%s stands elsewhere: %v is not under %v", what, pair[0], pair[1])
	}
	const chat = "gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=gpt-4.1:mini " +
		"gen_ai.request.stream=true sibyl.model.purpose=oracle.turn"
	for what, is := range map[string]struct {
		span
		want string
	}{
		"the request": {request, "http.request.method=POST http.route=/ask/{session} http.response.status_code=200"},
		"the run": {driven, "gen_ai.operation.name=invoke_agent gen_ai.agent.name=oracle " +
			"gen_ai.conversation.id=talk sibyl.run.id=" + n.run +
			" sibyl.run.taken_up=false sibyl.run.status=done sibyl.run.reason=satisfied"},
		"the call": {call,
			"sibyl.effect.leaf=RunTools sibyl.effect.op=2 sibyl.effect.once=false sibyl.effect.result=ok"},
		"the first turn": {turns[0],
			"sibyl.effect.leaf=AskModel sibyl.effect.op=1 sibyl.effect.once=false sibyl.effect.result=ok"},
		"the first request to the model": {chats[0],
			chat + " gen_ai.response.model=gpt-4.1:mini gen_ai.response.finish_reasons=[tools] " +
				"gen_ai.usage.input_tokens=100 " +
				"gen_ai.usage.output_tokens=10 gen_ai.usage.cache_read.input_tokens=60"},
		"the second": {chats[1], chat + " gen_ai.response.model=gpt-4.1:mini error.type=server"},
	} {
		got := values(is.GetAttributes())
		assert.That(t, got == is.want, "%s says\n%s\nnot\n%s", what, got, is.want)
	}
	for name, want := range map[string]string{"gen_ai.provider.name": "gcp.gemini", "gen_ai.request.model": "flash",
		"gen_ai.response.finish_reasons": "[stop]", "gen_ai.usage.input_tokens": "200"} {
		assert.Equalf(t, last.attribute(name), want, "the third request says that %s", name)
	}
	assert.That(t, last.attribute("gen_ai.response.time_to_first_chunk") != "",
		"the third request does not say how long its first text took")
	if s := chats[1].GetStatus(); s.GetCode().String() != "STATUS_CODE_ERROR" || s.GetMessage() != "server" {
		t.Errorf("the request that failed has the status %v", s)
	}
	want := "service.name=sibyl service.version=v1 service.instance.id=node/[redacted]"
	assert.That(t, sameWords(driven.resource, want) && driven.scope == "sibyl",
		"the resource is %s, the scope %s", driven.resource, driven.scope)
	assert.That(t, request.GetKind().String() == "SPAN_KIND_SERVER" && chats[0].GetKind().String() == "SPAN_KIND_CLIENT" &&
		driven.GetKind().String() == "SPAN_KIND_INTERNAL",
		"the kinds are %s, %s, %s", request.GetKind(), chats[0].GetKind(), driven.GetKind())
	noWords(t, "what was exported", c.all())
	noWords(t, "the log", lines.Bytes())
	logged(t, lines.Bytes(), map[string]map[string]any{
		"a run begins": {"run_id": n.run, "request_id": id, "assistant": "oracle", "session": "talk"},
		"a model did not answer": {"run_id": n.run, "request_id": id, "model": "openai:gpt-4.1:mini",
			"kind": "server", "status": 500.0},
		"a run is no longer driven here": {"run_id": n.run, "request_id": id, "status": "done", "reason": "satisfied"},
	})
}

func sameWords(a, b string) bool {
	sorted := func(s string) []string { return slices.Sorted(slices.Values(strings.Fields(s))) }
	return slices.Equal(sorted(a), sorted(b))
}

// noWords fails where a word stands that is nobody's business.
func noWords(t *testing.T, where string, text []byte) {
	t.Helper()
	assert.That(t, len(text) != 0, "%s is empty", where)
	for _, word := range words() {
		assert.That(t, !bytes.Contains(text, []byte(word)), "%s holds %q:\n%s", where, word, text)
	}
}

// logged fails unless the log has one line of each message, with these members, and all its lines are JSON with a time,
// a level and a message.
func logged(t *testing.T, text []byte, want map[string]map[string]any) {
	t.Helper()
	seen := map[string]int{}
	for line := range bytes.Lines(text) {
		var got map[string]any
		err := json.Unmarshal(line, &got)
		assert.Require(t, err == nil, "%v in %s", err, line)
		msg := fmt.Sprint(got["msg"])
		seen[msg]++
		_, err = time.Parse(time.RFC3339Nano, fmt.Sprint(got["time"]))
		assert.That(t, err == nil && got["level"] != nil, "no time or level: %s", line)
		for name, v := range want[msg] {
			assert.That(t, got[name] == v, "%s is %v, not %v: %s", name, got[name], v, line)
		}
	}
	for _, msg := range slices.Sorted(maps.Keys(want)) {
		assert.That(t, seen[msg] == 1, "the log has %d lines %q", seen[msg], msg)
	}
}
