package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

func TestRunThatIsSetAsideIsShownForcedAndCancelled(t *testing.T) {
	for name, force := range map[string]bool{"forced": true, "cancelled": false} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t).open()
			release := h.holds("ada")
			dying := &faulty{Store: h.store}
			dead, _ := h.service("dead", dying, h.panel)
			left := assert.Must(dead.Submit(t.Context(), "ada", service.Request{Assistant: "panel",
				Words: "Tea?", Options: "ada bob"}))(t)
			dying.fail(errDown)
			release()
			_, _ = left.Driven.Wait(t.Context())
			for n := range journal.MaxTries {
				now := time.Now().Add(time.Duration(n+1) * time.Hour)
				assert.NoError(t, h.store.Acquire(t.Context(), "ada", left.Run, fmt.Sprint("dead ", n), now, now.Add(time.Minute)))
			}
			at := "/api/runs/" + left.Run
			var all api.Runs
			h.get(question{path: "/api/runs"}, &all)
			if r := all.Runs[0]; r.State != service.SetAside || !strings.Contains(r.Why, "3 times") {
				t.Errorf("it is %s, because %q", r.State, r.Why)
			}
			refused := h.refused("resumed", question{method: "POST", path: at + "/resume"}, 409, "set_aside")
			assert.That(t, strings.Contains(string(refused.body), "force=true"), "resumed: %s", refused.body)
			want := journal.Cancelled
			if force {
				want = journal.Done
				h.get(question{method: "POST", path: at + "/resume?force=true"}, nil)
			} else {
				h.get(question{method: "POST", path: at + "/cancel"}, nil)
			}
			r := h.ended("", left.Run)
			assert.That(t, r.Status == want && r.Why == "", "it ended as %s, because %q", r.Status, r.Why)
		})
	}
}

func TestRunsOfACompanionAreMarkedAndNotBegunByARequest(t *testing.T) {
	h := newHouse(t).open()
	request := asking("Tea?")
	request["assistant"] = "shadow"
	h.refused("a companion", question{method: "POST", path: "/api/runs", body: request}, 400, "invalid_request")
	now := time.Now()
	assert.NoError(t, h.store.Begin(t.Context(), journal.Beginning{Session: &journal.Session{ID: "s1", Owner: "ada",
		Assistant: "shadow", CreatedAt: now, UpdatedAt: now},
		Run:     journal.Run{ID: "r1", Session: "s1", Owner: "ada", Assistant: "shadow", StartedAt: now},
		Records: []journal.Record{{Kind: run.KindStart, Data: []byte("{}")}}}))
	var list api.Runs
	h.get(question{path: "/api/runs"}, &list)
	assert.That(t, len(list.Runs) == 1 && list.Runs[0].Companion, "the runs are %+v", list)
	var all api.Assistants
	h.get(question{path: "/api/assistants"}, &all)
	assert.That(t, len(all.Assistants) == 2 && !all.Assistants[0].Companion && all.Assistants[1].Companion &&
		all.Assistants[1].Options == nil, "the assistants are %+v", all)
}
