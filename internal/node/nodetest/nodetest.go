// Package nodetest is the suite that every node.Registry passes.
package nodetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"sibyl/internal/journal"
	"sibyl/internal/node"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Store is a database that keeps a journal and knows its nodes.
type Store interface {
	journal.Store
	node.Registry
}

// Run checks the guarantees of registries. open gives an empty one each time.
func Run(t *testing.T, open func(t *testing.T) Store) {
	for name, check := range map[string]func(t *testing.T, s Store){
		"NodesAreListedAsTheyStandWithTheRunsThatTheyDrive": listed,
		"NodeThatWasNotSeenForLongIsForgotten":              forgotten,
		"DutyIsTakenOnceEachTimeThatItIsDue":                due,
		"OfSixteenOneTakesADuty":                            once,
		"TimeOfTheDatabaseGoesOn":                           goesOn,
	} {
		t.Run(name, func(t *testing.T) { check(t, open(t)) })
	}
}

func one(holder string, seen time.Time) node.Node {
	return node.Node{Holder: holder, Name: "name of " + holder, Build: "b", Address: "127.0.0.1:1", StartedAt: noon, SeenAt: seen, Most: 3}
}

func listed(t *testing.T, s Store) {
	keep(t, s, one("b", noon))
	early := one("z", noon)
	early.StartedAt = noon.Add(-time.Second)
	keep(t, s, early)
	keep(t, s, one("a", noon))
	for id, holder := range map[string]string{"r1": "b", "r2": "b", "r3": "z", "r4": ""} {
		r := journal.Run{ID: id, Session: "s" + id, Owner: "ada", Assistant: "x", Status: journal.Running, StartedAt: noon, LeaseHolder: holder}
		if holder != "" {
			r.LeaseUntil = noon.Add(time.Minute)
		}
		if id == "r3" {
			r.LeaseUntil = noon // it has run out
		}
		ok(t, s.Begin(t.Context(), journal.Beginning{Run: r, Session: &journal.Session{ID: r.Session, Owner: "ada", Assistant: "x"}}))
	}
	again := one("a", noon.Add(time.Second))
	again.Draining, again.Most = true, 0
	keep(t, s, again)
	driving := one("b", noon)
	driving.Runs = 2
	wants(t, s, noon, early, again, driving)
	ok(t, s.Leave(t.Context(), "b"))
	ok(t, s.Leave(t.Context(), "nobody"))
	wants(t, s, noon, early, again)
	driving.Runs = 0
	keep(t, s, driving)
	wants(t, s, noon, early, again, driving) // its leases ended
}

func forgotten(t *testing.T, s Store) {
	keep(t, s, one("a", noon))
	keep(t, s, one("b", noon.Add(time.Minute)))
	wants(t, s, noon.Add(node.Kept), one("a", noon), one("b", noon.Add(time.Minute)))
	wants(t, s, noon.Add(node.Kept+time.Second), one("b", noon.Add(time.Minute)))
	wants(t, s, noon, one("b", noon.Add(time.Minute)))
}

func due(t *testing.T, s Store) {
	for _, c := range []struct {
		name  string
		after time.Duration
		want  bool
	}{
		{"sweep", 0, true}, {"sweep", 0, false}, {"sweep", time.Hour - time.Millisecond, false}, {"other", 0, true},
		{"sweep", time.Hour, true}, {"sweep", 2*time.Hour - time.Millisecond, false}, {"sweep", 9 * time.Hour, true}, {"sweep", 9 * time.Hour, false},
		{"sweep", 9*time.Hour - time.Second, false}, {"sweep", 365 * 24 * time.Hour, true}, {"sweep", 10 * time.Hour, true}, {"sweep", 10 * time.Hour, false},
	} {
		got, err := s.TakeDuty(t.Context(), c.name, noon.Add(c.after), time.Hour)
		if err != nil || got != c.want {
			t.Errorf("%s after %s: %v, %v; want %v", c.name, c.after, got, err, c.want)
		}
	}
}

func once(t *testing.T, s Store) {
	for round := range 5 {
		var taken atomic.Int32
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				mine, err := s.TakeDuty(t.Context(), "sweep", noon.Add(time.Duration(round)*time.Hour), time.Hour)
				if err != nil {
					t.Errorf("TakeDuty: %v", err)
				}
				if mine {
					taken.Add(1)
				}
			})
		}
		all.Wait()
		if n := taken.Load(); n != 1 {
			t.Errorf("round %d: %d took it; want 1", round, n)
		}
	}
}

func goesOn(t *testing.T, s Store) {
	before, err := s.Now(t.Context())
	ok(t, err)
	after, err := s.Now(t.Context())
	ok(t, err)
	if after.Before(before) || time.Since(after).Abs() > time.Hour {
		t.Errorf("it was %v, then %v", before, after)
	}
}

func keep(t *testing.T, s Store, n node.Node) {
	t.Helper()
	ok(t, s.Keep(t.Context(), n))
}

func wants(t *testing.T, s Store, now time.Time, want ...node.Node) {
	t.Helper()
	got, err := s.Nodes(t.Context(), now)
	ok(t, err)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("nodes at %v (-want +got):\n%s", now, diff)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
