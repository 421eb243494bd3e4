package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/api"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

func TestRunIsBegunFollowedAndToldWithItsResult(t *testing.T) {
	h := newHouse(t).open()
	release := h.holds("ada")
	var begun api.Begun
	a := h.get(question{method: "POST", path: "/api/runs", body: asking("Tea?")}, &begun)
	if a.status != 201 || a.header.Get("Location") != "/api/runs/"+begun.Run || begun.State != "running" || begun.Session == "" {
		t.Errorf("begun with %d %v %+v", a.status, a.header, begun)
	}
	var open api.RunWithResult
	if h.get(question{path: "/api/runs/" + begun.Run}, &open); open.Status != journal.Running || open.Result != nil || open.Title != "Tea?" {
		t.Errorf("while it goes on: %+v", open)
	}
	release()
	r := h.ended("", begun.Run)
	if r.Status != journal.Done || r.State != "heard" || r.Result == nil {
		t.Fatalf("ended as %+v", r)
	}
	want := service.Result{Shown: assistant.Shown{Question: "Tea?", Answer: "- ada: ADA\n- bob: BOB\n", Warnings: []string{}, Notes: []string{}, Ending: []string{"asked ada bob"}, Footer: "*a panel*",
		Notices: []assistant.Notice{}}, Outcome: r.Result.Outcome}
	if diff := cmp.Diff(want, *r.Result); diff != "" {
		t.Errorf("the result (-want +got):\n%s", diff)
	}
	var outcome struct{ Answers []struct{ Persona string } }
	if err := json.Unmarshal(r.Result.Outcome, &outcome); err != nil || len(outcome.Answers) != 2 {
		t.Errorf("the outcome is %s: %v", r.Result.Outcome, err)
	}
	next := asking("Milk?")
	next["session"] = begun.Session
	var second api.Begun
	if h.get(question{method: "POST", path: "/api/runs", body: next}, &second); second.Session != begun.Session {
		t.Errorf("the second run is in session %s, not %s", second.Session, begun.Session)
	}
	h.ended("", second.Run)
	var c service.Conversation
	if h.get(question{path: "/api/sessions/" + begun.Session}, &c); c.Runs != 2 || len(c.Outcomes) != 2 || c.Title != "Tea?" {
		t.Errorf("the session is %+v", c)
	}
}

func TestRunOutlivesTheRequestThatBeganIt(t *testing.T) {
	h := newHouse(t).open()
	release := h.holds("ada")
	b := h.begin("", "Tea?") // over a connection that is closed
	h.log.waitFor(t, b.Run)
	live := h.engine.Live(b.Run)
	if live == nil {
		t.Fatal("nobody drives the run after its request")
	}
	release()
	if r := h.ended("", b.Run); r.Status != journal.Done {
		t.Errorf("it ended as %s, %s", r.Status, r.Reason)
	}
}

func TestRunIsStoppedByItsOwnerAlone(t *testing.T) {
	h := newHouse(t).open()
	defer h.holds("ada")()
	b := h.begin("", "Tea?")
	h.refused("by another", question{method: "POST", path: "/api/runs/" + b.Run + "/cancel", token: evesToken}, 404, "not_found")
	h.refused("resumed while it is driven", question{method: "POST", path: "/api/runs/" + b.Run + "/resume"}, 409, "leased")
	h.refused("its session deleted", question{method: "DELETE", path: "/api/sessions/" + b.Session}, 409, "leased")
	var stopped api.Begun
	if a := h.get(question{method: "POST", path: "/api/runs/" + b.Run + "/cancel"}, &stopped); a.status != 202 || stopped.Run != b.Run {
		t.Errorf("stopped with %d %+v", a.status, stopped)
	}
	if r := h.ended("", b.Run); r.Status != journal.Cancelled {
		t.Errorf("it ended as %s", r.Status)
	}
	h.refused("once more", question{method: "POST", path: "/api/runs/" + b.Run + "/cancel"}, 409, "ended")
	h.refused("resumed", question{method: "POST", path: "/api/runs/" + b.Run + "/resume"}, 409, "ended")
}

func TestRunThatIsSetAsideIsShownForcedAndCancelled(t *testing.T) {
	for name, force := range map[string]bool{"forced": true, "cancelled": false} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t).open()
			release := h.holds("ada")
			dying := &faulty{Store: h.store}
			dead, _ := h.service("dead", dying, h.panel)
			left, err := dead.Submit(t.Context(), "ada", service.Request{Assistant: "panel", Words: "Tea?", Options: "ada bob"})
			if err != nil {
				t.Fatal(err)
			}
			dying.fail(errDown)
			release()
			_, _ = left.Driven.Wait(t.Context())
			for n := range journal.MaxTries {
				now := time.Now().Add(time.Duration(n+1) * time.Hour)
				if err := h.store.Acquire(t.Context(), "ada", left.Run, fmt.Sprint("dead ", n), now, now.Add(time.Minute)); err != nil {
					t.Fatal(err)
				}
			}
			at := "/api/runs/" + left.Run
			var all api.Runs
			h.get(question{path: "/api/runs"}, &all)
			if r := all.Runs[0]; r.State != service.SetAside || !strings.Contains(r.Why, "3 times") {
				t.Errorf("it is %s, because %q", r.State, r.Why)
			}
			refused := h.refused("resumed", question{method: "POST", path: at + "/resume"}, 409, "set_aside")
			if !strings.Contains(string(refused.body), "force=true") {
				t.Errorf("resumed: %s", refused.body)
			}
			want := journal.Cancelled
			if force {
				want = journal.Done
				h.get(question{method: "POST", path: at + "/resume?force=true"}, nil)
			} else {
				h.get(question{method: "POST", path: at + "/cancel"}, nil)
			}
			if r := h.ended("", left.Run); r.Status != want || r.Why != "" {
				t.Errorf("it ended as %s, because %q", r.Status, r.Why)
			}
		})
	}
}

func TestListsGoOnWhereTheyEndedAndAreNeverNull(t *testing.T) {
	h := newHouse(t)
	h.store = strict{h.store, t}
	h.open()
	for path, want := range map[string]string{"/api/runs": `{"runs":[]}`, "/api/sessions": `{"sessions":[]}`} {
		if a := h.get(question{path: path}, nil); strings.TrimSpace(string(a.body)) != want {
			t.Errorf("%s of nothing is %s", path, a.body)
		}
	}
	var begun []string
	for i := range 5 {
		b := h.begin("", fmt.Sprintf("Tea %d?", i))
		h.ended("", b.Run)
		begun = append(begun, b.Run)
	}
	slices.Reverse(begun)
	var seen []string
	after := ""
	for range 5 {
		var part api.Runs
		h.get(question{path: "/api/runs?limit=2&after=" + after}, &part)
		for _, r := range part.Runs {
			seen = append(seen, r.ID)
		}
		if after = part.Next; after == "" {
			break
		}
	}
	if diff := cmp.Diff(begun, seen); diff != "" {
		t.Errorf("runs in parts (-want +got):\n%s", diff)
	}
	var sessions, rest api.Sessions
	h.get(question{path: "/api/sessions?limit=3"}, &sessions)
	h.get(question{path: "/api/sessions?limit=3&after=" + sessions.Next}, &rest)
	if len(sessions.Sessions) != 3 || len(rest.Sessions) != 2 || rest.Next != "" || rest.Sessions[1].Title != "Tea 0?" {
		t.Errorf("sessions in parts: %+v, %+v", sessions, rest)
	}
	for _, q := range []string{"?limit=0", "?limit=-1", "?limit=201", "?limit=x", "?limit=1e3", "?limit=99999999999999999999", "?after=x", "?after=MA", "?after=MCBhAGI", "?order=up", "?assistant=a%00b", "?assistant=%22"} {
		for _, path := range []string{"/api/runs", "/api/sessions"} {
			h.refused(path+q, question{path: path + q}, 400, "invalid_request")
		}
	}
	h.refused("open", question{path: "/api/runs?open=perhaps"}, 400, "invalid_request")
}

func TestListsAreFiltered(t *testing.T) {
	h := newHouse(t).open()
	defer h.holds("eve")()
	b := h.begin("", "Tea?")
	h.ended("", b.Run)
	held := asking("Milk?")
	held["options"] = map[string]any{"personas": []string{"eve"}}
	var open api.Begun
	h.get(question{method: "POST", path: "/api/runs", body: held}, &open)
	for query, want := range map[string][]string{"": {open.Run, b.Run}, "?open=true": {open.Run}, "?open=false": {open.Run, b.Run}, "?session=" + b.Session: {b.Run},
		"?assistant=panel&session=" + open.Session: {open.Run}, "?assistant=shadow": nil} {
		var list api.Runs
		h.get(question{path: "/api/runs" + query}, &list)
		var got []string
		for _, r := range list.Runs {
			got = append(got, r.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

func TestRunsOfACompanionAreMarkedAndNotBegunByARequest(t *testing.T) {
	h := newHouse(t).open()
	request := asking("Tea?")
	request["assistant"] = "shadow"
	h.refused("a companion", question{method: "POST", path: "/api/runs", body: request}, 400, "invalid_request")
	now := time.Now()
	err := h.store.Begin(t.Context(), journal.Beginning{Session: &journal.Session{ID: "s1", Owner: "ada", Assistant: "shadow", CreatedAt: now, UpdatedAt: now},
		Run: journal.Run{ID: "r1", Session: "s1", Owner: "ada", Assistant: "shadow", StartedAt: now}, Records: []journal.Record{{Kind: run.KindStart, Data: []byte("{}")}}})
	if err != nil {
		t.Fatal(err)
	}
	var list api.Runs
	if h.get(question{path: "/api/runs"}, &list); len(list.Runs) != 1 || !list.Runs[0].Companion {
		t.Errorf("the runs are %+v", list)
	}
	var all api.Assistants
	if h.get(question{path: "/api/assistants"}, &all); len(all.Assistants) != 2 || all.Assistants[0].Companion || !all.Assistants[1].Companion || all.Assistants[1].Options != nil {
		t.Errorf("the assistants are %+v", all)
	}
}

func TestSessionIsRenamedExportedAuditedAndDeleted(t *testing.T) {
	h := newHouse(t).open()
	b := h.begin("", "Tea?")
	h.ended("", b.Run)
	at := "/api/sessions/" + b.Session
	var renamed journal.Session
	if h.get(question{method: "PATCH", path: at, body: map[string]string{"title": "  Tea \n and cake "}}, &renamed); renamed.Title != "Tea and cake" {
		t.Errorf("renamed to %q", renamed.Title)
	}
	h.refused("no title", question{method: "PATCH", path: at, body: map[string]string{"title": " \n "}}, 400, "invalid_request")
	for format, want := range map[string][3]string{
		"?format=md":    {"text/markdown; charset=utf-8", "session-" + b.Session + ".md", "# Tea and cake"},
		"":              {"text/markdown; charset=utf-8", "session-" + b.Session + ".md", "# Tea and cake"},
		"?format=json":  {"application/json", "session-" + b.Session + ".json", `"title": "Tea and cake"`},
		"?format=jsonl": {"application/jsonl", "session-" + b.Session + ".jsonl", `{"Words":"Tea?"`},
	} {
		a := h.get(question{path: at + "/export" + format}, nil)
		if a.header.Get("Content-Type") != want[0] || !strings.Contains(a.header.Get("Content-Disposition"), `attachment; filename="`+want[1]+`"`) || !strings.Contains(string(a.body), want[2]) {
			t.Errorf("export %s: %v\n%s", format, a.header, a.body)
		}
	}
	h.refused("another format", question{path: at + "/export?format=exe"}, 400, "invalid_request")
	var audit struct {
		Session journal.Session
		Runs    []map[string]any
	}
	h.get(question{path: at + "/audit"}, &audit)
	if audit.Session.ID != b.Session || len(audit.Runs) != 1 || audit.Runs[0]["steps_taken"] != 3.0 || audit.Runs[0]["run_id"] != b.Run {
		t.Errorf("the audit is %+v", audit)
	}
	if a := h.get(question{method: "DELETE", path: at}, nil); a.status != 204 || len(a.body) != 0 {
		t.Errorf("deleted with %d %s", a.status, a.body)
	}
	h.refused("what is deleted", question{path: at}, 404, "not_found")
	h.refused("deleted again", question{method: "DELETE", path: at}, 404, "not_found")
}

func TestResultsOfSeveralRunsAreThoseOfTheirOwnerThatCanBeRead(t *testing.T) {
	h := newHouse(t).open()
	var runs []string
	for _, words := range []string{"Tea?", "Milk?"} {
		b := h.begin("", words)
		h.ended("", b.Run)
		runs = append(runs, b.Run)
	}
	eves := h.begin(evesToken, "Whose tea?")
	h.ended(evesToken, eves.Run)
	conforms := h.described()
	of := func(ids ...string) (told []string) {
		var all api.Results
		conforms("told", "Results", h.get(question{path: "/api/results?html=true&run=" + strings.Join(ids, ",")}, &all))
		for _, r := range all.Runs {
			if r.Result == nil || r.Result.HTML == nil || !strings.Contains(r.Result.HTML.Answer, "<li>ada: ADA</li>") {
				t.Errorf("of %s it gives %+v", r.ID, r.Result)
			}
			told = append(told, r.ID)
		}
		return told
	}
	if told := of(runs[1], runs[0]); !slices.Equal(told, []string{runs[1], runs[0]}) {
		t.Errorf("of %s it tells of %s", runs, told)
	}
	if told := of(eves.Run, runs[0], "nothing"); !slices.Equal(told, runs[:1]) {
		t.Errorf("beside the run of another, and none, it tells of %s", told)
	}
	h.refused("of none", question{path: "/api/results"}, 400, "invalid_request")
	h.refused("of too many", question{path: "/api/results?run=" + strings.Repeat("a,", 20) + "a"}, 400, "invalid_request")
	h.refused("of what is no id", question{path: "/api/results?run=a%20b"}, 400, "invalid_request")
}
