package service

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"sibyl/internal/journal"
)

// Place is a place in what happens in a run: the number of a record, and how many of the updates that belong to it (the record itself,
// the step on it, the events of the step) come before. The zero Place is the beginning.
type Place struct {
	Record int64
	Told   int
}

// most bounds the updates that belong to one record, as far as a Place is read.
const mostUpdates = 1 << 20

// Compare orders places.
func (p Place) Compare(other Place) int {
	return cmp.Or(cmp.Compare(p.Record, other.Record), cmp.Compare(p.Told, other.Told))
}

// String is the form of a Place that ParsePlace reads: the number of the record, and behind a point how many of its updates come before,
// unless none does.
func (p Place) String() string {
	if p.Told == 0 {
		return strconv.FormatInt(p.Record, 10)
	}
	return strconv.FormatInt(p.Record, 10) + "." + strconv.Itoa(p.Told)
}

// ParsePlace reads what String returned; "" is the beginning. Anything else is journal.ErrInvalid.
func ParsePlace(text string) (Place, error) {
	if text == "" {
		return Place{}, nil
	}
	record, told, _ := strings.Cut(text, ".")
	var p Place
	var err error
	if p.Record, err = strconv.ParseInt(record, 10, 64); err == nil && told != "" {
		p.Told, err = strconv.Atoi(told)
	}
	if err != nil || p.Record < 0 || p.Record > journal.MaxRecords || p.Told < 0 || p.Told > mostUpdates || p.String() != text {
		return Place{}, fmt.Errorf("not a valid position in a run: %w", journal.ErrInvalid)
	}
	return p, nil
}
