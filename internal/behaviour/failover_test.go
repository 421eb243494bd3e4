package behaviour_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/store/pgtest"
)

// said is what a request for a task was answered; status 0: the connection was lost.
type said struct {
	status           int
	kind, hint, wait string
	id               int64
}

// adds asks a node for a task under a key, and waits as long as its commit may.
func (u *person) adds(p *process, title, key string) (s said) {
	u.c.Helper()
	ctx, cut := context.WithTimeout(u.c.Context(), patience)
	defer cut()
	req := assert.Must(http.NewRequestWithContext(ctx, http.MethodPost, p.currentAddress()+"/api/tasks",
		strings.NewReader(`{"title":"`+title+`"}`)))(u.c)
	req.Header.Set("Authorization", "Bearer "+u.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	resp, err := u.c.http.Do(req)
	if err != nil {
		return s
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	var answer struct {
		Kind, Hint string
		ID         int64
	}
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	assert.That(u.c, err == nil, "the answer is %s, %v", body, err)
	return said{resp.StatusCode, answer.Kind, answer.Hint, resp.Header.Get("Retry-After"), answer.ID}
}

// until repeats a request that may be repeated, until it is done.
func (u *person) until(p *process, title, key string) (s said) {
	u.c.Helper()
	u.c.wait(title+" to be added", func() bool {
		s = u.adds(p, title, key)
		return s.status/100 == 2
	})
	return s
}

// titles are those of all tasks.
func (u *person) titles(p *process) (all []string) {
	u.c.Helper()
	var list struct{ Tasks []struct{ Title string } }
	u.c.ask(p, u, http.MethodGet, "/api/tasks", nil, &list)
	for _, one := range list.Tasks {
		all = append(all, one.Title)
	}
	return all
}

// counted says how often each title is there.
func (u *person) counted(p *process, want map[string]int) {
	u.c.Helper()
	found := map[string]int{}
	for _, title := range u.titles(p) {
		found[title]++
	}
	for title, n := range want {
		assert.That(u.c, found[title] == n, "the task %q is there %d times, want %d", title, found[title], n)
	}
}

// awaitCommit waits until a change of the task list waits for a standby.
func (c *cluster) awaitCommit(dsn string) {
	c.Helper()
	conn := assert.Must(pgx.Connect(c.Context(), dsn))(c)
	defer func() { _ = conn.Close(c.Context()) }() // it was only read from
	c.wait("a task whose commit waits for a standby", func() (waits bool) {
		assert.NoError(c, conn.QueryRow(c.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity AS a JOIN pg_locks AS l
			USING (pid) JOIN pg_class AS r ON r.oid = l.relation WHERE a.wait_event = 'SyncRep' AND r.relname = 'task'
			AND l.mode = 'RowExclusiveLock')`).Scan(&waits))
		return waits
	})
}

// standbys sets which standbys commits wait for.
func (c *cluster) standbys(dsn, names string) {
	c.Helper()
	conn := assert.Must(pgx.Connect(c.Context(), dsn+"&synchronous_commit=local"))(c)
	defer func() { _ = conn.Close(c.Context()) }() // what was to be done is done
	for _, statement := range []string{`ALTER SYSTEM SET synchronous_standby_names = '` + names + `'`, `SELECT pg_reload_conf()`} {
		assert.Must(conn.Exec(c.Context(), statement))(c)
	}
	c.wait("the setting to hold", func() (holds bool) {
		assert.NoError(c, conn.QueryRow(c.Context(), `SELECT current_setting('synchronous_standby_names') = $1`, names).Scan(&holds))
		return holds
	})
}

// A server is asked over HTTP while its primary dies in a commit, and while it ends itself in one.
func TestWriteInAFailoverIsUnsureAndIsDoneOnceWhenItIsSentAgain(t *testing.T) {
	needs.Long(t, "a primary, a standby and the time that a commit may wait")
	t.Parallel()
	primary := pgtest.Start(t, pgtest.Options{Durable: true})
	name := assert.Must(primary.Create(t.Context()))(t)
	standby := primary.Standby(t)
	c := newCluster(t, arrangement{database: primary.DSN(name, standby), nodes: 1, people: 1, most: room})
	one, u := c.nodes[0], c.people[0]
	before := u.adds(one, "before", "a")
	assert.Require(t, before.status == http.StatusCreated, "a task is answered %+v", before)

	standby.Stop(t)
	during := make(chan said, 1)
	go func() { during <- u.adds(one, "during", "b") }()
	c.awaitCommit(primary.DSN(name))
	primary.Kill(t)
	s := <-during
	assert.That(t, s.status == http.StatusInternalServerError && s.kind == "unsure" && s.wait != "" &&
		strings.Contains(s.hint, "same Idempotency-Key"), "what was lost in its commit is answered %+v", s)

	standby.Restart(t)
	standby.Promote(t)
	s = u.until(one, "during", "b")
	again := u.until(one, "during", "b")
	assert.That(t, again.id == s.id, "sent again it is the task %d, and was %d", again.id, s.id)
	u.counted(one, map[string]int{"before": 1, "during": 1})

	// What it had not confirmed when it was to end, it does not say to be done, and ends in time.
	c.standbys(standby.DSN(name), "*")
	go func() { during <- u.adds(one, "at the end", "c") }()
	c.awaitCommit(standby.DSN(name))
	took := one.terminate(20 * time.Second)
	c.note("it took %v to end", took)
	s = <-during
	assert.That(t, s.status == 0 || s.kind == "unsure", "a commit that was open at the end is answered %+v", s)
	c.standbys(standby.DSN(name), "")
	one.start()
	u.until(one, "at the end", "c")
	u.counted(one, map[string]int{"before": 1, "during": 1, "at the end": 1})
}
