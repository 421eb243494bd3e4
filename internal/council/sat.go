package council

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"sibyl/internal/journal"
)

// Sat reads the outcome of a run in which oracles were asked: the answer of one stands among the Answers, too. asked is false if none was: the run gave
// a name, or wrote down recordings.
func (d *Desk) Sat(outcome json.RawMessage) (o Outcome, asked bool, err error) {
	err = json.Unmarshal(outcome, &o)
	if o.Answer != nil {
		o.Answers = append(o.Answers, *o.Answer)
	}
	return o, err == nil && (o.Kind == KindAnswer || o.Kind == KindSitting), err
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
