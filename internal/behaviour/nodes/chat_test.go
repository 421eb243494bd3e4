package nodes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"sibyl/internal/behaviour/needs"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/task"
)

// chat is a conversation of a person about a task of its own.
type chat struct {
	*person
	id    string
	thing string // that all of its tasks are called after
}

// dialogue adds two tasks, completes one and deletes the other; each message with the status that it is answered with.
func (t *chat) dialogue() [][2]string {
	return [][2]string{{"add sell the " + t.thing, "success"}, {"add paint the " + t.thing, "success"},
		{"complete paint the " + t.thing, "success"},
		{"delete sell the " + t.thing, "confirmation_required"}, {"yes", "success"}, {"yes", "success"}}
}

// runDialogue says all of it. What has no answer is sent again, to any node, under the same key.
func (t *chat) runDialogue(ctx context.Context) {
	for n, line := range t.dialogue() {
		body, err := json.Marshal(map[string]string{"message": line[0], "conversation_id": t.id})
		if err != nil {
			t.c.Error(err)
			return
		}
		if t.id == "" {
			body, _ = json.Marshal(map[string]string{"message": line[0]})
		}
		r := t.send(ctx, fmt.Sprintf("%s %d", t.thing, n), string(body))
		var response struct {
			Conversation string `json:"conversation_id"`
			Status       string `json:"status"`
			Response     string `json:"response"`
		}
		if r.status != http.StatusOK || json.Unmarshal(r.body, &response) != nil {
			t.c.Errorf("“%s” is answered %d %s: %s", line[0], r.status, r.kind, r.body)
			return
		}
		if t.id = response.Conversation; response.Status != line[1] {
			t.c.Errorf("“%s” is answered with %s: %s", line[0], response.Status, response.Response)
		}
	}
}

// send sends a message until it is answered.
func (t *chat) send(ctx context.Context, key, body string) reply {
	for {
		p, address := t.c.pick()
		r := t.callWith(ctx, p, address, http.MethodPost, "/api/chat", body, map[string]string{"Idempotency-Key": key})
		waits := r.mayRetry() || r.status == http.StatusAccepted || r.status == http.StatusConflict
		if !waits || rest(ctx, r.after) != nil {
			return r
		}
	}
}

// TestConversationsGoOnThoughTheirNodeIsKilled: no error that a retry doesn't cure, no effect lost or doubled.
func TestConversationsGoOnThoughTheirNodeIsKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t, arrangement{database: pgtest.New(t), nodes: 3, people: shortPeople, most: room})
	conversations := shortRuns
	if needs.Every() {
		conversations = longRuns
	}
	ctx, cut := context.WithTimeout(t.Context(), 2*patience)
	defer cut()
	var all sync.WaitGroup
	begun := make(chan struct{}, conversations)
	for n := range conversations {
		all.Go(func() {
			p := c.people[n%len(c.people)]
			(&chat{person: p, thing: fmt.Sprintf("boat%d", n)}).runDialogue(ctx)
			begun <- struct{}{}
		})
	}
	<-begun // the others are under way
	victim := c.nodes[0]
	victim.kill()
	victim.start()
	all.Wait()
	tasks := task.New(c.db, nil)
	found := 0
	for _, p := range c.people {
		list, err := tasks.List(t.Context(), p.name, task.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list.Tasks {
			found++
			history, err := tasks.History(t.Context(), p.name, one.ID)
			if err != nil || one.Status != task.Completed ||
				!slices.Equal(actions(history), []task.Action{task.Add, task.Complete}) {
				t.Errorf("%s has %q, %s, after %v: %v", p.name, one.Title, one.Status, actions(history), err)
			}
		}
	}
	if found != conversations {
		t.Errorf("%d tasks are left of %d conversations", found, conversations)
	}
}

func actions(history []task.Change) (all []task.Action) {
	for _, c := range history {
		all = append(all, c.Action)
	}
	return all
}
