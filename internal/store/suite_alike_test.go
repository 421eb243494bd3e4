package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sibyl/internal/journal"
	"sibyl/internal/store/pgtest"
)

// The same random calls have the same answers, and kinds of error, on both kinds of database.
func TestBothKindsAnswerAlike(t *testing.T) {
	server, file := serverAt(t, pgtest.New(t)).DB, fresh(t)
	var checks int
	rapid.Check(t, func(rt *rapid.T) {
		checks++
		p := &pair{T: rt, ctx: t.Context(), got: server, want: file, prefix: fmt.Sprintf("%d-", checks)}
		actions := map[string]func(*rapid.T){"Look": p.look}
		for name, action := range randomCalls {
			actions[name] = func(*rapid.T) { p.both(name, action(p)) }
		}
		rt.Repeat(actions)
		p.look(rt)
	})
}

// pair is one check: names are few, so that calls meet, and begin with a prefix, so that checks do not.
type pair struct {
	*rapid.T
	ctx       context.Context
	got, want *DB
	prefix    string
}

// call is made on both databases.
type call = func(*DB) (any, error)

// both makes a call on both and compares what comes back.
func (p *pair) both(name string, call call) {
	got, gotErr := call(p.got)
	want, wantErr := call(p.want)
	if got, want := kindOf(gotErr), kindOf(wantErr); got != want {
		p.Fatalf("%s: error is %v, want one like %v", name, gotErr, wantErr)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		p.Fatalf("%s (-want +got):\n%s", name, diff)
	}
}

// kindOf is the text of the error of package journal that err is, or of err.
func kindOf(err error) string {
	for _, kind := range []error{
		journal.ErrNotFound, journal.ErrConflict, journal.ErrEnded, journal.ErrLeased, journal.ErrExists,
		journal.ErrInvalid,
		journal.ErrConsumed, journal.ErrClaimed,
	} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return fmt.Sprint(err)
}

func (p *pair) name(names ...string) string {
	return p.prefix + rapid.SampledFrom(names).Draw(p.T, "name")
}

func (p *pair) owner() journal.Owner { return journal.Owner(p.name("ada", "ada", "ada", "bob")) }
func (p *pair) session() string      { return p.name("s1", "s2", "s3", "s4") }
func (p *pair) run() string          { return p.name("r1", "r2", "r3") }
func (p *pair) holder() string       { return p.name("here", "there") }
func (p *pair) blob(n int) []byte    { return fmt.Append(nil, p.prefix, n) }

// oneIn is true once in n times.
func (p *pair) oneIn(n int) bool { return rapid.IntRange(1, n).Draw(p.T, "one in") == 1 }

func (p *pair) time() time.Time {
	return after(time.Duration(rapid.IntRange(0, 20_000).Draw(p.T, "time")) * 500 * time.Microsecond)
}

func (p *pair) records(from int64, least int) []journal.Record {
	recs := recordsFrom(from, rapid.IntRange(least, 3).Draw(p.T, "records"))
	for i := range recs {
		recs[i].Data = rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(p.T, "data")
		if p.oneIn(20) {
			recs[i].Seq++
		}
	}
	return recs
}

func (p *pair) end() *journal.End {
	status := rapid.SampledFrom([]journal.Status{"", "", "", "", journal.Done, journal.NeedsUser, "finished"}).
		Draw(p.T, "end")
	if status == "" {
		return nil
	}
	end := &journal.End{Status: status, At: p.time(), Reason: p.name("a", "b"), Summary: []byte(p.name("a", "b"))}
	for range rapid.IntRange(0, 2).Draw(p.T, "left") {
		end.Pending = append(end.Pending, journal.Pending{ID: p.name("p1", "p2"), ExpiresAt: p.time()})
	}
	return end
}

// keys name all runs there may be.
func (p *pair) keys() (keys []journal.Key) {
	for _, owner := range []string{"ada", "bob"} {
		for _, run := range []string{"r1", "r2", "r3"} {
			keys = append(keys, journal.Key{Owner: journal.Owner(p.prefix + owner), Run: p.prefix + run})
		}
	}
	return keys
}

var randomCalls = map[string]func(p *pair) call{
	"RenameSession": func(p *pair) call {
		owner, id, title := p.owner(), p.session(), p.name("a", "b")
		return func(db *DB) (any, error) { return nil, db.RenameSession(p.ctx, owner, id, title) }
	},
	"DeleteSession": func(p *pair) call {
		owner, id, now := p.owner(), p.session(), p.time()
		why := rapid.SampledFrom([]journal.Reason{journal.ByPerson, journal.ByPerson, journal.ByRetention, "boredom"}).
			Draw(p.T, "why")
		return func(db *DB) (any, error) { return nil, db.DeleteSession(p.ctx, owner, id, why, now) }
	},
	"Retire": func(p *pair) call {
		owner, idle := p.owner(), journal.IdleFilter{Before: p.time(), Now: p.time(), Limit: rapid.IntRange(0, 2).
			Draw(p.T, "limit")}
		p.both("Unused", func(db *DB) (any, error) { return db.Unused(p.ctx, owner, idle) })
		return func(db *DB) (any, error) { return db.Retire(p.ctx, owner, idle) }
	},
	"Begin": func(p *pair) call {
		b := journal.Beginning{Run: runOf(p.owner(), p.session(), p.run()), Records: p.records(0, 0)}
		b.Run.StartedAt = p.time()
		if p.oneIn(2) {
			b.Run.LeaseHolder, b.Run.LeaseUntil = p.holder(), p.time()
		}
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 3), 0, 3).Draw(p.T, "blobs") {
			b.Blobs = append(b.Blobs, p.blob(n))
		}
		if p.oneIn(2) {
			session := sessionOf(b.Run.Owner, b.Run.Session)
			session.UpdatedAt = p.time()
			b.Session = &session
		}
		if p.oneIn(4) {
			b.Consume = []string{p.name("p1", "p2")}
		}
		if p.oneIn(4) {
			b.Claims = []string{p.name("k1", "k2")}
		}
		return func(db *DB) (any, error) { return nil, db.Begin(p.ctx, b) }
	},
	"Append": func(p *pair) call {
		owner, run, recs, end := p.owner(), p.run(), p.records(rapid.Int64Range(0, 3).Draw(p.T, "from"), 0), p.end()
		return func(db *DB) (any, error) { return nil, db.Append(p.ctx, owner, run, recs, end) }
	},
	"Append of what comes next": func(p *pair) call {
		owner, id := p.owner(), p.run()
		run, err := p.want.Run(p.ctx, owner, id)
		if err != nil {
			return func(db *DB) (any, error) { return db.Run(p.ctx, owner, id) }
		}
		recs, end := p.records(run.Records, 1), p.end()
		return func(db *DB) (any, error) { return nil, db.Append(p.ctx, owner, id, recs, end) }
	},
	"Acquire": func(p *pair) call {
		owner, run, holder, now, until := p.owner(), p.run(), p.holder(), p.time(), p.time()
		return func(db *DB) (any, error) { return nil, db.Acquire(p.ctx, owner, run, holder, now, until) }
	},
	"Settle": func(p *pair) call {
		owner, run, holder := p.owner(), p.run(), p.holder()
		return func(db *DB) (any, error) { return nil, db.Settle(p.ctx, owner, run, holder) }
	},
	"Release": func(p *pair) call {
		owner, run, holder := p.owner(), p.run(), p.holder()
		var rest time.Time
		if p.oneIn(2) {
			rest = p.time()
		}
		return func(db *DB) (any, error) { return nil, db.Release(p.ctx, owner, run, holder, rest) }
	},
	"Renew": func(p *pair) call {
		holder, until := p.holder(), p.time()
		return func(db *DB) (any, error) { return nil, db.Renew(p.ctx, holder, p.keys(), until) }
	},
}

// look compares all that can be seen of the names of this check.
func (p *pair) look(*rapid.T) {
	at := journal.LeaseTimes{Now: p.time()}
	if p.oneIn(2) {
		at.Leases, at.Rests = p.time(), p.time()
	}
	calls := map[string]call{
		"Snapshots": func(db *DB) (any, error) { return db.Snapshots(p.ctx, p.keys()) },
		"Census":    func(db *DB) (any, error) { return db.Census(p.ctx, at) },
		"Stranded": func(db *DB) (any, error) {
			all, err := db.Stranded(p.ctx, at, math.MaxInt32)
			return slices.DeleteFunc(all, func(r journal.Run) bool { return !strings.HasPrefix(r.ID, p.prefix) }), err
		},
	}
	for _, name := range []string{"ada", "bob"} {
		owner := journal.Owner(p.prefix + name)
		calls["Sessions of "+name] = func(db *DB) (any, error) {
			return db.Sessions(p.ctx, owner, journal.SessionFilter{})
		}
		calls["Runs of "+name] = func(db *DB) (any, error) {
			return db.Runs(p.ctx, owner, journal.Filter{Summaries: true})
		}
		calls["Tombstones of "+name] = func(db *DB) (any, error) {
			return db.Tombstones(p.ctx, owner, journal.SessionFilter{})
		}
		for n := range 4 {
			run, session, key := fmt.Sprint(p.prefix, "r", n), fmt.Sprint(p.prefix, "s", n+1),
				fmt.Sprint(p.prefix, "k", n)
			calls["Records of "+run+name] = func(db *DB) (any, error) { return db.Records(p.ctx, owner, run, 0) }
			if name == "ada" {
				calls["Claimed "+key] = func(db *DB) (any, error) { return db.Claimed(p.ctx, owner, key) }
				calls["Pending of "+session] = func(db *DB) (any, error) {
					return db.Pending(p.ctx, owner, session, after(2*time.Second))
				}
				calls["Blob of "+run] = func(db *DB) (any, error) {
					return db.Blob(p.ctx, owner, journal.BlobHash(p.blob(n)))
				}
			}
		}
	}
	for name, call := range calls {
		p.both(name, call)
	}
}
