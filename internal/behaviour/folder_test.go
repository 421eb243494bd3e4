package behaviour_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/cli"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/model/modeltest"
	records "sibyl/internal/run"
	"sibyl/internal/store/pgtest"
)

// oracles are the oracles of a sitting in these tests, which its node alone has files of.
var oracles = [...]string{"Quick", "Slow", "Patient"}

// sessionsCluster is two nodes that share a folder of sessions, and a third with a folder of its own. The files of
// oracles are on the first. All oracles but the first wait for open.
func sessionsCluster(t *testing.T) (c *cluster, open func()) {
	t.Helper()
	shared, other, texts := t.TempDir(), t.TempDir(), t.TempDir()
	for _, name := range oracles {
		text := "# " + name + "\n\nYou are " + name + ".\n\n{{CONTEXT}}\n"
		assert.NoError(t, os.WriteFile(filepath.Join(texts, strings.ToLower(name)+".md"), []byte(text), 0o600))
	}
	c = newCluster(t, arrangement{database: pgtest.New(t), nodes: 3, people: 1, most: room, own: func(n int) []string {
		return [][]string{{"SIBYL_SESSIONS=" + shared, "ORACLES_DIR=" + texts}, {"SIBYL_SESSIONS=" + shared},
			{"SIBYL_SESSIONS=" + other}}[n]
	}})
	var gate atomic.Pointer[chan struct{}]
	shut := make(chan struct{})
	gate.Store(&shut)
	c.model.Play(func(req modeltest.Request) modeltest.Answer {
		asked := req.Messages[0].Content + req.Messages[len(req.Messages)-1].Content
		for _, name := range oracles {
			if !strings.Contains(asked, "You are "+name) {
				continue
			}
			if name != oracles[0] {
				select {
				case <-*gate.Load():
				case <-c.over:
				}
			}
			return modeltest.Answer{Chunks: []string{name + " has heard it."}}
		}
		return c.play(req)
	})
	return c, func() { close(*gate.Load()) }
}

// sit begins a session of the Council at a node, and a sitting about it. The node drives it, and one oracle has answered.
func (c *cluster) sit(p *process, u *person) (id string, sitting journal.Run) {
	c.Helper()
	var s struct {
		ID string `json:"session_id"`
	}
	c.ask(p, u, http.MethodPost, "/api/council/sessions", map[string]any{"language": "en"}, &s)
	c.ask(p, u, http.MethodPost, "/api/council/sessions/"+s.ID+"/entries", map[string]any{"text": "We move in May."}, nil)
	var begun struct{ Run string }
	c.ask(p, u, http.MethodPost, "/api/runs", map[string]any{"assistant": council.Name, "words": "the move",
		"options": map[string]any{"session": s.ID, "oracles": oracles}}, &begun)
	c.wait("the first oracle to have answered", func() bool {
		ended := c.runs(journal.Filter{Assistant: council.MemberName, Status: journal.Done})
		return slices.ContainsFunc(ended, func(r journal.Run) bool { return strings.HasPrefix(r.Title, oracles[0]) })
	})
	return s.ID, assert.Must(c.db.Run(c.Context(), journal.Owner(u.name), begun.Run))(c)
}

// ask is a request that is answered with what is expected.
func (c *cluster) ask(p *process, u *person, method, path string, body, into any) {
	c.Helper()
	text := ""
	if body != nil {
		text = string(assert.Must(json.Marshal(body))(c))
	}
	r := u.call(c.Context(), p, p.currentAddress(), method, path, text)
	assert.Require(c, r.status/100 == 2, "%s answers %s %s with %d: %s", p.name, method, path, r.status, r.body)
	if into != nil {
		assert.NoError(c, json.Unmarshal(r.body, into))
	}
}

// doctor is what ‘sibyl doctor’ finds of something where a node is.
func (p *process) doctor(what string) (ok bool, says string) {
	p.c.Helper()
	var out bytes.Buffer
	cli.Main(p.c.Context(), cli.Program{Build: "test"}, []string{"doctor", "--json"},
		append(p.c.environ(p.database), p.own...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: io.Discard})
	var all []struct {
		What, Says string
		OK         bool
	}
	assert.NoError(p.c, json.Unmarshal(out.Bytes(), &all))
	for _, one := range all {
		if one.What == what {
			return one.OK, one.Says
		}
	}
	return false, "nothing"
}

// everybodyAnsweredOnce wants a session to hold one answer of each oracle of a sitting that is done.
func (c *cluster) everybodyAnsweredOnce(p *process, u *person, id string, sitting journal.Run) {
	c.Helper()
	ended := c.waitForEnd(sitting)
	assert.That(c, ended.Status == journal.Done, "the sitting is %s (%s)", ended.Status, ended.Reason)
	var s session.Session
	c.ask(p, u, http.MethodGet, "/api/council/sessions/"+id, nil, &s)
	var names []string
	for _, a := range s.Answers {
		names = append(names, a.OracleName)
	}
	slices.Sort(names)
	want := slices.Sorted(slices.Values(oracles[:]))
	assert.That(c, slices.Equal(names, want), "the session %s has answers of %q, want %q", id, names, want)
}

// tookNothing wants a node to have resumed no run of the Council.
func (c *cluster) tookNothing(holder string) {
	c.Helper()
	for _, name := range []string{council.Name, council.MemberName} {
		for _, r := range c.runs(journal.Filter{Assistant: name}) {
			for _, rec := range c.recordsOf(r) {
				body, _ := assert.Must(records.Read(rec))(c).(*records.ResumeRecord)
				assert.That(c, body == nil || body.Holder != holder, "a node without the sessions has resumed %s", r.Title)
			}
		}
	}
}

func TestSittingWhoseNodeIsKilledIsFinishedByANodeWithItsFolderAlone(t *testing.T) {
	t.Parallel()
	c, open := sessionsCluster(t)
	one, two, three, u := c.nodes[0], c.nodes[1], c.nodes[2], c.people[0]
	refused := u.call(t.Context(), three, three.currentAddress(), http.MethodGet, "/api/council/sessions", "")
	assert.That(t, refused.status == http.StatusServiceUnavailable && refused.kind == "sessions_away",
		"a node without the sessions answers %d %s: %s", refused.status, refused.kind, refused.body)
	assert.Contains(t, "its log", three.log.String(), "this node has no access to the Council's sessions", "SIBYL_SESSIONS",
		session.MarkFile)
	for _, path := range []string{"/api/tasks", "/api/find?q=May", "/api/inquiries", "/api/council/oracles"} {
		c.ask(three, u, http.MethodGet, path, nil, nil)
	}

	for p, ok := range map[*process]bool{two: true, three: false} {
		found, says := p.doctor("sessions")
		assert.That(t, found == ok && strings.Contains(says, "no access") != ok,
			"the doctor on %s says of the sessions: %v, %s", p.name, found, says)
	}

	id, sitting := c.sit(one, u)
	one.kill()
	open()
	c.everybodyAnsweredOnce(two, u, id, sitting)
	c.tookNothing(three.known())
}

func TestSittingWaitsWhileNoNodeHasItsFolderAndGoesOnOnceOneHas(t *testing.T) {
	t.Parallel()
	c, open := sessionsCluster(t)
	one, two, three, u := c.nodes[0], c.nodes[1], c.nodes[2], c.people[0]
	two.kill()
	id, sitting := c.sit(one, u)
	c.slowly(patience)
	note := c.beginAt(one, u)
	holder := one.known()
	at := one.kill()
	// That the third node takes the other run up shows that it has looked for runs.
	c.handedOver([]journal.Run{note}, holder, at)
	now := assert.Must(c.db.Run(t.Context(), sitting.Owner, sitting.ID))(t)
	assert.That(t, now.Status == journal.Running, "the sitting is %s (%s)", now.Status, now.Reason)
	c.tookNothing(three.known())
	resumed := u.call(t.Context(), three, three.currentAddress(), http.MethodPost, "/api/runs/"+sitting.ID+"/resume", "")
	assert.That(t, resumed.kind == "sessions_away", "resuming it there is answered %d %s: %s", resumed.status,
		resumed.kind, resumed.body)

	open()
	two.start()
	c.everybodyAnsweredOnce(two, u, id, sitting)
	c.tookNothing(three.known())
}
