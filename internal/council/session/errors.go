package session

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// ErrNotFound says that there is no such session, entry or answer.
var ErrNotFound = errors.New("not found")

// Kind says what is wrong with what was handed in.
type Kind string

// The kinds of Invalid.
const (
	Form     Kind = "form"      // it is not what it has to be
	Empty    Kind = "empty"     // there is nothing in it
	TooLarge Kind = "too_large" // it is over a bound
	NotAudio Kind = "not_audio" // it is neither audio nor text
	Broken   Kind = "broken"    // it is not what was sent
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

// Damaged is a session whose metadata.json can't be used. Repair keeps it aside and rebuilds it from the folder.
type Damaged struct {
	ID     string
	Reason string
	Err    error
}

func (e *Damaged) Error() string {
	return fmt.Sprintf("session %s is damaged: its %s %s; ‘repair’ rebuilds it from the files", e.ID, metadataFile, e.Reason)
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
	return bounded(oneLine(name[strings.LastIndexAny(name, `/\`)+1:]), longestLabel)
}

// short is a text from outside as a message shows it.
func short(text string) string { return bounded(oneLine(text), longestShown) }

// oneLine is a text with one space for white space, and without what can't be shown.
func oneLine(text string) string {
	words := strings.Fields(strings.ToValidUTF8(text, "\ufffd"))
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) || r == '\u200d' { // which joins emoji
			return r
		}
		return -1
	}, strings.Join(words, " "))
}

// bounded cuts a text after so many characters.
func bounded(text string, most int) string {
	if all := []rune(text); len(all) > most {
		return string(all[:most-1]) + "…"
	}
	return text
}
