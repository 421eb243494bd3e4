package behaviour_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/config"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/server/user"
)

// patience bounds every wait, on a machine that does much else.
const patience = 2 * time.Minute

// look is the time between two looks at what is waited for.
const look = 50 * time.Millisecond

// cluster is nodes on one database and one vault, a model that they all ask, and the people who ask them.
type cluster struct {
	*testing.T
	db     app.Database // as the test looks at it
	folder string       // of the settings
	vault  string
	model  *modeltest.Server
	nodes  []*process
	people []*person
	over   chan struct{} // closed at the end
	http   *http.Client  // of the people

	mu    sync.Mutex
	slow  time.Duration // what the model takes beside what it takes anyway
	turn  int           // of the nodes
	saw   map[string]int
	story []string
	taken []time.Duration
}

// arrangement is what a cluster is made with.
type arrangement struct {
	database string
	nodes    int
	people   int
	most     int                                    // runs of a node
	by       func(node int, database string) string // the address by which a node reaches the database; nil: as it is
	own      func(node int) []string                // what the environment of a node has besides that of all; nil: nothing
}

// newCluster starts nodes.
func newCluster(t *testing.T, a arrangement) *cluster {
	t.Helper()
	needs.All(t, "nodes, which are processes that wait for leases")
	c := &cluster{T: t, folder: t.TempDir(), vault: t.TempDir(), model: modeltest.NewServer(t),
		over: make(chan struct{}), saw: map[string]int{},
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 50}}}
	c.model.Play(c.play)
	t.Cleanup(func() {
		close(c.over)
		c.http.CloseIdleConnections()
	})
	settings := fmt.Sprintf(
		"server:\n  grace: 1s\n  most_runs: %d\n  folders: {notes: %q}\n  limits: {runs: 1000, requests: 100000, "+
			"bytes: 1000000000}\n", a.most, c.vault)
	assert.NoError(t, os.WriteFile(c.settings(), []byte(settings), 0o600))
	cfg, err := config.Load(config.Options{Home: c.folder, Environ: c.environ(a.database)})
	if err == nil {
		c.db, err = app.OpenDatabase(t.Context(), cfg)
	}
	assert.NoError(t, err)
	t.Cleanup(func() { assert.Nil(t, c.db.Close()) })
	users := user.New(c.db, time.Now)
	for n := range a.people {
		p := &person{c: c, name: fmt.Sprintf("u%02d", n)}
		_, p.token, err = users.Add(t.Context(), p.name, user.Write, time.Hour)
		assert.NoError(t, err)
		assert.NoError(t, os.WriteFile(filepath.Join(c.vault, p.name+".md"), []byte("# Notes of "+p.name+"\n"),
			0o600))
		c.people = append(c.people, p)
	}
	t.Cleanup(c.close)
	for n, name := range []string{"one", "two", "three"}[:a.nodes] {
		p := &process{c: c, name: name, database: a.database, log: newLines()}
		if a.by != nil {
			p.database = a.by(n, a.database)
		}
		if a.own != nil {
			p.own = a.own(n)
		}
		c.nodes = append(c.nodes, p)
		p.start()
	}
	return c
}

func (c *cluster) settings() string { return filepath.Join(c.folder, "settings.yaml") }

// environ is that of every node.
func (c *cluster) environ(database string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.folder, "SIBYL_CONFIG=" + c.settings(), "SIBYL_DATA=" +
		c.folder, "SIBYL_DATABASE=" + database,
		"OPENAI_BASE_URL=" + c.model.BaseURL, "OPENAI_MODEL=player", "OLLAMA_HOST=127.0.0.1:1"}
}

// close ends the nodes, and tells what happened if the test has failed.
func (c *cluster) close() {
	for _, p := range c.nodes {
		p.close()
	}
	if !c.Failed() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Logf("what happened:\n%s", strings.Join(c.story, "\n"))
	for _, p := range c.nodes {
		c.Logf("the log of %s:\n%s", p.name, p.log.withoutRequests())
	}
}

// note keeps what happened, for who looks for the reason of a failure.
func (c *cluster) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.story = append(c.story, time.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// wait waits until it is so.
func (c *cluster) wait(what string, so func() bool) {
	c.Helper()
	ctx, cut := context.WithTimeout(c.Context(), patience)
	defer cut()
	for !so() {
		assert.Require(c, rest(ctx, look) == nil, "waited in vain for %s", what)
	}
}

// rest lets time pass.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// holderAt is the name in leases of the node that listens at an address, "" if none is known.
func (c *cluster) holderAt(address string) string {
	c.Helper()
	now, err := c.db.Now(c.Context())
	if err != nil {
		return "" // the database may be starting
	}
	nodes, err := c.db.Nodes(c.Context(), now)
	if err != nil {
		return ""
	}
	for _, n := range nodes {
		if n.Address == address && n.Lives(now) {
			return n.Holder
		}
	}
	return ""
}

// runs are all runs of all people.
func (c *cluster) runs(f journal.Filter) (all []journal.Run) {
	c.Helper()
	f.Limit = 1000
	for _, p := range c.people {
		err := errors.New("not asked")
		c.wait("the runs of "+p.name, func() bool { // the database may be down
			var theirs []journal.Run
			if theirs, err = c.db.Runs(c.Context(), journal.Owner(p.name), f); err == nil {
				all = append(all, theirs...)
			}
			return err == nil
		})
	}
	return all
}

// drivenBy are the runs whose leases a holder has.
func (c *cluster) drivenBy(holder string) []journal.Run {
	c.Helper()
	return slices.DeleteFunc(c.runs(journal.Filter{Status: journal.Running}), func(r journal.Run) bool {
		return r.LeaseHolder != holder
	})
}

// drives waits until a node drives so many runs.
func (c *cluster) drives(p *process, least int) {
	c.Helper()
	c.wait(fmt.Sprintf("node %s to drive %d runs", p.name, least), func() bool {
		return len(c.drivenBy(p.known())) >= least
	})
}

const sure = "<signal type=\"context_sufficient\"><sources_found>1</sources_found><confidence>0.9</confidence></signal>"

// play is the model: it looks around, appends the note that it is asked for, and says what came of it. What it says
// depends on the conversation alone, so that a repeated request gets the same reply.
func (c *cluster) play(req modeltest.Request) modeltest.Answer {
	question, results, last := "", 0, ""
	for _, m := range req.Messages {
		switch {
		case m.Role == "tool":
			results, last = results+1, m.Content
		case m.Role == "user" && !strings.HasPrefix(m.Content, "[control]"):
			_, question = agent.SplitNote(m.Content)
		}
	}
	c.think(fmt.Sprint(question, results))
	file, tag := fileAndTag(question)
	write := modeltest.Answer{Calls: []model.ToolCall{{ID: fmt.Sprint("call_", results), Name: "vault_write",
		Arguments: fmt.Sprintf(`{"path":%q,"mode":"append","content":"- %s\n"}`, file, tag)}}}
	switch {
	case results == 0:
		return modeltest.Answer{Calls: []model.ToolCall{{ID: "call_a", Name: "vault_list", Arguments: `{}`},
			{ID: "call_b", Name: "vault_search", Arguments: `{"query":"notes"}`}}}
	case results == 2, strings.Contains(last, "has held the lock"):
		return write
	case strings.Contains(last, "Appended to"):
		return modeltest.Answer{Chunks: []string{"Added to `" + file + "`. ", sure}}
	}
	return modeltest.Answer{Chunks: []string{"I can't tell whether the note was written. ",
		"<signal type=\"partial_answer\"><missing>whether it was " +
			"written</missing><confidence>0.9</confidence></signal>"}}
}

// think takes the time that models take: some 100 ms, which differ from turn to turn.
func (c *cluster) think(turn string) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(turn))
	c.mu.Lock()
	takes := time.Duration(200+h.Sum32()%300)*time.Millisecond + c.slow
	c.mu.Unlock()
	t := time.NewTimer(takes)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.over:
	}
}

// slowly has the model take longer, until the function is called.
func (c *cluster) slowly(by time.Duration) (enough func()) {
	set := func(d time.Duration) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.slow = d
	}
	set(by)
	return func() { set(0) }
}

// counts are in order.
func counts(all map[string]int) string {
	var text []string
	for _, what := range slices.Sorted(maps.Keys(all)) {
		text = append(text, fmt.Sprintf("%s: %d", what, all[what]))
	}
	return strings.Join(text, ", ")
}
