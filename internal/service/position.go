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

// Place is where watching a run continues: the number of a record, and how many of the updates that belong to it
// (the record itself, the step on it, the events of the step) come before. The zero Place is the beginning.
type Place struct {
	Record  int64
	Updates int
}

// mostUpdates bounds the updates that belong to one record, as far as a Place is read.
const mostUpdates = 1 << 20

// Compare orders places.
func (p Place) Compare(other Place) int {
	return cmp.Or(cmp.Compare(p.Record, other.Record), cmp.Compare(p.Updates, other.Updates))
}

// String gives the form that ParsePlace reads: the number of the record and, if it is not 0, a point and the number of
// updates.
func (p Place) String() string {
	if p.Updates == 0 {
		return strconv.FormatInt(p.Record, 10)
	}
	return strconv.FormatInt(p.Record, 10) + "." + strconv.Itoa(p.Updates)
}

// MarshalText implements encoding.TextMarshaler.
func (p Place) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Place) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePlace(string(text))
	return err
}

// ParsePlace reads what String returned; "" is the beginning, anything else is journal.ErrInvalid.
func ParsePlace(text string) (p Place, err error) {
	if text == "" {
		return Place{}, nil
	}
	record, told, _ := strings.Cut(text, ".")
	if p.Record, err = strconv.ParseInt(record, 10, 64); err == nil && told != "" {
		p.Updates, err = strconv.Atoi(told)
	}
	if err != nil || p.Record < 0 || p.Record > journal.MaxRecords || p.Updates < 0 || p.Updates > mostUpdates ||
		p.String() != text {
		return Place{}, fmt.Errorf("not a valid position in a run: %w", journal.ErrInvalid)
	}
	return p, nil
}

// Position is a place in the stream over all runs of an owner. The journal has no order over runs, so it holds a place
// in each running run; a time: runs that started after it and are not named here are still to be sent; and the ids of
// those that started after it and were sent to their end. The zero Position is the beginning. Its methods return a
// changed copy. Times are in milliseconds since 1970.
type Position struct {
	Since   int64            `json:"since"`
	Running map[string]Place `json:"going,omitempty"` // by run
	Ended   map[string]int64 `json:"over,omitempty"`  // when each run started
}

// The most runs that a Position names: running ones, and ended ones.
const (
	mostRunning    = 128
	mostEndedNamed = 128
)

// IsZero says whether nothing was sent yet.
func (p Position) IsZero() bool { return p.Since == 0 }

// since returns the time Since: unnamed runs that started after it are still to be sent.
func (p Position) since() time.Time { return time.UnixMilli(p.Since).UTC() }

// contains says whether the run was sent, in part or to its end.
func (p Position) contains(run string) bool {
	_, isRunning := p.Running[run]
	_, over := p.Ended[run]
	return isRunning || over
}

// withRunning gives the Position with a run sent up to a place.
func (p Position) withRunning(run string, at Place) Position {
	p.Running = copyOf(p.Running)
	p.Running[run] = at
	return p
}

// withEnded gives the Position with a run sent to its end.
func (p Position) withEnded(run string, start time.Time) Position {
	p.Running = copyOf(p.Running)
	delete(p.Running, run)
	if start.UnixMilli() > p.Since {
		p.Ended = copyOf(p.Ended)
		p.Ended[run] = start.UnixMilli()
	}
	return p
}

// copyOf returns a copy of a map; an empty map for nil.
func copyOf[V any](of map[string]V) map[string]V {
	if of == nil {
		return map[string]V{}
	}
	return maps.Clone(of)
}

// withoutBefore gives the Position in which only runs that started after a time are still to be sent, and forgets the
// ended ones from before it. If too many ended ones remain, the time advances past those that started first.
func (p Position) withoutBefore(since time.Time) Position {
	p.Since = max(p.Since, since.UnixMilli())
	if n := len(p.Ended) - mostEndedNamed; n > 0 {
		p.Since = max(p.Since, slices.Sorted(maps.Values(p.Ended))[n-1])
	}
	p.Ended = copyOf(p.Ended)
	maps.DeleteFunc(p.Ended, func(_ string, start int64) bool { return start <= p.Since })
	return p
}

// String gives the form that ParsePosition reads, for a header or an address; "" for the zero Position. Others must not
// interpret it.
func (p Position) String() string {
	if p.IsZero() {
		return ""
	}
	raw, _ := json.Marshal(p) // a Position can always be encoded
	return string(raw)
}

// ParsePosition reads what String returned; anything else is journal.ErrInvalid.
func ParsePosition(text string) (p Position, err error) {
	if text == "" {
		return p, nil
	}
	err = json.Unmarshal([]byte(text), &p)
	named := slices.AppendSeq(slices.Collect(maps.Keys(p.Running)), maps.Keys(p.Ended))
	hasBadName := slices.ContainsFunc(named, func(run string) bool { return run == "" || !journal.Plain(run) })
	if err != nil || hasBadName || len(p.Running) > mostRunning || len(p.Ended) > mostEndedNamed || p.String() != text {
		return Position{}, fmt.Errorf("not a valid position in a stream of runs (copy it from an event unchanged): %w",
			journal.ErrInvalid)
	}
	return p, nil
}
