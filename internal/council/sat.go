package council

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"sibyl/internal/journal"
)

// Sat is what came of a run in which oracles were asked, for people. Texts are Markdown.
type Sat struct {
	Oracles []Seat
	Answers []Answer
	Silent  []Silent
	Chair   *Chair   // what the chair made of the answers; nil: nobody presided
	Skipped []string // parts that were left out, with the reasons
}

// Chair is what the chair made of the answers. Unused are the oracles of whose answers nothing was taken up.
type Chair struct {
	Answer
	Merged
	Unused []string
}

// Sat reads the outcome of a run. asked is false if no oracle was: the run gave a name, or wrote down recordings.
func (d *Desk) Sat(outcome json.RawMessage) (s Sat, asked bool, err error) {
	var o Outcome
	if err := json.Unmarshal(outcome, &o); err != nil {
		return s, false, err
	}
	if o.Kind != KindAnswer && o.Kind != KindSitting {
		return s, false, nil
	}
	s = Sat{Oracles: o.Oracles, Answers: o.Answers, Silent: o.Silent}
	if o.Answer != nil {
		s.Answers = append(s.Answers, *o.Answer)
	}
	if o.Chair != nil && o.Merged != nil {
		s.Chair = &Chair{*o.Chair, *o.Merged, unused(o.Answers, o.Sentences)}
	}
	for _, one := range o.Skipped {
		s.Skipped = append(s.Skipped, one.String())
	}
	return s, true, nil
}

// Rest is the outcome of a run as Markdown, without the answers of these runs, which were shown before.
func (d *Desk) Rest(outcome json.RawMessage, shown map[string]bool) (string, error) {
	var o Outcome
	if err := json.Unmarshal(outcome, &o); err != nil {
		return "", err
	}
	o.Answers = slices.DeleteFunc(o.Answers, func(a Answer) bool { return shown[a.Run] })
	return strings.TrimSpace(o.Markdown()), nil
}

// JournalSession is the session of the journal whose runs are about one of the Council's; there may be none yet.
func (d *Desk) JournalSession(ctx context.Context, owner journal.Owner, id string) (string, error) {
	return d.journalSession(ctx, owner, id)
}

// mostRemoved is how many removed sessions of the journal are reckoned with before the one that a session's runs are in.
const mostRemoved = 8

// IsAbout says whether a session of the journal holds runs about a session of the Council.
func (d *Desk) IsAbout(owner journal.Owner, journalSession, id string) bool {
	for n := range mostRemoved + 1 {
		if journalName(owner, id, n) == journalSession {
			return true
		}
	}
	return false
}
