package council

import (
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
	Chair   *Answer // nil: nobody presided
	Merged  *Merged // what the chair made of the answers
	Skipped []string
}

// Sat reads the outcome of a run. asked is false if no oracle was: the run gave a name, or wrote down recordings.
func (d *Desk) Sat(outcome json.RawMessage) (s Sat, asked bool, err error) {
	var o Outcome
	if err := json.Unmarshal(outcome, &o); err != nil {
		return s, false, err
	}
	s = Sat{Oracles: o.Oracles, Answers: o.Answers, Silent: o.Silent, Chair: o.Chair, Merged: o.Merged}
	if o.Answer != nil {
		s.Answers = append(s.Answers, *o.Answer)
	}
	for _, one := range o.Skipped {
		s.Skipped = append(s.Skipped, one.String())
	}
	return s, o.Kind == KindAnswer || o.Kind == KindSitting, nil
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
