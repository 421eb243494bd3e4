package api_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council"
	"sibyl/internal/files"
	"sibyl/internal/inquiry"
	"sibyl/internal/journal"
	documents "sibyl/internal/media/document"
	"sibyl/internal/media/document/documenttest"
	"sibyl/internal/run"
	"sibyl/internal/server/node"
	"sibyl/internal/server/user"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/service/servicetest"
	"sibyl/internal/store/teststore"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
	"sibyl/trees"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// deadline bounds every wait of a test.
const deadline = time.Minute

// The secrets of the house, in the form of real ones.
const (
	rest       = "0000000000000000000000000000000000000000"
	adasToken  = user.Prefix + "adawrites000" + rest
	adasReader = user.Prefix + "adareads0000" + rest
	evesToken  = user.Prefix + "evewrites000" + rest
	operators  = user.Prefix + "opsoperates0" + rest
	adasCookie = user.Prefix + "adascookie00" + rest
	adasOnce   = user.Prefix + "adaonce00000" + rest
	nobodys    = user.Prefix + "nobodys00000" + rest
)

// house is a server with its users, an assistant, and what it wrote to its log.
type house struct {
	testing.TB
	users  *people
	store  journal.Store
	panel  *assistant.Assistant
	shadow *assistant.Assistant
	others []*assistant.Assistant
	config api.Config
	prices *service.Prices
	most   int    // runs at once
	holder string // the name of its process; empty: one

	url    string
	addr   string
	engine *run.Engine
	server *api.Server
	log    *lines
	taken  []string // the writes to notes that were taken back, with their owners

	setting func(path string) string // what the settings say; nil: nothing
	// of the sessions of the Council, each owner's below it
	folder     string
	transcribe func(ctx context.Context, file string) (string, error) // nil: nothing is set up
	// happens before an answer of an inquiry; nil: nothing does
	testify func(ctx context.Context, answer int) error

	mu sync.Mutex
	do map[string]func(ctx context.Context, job run.Job) (any, error)
}

// newHouse readies a house that a test may still change.
func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{TB: t, users: newPeople(t), store: teststore.Empty(t), log: &lines{},
		do: map[string]func(context.Context, run.Job) (any, error){}}
	h.folder = t.TempDir()
	h.panel = h.describe("panel")
	h.shadow = h.describe("shadow")
	h.shadow.Companion, h.shadow.Options = true, nil
	h.config = api.Config{Build: "test", Origins: []string{"http://sibyl.example", "http://gate.example:8443"},
		Log:    slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Limits: api.Limits{Requests: 10_000, Burst: 10_000, Bytes: 1 << 30, Wrong: 10_000, Runs: 1000},
		Folders: func(user string) map[string]string {
			return map[string]map[string]string{"ada": {"code": "/srv/code-of-ada"}, "eve": {"eves": "/srv/eves"}}[user]
		}}
	h.config.Notes = &api.Notes{Writes: func(context.Context, journal.Owner) ([]files.Replaced, error) {
		return nil, nil
	}}
	h.config.Documents = h.documents()
	h.config.Tasks = task.New(teststore.Empty(t), time.Now, nil)
	deps := h.council()
	h.config.Council = &deps
	h.config.Inquiry = &inquiry.Desk{Deps: h.inquiry(), Standings: func(
		ctx context.Context, owner journal.Owner, runs ...journal.Run,
	) ([]run.Standing, error) {
		return h.engine.Standings(ctx, owner, runs...)
	}}
	h.config.Operation = &api.Operation{Nodes: func(context.Context) ([]node.Node, time.Time, error) {
		return nil, time.Now(), nil
	},
		Trees: func() ([]api.TreeInForce, error) {
			return nil, nil
		}, Prompts: func() ([]api.PromptInForce, string, error) { return nil, "", nil }}
	h.config.Setup = &api.Setup{
		Show:      func() (api.Settings, error) { return api.Settings{}, nil },
		Set:       func(context.Context, string, []string, bool) (string, error) { return "", nil },
		Unset:     func(string) error { return nil },
		SetKey:    func(context.Context, string, string, bool) error { return nil },
		DeleteKey: func(context.Context, string) error { return nil },
		Models:    func(context.Context) (service.Models, error) { return service.Models{}, nil },
		Again:     func() {},
	}
	return h
}

// documents reads documents, with PDFium compiled as other tests have left it.
func (h *house) documents() *documents.Reader {
	h.Helper()
	r := documents.NewReader(documenttest.Compiled(h))
	h.Cleanup(r.Close)
	return r
}

func (h *house) describe(name string) *assistant.Assistant {
	h.Helper()
	a := assert.Must(servicetest.Describe(h.store, run.Performer{Do: h.answer}))(h)
	a.Name = name
	return a
}

// answer has a persona say its name in capitals, unless it is to do something else.
func (h *house) answer(ctx context.Context, job run.Job) (any, error) {
	var asked servicetest.Asked
	if err := json.Unmarshal(job.Effect.Payload, &asked); err != nil {
		return nil, err
	}
	h.mu.Lock()
	do := h.do[asked.Persona]
	h.mu.Unlock()
	if do != nil {
		return do(ctx, job)
	}
	return strings.ToUpper(asked.Persona), nil
}

// holds has a persona wait until the function is called, or the effect is withdrawn.
func (h *house) holds(name string) (release func()) {
	gate := make(chan struct{})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.do[name] = func(ctx context.Context, _ run.Job) (any, error) {
		select {
		case <-gate:
			return strings.ToUpper(name), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return sync.OnceFunc(func() { close(gate) })
}

// answers has a persona answer at once again.
func (h *house) answers(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.do, name)
}

// service is the use cases over the house's journal, for a process of that name.
func (h *house) service(
	holder string, store journal.Store, all ...*assistant.Assistant,
) (*service.Service, *run.Engine) {
	h.Helper()
	c := run.Config{Store: store, Build: "test", Holder: holder, MostRuns: h.most, Dead: func(holder string) bool {
		return holder == "dead"
	}}
	for _, a := range all {
		c.Assistants = append(c.Assistants, a.Assistant)
	}
	engine := assert.Must(run.NewEngine(c))(h)
	panels := assert.Must(servicetest.Trees.ReadFile("panel.xml"))(h)
	files := assert.Must(trees.Open(""))(h)
	tree := func(name string) (string, []byte, error) {
		if name != taskchat.Name && name != council.Name && name != inquiry.Name {
			return "panel.xml", panels, nil
		}
		t, err := files.Get(name)
		return t.File, t.Text, err
	}
	s := assert.Must(service.New(service.Config{Store: store, Engine: engine, Assistants: all,
		Redact: func(text string) string {
			return text
		}, Setting: h.setting,
		Tree: tree, Prices: h.prices}))(h)
	return s, engine
}

// open starts the server on a port of its own. At the end of the test nothing of it goes on.
func (h *house) open() *house {
	h.Helper()
	return h.listen(h.handler())
}

// handler answers the requests of the house.
func (h *house) handler() http.Handler {
	h.Helper()
	h.config.Service, h.engine = h.service(cmp.Or(h.holder, "one"), h.store,
		append([]*assistant.Assistant{h.panel, h.shadow}, h.others...)...)
	now := h.config.Now
	if now == nil {
		now = time.Now
	}
	h.config.Users = user.New(h.users, now)
	s := assert.Must(api.New(h.config))(h)
	h.server = s
	return s.Handler()
}

func (h *house) listen(handler http.Handler) *house {
	h.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.HTTPServer(answering.counted(handler), slog.New(slog.NewJSONHandler(h.log, nil)))
	server.Start()
	h.url, h.addr = server.URL, server.Listener.Addr().String()
	h.Cleanup(func() {
		if h.engine != nil {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			h.engine.Drain(ctx) // leaves what still goes on
		}
		server.CloseClientConnections()
		server.Close()
	})
	return h
}

// port is that of the server.
func (h *house) port() string {
	_, port, err := net.SplitHostPort(h.addr)
	assert.NoError(h, err)
	return port
}

// question is a request. Body is sent as it is if it is a string or a reader, else as JSON.
type question struct {
	method, path string
	token        string // empty: ada's that writes; "-": none
	cookie       string
	host         string
	header       map[string]string
	body         any
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// problem is the answer's kind, if it is a problem.
func (a answer) problem() api.Problem {
	var p api.Problem
	_ = json.Unmarshal(a.body, &p)
	return p
}

// ask sends a request over a connection of its own.
func (h *house) ask(q question) answer {
	h.Helper()
	a, err := h.try(q)
	assert.NoErrorf(h, err, "%s %s", q.method, q.path)
	return a
}

func (h *house) try(q question) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	var body io.Reader
	switch b := q.body.(type) {
	case nil:
	case string:
		body = strings.NewReader(b)
	case io.Reader:
		body = b
	case func() io.Reader:
		body = b()
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			return answer{}, err
		}
		body = bytes.NewReader(raw)
	}
	method := q.method
	if method == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(ctx, method, h.url+q.path, body)
	if err != nil {
		return answer{}, err
	}
	if q.host != "" {
		r.Host = q.host
	}
	if q.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	switch q.token {
	case "":
		if q.cookie == "" {
			r.Header.Set("Authorization", "Bearer "+adasToken)
		}
	case "-":
	default:
		r.Header.Set("Authorization", "Bearer "+q.token)
	}
	if q.cookie != "" {
		r.Header.Set("Cookie", q.cookie)
	}
	for name, value := range q.header {
		r.Header.Del(name)
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}
	resp, err := client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, raw}, err
}

// get wants a success, and its JSON.
func (h *house) get(q question, into any) answer {
	h.Helper()
	a := h.ask(q)
	assert.Require(h, a.status/100 == 2, "%s %s: %d %s", q.method, q.path, a.status, a.body)
	if into != nil {
		err := json.Unmarshal(a.body, into)
		assert.Require(h, err == nil, "%s %s: %v in %s", q.method, q.path, err, a.body)
	}
	return a
}

// refused wants a problem of a status and kind, with a detail, as problem+json.
func (h *house) refused(about string, q question, status int, kind string) answer {
	h.Helper()
	a, err := h.try(q)
	assert.NoErrorf(h, err, "%s", about)
	p := a.problem()
	assert.That(h, a.status == status && p.Kind == kind && p.Status == status && p.Detail != "" && p.Title != "" &&
		a.header.Get("Content-Type") == "application/problem+json",
		"%s: %d %s %s; want %d %s", about, a.status, a.header.Get("Content-Type"), a.body, status, kind)
	return a
}

// begin asks ada and bob, as a user.
func (h *house) begin(token, words string) api.Begun {
	h.Helper()
	var b api.Begun
	h.get(question{method: "POST", path: "/api/runs", token: token, body: asking(words)}, &b)
	return b
}

func asking(words string) map[string]any {
	return map[string]any{"assistant": "panel", "words": words,
		"options": map[string]any{"personas": []string{"ada", "bob"}}}
}

// over waits for the end of a run.
func (h *house) over(id string) {
	h.Helper()
	live := h.engine.Live(id)
	if live == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	_, err := live.Wait(ctx)
	assert.Require(h, err == nil, "run %s did not end: %v", id, err)
}

// ended waits for the end of a run, and gives it.
func (h *house) ended(token, id string) api.RunWithResult {
	h.Helper()
	h.over(id)
	var r api.RunWithResult
	h.get(question{path: "/api/runs/" + id, token: token}, &r)
	return r
}

// raw sends bytes and gives the status of what comes back, and all of it.
func (h *house) raw(request string) (status int, all string) {
	h.Helper()
	conn := assert.Must(net.Dial("tcp", h.addr))(h)
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(deadline))
	assert.Must(io.WriteString(conn, request))(h)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	assert.NoErrorf(h, err, "%q", request)
	body := assert.Must(io.ReadAll(resp.Body))(h)
	_ = resp.Body.Close()
	return resp.StatusCode, string(body)
}

// operation is a route of the description.
type operation struct{ id, method, path string }

// operations are all routes of the description.
func (h *house) operations() (all []operation) {
	h.Helper()
	var doc struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	h.get(question{path: "/openapi.json", token: "-"}, &doc)
	for path, methods := range doc.Paths {
		for method, op := range methods {
			all = append(all, operation{op.OperationID, strings.ToUpper(method), path})
		}
	}
	assert.Require(h, len(all) >= 16, "the description has %d routes", len(all))
	return all
}

// people are the users of the house, in memory. They can't be looked up while something is broken.
type people struct {
	teststore.Store
	broken error
}

func newPeople(t testing.TB) *people {
	p := &people{Store: teststore.Empty(t)}
	p.add(t, "ada", user.Bearer, user.Write, adasToken)
	p.add(t, "eve", user.Bearer, user.Write, evesToken)
	p.add(t, "ada", user.Bearer, user.Read, adasReader)
	p.add(t, "ops", user.Bearer, user.Operate, operators)
	p.add(t, "ada", user.Cookie, user.Write, adasCookie)
	p.add(t, "ada", user.SignIn, user.Write, adasOnce)
	return p
}

// add adds a token of a user, who is made with the first.
func (p *people) add(t testing.TB, name string, kind user.Kind, scope user.Scope, secret string) {
	t.Helper()
	year := func(n int) time.Time { return time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC) }
	token := user.Token{ID: strings.TrimPrefix(secret, user.Prefix), User: name, Kind: kind, Scope: scope,
		CreatedAt: year(2020), ExpiresAt: year(2099)}
	err := p.AddUser(t.Context(), user.User{Name: name, Scope: scope, CreatedAt: year(2020)}, token,
		user.HashOf(secret))
	if errors.Is(err, user.ErrExists) {
		err = p.AddToken(t.Context(), token, user.HashOf(secret))
	}
	assert.NoError(t, err)
}

func (p *people) Token(ctx context.Context, hash user.Hash) (user.Token, error) {
	if p.broken != nil {
		return user.Token{}, p.broken
	}
	return p.Store.Token(ctx, hash)
}
