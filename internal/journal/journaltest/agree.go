package journaltest

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
)

// Agree makes the same random calls on two empty stores and wants the same answers and kinds of error from both. It
// closes neither.
func Agree(t *testing.T, got, want journal.Store) {
	var checks int
	rapid.Check(t, func(rt *rapid.T) {
		checks++
		p := &pair{T: rt, ctx: t.Context(), got: got, want: want, prefix: fmt.Sprintf("%d-", checks)}
		rt.Repeat(map[string]func(*rapid.T){
			"RenameSession": p.renameSession,
			"DeleteSession": p.deleteSession,
			"Retire":        p.retire,
			"Begin":         p.begin,
			"Append":        p.append,
			"AppendNext":    p.appendNext,
			"Acquire":       p.acquire,
			"Settle":        p.settle,
			"Release":       p.release,
			"Renew":         p.renew,
			"Look":          p.look,
		})
		p.look(rt)
	})
}

// pair is one check: names are few, so that calls meet, and begin with a prefix, so that checks do not.
type pair struct {
	*rapid.T
	ctx       context.Context
	got, want journal.Store
	prefix    string
}

// both makes a call on both stores and compares what comes back.
func (p *pair) both(name string, call func(journal.Store) (any, error)) {
	got, gotErr := call(p.got)
	want, wantErr := call(p.want)
	if got, want := kind(gotErr), kind(wantErr); got != want {
		p.Fatalf("%s: error is %v, want one like %v", name, gotErr, wantErr)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		p.Fatalf("%s (-want +got):\n%s", name, diff)
	}
}

func (p *pair) bothDo(name string, call func(journal.Store) error) {
	p.both(name, func(s journal.Store) (any, error) { return nil, call(s) })
}

// kind returns the text of the error of package journal that err is, or of err.
func kind(err error) string {
	for _, kind := range []error{
		journal.ErrNotFound, journal.ErrConflict, journal.ErrEnded, journal.ErrLeased, journal.ErrExists, journal.ErrInvalid,
		journal.ErrConsumed, journal.ErrClaimed,
	} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return fmt.Sprint(err)
}

func (p *pair) name(label string, names ...string) string {
	return p.prefix + rapid.SampledFrom(names).Draw(p.T, label)
}

func (p *pair) owner() journal.Owner {
	return journal.Owner(p.name("owner", "ada", "ada", "ada", "bob"))
}
func (p *pair) session() string { return p.name("session", "s1", "s2", "s3", "s4") }
func (p *pair) run() string     { return p.name("run", "r1", "r2", "r3") }
func (p *pair) holder() string  { return p.name("holder", "here", "there") }
func (p *pair) pending() string { return p.name("pending", "p1", "p2") }
func (p *pair) key() string     { return p.name("key", "k1", "k2") }

func (p *pair) time(label string) time.Time {
	return after(time.Duration(rapid.IntRange(0, 20_000).Draw(p.T, label)) * 500 * time.Microsecond)
}

func (p *pair) blobs() [][]byte {
	var blobs [][]byte
	for _, n := range rapid.SliceOfN(rapid.IntRange(0, 3), 0, 3).Draw(p.T, "blobs") {
		blobs = append(blobs, p.blob(n))
	}
	return blobs
}

func (p *pair) blob(n int) []byte { return fmt.Append(nil, p.prefix, n) }

func (p *pair) records(from int64, least int) []journal.Record {
	recs := records(from, rapid.IntRange(least, 3).Draw(p.T, "records"))
	for i := range recs {
		recs[i].Data = rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(p.T, "data")
		if rapid.IntRange(0, 19).Draw(p.T, "gap") == 0 {
			recs[i].Seq++
		}
	}
	return recs
}

func (p *pair) end() *journal.End {
	status := rapid.SampledFrom([]journal.Status{"", "", "", "", journal.Done, journal.NeedsUser, "finished"}).Draw(p.T, "end")
	if status == "" {
		return nil
	}
	end := &journal.End{Status: status, At: p.time("ended"), Reason: p.name("reason", "a", "b"), Summary: []byte(p.name("summary", "a", "b"))}
	for range rapid.IntRange(0, 2).Draw(p.T, "left") {
		end.Pending = append(end.Pending, journal.Pending{ID: p.pending(), ExpiresAt: p.time("expires")})
	}
	return end
}

func (p *pair) renameSession(*rapid.T) {
	owner, id, title := p.owner(), p.session(), p.name("title", "a", "b")
	p.bothDo("RenameSession", func(s journal.Store) error { return s.RenameSession(p.ctx, owner, id, title) })
}

func (p *pair) deleteSession(*rapid.T) {
	owner, id, now := p.owner(), p.session(), p.time("now")
	why := rapid.SampledFrom([]journal.Reason{journal.ByPerson, journal.ByPerson, journal.ByRetention, "boredom"}).Draw(p.T, "why")
	p.bothDo("DeleteSession", func(s journal.Store) error { return s.DeleteSession(p.ctx, owner, id, why, now) })
}

func (p *pair) retire(*rapid.T) {
	owner, idle := p.owner(), journal.Idle{Before: p.time("before"), Now: p.time("now"), Limit: rapid.IntRange(0, 2).Draw(p.T, "limit")}
	p.both("Unused", func(s journal.Store) (any, error) { return s.Unused(p.ctx, owner, idle) })
	p.both("Retire", func(s journal.Store) (any, error) { return s.Retire(p.ctx, owner, idle) })
}

func (p *pair) begin(*rapid.T) {
	run := runOf(p.owner(), p.session(), p.run())
	run.StartedAt = p.time("started")
	if rapid.Bool().Draw(p.T, "leased") {
		run.LeaseHolder, run.LeaseUntil = p.holder(), p.time("until")
	}
	b := journal.Beginning{Run: run, Blobs: p.blobs(), Records: p.records(0, 0)}
	if rapid.Bool().Draw(p.T, "made with it") {
		session := sessionOf(run.Owner, run.Session)
		session.UpdatedAt = p.time("updated")
		b.Session = &session
	}
	if rapid.IntRange(0, 3).Draw(p.T, "consumes") == 0 {
		b.Consume = []string{p.pending()}
	}
	if rapid.IntRange(0, 3).Draw(p.T, "claims") == 0 {
		b.Claims = []string{p.key()}
	}
	p.bothDo("Begin", func(s journal.Store) error { return s.Begin(p.ctx, b) })
}

func (p *pair) append(*rapid.T) {
	owner, run, recs, end := p.owner(), p.run(), p.records(rapid.Int64Range(0, 3).Draw(p.T, "from"), 0), p.end()
	p.bothDo("Append", func(s journal.Store) error { return s.Append(p.ctx, owner, run, recs, end) })
}

// appendNext is an append that is likely to succeed.
func (p *pair) appendNext(*rapid.T) {
	owner, id := p.owner(), p.run()
	run, err := p.want.Run(p.ctx, owner, id)
	if err != nil {
		return
	}
	recs, end := p.records(run.Records, 1), p.end()
	p.bothDo("Append", func(s journal.Store) error { return s.Append(p.ctx, owner, id, recs, end) })
}

func (p *pair) acquire(*rapid.T) {
	owner, run, holder, now, until := p.owner(), p.run(), p.holder(), p.time("now"), p.time("until")
	p.bothDo("Acquire", func(s journal.Store) error { return s.Acquire(p.ctx, owner, run, holder, now, until) })
}

func (p *pair) settle(*rapid.T) {
	owner, run, holder := p.owner(), p.run(), p.holder()
	p.bothDo("Settle", func(s journal.Store) error { return s.Settle(p.ctx, owner, run, holder) })
}

func (p *pair) release(*rapid.T) {
	owner, run, holder := p.owner(), p.run(), p.holder()
	var rest time.Time
	if rapid.Bool().Draw(p.T, "rests") {
		rest = p.time("rest")
	}
	p.bothDo("Release", func(s journal.Store) error { return s.Release(p.ctx, owner, run, holder, rest) })
}

func (p *pair) renew(*rapid.T) {
	holder, until := p.holder(), p.time("until")
	p.bothDo("Renew", func(s journal.Store) error { return s.Renew(p.ctx, holder, p.keys(), until) })
}

// stranded are the stranded runs of this check, in order.
func (p *pair) stranded(s journal.Store, at journal.When) ([]journal.Run, error) {
	all, err := s.Stranded(p.ctx, at, math.MaxInt32)
	return slices.DeleteFunc(all, func(r journal.Run) bool { return !strings.HasPrefix(r.ID, p.prefix) }), err
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

// look compares all that can be seen of the names of this check.
func (p *pair) look(*rapid.T) {
	for _, name := range []string{"ada", "bob"} {
		owner := journal.Owner(p.prefix + name)
		p.both("Sessions", func(s journal.Store) (any, error) { return s.Sessions(p.ctx, owner, journal.SessionFilter{}) })
		p.both("Tombstones", func(s journal.Store) (any, error) { return s.Tombstones(p.ctx, owner, journal.SessionFilter{}) })
		p.both("Runs", func(s journal.Store) (any, error) { return s.Runs(p.ctx, owner, journal.Filter{Summaries: true}) })
		for _, run := range []string{"r1", "r2", "r3"} {
			p.both("Run", func(s journal.Store) (any, error) { return s.Run(p.ctx, owner, p.prefix+run) })
			p.both("Records", func(s journal.Store) (any, error) { return s.Records(p.ctx, owner, p.prefix+run, 1) })
		}
	}
	p.both("Standing", func(s journal.Store) (any, error) { return s.Standing(p.ctx, p.keys()) })
	at := journal.When{Now: p.time("now")}
	if rapid.Bool().Draw(p.T, "bounded") {
		at.Leases, at.Rests = p.time("latest lease"), p.time("latest rest")
	}
	p.both("Stranded", func(s journal.Store) (any, error) { return p.stranded(s, at) })
	p.both("Census", func(s journal.Store) (any, error) { return s.Census(p.ctx, at) })
	for _, key := range []string{"k1", "k2"} {
		p.both("Claimed", func(s journal.Store) (any, error) {
			return s.Claimed(p.ctx, journal.Owner(p.prefix+"ada"), p.prefix+key)
		})
	}
	for _, session := range []string{"s1", "s2", "s3", "s4"} {
		p.both("Pending", func(s journal.Store) (any, error) {
			return s.Pending(p.ctx, journal.Owner(p.prefix+"ada"), p.prefix+session, after(2*time.Second))
		})
		p.both("Tombstone", func(s journal.Store) (any, error) {
			return s.Tombstone(p.ctx, journal.Owner(p.prefix+"ada"), p.prefix+session)
		})
	}
	for n := range 4 {
		p.both("Blob", func(s journal.Store) (any, error) {
			return s.Blob(p.ctx, journal.Owner(p.prefix+"ada"), journal.BlobHash(p.blob(n)))
		})
	}
}
