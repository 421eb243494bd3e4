package service

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/journal"
)

// Place is a place in what happens in a run: the number of a record, and how many of the updates that belong to it
// (the record itself, the step on it, the events of the step) come before. The zero Place is the beginning.
type Place struct {
	Record int64
	Told   int
}

// mostUpdates bounds the updates that belong to one record, as far as a Place is read.
const mostUpdates = 1 << 20

// Compare orders places.
func (p Place) Compare(other Place) int {
	return cmp.Or(cmp.Compare(p.Record, other.Record), cmp.Compare(p.Told, other.Told))
}

// String is the form of a Place that ParsePlace reads: the number of the record, and behind a point how many of its
// updates come before, unless none does.
func (p Place) String() string {
	if p.Told == 0 {
		return strconv.FormatInt(p.Record, 10)
	}
	return strconv.FormatInt(p.Record, 10) + "." + strconv.Itoa(p.Told)
}

// MarshalText implements encoding.TextMarshaler.
func (p Place) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Place) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePlace(string(text))
	return err
}

// ParsePlace reads what String returned; "" is the beginning. Anything else is journal.ErrInvalid.
func ParsePlace(text string) (p Place, err error) {
	if text == "" {
		return Place{}, nil
	}
	record, told, _ := strings.Cut(text, ".")
	if p.Record, err = strconv.ParseInt(record, 10, 64); err == nil && told != "" {
		p.Told, err = strconv.Atoi(told)
	}
	if err != nil || p.Record < 0 || p.Record > journal.MaxRecords || p.Told < 0 || p.Told > mostUpdates ||
		p.String() != text {
		return Place{}, fmt.Errorf("not a valid position in a run: %w", journal.ErrInvalid)
	}
	return p, nil
}

// Position is a place in the stream of all runs of an owner. The journal has no order over runs, so it is a place in
// each run that goes on; a time, so that runs which started after it and are not named here are still to be told; and
// the names of those that started after it and are told to their end. The zero Position is that of who has seen
// nothing. A Position does not change. Times are in milliseconds since 1970.
type Position struct {
	Since int64            `json:"since"`
	Going map[string]Place `json:"going,omitempty"` // by run
	Over  map[string]int64 `json:"over,omitempty"`  // when each run started
}

// The most runs that a Position names: that go on, and that are over.
const (
	mostGoing = 128
	mostOver  = 128
)

// IsZero says that nothing has been seen.
func (p Position) IsZero() bool { return p.Since == 0 }

// since is the time after which runs are still to be told that are not named.
func (p Position) since() time.Time { return time.UnixMilli(p.Since).UTC() }

// names says whether the run is told, in part or to its end.
func (p Position) names(run string) bool {
	_, goes := p.Going[run]
	_, over := p.Over[run]
	return goes || over
}

// with gives the Position with a run being told up to a place.
func (p Position) with(run string, at Place) Position {
	p.Going = changed(p.Going)
	p.Going[run] = at
	return p
}

// ended gives the Position with a run told to its end.
func (p Position) ended(run string, start time.Time) Position {
	p.Going = changed(p.Going)
	delete(p.Going, run)
	if start.UnixMilli() > p.Since {
		p.Over = changed(p.Over)
		p.Over[run] = start.UnixMilli()
	}
	return p
}

// changed is a copy that can be changed.
func changed[V any](of map[string]V) map[string]V {
	if of == nil {
		return map[string]V{}
	}
	return maps.Clone(of)
}

// after gives the Position in which only runs that started after a time are still to be told, and forgets what that
// makes of no use. If too many remain that are over, the time is that of those which started first.
func (p Position) after(since time.Time) Position {
	p.Since = max(p.Since, since.UnixMilli())
	if n := len(p.Over) - mostOver; n > 0 {
		p.Since = max(p.Since, slices.Sorted(maps.Values(p.Over))[n-1])
	}
	p.Over = changed(p.Over)
	maps.DeleteFunc(p.Over, func(_ string, start int64) bool { return start <= p.Since })
	return p
}

// String is the form of a Position that ParsePosition reads; "" for the zero one. It is for a header or an address, and
// nothing in it is for others to read.
func (p Position) String() string {
	if p.IsZero() {
		return ""
	}
	raw, _ := json.Marshal(p) // it has no value that JSON can't have
	return string(raw)
}

// ParsePosition reads what String returned. Anything else is journal.ErrInvalid.
func ParsePosition(text string) (p Position, err error) {
	if text == "" {
		return p, nil
	}
	err = json.Unmarshal([]byte(text), &p)
	named := slices.AppendSeq(slices.Collect(maps.Keys(p.Going)), maps.Keys(p.Over))
	odd := slices.ContainsFunc(named, func(run string) bool { return run == "" || !journal.Plain(run) })
	if err != nil || odd || len(p.Going) > mostGoing || len(p.Over) > mostOver || p.String() != text {
		return Position{}, fmt.Errorf("not a valid position in a stream of runs (copy it from an event unchanged): %w",
			journal.ErrInvalid)
	}
	return p, nil
}
