package session

import (
	"errors"
	"fmt"
	"strings"

	"sibyl/internal/text"
)

// ErrNotFound means that there is no such session, entry or answer, or that an entry lacks the requested part.
var ErrNotFound = errors.New("not found")

// ErrAway means that this process does not have the folder of sessions that the processes over its database share.
var ErrAway = errors.New("this node has no access to the Council's sessions")

func errNoSession(id string) error {
	return fmt.Errorf("session “%s”: %w", shortened(id), ErrNotFound)
}

// Kind says what is wrong with an input.
type Kind string

// The kinds of Invalid.
const (
	Form       Kind = "form"       // it has the wrong form
	Empty      Kind = "empty"      // it is empty
	TooLarge   Kind = "too_large"  // it exceeds a limit
	NotAudio   Kind = "not_audio"  // it is neither audio nor text
	Unreadable Kind = "unreadable" // it is a document whose text can't be read
)

// Invalid is the error for an input, a file or a field, that is refused.
type Invalid struct {
	Kind    Kind
	What    string // "the name", "“memo.ogg”"
	Problem string // "is empty"
	Err     error  // the cause; nil if there is no other error
}

func (e *Invalid) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s %s: %v", e.What, e.Problem, e.Err)
	}
	return e.What + " " + e.Problem
}

func (e *Invalid) Unwrap() error { return e.Err }

// tooLarge returns an *Invalid for an input of more than most bytes.
func tooLarge(what string, most int64) error {
	return &Invalid{Kind: TooLarge, What: what, Problem: "is larger than " + sizeInWords(most)}
}

// sizeInWords formats a size for messages, rounded down to a whole unit: "16 MB".
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

// Damaged is the error for a session whose metadata.json can't be used. Repair sets the file aside and rebuilds it.
type Damaged struct {
	ID     string
	Reason string
	Err    error
}

func (e *Damaged) Error() string {
	return fmt.Sprintf("session %s is damaged: its %s %s", e.ID, metadataFile, e.Reason)
}

func (e *Damaged) Unwrap() error { return e.Err }

// The maximum lengths of texts from outside, in characters.
const (
	longestLabel  = 255 // of a file's name
	longestReason = 1000
	longestShown  = 60 // in a message
)

// label gives the last part of a path or file name from outside, in one line of limited length.
func label(name string) string {
	return text.Brief(name[strings.LastIndexAny(name, `/\`)+1:], longestLabel)
}

// shortened gives a text from outside in one line, short enough for a message.
func shortened(s string) string { return text.Brief(s, longestShown) }
