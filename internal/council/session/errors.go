package session

import (
	"errors"
	"fmt"
	"strings"

	"sibyl/internal/text"
)

// ErrNotFound says that there is no such session, entry or answer.
var ErrNotFound = errors.New("not found")

func errNoSession(id string) error {
	return fmt.Errorf("session “%s”: %w", shortened(id), ErrNotFound)
}

// Kind says what is wrong with what was handed in.
type Kind string

// The kinds of Invalid.
const (
	Form       Kind = "form"       // it is not what it has to be
	Empty      Kind = "empty"      // there is nothing in it
	TooLarge   Kind = "too_large"  // it is over a bound
	NotAudio   Kind = "not_audio"  // it is neither audio nor text
	Unreadable Kind = "unreadable" // it is a document without a text that can be read
)

// Invalid is something that was handed in and can't be taken: the file of a name, or the field.
type Invalid struct {
	Kind    Kind
	What    string // "the name", "“memo.ogg”"
	Problem string // "is empty"
	Err     error  // why, if something else said so
}

func (e *Invalid) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s %s: %v", e.What, e.Problem, e.Err)
	}
	return e.What + " " + e.Problem
}

func (e *Invalid) Unwrap() error { return e.Err }

// tooLarge is an *Invalid of what is over a bound of so many bytes.
func tooLarge(what string, most int64) error {
	return &Invalid{Kind: TooLarge, What: what, Problem: "is larger than " + sizeInWords(most)}
}

// sizeInWords is a bound in words.
func sizeInWords(bytes int64) string {
	for _, unit := range []struct {
		name string
		log  uint
	}{{"GB", 30}, {"MB", 20}, {"kB", 10}} {
		if n := bytes >> unit.log; n > 0 {
			return fmt.Sprintf("%d %s", n, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// Damaged is a session whose metadata.json can't be used. Repair keeps it aside and rebuilds it from the folder.
type Damaged struct {
	ID     string
	Reason string
	Err    error
}

func (e *Damaged) Error() string {
	return fmt.Sprintf("session %s is damaged: its %s %s", e.ID, metadataFile, e.Reason)
}

func (e *Damaged) Unwrap() error { return e.Err }

// The bounds of texts from outside, in characters.
const (
	longestLabel  = 255 // of a file's name
	longestReason = 1000
	longestShown  = 60 // in a message
)

// label is a name from outside as a label: its last part, in one line, bounded.
func label(name string) string {
	return text.Brief(name[strings.LastIndexAny(name, `/\`)+1:], longestLabel)
}

// shortened is a text from outside as a message shows it.
func shortened(s string) string { return text.Brief(s, longestShown) }
