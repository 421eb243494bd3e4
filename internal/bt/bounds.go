package bt

import (
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
	"unsafe"
)

// Bounds of a run, so that no tree can fill the memory or block a processor, whatever it is given.
const (
	// MaxVisits caps the node visits of one Step; a tree that takes more fails as one that spins.
	MaxVisits = 10_000
	// MaxText caps the text of one key, and MaxTexts those of all keys together, in bytes.
	MaxText  = 4 << 20
	MaxTexts = 16 << 20
	// MaxWork caps what scripts do in one Step: an operation counts as opWork, plus the bytes of the texts that it
	// reads or makes.
	MaxWork = 64 << 20
	// MaxPayload caps the payload of one effect, in bytes of JSON.
	MaxPayload = 4 << 20

	opWork = 64
)

// Bounds of a tree file, so that none can exhaust the loader: whatever is in it, loading takes time and memory in
// proportion to its size.
const (
	maxFile    = 8 << 20  // bytes
	maxDepth   = 200      // of elements, and of nodes with their subtrees
	maxNodes   = 1 << 18  // with all subtrees expanded: their number can double with every line of the file
	maxAttrs   = 1000     // of one element
	maxName    = 256      // bytes of a name: of an element, an attribute, a node, a tree or a key
	maxScript  = 4096     // bytes of a script; it bounds how deep one can nest
	maxLaidOut = 16 << 20 // bytes of attributes with all subtrees expanded; those of scripts count scriptWeight times
	maxHints   = 200      // problems for which a similar name is searched

	scriptWeight = 4
)

// ErrBound is in the error of a Step that would exceed a bound of a run.
var ErrBound = errors.New("beyond a bound of trees")

// textBytes is how many bytes of text a value of the blackboard has.
func textBytes(v any) int {
	switch v := v.(type) {
	case nil, bool, float64, int, int64:
		return 0
	case string:
		return len(v)
	case []string:
		n := 0
		for _, s := range v {
			n += len(s) + int(unsafe.Sizeof(s)) // an empty one takes memory, too
		}
		return n
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.String {
		return r.Len()
	}
	return 0
}

// setSlot replaces the value of a key, if the texts of the blackboard stay within their bounds.
func (s *State) setSlot(slot int32, name string, v any) error {
	n := textBytes(v)
	if n == 0 && s.texts == 0 {
		s.Slots[slot] = v
		return nil
	}
	all := s.texts - textBytes(s.Slots[slot]) + n
	switch {
	case n > MaxText:
		return fmt.Errorf("key {%s} would hold a text of %d bytes, and a key holds at most %d: %w",
			name, n, MaxText, ErrBound)
	case all > MaxTexts && all > s.texts:
		return fmt.Errorf("with key {%s} all texts would have %d bytes, and all keys together hold at most %d: %w",
			name, all, MaxTexts, ErrBound)
	}
	s.Slots[slot], s.texts = v, all
	return nil
}

// totalTextBytes is how many bytes of text all keys have.
func totalTextBytes(slots []any) (n int) {
	for _, v := range slots {
		n += textBytes(v)
	}
	return n
}

// addWork counts the work of scripts, and fails beyond MaxWork.
func (x *exec) addWork(bytes int) error {
	if x.work += opWork + bytes; x.work > MaxWork {
		return fmt.Errorf("the scripts of one step take more than %d units of work, of which an operation takes %d "+
			"and each byte of a text one: %w", MaxWork, opWork, ErrBound)
	}
	return nil
}

// clipped is a text, shortened for a message.
func clipped(text string) string { return clippedTo(text, 200) }

// clippedTo is a text cut off after room bytes, between characters.
func clippedTo(text string, room int) string {
	if len(text) <= room {
		return text
	}
	end := room
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// clipValue is a value, shortened for a message.
func clipValue(v any) string {
	if s, ok := v.(string); ok {
		return clipped(s)
	}
	return clipped(fmt.Sprint(v))
}

// namesFit reports the names of an element that are too long, and says whether there are none.
func (s *source) namesFit(e *element) bool {
	fits := true
	check := func(at int, what, name string) {
		if len(name) > maxName {
			s.problem(at, "", "the name of %s is longer than %d bytes: ‘%s’", what, maxName, clipped(name))
			fits = false
		}
	}
	check(e.at, "an element", e.name)
	for _, a := range e.attrs {
		check(a.at, "an attribute", a.name)
		key, isKey := keyOf(a)
		switch {
		case a.name == "name" || a.name == "ID":
			check(a.at, "a node or tree", a.value)
		case isKey:
			check(a.at, "a key", key)
		}
	}
	return fits
}
