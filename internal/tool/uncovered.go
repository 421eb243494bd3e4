package tool

import (
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/text"
)

// Uncovered is what a call was to look at and did not, for one reason. It stands beside whatever the call found: that
// nothing was found says nothing of it.
type Uncovered struct {
	Reason Reason   `json:"reason"`
	Count  int      `json:"count"`
	Names  []string `json:"names,omitempty"` // of some
}

// Reason says why something was not looked at.
type Reason string

// The reasons.
const (
	IsLarge     Reason = "too_large"  // a file over the bound of one
	NoText      Reason = "no_text"    // pages of pictures
	Late        Reason = "late"       // it was not read in time
	Silent      Reason = "silent"     // a search engine that did not answer
	Shallow     Reason = "shallow"    // the history before the oldest commit of a shallow clone
	Submodule   Reason = "submodule"  // another repository within this one
	Encoding    Reason = "encoding"   // text that can't be decoded
	Unreadable  Reason = "unreadable" // a file or folder that can't be opened, or is damaged
	BeyondBound Reason = "bound"      // what is beyond the bounds of a search as a whole
)

// Reasons are all reasons.
func Reasons() []Reason {
	return []Reason{IsLarge, NoText, Late, Silent, Shallow, Submodule, Encoding, Unreadable, BeyondBound}
}

// Words are what people and models read of a reason, after the count.
func (r Reason) Words() string {
	switch r {
	case IsLarge:
		return "too large to be searched"
	case NoText:
		return "without text (pictures; recognise their text, OCR)"
	case Late:
		return "not read in time (search again)"
	case Silent:
		return "engine that did not answer"
	case Shallow:
		return "shallow clone: what is older is not here (git fetch --unshallow)"
	case Submodule:
		return "submodule, another repository (check it out, or name its folder)"
	case Encoding:
		return "in an encoding that can't be read (save it as UTF-8)"
	case BeyondBound:
		return "beyond the bounds of a search (name a folder)"
	}
	return "unreadable entry"
}

// Bounds of an Uncovered.
const (
	mostUncoveredNames = 5
	longestUncovered   = 120 // characters of a name
)

// LeaveOut says that the call did not look at some things, of which some may be named.
func (r *Result) LeaveOut(reason Reason, count int, names ...string) {
	at := slices.IndexFunc(r.Uncovered, func(u Uncovered) bool { return u.Reason == reason })
	if at < 0 {
		r.Uncovered = append(r.Uncovered, Uncovered{Reason: reason})
		at = len(r.Uncovered) - 1
	}
	u := &r.Uncovered[at]
	u.Count += count
	for _, name := range names {
		if name = text.Brief(name, longestUncovered); len(u.Names) < mostUncoveredNames && !slices.Contains(u.Names, name) {
			u.Names = append(u.Names, name)
		}
	}
}

// String is the count, the reason and some names.
func (u Uncovered) String() string { return u.In(u.Reason.Words()) }

// In is String with the words of another language for the reason.
func (u Uncovered) In(words string) string {
	return fmt.Sprintf("%d × %s%s", u.Count, words, u.Named())
}

// Named is a colon and the names, with an ellipsis where there are more; "" if there are none.
func (u Uncovered) Named() string {
	if len(u.Names) == 0 {
		return ""
	}
	said := ": " + strings.Join(u.Names, ", ")
	if u.Count > len(u.Names) && u.isOfNames() {
		said += ", …"
	}
	return said
}

// Merge adds what another call did not look at. What both tell by the same names is counted once.
func (r *Result) Merge(all []Uncovered) {
	for _, u := range all {
		at := slices.IndexFunc(r.Uncovered, func(known Uncovered) bool { return known.Reason == u.Reason })
		if at >= 0 && len(u.Names) > 0 && !slices.ContainsFunc(u.Names, func(name string) bool {
			return !slices.Contains(r.Uncovered[at].Names, name)
		}) {
			r.Uncovered[at].Count = max(r.Uncovered[at].Count, u.Count)
			continue
		}
		r.LeaveOut(u.Reason, u.Count, u.Names...)
	}
}

// isOfNames says whether each name is one of what is counted; else a name is of several.
func (u Uncovered) isOfNames() bool {
	return !slices.Contains([]Reason{NoText, Late, BeyondBound, Shallow}, u.Reason)
}

// UncoveredText says in a line what was not looked at; "" if all was.
func UncoveredText(all []Uncovered) string {
	if len(all) == 0 {
		return ""
	}
	parts := make([]string, len(all))
	for i, u := range all {
		parts[i] = u.String()
	}
	return "Not looked at: " + strings.Join(parts, "; ") + ".\n"
}

// withUncovered adds what was not looked at to the text of a result, which stays within its bound.
func (r Result) withUncovered() Result {
	note := UncoveredText(r.Uncovered)
	r = cutText(r, MaxText-len(note))
	if note != "" && r.Text != "" && !strings.HasSuffix(r.Text, "\n") {
		r.Text += "\n"
	}
	r.Text += note
	return r
}
