package journal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// The rules that hold for every Store, so that an adapter only has to keep rows.

// ErrInvalid is what a Store returns, with nothing written, for a request that no Store could carry out: an id or owner
// that is empty, records that are not numbered one after the other, an end that is no end, a summary that is too long.
var ErrInvalid = errors.New("the journal cannot take this")

// The most that a run holds: records, bytes of the data of each, and bytes of what its end says.
const (
	MaxRecords = 1 << 24
	MaxData    = 16 << 20
	MaxReason  = 64
	MaxSummary = 256 << 10
)

// DefaultLimit is how many entries a list holds when its limit is 0 or less.
const DefaultLimit = 100

// Limit returns how many entries a list holds when asked for n.
func Limit(n int) int {
	if n <= 0 {
		return DefaultLimit
	}
	return n
}

// Millis returns t as a Store keeps it: to the millisecond, rounded down, in UTC.
func Millis(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }

// NewBeginning checks what Begin was given and returns it as it is kept: consumed ids and claims each once and in
// order.
func NewBeginning(b Beginning) (Beginning, error) {
	var err error
	if b.Run, err = newRun(b.Run, b.Records); err != nil {
		return Beginning{}, err
	}
	if b.Session != nil {
		s, err := newSession(*b.Session)
		if err == nil && (s.ID != b.Run.Session || s.Owner != b.Run.Owner) {
			err = fmt.Errorf("run %q of session %q begins session %q: %w", b.Run.ID, b.Run.Session, s.ID, ErrInvalid)
		}
		if err != nil {
			return Beginning{}, err
		}
		b.Session = &s
	}
	b.Consume, b.Claims = slices.Compact(slices.Sorted(slices.Values(b.Consume))),
		slices.Compact(slices.Sorted(slices.Values(b.Claims)))
	if len(b.Claims) > 0 && b.Claims[0] == "" {
		return Beginning{}, fmt.Errorf("run %q claims a key without a name: %w", b.Run.ID, ErrInvalid)
	}
	return b, errors.Join(wantPlain("a pending row to be consumed", b.Consume...), wantPlain("a claimed key", b.Claims...))
}

func newSession(s Session) (Session, error) {
	switch {
	case s.ID == "":
		return Session{}, fmt.Errorf("session without an id: %w", ErrInvalid)
	case s.Owner == "":
		return Session{}, fmt.Errorf("session %q without an owner: %w", s.ID, ErrInvalid)
	}
	s.CreatedAt, s.UpdatedAt, s.Runs = Millis(s.CreatedAt), Millis(s.UpdatedAt), 0
	return s, errors.Join(CheckTitle(s.Title), wantPlain("the id, owner, assistant or place of a session", s.ID,
		string(s.Owner), s.Assistant, s.Place))
}

// Tombstone checks what DeleteSession was given and returns what s leaves when it is removed.
func (s Session) Tombstone(why Reason, now time.Time) (Tombstone, error) {
	if why != ByPerson && why != ByRetention {
		return Tombstone{}, fmt.Errorf("session %q removed for %q, which is no reason: %w", s.ID, why, ErrInvalid)
	}
	return Tombstone{ID: s.ID, Owner: s.Owner, Assistant: s.Assistant, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
		DeletedAt: Millis(now), Runs: s.Runs, Reason: why}, nil
}

// newRun returns a run as it is kept when it begins. An empty Status is Running.
func newRun(r Run, recs []Record) (Run, error) {
	switch {
	case r.ID == "":
		return Run{}, fmt.Errorf("run without an id: %w", ErrInvalid)
	case r.Owner == "":
		return Run{}, fmt.Errorf("run %q without an owner: %w", r.ID, ErrInvalid)
	case r.Session == "":
		return Run{}, fmt.Errorf("run %q without a session: %w", r.ID, ErrInvalid)
	case r.Replaces != "" && r.Follows != "":
		return Run{}, fmt.Errorf("run %q replaces run %q, and follows run %q: %w", r.ID, r.Replaces, r.Follows, ErrInvalid)
	case r.Status != Running && r.Status != "":
		return Run{}, fmt.Errorf("run %q begins as %q instead of %q: %w", r.ID, r.Status, Running, ErrInvalid)
	}
	err := cmp.Or(wantPlain("the id, session, owner, assistant, title, lease holder, replaced or followed run of a run",
		r.ID, r.Session, string(r.Owner), r.Assistant, r.Title, r.LeaseHolder, r.Replaces, r.Follows),
		checkBatch(recs, 0))
	if err != nil {
		return Run{}, fmt.Errorf("run %q: %w", r.ID, err)
	}
	r.Status, r.StartedAt, r.EndedAt, r.Reason, r.Summary, r.Tries = Running, Millis(r.StartedAt), time.Time{}, "", nil, 0
	r.Records = int64(len(recs))
	if r.LeaseHolder == "" {
		r.LeaseUntil = time.Time{}
	} else {
		r.LeaseUntil = Millis(r.LeaseUntil)
	}
	return r, nil
}

// CheckAppend checks what can be checked of an Append without knowing the run. An Append has at least one record, since
// the number of its first one is what is compared.
func CheckAppend(recs []Record, end *End) error {
	if len(recs) == 0 {
		return fmt.Errorf("append without a record: %w", ErrInvalid)
	}
	if end != nil {
		if err := end.check(); err != nil {
			return err
		}
	}
	return checkBatch(recs, recs[0].Seq)
}

func (e End) check() error {
	switch e.Status {
	case Done, Failed, Cancelled, NeedsUser:
	default:
		return fmt.Errorf("a run cannot end as %q: %w", e.Status, ErrInvalid)
	}
	switch {
	case len(e.Reason) > MaxReason:
		return fmt.Errorf("the end's reason has %d bytes, at most %d are kept: %w", len(e.Reason), MaxReason, ErrInvalid)
	case len(e.Summary) > MaxSummary:
		return fmt.Errorf("the end's summary has %d bytes, at most %d are kept: %w", len(e.Summary), MaxSummary, ErrInvalid)
	}
	for _, u := range e.Used {
		if err := wantPlain("a model that was used", u.Model); err != nil {
			return err
		}
	}
	for i, p := range e.Pending {
		if p.ID == "" {
			return fmt.Errorf("pending row %d of the end has no id: %w", i, ErrInvalid)
		}
		if slices.ContainsFunc(e.Pending[:i], func(other Pending) bool { return other.ID == p.ID }) {
			return fmt.Errorf("pending row %q is left twice by one end: %w", p.ID, ErrInvalid)
		}
		if err := wantPlain("the id or kind of a pending row", p.ID, p.Kind); err != nil {
			return err
		}
	}
	return wantPlain("the end's reason", e.Reason)
}

// Left returns the pending rows that this end of r leaves, as they are stored. It looks at the ID, Session and Owner of
// r.
func (e End) Left(r Run) []Pending {
	left := slices.Clone(e.Pending)
	for i := range left {
		p := &left[i]
		p.Owner, p.Session, p.Run, p.CreatedAt = r.Owner, r.Session, r.ID, Millis(e.At)
		p.Data = append(json.RawMessage(nil), p.Data...)
		switch {
		case !p.ExpiresAt.IsZero():
			p.ExpiresAt = Millis(p.ExpiresAt)
		case p.Lasts != 0:
			p.ExpiresAt = p.CreatedAt.Add(p.Lasts)
		}
		p.Lasts = 0
	}
	return left
}

// Open says whether p is not expired at now.
func (p Pending) Open(now time.Time) bool {
	return p.ExpiresAt.IsZero() || p.ExpiresAt.After(Millis(now))
}

// ConsumedError is the error of a beginning that consumes the pending row id, which is not open in its session.
func ConsumedError(id string) error { return fmt.Errorf("pending row %q: %w", id, ErrConsumed) }

// checkBatch checks records to be appended from number next on: their numbers and sizes, the spelling of their kinds,
// and how many records the run has then.
func checkBatch(recs []Record, next int64) error {
	if most := next + int64(len(recs)); most > MaxRecords {
		return fmt.Errorf("a run of %d records, at most %d are kept: %w", most, MaxRecords, ErrInvalid)
	}
	for i, rec := range recs {
		if want := next + int64(i); rec.Seq != want {
			return fmt.Errorf("record %d of the batch has the number %d, which should be %d: %w", i, rec.Seq, want, ErrInvalid)
		}
		if len(rec.Data) > MaxData {
			return fmt.Errorf("record %d has %d bytes of data, at most %d are kept: %w",
				rec.Seq, len(rec.Data), MaxData, ErrInvalid)
		}
		if err := wantPlain("the kind of a record", rec.Kind); err != nil {
			return err
		}
	}
	return nil
}

// AllowAppend says whether records whose first number is next may be appended to r: nil, ErrEnded or ErrConflict. It
// looks at the ID, Status and Records of r.
func (r Run) AllowAppend(next int64) error {
	switch {
	case r.Status != Running:
		return r.endedError()
	case r.Records != next:
		return fmt.Errorf("run %q continues with record %d, not %d: %w", r.ID, r.Records, next, ErrConflict)
	}
	return nil
}

// CheckHolder checks the name under which a lease is taken or renewed.
func CheckHolder(holder string) error {
	if holder == "" {
		return fmt.Errorf("a lease for a holder without a name: %w", ErrInvalid)
	}
	return wantPlain("the holder of a lease", holder)
}

// AllowAcquire says whether holder may take the lease of r at now: nil, ErrInvalid, ErrEnded or ErrLeased. It looks at
// the ID, Status and lease of r.
func (r Run) AllowAcquire(holder string, now time.Time) error {
	if err := CheckHolder(holder); err != nil {
		return fmt.Errorf("run %q: %w", r.ID, err)
	}
	switch {
	case r.Status != Running:
		return r.endedError()
	case r.isDrivenAt(now) && r.LeaseHolder != holder:
		return r.leasedError()
	}
	return nil
}

// MaxTries is how many processes in a row may die before they have settled a run; then it is set aside.
const MaxTries = 3

// SetAside says whether r is Running and MaxTries processes died before they had settled it, so that only a person may
// resume it. It looks at the Status and Tries of r.
func (r Run) SetAside() bool { return r.Status == Running && r.Tries >= MaxTries }

// Rests says whether r is Running and was released to rest until after at.Now. It looks at the Status and lease of r.
func (r Run) Rests(at LeaseTimes) bool {
	return r.Status == Running && r.LeaseHolder == "" && isWithin(r.LeaseUntil, at.Now, at.Rests)
}

// Driven says whether r is Running under a lease at that time. It looks at the Status and lease of r.
func (r Run) Driven(at LeaseTimes) bool {
	return r.Status == Running && r.LeaseHolder != "" && isWithin(r.LeaseUntil, at.Now, at.Leases)
}

// isWithin says whether until is after now, and not after latest, if that is set: a later time is of a wrong clock.
func isWithin(until, now, latest time.Time) bool {
	return until.After(Millis(now)) && (latest.IsZero() || !until.After(latest))
}

// AllowDelete says whether r may be deleted at now: nil, or ErrLeased while somebody drives it. It looks at the ID,
// Status and lease of r.
func (r Run) AllowDelete(now time.Time) error {
	if r.isDrivenAt(now) {
		return r.leasedError()
	}
	return nil
}

func (r Run) isDrivenAt(now time.Time) bool { return r.Driven(LeaseTimes{Now: now}) }

func (r Run) endedError() error {
	return fmt.Errorf("run %s has %w (%s)", r.ID, ErrEnded, r.Status)
}

func (r Run) leasedError() error {
	return fmt.Errorf("run %q is %q's until %s: %w", r.ID, r.LeaseHolder, r.LeaseUntil.Format(time.RFC3339), ErrLeased)
}
