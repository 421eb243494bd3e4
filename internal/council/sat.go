package council

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/journal"
)

// Sat is what came of a run in which oracles were asked, for people. Texts are Markdown.
type Sat struct {
	Oracles    []Seat
	Answers    []Answer
	Silent     []Silent
	Comparison string // where the answers agree and differ; empty: they were not compared
	Review     string // how the oracles ranked each other
	Chair      string // what the chair made of the answers
	ChairedBy  string
	Skipped    []string // parts that were left out, with the reasons
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
	if o.Comparison != nil {
		s.Comparison = o.Comparison.Markdown(o.Language)
	}
	b := &strings.Builder{}
	o.ranks(b)
	s.Review = b.String()
	if o.Chair != nil {
		s.Chair, s.ChairedBy = o.Chair.Text+"\n\n"+o.doubted(), o.Chair.Oracle.Name
	}
	for _, one := range o.Skipped {
		s.Skipped = append(s.Skipped, one.String())
	}
	return s, true, nil
}

// doubted quotes what a chair ascribes to others, and no answer says.
func (o *Outcome) doubted() string {
	b := &strings.Builder{}
	for _, s := range o.Sentences {
		if len(s.Doubted) > 0 && len(s.By) == 0 {
			fmt.Fprintf(b, "> %s: “%s” (%s)\n", o.word("doubted"), s.Text, strings.Join(s.Doubted, ", "))
		}
	}
	return b.String()
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
