package api

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"sibyl/internal/journal"
)

// How many users and addresses are remembered at least; at most twice as many are.
const (
	mostPeople    = 4096
	mostAddresses = 16384
)

// table holds what is remembered of keys, bounded: when it is full, those that were not asked for since it was last
// full are forgotten.
type table[K comparable, V any] struct {
	most int
	make func(K) V

	mu            sync.Mutex
	recent, older map[K]V
}

func newTable[K comparable, V any](most int, make func(K) V) *table[K, V] {
	return &table[K, V]{most: most, make: make, recent: map[K]V{}}
}

// get gives the value of a key, and makes it if there is none.
func (t *table[K, V]) get(key K) V {
	t.mu.Lock()
	defer t.mu.Unlock()
	v, ok := t.recent[key]
	if ok {
		return v
	}
	if v, ok = t.older[key]; !ok {
		v = t.make(key)
	}
	if len(t.recent) >= t.most {
		t.recent, t.older = map[K]V{}, t.recent
	}
	t.recent[key] = v
	return v
}

// allowance is so much in a second, and so much at once.
type allowance struct{ limiter *rate.Limiter }

func newAllowance(perSecond float64, burst int) *allowance {
	return &allowance{rate.NewLimiter(rate.Limit(perSecond), burst)}
}

// spend uses up n, or says how long to wait until there is so much.
func (a *allowance) spend(now time.Time, n int) (wait time.Duration) {
	r := a.limiter.ReserveN(now, n)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// spendLeavingReserve uses up n if a quarter of what may be used up at once is left after it, or says how long to wait
// until it is.
func (a *allowance) spendLeavingReserve(now time.Time, n int) (wait time.Duration) {
	if n <= 0 {
		return 0
	}
	if lacking := float64(n+a.limiter.Burst()/4) - a.limiter.TokensAt(now); lacking > 0 {
		return time.Duration(lacking / float64(a.limiter.Limit()) * float64(time.Second))
	}
	return a.spend(now, n)
}

// portion is how much may be taken at once so that spendLeavingReserve grants it in the end.
func (a *allowance) portion() int { return max(1, a.limiter.Burst()/2) }

// person is what is remembered of a user: what is left to use up, and the right to begin a run, which one request has
// at a time, so that several at once can't each find room for one. So are their answers of whole sessions, and their
// streams.
type person struct {
	requests, bytes  *allowance
	beginTurn, whole chan struct{}
	streams, lasting chan struct{}
}

func newPerson(l Limits) *person {
	return &person{requests: newAllowance(l.Requests, l.Burst), bytes: newAllowance(float64(l.Bytes)/60, l.Bytes),
		beginTurn: make(chan struct{}, 1), whole: make(chan struct{}, l.Whole), streams: make(chan struct{}, l.Streams),
		lasting: make(chan struct{}, l.Streams)}
}

func tooMany(kind, detail string, wait time.Duration) *Problem {
	return newProblem(http.StatusTooManyRequests, kind, detail, "Wait as long as Retry-After says, in seconds.").
		after(wait)
}

func tooManyAtOnce() *Problem {
	return tooMany("too_many_at_once", "You are being answered as many requests of this kind as you may have at once.",
		busyWait)
}

// spendRequest counts a request of a user.
func (s *Server) spendRequest(x *requestInfo) *Problem {
	if wait := s.people.get(x.owner()).requests.spend(s.config.Now(), 1); wait > 0 {
		return tooMany("too_many_requests", "You have sent too many requests in a short time.", wait)
	}
	return nil
}

// spendBytes counts bytes of a body.
func (s *Server) spendBytes(x *requestInfo, n int) *Problem {
	if wait := s.people.get(x.owner()).bytes.spend(s.config.Now(), n); wait > 0 {
		return tooMany("too_many_bytes", "You have sent too many bytes in a short time.", wait)
	}
	return nil
}

// readWhole has an answer of a whole session or an explanation wait for its turn. done is called once it was read.
func (s *Server) readWhole(ctx context.Context, x *requestInfo) (done func(), refused *Problem) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Limits.Turn)
	defer cancel()
	own := s.people.get(x.owner()).whole
	select {
	case own <- struct{}{}:
	case <-ctx.Done():
		return nil, tooManyAtOnce()
	}
	select {
	case s.whole <- struct{}{}:
		return func() { <-s.whole; <-own }, nil
	case <-ctx.Done():
		<-own
		return nil, newProblem(http.StatusServiceUnavailable, "busy",
			"This server answers as many requests of this kind as it may.", "Try again.").after(busyWait)
	}
}

// wrongToken answers who shows a secret that opens nothing. One that does is never refused, however many wrong ones
// came from its address, since others may share that.
func (s *Server) wrongToken(x *requestInfo) *Problem {
	if wait := s.wrong.get(neighbours(x.client)).spend(s.config.Now(), 1); wait > 0 {
		return tooMany("too_many_wrong_tokens", "Too many wrong tokens have come from your address.", wait)
	}
	return unauthorized(`Bearer realm="sibyl", error="invalid_token"`, "wrong_token",
		"The token is unknown, revoked or expired.")
}

// neighbours returns the addresses that count as one client: whoever has an IPv6 address usually has 2^64 of them.
func neighbours(a netip.Addr) netip.Prefix {
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // the zero prefix if the address is unknown
	return p
}

// busyWait is when a client with too many runs is told to try again: when one of them ends, nobody knows.
const busyWait = 5 * time.Second

// withRoomForRun calls do, which starts a run, unless the user already has as many active runs as allowed.
func (s *Server) withRoomForRun(ctx context.Context, owner journal.Owner, do func() error) error {
	turn := s.people.get(owner).beginTurn
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	busy, err := s.config.Service.Busy(ctx, owner, s.config.Limits.Runs)
	if err != nil {
		return err
	}
	if busy >= s.config.Limits.Runs {
		return tooMany("too_many_runs", "You have as many runs going as you may have.", busyWait)
	}
	return do()
}
