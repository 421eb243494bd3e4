package council

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// Desk is what a person can do with the sessions of one owner without a run.
type Desk struct {
	*session.Store
	deps  Deps
	owner journal.Owner
}

// Desk opens the sessions of an owner.
func (d Deps) Desk(owner journal.Owner) (*Desk, error) {
	folder, err := d.Sessions(owner)
	return &Desk{folder, d, owner}, err
}

// ErrNone says that there are no sessions yet.
var ErrNone = errors.New("there are no Council sessions yet")

// AmbiguousError is a name that several sessions have.
type AmbiguousError struct {
	Query    string
	Sessions []session.Session
}

func (e *AmbiguousError) Error() string {
	told := fmt.Sprintf("%d sessions match “%s”:", len(e.Sessions), e.Query)
	for _, s := range e.Sessions {
		told += "\n      " + s.ID + "  " + s.Name
	}
	return told
}

// Opened is a session in its current state. Fixed says what was fixed: an unsaved answer, an interrupted transcription.
type Opened struct {
	session.Session
	Fixed []bt.Why `json:"mended,omitempty" doc:"What was put right that a crash, a stop or a full disk had left."`
}

// List gives the sessions, the latest first, and those that can't be read. Their states are as they stand; nothing is
// written.
func (d *Desk) List(ctx context.Context) (all []session.Session, skipped []session.Skipped, err error) {
	all, skipped, err = d.Store.List(ctx)
	for i := 0; i < len(all) && err == nil; i++ {
		all[i], err = d.withCurrentState(ctx, all[i])
	}
	return all, skipped, err
}

// Get gives the session of an id, which is whole, in the state in which it stands; nothing is written.
func (d *Desk) Get(ctx context.Context, id string) (session.Session, error) {
	found, err := d.Store.Get(ctx, id)
	if err != nil {
		return found, err
	}
	return d.withCurrentState(ctx, found)
}

// withCurrentState is the session with the state that Open would give it, if its transcription died.
func (d *Desk) withCurrentState(ctx context.Context, s session.Session) (session.Session, error) {
	died, err := d.transcriptionDied(ctx, s)
	if died {
		s.State = s.Ended()
	}
	return s, err
}

// transcriptionDied says whether the session's state is Transcribing, and nobody drives a run that does it.
func (d *Desk) transcriptionDied(ctx context.Context, s session.Session) (bool, error) {
	if s.State != session.Transcribing {
		return false, nil
	}
	runs, err := d.deps.JournalSession(ctx, d.owner, s.ID)
	if err != nil {
		return false, err
	}
	f := journal.Filter{Session: runs, Assistant: TranscriptionName, Status: journal.Running, Limit: mostRuns}
	open, err := d.deps.Store.Runs(ctx, d.owner, f)
	return err == nil && !slices.ContainsFunc(open, d.deps.Driven), err
}

// IsAbout says whether a session of the journal holds runs about a session of the Council.
func (d *Desk) IsAbout(journalSession, id string) bool {
	for n := range mostRemoved + 1 {
		if journalName(d.owner, id, n) == journalSession {
			return true
		}
	}
	return false
}

// mostRemoved is how many removed sessions of the journal are reckoned with before the one with a session's runs.
const mostRemoved = 8

// Open finds a session by its id, the beginning of one, or a part of its name; "" is the latest, if that can be read.
// What a crash, a stop or a full disk has left is put right first.
func (d *Desk) Open(ctx context.Context, query string) (o Opened, err error) {
	found, err := d.findSession(ctx, query)
	if err != nil {
		return o, err
	}
	return d.fixLeftovers(ctx, found)
}

// OpenID opens the session of this very id, as Open does.
func (d *Desk) OpenID(ctx context.Context, id string) (o Opened, err error) {
	found, err := d.Store.Get(ctx, id)
	if err != nil {
		return o, err
	}
	return d.fixLeftovers(ctx, found)
}

func (d *Desk) findSession(ctx context.Context, query string) (none session.Session, err error) {
	if query == "" {
		return d.latest(ctx)
	}
	found, err := d.Find(ctx, query)
	if err != nil {
		return none, err
	}
	exact := slices.DeleteFunc(slices.Clone(found), func(s session.Session) bool {
		return !strings.EqualFold(s.Name, query)
	})
	switch {
	case len(exact) == 1:
		return exact[0], nil
	case len(found) > 1:
		return none, &AmbiguousError{query, found}
	case len(found) == 0:
		return none, fmt.Errorf("“%.80s”: %w", query, session.ErrNotFound)
	}
	return found[0], nil
}

// latest is the session that was begun last. One that can't be read is an error: what is meant for it must not go to
// another.
func (d *Desk) latest(ctx context.Context) (none session.Session, err error) {
	all, skipped, err := d.Store.List(ctx)
	if err != nil {
		return none, err
	}
	for _, one := range skipped {
		if one.Err != nil && (len(all) == 0 || session.Newer(one.ID, all[0].ID)) {
			return none, one.Err
		}
	}
	if len(all) == 0 {
		return none, ErrNone
	}
	return all[0], nil
}

// fixLeftovers ends a transcription that died, and saves answers that could not be saved before.
func (d *Desk) fixLeftovers(ctx context.Context, s session.Session) (o Opened, err error) {
	o.Session = s
	died, err := d.transcriptionDied(ctx, s)
	if died && err == nil {
		_, err = d.EndTranscribing(ctx, s.ID)
		o.Fixed = append(o.Fixed, wasInterrupted.With())
	}
	if err != nil {
		return o, err
	}
	lines, err := d.saveUnsaved(ctx, s.ID)
	o.Fixed = append(o.Fixed, lines...)
	if err == nil && len(o.Fixed) > 0 {
		o.Session, err = d.Store.Get(ctx, s.ID)
	}
	return o, err
}

// mostRuns is how many rows of runs are read at once.
const mostRuns = 100

// saveUnsaved saves the answers that could not be saved before, and says what became of each. It reads the rows of all
// runs about the session: a pending row would be void as soon as another run begins.
func (d *Desk) saveUnsaved(ctx context.Context, id string) (lines []bt.Why, err error) {
	f := journal.Filter{Limit: mostRuns, Summaries: true}
	if f.Session, err = d.deps.JournalSession(ctx, d.owner, id); err != nil {
		return nil, err
	}
	for {
		rows, err := d.deps.Store.Runs(ctx, d.owner, f)
		if err != nil {
			return lines, err
		}
		for _, row := range rows {
			var t Turn
			if row.Status == journal.Running || json.Unmarshal(row.Summary, &t) != nil || !t.Unsaved {
				continue
			}
			saved, err := d.saveUnsavedOf(ctx, row.ID)
			switch {
			case err != nil: // it stays where it is
				lines = append(lines, stillUnsaved.With(row.ID, err))
			case saved != "":
				lines = append(lines, nowSaved.With(saved))
			}
		}
		if len(rows) < mostRuns {
			return lines, nil
		}
		f.After = rows[len(rows)-1].Cursor()
	}
}

// saveUnsavedOf saves the answer of a run that could not be saved before; file is "" if it was saved already.
func (d *Desk) saveUnsavedOf(ctx context.Context, id string) (file string, err error) {
	end, err := run.ReadEnd(ctx, d.deps.Store, d.owner, id)
	if err != nil {
		return "", err
	}
	o, err := readOutcome(end.Outcome)
	if err != nil || o.Unsaved == nil {
		return "", err
	}
	left := o.Unsaved
	if _, was, err := d.FindResponse(ctx, left.Session, left.Entry.Operation); err != nil || was {
		return "", err
	}
	e, err := d.SaveResponse(ctx, left.Session, session.Response{LlmEntry: left.Entry, Slug: left.Slug,
		Text: left.Text})
	return e.File, err
}

// Repaired is what was found and fixed in one session.
type Repaired struct {
	Session string `json:"session_id"`
	session.Report
	Fixed []bt.Why `json:"mended,omitempty"`
}

// Repair checks sessions against their folders, all where none is named, and puts right what can be. One that can't be
// repaired keeps no other from it; then there is what was done, and an error.
func (d *Desk) Repair(ctx context.Context, queries []string) (all []Repaired, err error) {
	ids, err := d.idsToRepair(ctx, queries)
	if err != nil {
		return nil, err
	}
	all = []Repaired{}
	var failed []error
	for _, id := range ids {
		one, err := d.repairOne(ctx, id)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", id, err))
		}
		if err == nil || one.Changed {
			all = append(all, one)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return all, errors.Join(failed...)
}

// repairOne repairs the files of a session, and then what opening it fixes, such as work that a crash cut short.
func (d *Desk) repairOne(ctx context.Context, id string) (r Repaired, err error) {
	r.Session = id
	if r.Report, err = d.Store.Repair(ctx, id); err != nil {
		return r, err
	}
	o, err := d.OpenID(ctx, id)
	r.Fixed = o.Fixed
	if err == nil {
		err = d.restoreAnswers(ctx, o.Session, &r)
	}
	r.Changed = r.Changed || len(r.Fixed) > 0
	return r, err
}

// restoreAnswers writes the files of answers that are missing, and that the journal has.
func (d *Desk) restoreAnswers(ctx context.Context, s session.Session, r *Repaired) error {
	for _, e := range s.Answers {
		isItsFile := func(f session.Finding) bool { return f.Mend == session.Missing && path.Base(f.File) == e.File }
		if e.Run == "" || !slices.ContainsFunc(r.Findings, isItsFile) {
			continue
		}
		text, known, err := d.journaledAnswer(ctx, e)
		if err != nil || !known {
			continue // it stays missing, as the finding says
		}
		restored, err := d.RestoreResponse(ctx, s.ID, e.Sequence, text)
		if err != nil {
			return err
		}
		if restored {
			r.Findings = slices.DeleteFunc(r.Findings, isItsFile)
			r.Fixed = append(r.Fixed, nowRestored.With(e.File))
		}
	}
	return nil
}

// journaledAnswer is the text of an answer in the outcome of its run; false if that has none of it.
func (d *Desk) journaledAnswer(ctx context.Context, e session.LlmEntry) (text string, known bool, err error) {
	end, err := run.ReadEnd(ctx, d.deps.Store, d.owner, e.Run)
	if err != nil {
		return "", false, err
	}
	o, err := readOutcome(end.Outcome)
	if err != nil {
		return "", false, err
	}
	for _, a := range o.allAnswers() {
		if a.Sequence == e.Sequence && a.File == e.File {
			return a.Text, true, nil
		}
	}
	return "", false, nil
}

// idsToRepair gives the ids of the sessions. One whose metadata can't be read has no name, and is found by its id
// alone.
func (d *Desk) idsToRepair(ctx context.Context, queries []string) (ids []string, err error) {
	sessions, skipped, err := d.Store.List(ctx)
	if err != nil {
		return nil, err
	}
	skipped = slices.DeleteFunc(skipped, func(one session.Skipped) bool { return !one.Repairable() })
	for _, query := range queries {
		if slices.ContainsFunc(skipped, func(one session.Skipped) bool { return one.ID == query }) {
			ids = append(ids, query)
			continue
		}
		s, err := d.findSession(ctx, query)
		if err != nil {
			return nil, err
		}
		ids = append(ids, s.ID)
	}
	if len(queries) > 0 {
		return ids, nil
	}
	for _, s := range sessions {
		ids = append(ids, s.ID)
	}
	for _, one := range skipped {
		ids = append(ids, one.ID)
	}
	return ids, nil
}
