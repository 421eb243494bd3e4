package behaviour_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	records "sibyl/internal/run"
	"sibyl/internal/store/pgtest"
)

// watcher follows a run as a browser does: from one node to another, after the last event that it has seen.
type watcher struct {
	u     *person
	r     journal.Run
	last  string
	seen  []int64 // numbers of records
	ended bool
}

// followAt follows the run at a node until it has ended, or nothing more comes from there.
func (w *watcher) followAt(ctx context.Context, address string) {
	c := w.u.c
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/runs/"+w.r.ID+"/events", nil)
	if err != nil {
		c.Error(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+w.u.token)
	if w.last != "" {
		req.Header.Set("Last-Event-ID", w.last)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return // the node is gone
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		c.Errorf("watching is answered %s", res.Status)
		return
	}
	id, event := "", ""
	for lines := bufio.NewScanner(res.Body); lines.Scan() && !w.ended; {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "event":
			event = value
		case "data":
			w.hear(event, value)
		case "": // the event is whole
			if id != "" {
				w.last = id
			}
			id, event = "", ""
		}
	}
}

func (w *watcher) hear(event, data string) {
	switch event {
	case "record":
		var rec struct{ Seq int64 }
		err := json.Unmarshal([]byte(data), &rec)
		assert.That(w.u.c, err == nil, "%v in %q", err, data)
		w.seen = append(w.seen, rec.Seq)
	case "end":
		w.ended = true
	}
}

// whole checks that each record was seen once, in order, and the end.
func (w *watcher) whole(who string) {
	c := w.u.c
	c.Helper()
	var want []int64
	for n := range c.recordsOf(w.r) {
		want = append(want, int64(n))
	}
	assert.That(c, slices.Equal(w.seen, want) && w.ended,
		"who watches %s has seen the records %v, and the end: %v; there are %d", who, w.seen, w.ended, len(want))
}

func TestWatchersSeeEachRecordOnceThoughTheNodeOfTheRunIsLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGSTOP,
		"restarted": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, arrangement{database: pgtest.New(t), nodes: 3, people: 1, most: room})
			enough := c.slowly(time.Second)
			one, two, three := c.nodes[0], c.nodes[1], c.nodes[2]
			r := c.beginAt(one, c.people[0])
			ctx, cut := context.WithTimeout(t.Context(), patience)
			defer cut()
			moves, stays := &watcher{u: c.people[0], r: r}, &watcher{u: c.people[0], r: r}
			var all sync.WaitGroup
			all.Go(func() { stays.followAt(ctx, two.currentAddress()) })
			all.Go(func() {
				for moves.followAt(ctx, one.currentAddress()); !moves.ended && ctx.Err() == nil; {
					moves.followAt(ctx, three.currentAddress())
				}
			})
			c.has(r, records.KindCompletion)
			holder, at := one.known(), one.signal(lose)
			if lose == syscall.SIGTERM {
				one.wantEnd(patience)
			}
			c.handedOver([]journal.Run{r}, holder, at)
			enough()
			if lose == syscall.SIGSTOP {
				c.waitForEnd(r)
				one.signal(syscall.SIGCONT)
			}
			all.Wait()
			moves.whole("at the node that is lost")
			stays.whole("at another")
			if lose != syscall.SIGSTOP {
				one.over()
				one.start()
			}
			c.sound()
		})
	}
}
