// Package understand reads what a person says to an assistant that keeps tasks: offline, by rules, in English, German and Portuguese.
//
// Closed classes of words are data, one file a language: imperatives, pronouns, ordinals, number words, yes and no, articles, connectors. The
// structure of a message decides the rest, by the same rules in each language. No rule knows a topic or a whole sentence.
//
// Guarantees:
//   - Pure and deterministic; any words, valid text or not, give a Reading with at least one Result. Cost is bounded: of more than 8 KB
//     nothing is read.
//   - A question, a negation, a condition, a quotation and what somebody else said change nothing.
//   - Positions come only from a reference that was understood to its last word. What is left over makes it words of a title.
//   - A title is made of the person's own words in their case.
package understand

import (
	"slices"
	"strings"
)

// Intent says what a message, or a part of it, is for.
type Intent string

// The five intents of the requirement, and those that answer the assistant or are no matter of tasks.
const (
	Create   Intent = "create"
	List     Intent = "list"
	Update   Intent = "update"
	Complete Intent = "complete"
	Delete   Intent = "delete"
	Confirm  Intent = "confirm"
	Decline  Intent = "decline"
	Choose   Intent = "choose" // one or some of the options asked about; with none asked about, tasks that were named without a verb
	Value    Intent = "value"  // the title or value that was asked for
	Undo     Intent = "undo"
	Help     Intent = "help" // what can be done, and how
	Chat     Intent = "chat" // nothing to be done
)

// Reference says which tasks are meant.
type Reference struct {
	Words     string     // as they were said: "task 2", "the meeting task"
	Positions []int      // in the last list shown (or the options asked about), from 1; negative ones count from the end: -1 is the last
	It        bool       // "it", "that one", "this task": what was spoken of last
	All       bool       // all of them ("both", "all", "everything"), but for Except
	Both      bool       // with All: two were said, "both"
	Except    *Reference // with All
	Title     string     // content words by which a task is named; "" if it is named otherwise
}

// Entities is what was said beside the intent.
type Entities struct {
	Title          string     // Create, Value: the title; Update: the new title; dates, amounts and priorities stay in it
	Description    string     // with HasDescription: the (new) description; "" removes it
	HasDescription bool       // a description was spoken of
	When           string     `json:",omitempty"` // Update: the day or time that the task is to have, in the person's words: see Rescheduled
	Status         string     // List, and Delete or Complete of all: "pending" or "completed", "" for all; Update: "pending" opens a task again
	Newest         bool       // List: newest first
	Reminder       bool       // Create: they ask to be reminded
	Reference      *Reference // Update, Complete, Delete, Choose: which tasks, nil if none was named; List: a title search ("tasks about the house")
}

// Alternative is another way to read the same words.
type Alternative struct {
	Intent     Intent
	Confidence float64 // 0 to 1
	Entities   Entities
}

// Result is one intent of a message.
type Result struct {
	Intent       Intent
	Confidence   float64 // 0 to 1
	Entities     Entities
	Alternatives []Alternative // best first
	Reasoning    string        // one short line: which evidence decided
}

// What an assistant may have asked.
const (
	KindConfirm = "confirm" // yes or no
	KindChoose  = "choose"  // one or some of the numbered Options
	KindValue   = "value"   // a missing title or new value
)

// Open is what the assistant asked and the next words may answer.
type Open struct {
	Kind    string   // KindConfirm, KindChoose or KindValue
	Intent  Intent   // of what waits
	Options []string // labels as they were shown
}

// Context is what was before the message.
type Context struct {
	Shown    int    // tasks in the last list shown; 0: none
	Spoken   bool   // "it" can mean something
	Open     *Open  // nil: nothing was asked
	Language string // of the messages before; "": unknown
	Previous Intent // of the message before, if it asked to change tasks; "": it did not
}

// Reading is what a message was understood to say.
type Reading struct {
	Language string   // of this message: "en", "de" or "pt"
	Results  []Result // in the order said; at least one
}

// maxBytes bounds what is read of a message.
const maxBytes = 8 << 10

// Read says what words are for, and what they name.
func Read(words string, c Context) Reading {
	words = strings.ToValidUTF8(words, "\uFFFD")
	if len(words) > maxBytes {
		return Reading{known(c.Language), []Result{{Intent: Chat, Confidence: sure, Reasoning: "longer than what is read"}}}
	}
	tokens := enumerated(tokenize(words))
	var best Reading
	for i, l := range ranked(tokens, c.Language) {
		r := &reader{text: newText(words, tokens, l), context: c, previous: c.Previous}
		if r.shown = c.Shown; c.Open != nil && len(c.Open.Options) > 0 {
			r.shown = len(c.Open.Options)
		}
		reading := Reading{l.code, r.read()}
		if i == 0 {
			best = reading
			if !r.guessed {
				break
			}
		} else if !r.guessed && slices.ContainsFunc(reading.Results, acts) {
			best = reading
			break
		}
	}
	return best
}
