package service

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/journal"
)

// Position is a place in the stream of all runs of an owner. The journal has no order over runs, so it is a place in each run that goes
// on; a time, so that runs which started after it and are not named here are still to be told; and the names of those that started after
// it and are told to their end. The zero Position is that of who has seen nothing. A Position does not change.
type Position struct {
	since time.Time
	going []placed // by run
	over  []started
}

type placed struct {
	run string
	at  Place
}

type started struct {
	run string
	at  time.Time
}

func (p placed) named(run string) int  { return cmp.Compare(p.run, run) }
func (s started) named(run string) int { return cmp.Compare(s.run, run) }

// The most runs that a Position names: that go on, and that are over.
const (
	mostGoing = 128
	mostOver  = 128
)

// IsZero says that nothing has been seen.
func (p Position) IsZero() bool { return p.since.IsZero() }

// names says whether the run is told, in part or to its end.
func (p Position) names(run string) bool {
	_, goes := slices.BinarySearchFunc(p.going, run, placed.named)
	_, over := slices.BinarySearchFunc(p.over, run, started.named)
	return goes || over
}

// with gives the Position with a run being told up to a place.
func (p Position) with(run string, at Place) Position {
	i, there := slices.BinarySearchFunc(p.going, run, placed.named)
	if there && p.going[i].at == at {
		return p
	}
	p.going = slices.Clone(p.going)
	if there {
		p.going[i].at = at
	} else {
		p.going = slices.Insert(p.going, i, placed{run, at})
	}
	return p
}

// ended gives the Position with a run told to its end.
func (p Position) ended(run string, start time.Time) Position {
	p = p.without(run)
	if i, there := slices.BinarySearchFunc(p.over, run, started.named); !there && start.After(p.since) {
		p.over = slices.Insert(slices.Clone(p.over), i, started{run, start})
	}
	return p
}

// without gives the Position with no place in a run.
func (p Position) without(run string) Position {
	p.going = slices.DeleteFunc(slices.Clone(p.going), func(g placed) bool { return g.run == run })
	return p
}

// after gives the Position in which only runs that started after a time are still to be told, and forgets what that makes of no use. If
// too many remain that are over, the time is that of those which started first.
func (p Position) after(since time.Time) Position {
	if since.After(p.since) {
		p.since = since
	}
	if n := len(p.over) - mostOver; n > 0 {
		byStart := slices.SortedFunc(slices.Values(p.over), func(a, b started) int { return a.at.Compare(b.at) })
		if start := byStart[n-1].at; start.After(p.since) {
			p.since = start
		}
	}
	if old := func(s started) bool { return !s.at.After(p.since) }; slices.ContainsFunc(p.over, old) {
		p.over = slices.DeleteFunc(slices.Clone(p.over), old)
	}
	return p
}

// sincePrefix tells a Position from a Place.
const sincePrefix = "since-"

// String is the form of a Position that ParsePosition reads; "" for the zero one. It is for a header or an address, and nothing in it is for
// others to read.
func (p Position) String() string {
	if p.IsZero() {
		return ""
	}
	b := strings.Builder{}
	b.WriteString(sincePrefix + inMillis(p.since))
	for _, g := range p.going {
		b.WriteString("!" + url.QueryEscape(g.run) + ":" + g.at.String())
	}
	for _, o := range p.over {
		b.WriteString("!" + url.QueryEscape(o.run) + "*" + inMillis(o.at))
	}
	return b.String()
}

// ParsePosition reads what String returned. Anything else is journal.ErrInvalid.
func ParsePosition(text string) (Position, error) {
	if text == "" {
		return Position{}, nil
	}
	var p Position
	parts := strings.Split(text, "!")
	if len(parts) > 1+mostGoing+mostOver {
		return Position{}, noPosition()
	}
	var err error
	since, ours := strings.CutPrefix(parts[0], sincePrefix)
	if p.since, err = ofMillis(since); err != nil || !ours {
		return Position{}, noPosition()
	}
	for _, part := range parts[1:] {
		if err := p.add(part); err != nil {
			return Position{}, noPosition()
		}
	}
	if len(p.going) > mostGoing || len(p.over) > mostOver || p.String() != text {
		return Position{}, noPosition()
	}
	return p, nil
}

// add reads what is said of one run. Runs come in order, and once.
func (p *Position) add(part string) error {
	i := strings.IndexAny(part, ":*")
	if i < 0 {
		return noPosition()
	}
	run, err := url.QueryUnescape(part[:i])
	if err != nil || run == "" || !journal.Plain(run) || p.names(run) {
		return noPosition()
	}
	if part[i] == ':' {
		if n := len(p.going); n > 0 && p.going[n-1].run > run {
			return noPosition()
		}
		place, err := ParsePlace(part[i+1:])
		p.going = append(p.going, placed{run, place})
		return err
	}
	if n := len(p.over); n > 0 && p.over[n-1].run > run {
		return noPosition()
	}
	start, err := ofMillis(part[i+1:])
	p.over = append(p.over, started{run, start})
	return err
}

func noPosition() error {
	return fmt.Errorf("not a valid position in a stream of runs (copy it from an event unchanged): %w", journal.ErrInvalid)
}

func inMillis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 36) }

func ofMillis(text string) (time.Time, error) {
	ms, err := strconv.ParseInt(text, 36, 64)
	return time.UnixMilli(ms).UTC(), err
}
