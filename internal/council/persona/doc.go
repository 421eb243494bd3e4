// Package persona reads oracles: personalities that people write as Markdown files, one file each.
//
// Guarantees:
//   - A file that cannot be used is skipped with a reason. It never costs the list, and what is no file is never waited for.
//   - The same file is the same oracle, by however many links it is reached.
//   - A listing is remembered for a while, and then compared with the folder by names, sizes and times: only what changed is read again.
//   - What Find gives is what the file held when it was asked.
//   - Nothing of a person's is replaced: Create makes a new file, or none.
//
// A Shelf may be used by many goroutines at once.
package persona

import (
	"slices"
	"time"
)

// DefaultPlaceholder holds where a person chose none.
const DefaultPlaceholder = "{{CONTEXT}}"

// The bounds of a folder.
const (
	MaxSize  = 256 << 10 // bytes of a file
	MaxFiles = 1000      // of a folder; those after them by name are left out
)

// Mode is how the context gets into a prompt.
type Mode string

// The modes.
const (
	InPlace  Mode = "placeholder" // the file says where
	Appended Mode = "append"      // after the file
)

// Persona is an oracle.
type Persona struct {
	ID          string   `json:"id"`        // the first 8 hex digits of the SHA-256 of File
	Name        string   `json:"name"`      // one line, for people; never empty
	File        string   `json:"file_path"` // absolute, clean and without links; of those that are built in "/prompts/oracles/{file}"
	Slug        string   `json:"slug"`
	Content     string   `json:"content"` // the whole text in UTF-8 with plain line ends, less byte order mark and comments; never empty
	Placeholder string   `json:"placeholder"`
	Mode        Mode     `json:"mode"`
	Warnings    []string `json:"warnings"` // what its author may not have meant, a sentence each; never nil
	Language    string   `json:"language"` // "pt", "en" or "de"; "" if it is none of them
}

// Skipped is a file that cannot be used.
type Skipped struct {
	File   string `json:"file"`
	Reason string `json:"reason"` // for people, with what would help
}

// Listing is what a shelf holds: oracles by their names, skipped files by theirs.
type Listing struct {
	Oracles []Persona `json:"oracles"`
	Skipped []Skipped `json:"skipped"`
}

// clone makes a listing that its user may change.
func (l Listing) clone() Listing {
	l.Oracles, l.Skipped = slices.Clone(l.Oracles), slices.Clone(l.Skipped)
	for i := range l.Oracles {
		l.Oracles[i].Warnings = slices.Clone(l.Oracles[i].Warnings)
	}
	return l
}

// Config says where oracles come from.
type Config struct {
	Dir         string           // the folder; "": the built-in ones serve. A path that is not absolute is one of the working folder
	Placeholder string           // "": DefaultPlaceholder
	TTL         time.Duration    // how long a listing is taken for true; 0: it is compared with the folder each time
	Now         func() time.Time // nil: time.Now
}
