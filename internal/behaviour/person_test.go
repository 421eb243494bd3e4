package behaviour_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"sibyl/internal/behaviour/assert"
)

// person is a user, who asks by HTTP as a careful client does: each time that it is not known whether a run was begun,
// the next try asks for another note.
type person struct {
	c           *cluster
	name, token string
	asked       int
}

// words ask for a note; tag is found in it.
func words(file, tag string) string { return "Add a note to " + file + ": " + tag }

// fileAndTag gives the file and the tag of words.
func fileAndTag(words string) (file, tag string) {
	file, tag, _ = strings.Cut(strings.TrimPrefix(words, "Add a note to "), ": ")
	return file, strings.TrimSpace(tag)
}

// answerTime is how long a client waits for a node.
const answerTime = 5 * time.Second

// avoidTime is how long a client asks others after a node has not answered.
const avoidTime = 3 * time.Second

// pick is a node that may answer, in turns.
func (c *cluster) pick() (p *process, address string) {
	now := time.Now()
	c.mu.Lock()
	c.turn++
	turn := c.turn
	c.mu.Unlock()
	for n := range c.nodes {
		p := c.nodes[(turn+n)%len(c.nodes)]
		p.mu.Lock()
		address, avoid := p.address, p.avoid
		p.mu.Unlock()
		if address != "" && avoid.Before(now) {
			return p, address
		}
	}
	return c.nodes[turn%len(c.nodes)], c.nodes[turn%len(c.nodes)].currentAddress()
}

// answered is what a node answers, or that it does not.
type answered struct {
	status int
	kind   string // of a problem, or of what went wrong with the connection
	after  time.Duration
	body   []byte
}

// mayRetry says that it may be asked again, later.
func (r answered) mayRetry() bool {
	return r.status == 0 || r.status == http.StatusServiceUnavailable || r.status == http.StatusTooManyRequests ||
		r.kind == "unsure"
}

// call asks a node.
func (u *person) call(ctx context.Context, p *process, address, method, path, body string) answered {
	return u.callWith(ctx, p, address, method, path, body, nil)
}

func (u *person) callWith(
	ctx context.Context, p *process, address, method, path, body string, header map[string]string,
) (r answered) {
	defer func() {
		u.c.mu.Lock()
		defer u.c.mu.Unlock()
		u.c.saw[fmt.Sprintf("%s %d %s", method, r.status, r.kind)]++
	}()
	r.after = 100 * time.Millisecond
	if address == "" {
		r.kind = "no node"
		return r
	}
	ctx, cut := context.WithTimeout(ctx, answerTime)
	defer cut()
	req, err := http.NewRequestWithContext(ctx, method, address+path, strings.NewReader(body))
	if err != nil {
		u.c.Error(err)
		return r
	}
	req.Header.Set("Authorization", "Bearer "+u.token)
	for name, value := range header {
		req.Header.Set(name, value)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := u.c.http.Do(req)
	if err == nil {
		defer func() { _ = res.Body.Close() }()
		r.body, err = io.ReadAll(res.Body)
	}
	if err != nil {
		p.mu.Lock()
		p.avoid = time.Now().Add(avoidTime)
		p.mu.Unlock()
		r.kind = failureOf(err)
		return r
	}
	r.status = res.StatusCode
	if r.status >= http.StatusBadRequest {
		var problem struct{ Kind string }
		assert.That(u.c, json.Unmarshal(r.body, &problem) == nil, "%s %s answers %d with %q", method, path, r.status, r.body)
		r.kind = problem.Kind
	}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		r.after = time.Duration(seconds) * time.Second
	}
	return r
}

// failureOf says in a word why there is no answer.
func failureOf(err error) string {
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection"
	}
	return "connection lost"
}

// begin asks for a note, at any node, until a run has begun, and gives its id.
func (u *person) begin(ctx context.Context, number int) (run string) {
	for try := 1; ; try++ {
		body, err := json.Marshal(map[string]any{"assistant": "oracle",
			"words":   words(u.name+".md", fmt.Sprintf("%s-%d-%d", u.name, number, try)),
			"options": map[string]any{"vault": "notes"}})
		if err != nil {
			u.c.Error(err)
			return ""
		}
		p, address := u.c.pick()
		r := u.call(ctx, p, address, http.MethodPost, "/api/runs", string(body))
		var begun struct{ Run string }
		switch {
		case r.status == http.StatusCreated && json.Unmarshal(r.body, &begun) == nil && begun.Run != "":
			return begun.Run
		case !r.mayRetry():
			u.c.Errorf("%s asks for a run and is answered %d %s: %s", u.name, r.status, r.kind, bytes.TrimSpace(r.body))
			return ""
		case rest(ctx, r.after) != nil:
			u.c.Errorf("%s could begin no run: the last answer is %d %s", u.name, r.status, r.kind)
			return ""
		}
	}
}

// open asks, at any node, which runs have not ended.
func (u *person) open(ctx context.Context) (open map[string]bool, ok bool) {
	for {
		p, address := u.c.pick()
		r := u.call(ctx, p, address, http.MethodGet, "/api/runs?open=true&limit=200", "")
		var list struct{ Runs []struct{ ID string } }
		switch {
		case r.status == http.StatusOK && json.Unmarshal(r.body, &list) == nil:
			open = map[string]bool{}
			for _, run := range list.Runs {
				open[run.ID] = true
			}
			return open, true
		case !r.mayRetry():
			u.c.Errorf("%s asks for the open runs and is answered %d %s: %s", u.name, r.status, r.kind,
				bytes.TrimSpace(r.body))
			return nil, false
		case rest(ctx, r.after) != nil:
			return nil, false
		}
	}
}

// pollEvery is how often a person looks whether a run has ended.
const pollEvery = 400 * time.Millisecond

// work asks for so many notes, a few at a time, and waits for the end of each.
func (u *person) work(ctx context.Context, notes, atOnce int) {
	mine := map[string]bool{}
	for notes > 0 || len(mine) > 0 {
		for ; notes > 0 && len(mine) < atOnce; notes-- {
			u.asked++
			run := u.begin(ctx, u.asked)
			if run == "" {
				return
			}
			mine[run] = true
		}
		if rest(ctx, pollEvery) != nil {
			u.c.Errorf("%s waited in vain for the end of %d runs: %v", u.name, len(mine), mine)
			return
		}
		open, ok := u.open(ctx)
		for run := range mine {
			if ok && !open[run] {
				delete(mine, run)
			}
		}
	}
}

// load has the people ask for so many notes; wait waits for the end of all of them.
func (c *cluster) load(notes, atOnce int) (wait func()) {
	ctx, cut := context.WithTimeout(c.Context(), 2*patience)
	var all sync.WaitGroup
	for n, u := range c.people {
		share := notes / len(c.people)
		if n < notes%len(c.people) {
			share++
		}
		all.Go(func() { u.work(ctx, share, atOnce) })
	}
	wait = sync.OnceFunc(func() { all.Wait(); cut() })
	c.Cleanup(wait)
	return wait
}
