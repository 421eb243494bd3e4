package nodes_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"sibyl/internal/inquiry/record"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/store/pgtest"
)

// TestInquiriesGoOnThoughTheirNodeIsKilled: another node ends them; no pair is lost or changed, and nothing is asked
// twice.
func TestInquiriesGoOnThoughTheirNodeIsKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t, arrangement{database: pgtest.New(t), nodes: 2, people: 3, most: room})
	c.model.Play(func(req modeltest.Request) modeltest.Answer { // the witness
		c.think(req.Messages[len(req.Messages)-1].Content)
		return modeltest.Answer{
			Chunks: []string{"The Oder bridge was closed on 3 May 2021, as its cables had corroded."}}
	})
	ctx, cut := context.WithTimeout(t.Context(), patience)
	defer cut()
	victim, other := c.nodes[0], c.nodes[1]
	begun := map[*person]string{}
	before := map[*person]record.Session{}
	for _, p := range c.people {
		r := p.callWith(ctx, victim, victim.currentAddress(), http.MethodPost, "/api/inquiries",
			`{"hypothesis":"The Oder bridge was closed because of corrosion","witness":"openai:player","detective":"offline:rules","limit":5}`,
			map[string]string{"Idempotency-Key": "inquiry"})
		var answer struct{ ID string }
		if r.status != http.StatusAccepted || json.Unmarshal(r.body, &answer) != nil {
			t.Fatalf("begun with %d %s", r.status, r.body)
		}
		begun[p] = answer.ID
	}
	read := func(p *person) (s record.Session) {
		r := p.call(ctx, other, other.currentAddress(), http.MethodGet, "/api/inquiries/"+begun[p], "")
		if r.status != http.StatusOK {
			return s
		}
		s, err := record.Unmarshal(r.body)
		if broken := s.Validate(); err != nil || len(broken) > 0 {
			t.Errorf("%s has %s: %v %v", p.name, r.body, err, broken)
		}
		return s
	}
	last := c.people[len(c.people)-1]
	c.wait("the first answer of "+last.name, func() bool { return len(read(last).Pairs) > 0 })
	for _, p := range c.people {
		before[p] = read(p)
	}
	victim.kill()
	for _, p := range c.people {
		var s record.Session
		c.wait("the end of the inquiry of "+p.name, func() bool {
			s = read(p)
			return s.ID != "" && s.Status != record.Running
		})
		if s.EndReason == record.Broken || s.EndReason == record.TimedOut || len(s.Pairs) == 0 {
			t.Errorf("%s has %s, %s, after %d pairs: %+v", p.name, s.Status, s.EndReason, len(s.Pairs), s.AuditTrail)
		}
		var questions []string
		for n, pair := range s.Pairs {
			if slices.Contains(questions, pair.Question) {
				t.Errorf("%s is told of “%s” twice", p.name, pair.Question)
			}
			questions = append(questions, pair.Question)
			if n < len(before[p].Pairs) && (before[p].Pairs[n].Question != pair.Question ||
				before[p].Pairs[n].Answer != pair.Answer || !before[p].Pairs[n].Timestamp.Equal(pair.Timestamp)) {
				t.Errorf("pair %d of %s was %+v, and is %+v", n+1, p.name, before[p].Pairs[n], pair)
			}
		}
		again := p.callWith(ctx, other, other.currentAddress(), http.MethodPost, "/api/inquiries",
			`{"hypothesis":"The Oder bridge was closed because of corrosion","witness":"openai:player","detective":"offline:rules","limit":5}`,
			map[string]string{"Idempotency-Key": "inquiry"})
		var answer struct{ ID string }
		if again.status != http.StatusAccepted || json.Unmarshal(again.body, &answer) != nil || answer.ID != begun[p] {
			t.Errorf("sent again to another node, it is %d %s", again.status, again.body)
		}
	}
}
