package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/task"
)

func TestTroubleOfTheJournalIsToldByItsKind(t *testing.T) {
	store := &faulty{}
	h := newHouse(t)
	store.Store = h.store
	h.store = store
	h.open()
	b := h.begin("", "Tea?")
	h.ended("", b.Run)
	for _, c := range []struct {
		err        error
		status     int
		kind       string
		retryAfter bool
	}{
		{journal.ErrLocked, 503, "journal_locked", true},
		{journal.ErrFull, 507, "journal_full", false},
		{journal.ErrReadOnly, 503, "journal_read_only", true},
		{journal.ErrUnreachable, 503, "journal_unreachable", true},
		{journal.ErrUnsure, 500, "unsure", false},
		{journal.ErrCorrupt, 500, "internal", false},
		{journal.ErrInvalid, 400, "invalid_request", false},
		{journal.ErrConsumed, 409, "consumed", false},
		{&journal.ClaimedError{Key: "hunter2", Run: "hunter2"}, 409, "claimed", false},
		{journal.ErrConflict, 409, "conflict", false},
		{journal.ErrExists, 409, "conflict", false},
		{journal.ErrLeased, 409, "leased", false},
		{context.Canceled, 499, "gone", false},
		{context.DeadlineExceeded, 503, "timeout", true},
		{errDown, 500, "internal", false},
	} {
		store.fail(fmt.Errorf("table of /srv/hunter2: %w", c.err))
		for _, q := range []question{
			{method: "POST", path: "/api/runs", body: asking("Tea?")},
			{path: "/api/runs"},
			{method: "PATCH", path: "/api/sessions/" + b.Session, body: map[string]string{"title": "Tea"}},
		} {
			a := h.refused(fmt.Sprintf("%s %s with %v", q.method, q.path, c.err), q, c.status, c.kind)
			assert.That(t, (a.header.Get("Retry-After") != "") == c.retryAfter && !strings.Contains(string(a.body), "hunter2"),
				"%v: %v %s", c.err, a.header, a.body)
			if c.status >= 500 {
				h.log.waitFor(t, fmt.Sprintf(`"request_id":%q,"kind":%q`, a.header.Get("X-Request-Id"), c.kind))
			}
		}
		store.fail(nil)
	}
}

func TestRequestOfWhichNobodyKnowsIsToBeSentAgainIfItHasAKey(t *testing.T) {
	store := &faulty{}
	h := newHouse(t)
	store.Store = h.store
	h.store = store
	h.open()
	b := h.begin("", "Tea?")
	h.ended("", b.Run)
	store.fail(journal.ErrUnsure)
	for _, q := range []question{
		{method: "POST", path: "/api/runs", body: asking("Milk?")},
		{method: "PATCH", path: "/api/sessions/" + b.Session, body: map[string]string{"title": "Tea"}}, // it takes no key
	} {
		takesKey := q.method == "POST"
		for _, key := range []string{"", "k"} {
			q.header = map[string]string{"Idempotency-Key": key}
			a := h.refused(q.path+" with the key "+key, q, 500, "unsure")
			again := takesKey && key != ""
			assert.That(t, (a.problem().Code == "request.unsure") == again &&
				strings.Contains(string(a.body), "same Idempotency-Key") == again &&
				strings.Contains(string(a.body), "Look whether it was done") != again &&
				(a.header.Get("Retry-After") != "") == again, "%s, key %q: %v %s", q.path, key, a.header, a.body)
		}
	}
}

// unconfirmed is a store whose reads see what a failover may lose, as long as it fails.
type unconfirmed struct{ *faulty }

func (u unconfirmed) Confirm(context.Context) error { return u.failing() }

func TestRunOfAKeyIsGivenAgainOnlyOnceItIsConfirmed(t *testing.T) {
	h := newHouse(t)
	store := &faulty{Store: h.store}
	h.store = unconfirmed{store}
	h.open()
	q := question{method: "POST", path: "/api/runs", body: asking("Tea?"), header: map[string]string{"Idempotency-Key": "k"}}
	var first, again struct{ Run string }
	h.get(q, &first)
	h.ended("", first.Run)
	store.fail(journal.ErrUnsure)
	h.refused("the same again", q, 500, "unsure")
	store.fail(nil)
	h.get(q, &again)
	assert.Equalf(t, again.Run, first.Run, "the run")
}

func TestWhatIsWrongWithARequestComesAsACodeWithItsValues(t *testing.T) {
	store := &faulty{}
	h := newHouse(t)
	store.Store = h.store
	h.store = store
	h.open()
	for code, err := range map[string]error{
		"request.task":  &task.Invalid{Field: "title", Problem: "has 300 characters; 255 at most"},
		"request.model": assistant.ModelError(nil),
		"request.empty": &session.Invalid{Kind: session.Empty, What: "the name", Problem: "is empty"},
		"":              &task.Invalid{Field: "limit", Problem: "must be 1 or more"},
	} {
		store.fail(fmt.Errorf("here: %w", err))
		p := h.refused(code, question{path: "/api/runs"}, 400, "invalid_request").problem()
		assert.That(t, p.Code == code && (code != "request.task" || p.Values["title"].Text == "255"), "%v: %+v", err, p)
	}
}

// slowToBegin is a store that takes a run in when nobody waits for it any more, as one does that is locked for long.
type slowToBegin struct {
	journal.Store
	asked chan struct{}
}

func (s slowToBegin) Begin(ctx context.Context, b journal.Beginning) error {
	s.asked <- struct{}{}
	<-ctx.Done()
	return ctx.Err()
}

// Whoever was not answered asks again, and would have two runs.
func TestRequestWhoseClientHasGoneBeginsNoRun(t *testing.T) {
	h := newHouse(t)
	slow := slowToBegin{h.store, make(chan struct{})}
	h.store = slow
	h.open()
	body := assert.Must(json.Marshal(asking("Tea?")))(t)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req := assert.Must(http.NewRequestWithContext(ctx, http.MethodPost, h.url+"/api/runs", bytes.NewReader(body)))(t)
	req.Header.Set("Authorization", "Bearer "+adasToken)
	req.Header.Set("Content-Type", "application/json")
	answered := make(chan error, 1)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			err = fmt.Errorf("it is answered %s", resp.Status)
			_ = resp.Body.Close()
		}
		answered <- err
	}()
	select {
	case <-slow.asked:
	case err := <-answered:
		t.Fatal(err)
	case <-time.After(deadline):
		t.Fatal("no run was to be begun")
	}
	leave()
	assert.ErrorIs(t, <-answered, context.Canceled)
	h.log.waitFor(t, `"status":499`)
}

// lostAfterBegin is a store that is lost as soon as a run has begun.
type lostAfterBegin struct{ *faulty }

func (l lostAfterBegin) Begin(ctx context.Context, b journal.Beginning) error {
	defer l.fail(journal.ErrUnreachable)
	return l.Store.Begin(ctx, b)
}

func (l lostAfterBegin) Run(ctx context.Context, o journal.Owner, id string) (journal.Run, error) {
	if err := l.failing(); err != nil {
		return journal.Run{}, err
	}
	return l.Store.Run(ctx, o, id)
}

// Whoever was told of a failure would ask again, and have two runs.
func TestRunThatHasBegunIsToldSoThoughTheJournalIsLostAtOnce(t *testing.T) {
	h := newHouse(t)
	store := &faulty{Store: h.store}
	h.store = lostAfterBegin{store}
	h.open()
	b := h.begin("", "Tea?")
	assert.That(t, b.State == "running" && b.Session != "", "it is told to be %+v", b)
	h.refused("the run", question{path: "/api/runs/" + b.Run}, 503, "journal_unreachable")
	store.fail(nil)
	h.get(question{path: "/api/runs/" + b.Run}, nil)
}

func TestServerThatStopsBeginsNothingMore(t *testing.T) {
	h := newHouse(t).open()
	b := h.begin("", "Tea?")
	h.ended("", b.Run)
	h.engine.Drain(t.Context())
	a := h.refused("a run", question{method: "POST", path: "/api/runs", body: asking("Milk?")}, 503, "draining")
	assert.That(t, a.header.Get("Retry-After") != "", "nothing says when to try again")
	h.get(question{path: "/api/runs/" + b.Run}, nil)
}

func TestPanicIsAProblemWithoutDetailsAndALineInTheLog(t *testing.T) {
	h := newHouse(t)
	h.panel.Begin = func(_ context.Context, b assistant.Request) (run.Spec, error) {
		if strings.Contains(b.Words, "index") {
			return run.Spec{Title: string(make([]byte, len(b.Words))[999:])}, nil
		}
		panic("could not take: " + b.Words)
	}
	h.open()
	for _, words := range []string{"hunter2", "index hunter2"} {
		a := h.refused("a panic", question{method: "POST", path: "/api/runs", body: asking(words)}, 500, "internal")
		line := h.log.waitFor(t, a.header.Get("X-Request-Id"))
		assert.That(t, strings.Contains(line, "a handler panicked") && strings.Contains(line, "problem_test.go"),
			"the log says %s", line)
		all := string(a.body) + h.log.text()
		assert.That(t, !strings.Contains(all, "hunter2") && !strings.Contains(string(a.body), ".go"),
			"somewhere stand words of the user: %s", all)
	}
	h.log.waitFor(t, "slice bounds out of range")
	h.get(question{path: "/api/me"}, nil)
}

// Somebody's words go in at every place there is, with and without the right to; none of them comes back, and none is
// logged.
func TestNothingThatWasSentIsRepeatedOrLogged(t *testing.T) {
	const secret = "hunter2"
	h := newHouse(t)
	h.open()
	for _, q := range []question{
		{path: "/" + secret},
		{path: "/api/" + secret},
		{path: "/api/runs/" + secret},
		{path: "/api/runs/" + secret + "/explanation"},
		{path: "/api/sessions/" + secret + "/export?format=" + secret},
		{path: "/api/sessions/x?" + secret + "=1"},
		{path: "/api/runs?" + secret + "=" + secret},
		{path: "/api/runs?limit=" + secret},
		{path: "/api/runs?after=" + secret},
		{path: "/api/runs?assistant=" + secret + "%00"},
		{path: "/api/me", token: secret},
		{path: "/api/me", cookie: "sibyl_" + h.port() + "=" + secret},
		{path: "/api/me", host: secret + ".example"},
		{path: "/api/me", header: map[string]string{"Origin": "https://" + secret + ".example"}, cookie: "a=b"},
		{path: "/api/me", header: map[string]string{"X-Request-Id": secret, "User-Agent": secret, "Referer": secret,
			"X-Forwarded-For": secret, "Accept": secret}},
		{method: strings.ToUpper(secret), path: "/api/me"},
		{method: "POST", path: "/api/sign-in", token: "-", body: map[string]string{"token": secret}},
		{method: "POST", path: "/api/sign-in", token: "-", body: map[string]string{secret: secret}},
		{method: "POST", path: "/api/runs", body: secret},
		{method: "POST", path: "/api/runs", body: map[string]string{"assistant": secret, "words": secret}},
		{method: "POST", path: "/api/runs", body: map[string]any{"assistant": "panel", "words": secret,
			"options": map[string]any{secret: secret}}},
		{method: "POST", path: "/api/runs", body: map[string]any{"assistant": "panel", "words": secret,
			"session": secret, "options": map[string]any{"personas": []string{secret}}}},
		{method: "POST", path: "/api/runs", body: map[string]any{"assistant": "panel", "words": 7,
			secret: []string{secret}}},
		{method: "POST", path: "/api/runs", body: asking("Tea?"), header: map[string]string{"Content-Type": secret +
			"/" + secret}},
		{method: "PATCH", path: "/api/sessions/x", body: map[string]string{"title": secret}},
	} {
		a := h.ask(q)
		var headers strings.Builder
		_ = a.header.Write(&headers)
		assert.That(t, !strings.Contains(strings.ToLower(string(a.body)+headers.String()), secret),
			"%s %s: the answer repeats it: %s %s", q.method, q.path, headers.String(), a.body)
		assert.That(t, a.status != 422 && a.status < 500, "%s %s: %d", q.method, q.path, a.status)
	}
	b := h.begin("", secret+" in a question that is answered")
	h.ended("", b.Run)
	h.log.waitFor(t, b.Run)
	assert.That(t, !strings.Contains(strings.ToLower(h.log.text()), secret), "the log has it:\n%s", h.log.text())
}

func TestLineOfARequestSaysWhoAskedWhatAndHowItWent(t *testing.T) {
	h := newHouse(t).open()
	b := h.begin("", "Tea?")
	a := h.get(question{path: "/api/runs/" + b.Run}, nil)
	var line struct {
		Method, Route, User string
		Status              int
		RunID               string   `json:"run_id"`
		TookMS              *float64 `json:"took_ms"`
	}
	assert.NoError(t, json.Unmarshal([]byte(h.log.waitFor(t, a.header.Get("X-Request-Id"))), &line))
	assert.That(t, line.Method == "GET" && line.Route == "GET /api/runs/{run}" && line.User == "ada" &&
		line.Status == 200 && line.RunID == b.Run && line.TookMS != nil, "the line is %+v", line)
}

func TestWhatStandsBeforeTheAPINamesRequestsAndLearnsTheirRoutes(t *testing.T) {
	h := newHouse(t)
	inner, route := h.handler(), make(chan string, 1)
	h.listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "named-before")
		inner.ServeHTTP(w, r)
		route <- r.Pattern
	}))
	a := h.ask(question{path: "/api/runs/x"})
	assert.That(t, a.header.Get("X-Request-Id") == "named-before", "the answer is named %q", a.header.Get("X-Request-Id"))
	got := <-route
	assert.That(t, got == "GET /api/runs/{run}", "the route is told as %q", got)
	h.log.waitFor(t, `"request_id":"named-before"`)
}
