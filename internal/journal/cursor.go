package journal

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Cursor is a place in a list: the list continues after this entry. The zero Cursor is the beginning.
type Cursor struct {
	At time.Time
	ID string
}

// Cursor returns the place of r in a list of runs.
func (r Run) Cursor() Cursor { return Cursor{At: r.StartedAt, ID: r.ID} }

// Cursor returns the place of s in a list of sessions.
func (s Session) Cursor() Cursor { return Cursor{At: s.UpdatedAt, ID: s.ID} }

// Cursor returns the place of t in a list of tombstones.
func (t Tombstone) Cursor() Cursor { return Cursor{At: t.DeletedAt, ID: t.ID} }

// IsZero says whether c is the beginning of a list.
func (c Cursor) IsZero() bool { return c.ID == "" }

// Compare orders cursors by time, then by id. Lists go the other way: the latest comes first.
func (c Cursor) Compare(other Cursor) int {
	return cmp.Or(c.At.Compare(other.At), cmp.Compare(c.ID, other.ID))
}

// String returns a form of c for an address or a document, which ParseCursor reads: "" for the zero Cursor. Its content
// is opaque to others.
func (c Cursor) String() string {
	if c.IsZero() {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(c.At.UnixMilli(), 10) + " " + c.ID))
}

// ParseCursor reads what String returned. Anything else is ErrInvalid.
func ParseCursor(text string) (Cursor, error) {
	if text == "" {
		return Cursor{}, nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	ms, id, _ := strings.Cut(string(decoded), " ")
	at, numErr := strconv.ParseInt(ms, 10, 64)
	c := Cursor{At: time.UnixMilli(at).UTC(), ID: id}
	if err != nil || numErr != nil || c.String() != text {
		return Cursor{}, fmt.Errorf(
			"a list cannot go on after %q, which is no cursor (take it from the list before, as it is): %w", text, ErrInvalid)
	}
	return c, nil
}
