package inquiry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// Desk reads what was inquired.
type Desk struct {
	Deps
	// Standings says how runs of an owner stand, in their order.
	Standings func(ctx context.Context, owner journal.Owner, runs ...journal.Run) ([]run.Standing, error)
}

// Session is an inquiry with how its run stands.
type Session struct {
	record.Session
	Standing run.Standing `json:"standing" doc:"How its run stands. The file does not have it: there, one that is paused for want of a model is failed until it goes on."`
}

// ErrUnknown says that no inquiry has an id; it is a journal.ErrNotFound.
var ErrUnknown = fmt.Errorf("there is no such inquiry: %w", journal.ErrNotFound)

// ErrNone says that there are no inquiries yet.
var ErrNone = errors.New("there are no inquiries yet")

// UnwrittenError comes with a session whose file could not be written. The journal has all of it.
type UnwrittenError struct{ Err error }

func (e *UnwrittenError) Error() string {
	return fmt.Sprintf("the session file could not be written; it is written the next time it is opened: %v", e.Err)
}

// Unwrap gives the reason.
func (e *UnwrittenError) Unwrap() error { return e.Err }

// List returns the inquiries, the latest first. It reads only their rows, except for those that have not ended.
func (d *Desk) List(ctx context.Context, owner journal.Owner, f journal.Filter) (items []Listed, err error) {
	f.Assistant, f.Summaries = Name, true
	rows, err := d.Store.Runs(ctx, owner, f)
	if err != nil {
		return nil, err
	}
	standings, err := d.Standings(ctx, owner, rows...)
	if err != nil {
		return nil, err
	}
	for n, r := range rows {
		item := d.listItem(ctx, r, standings[n])
		item.ID, item.Run = r.Session, r.ID
		items = append(items, Listed{Item: item, Standing: standings[n], cursor: r.Cursor()})
	}
	return items, nil
}

// listItem makes the item of an inquiry from its row or, if it has not ended, from its records.
func (d *Desk) listItem(ctx context.Context, r journal.Run, standing run.Standing) Item {
	kept := Item{}
	i := Item{Hypothesis: r.Title, StartTime: r.StartedAt.UTC().Format(time.RFC3339), Status: record.Failed}
	switch {
	case len(r.Summary) > 0 && json.Unmarshal(r.Summary, &kept) == nil:
		return kept
	case r.Status == journal.Running:
		i.Status = record.Running
		if s, err := d.runningSession(ctx, r); err == nil {
			i = ItemOf(shown(s, standing).Session)
		}
	}
	return i
}

// Get returns the run of an inquiry, by the id of either; journal.ErrNotFound if there is none.
func (d *Desk) Get(ctx context.Context, owner journal.Owner, id string) (journal.Run, error) {
	rows, err := d.Store.Runs(ctx, owner, journal.Filter{Session: id, Assistant: Name, Summaries: true, Limit: 1})
	if err != nil || len(rows) > 0 {
		return append(rows, journal.Run{})[0], err
	}
	r, err := d.Store.Run(ctx, owner, id)
	if err == nil && r.Assistant != Name {
		err = fmt.Errorf("run %s is not an inquiry: %w", id, journal.ErrNotFound)
	}
	return r, err
}

// Latest returns the inquiry that began last; ErrNone if there is none.
func (d *Desk) Latest(ctx context.Context, owner journal.Owner) (journal.Run, error) {
	rows, err := d.Store.Runs(ctx, owner, journal.Filter{Assistant: Name, Summaries: true, Limit: 1})
	if err == nil && len(rows) == 0 {
		err = ErrNone
	}
	return append(rows, journal.Run{})[0], err
}

// Find returns the inquiry whose id, or run's id, is or begins with the query; the latest for "".
func (d *Desk) Find(ctx context.Context, owner journal.Owner, query string) (journal.Run, error) {
	if query == "" {
		return d.Latest(ctx, owner)
	}
	if r, err := d.Get(ctx, owner, query); err == nil || !errors.Is(err, journal.ErrNotFound) {
		return r, err
	}
	f := journal.Filter{Assistant: Name, Summaries: true, Limit: 200}
	var found []journal.Run
	for {
		rows, err := d.Store.Runs(ctx, owner, f)
		if err != nil {
			return journal.Run{}, err
		}
		for _, r := range rows {
			if strings.HasPrefix(r.Session, query) || strings.HasPrefix(r.ID, query) {
				found = append(found, r)
			}
		}
		if len(rows) < f.Limit {
			break
		}
		f.After = rows[len(rows)-1].Cursor()
	}
	switch len(found) {
	case 0:
		return journal.Run{}, fmt.Errorf("“%.80s”: %w", query, ErrUnknown)
	case 1:
		return found[0], nil
	}
	return journal.Run{}, &assistant.RequestError{Why: bt.Because("several inquiries match"), Hint: "give more of the id"}
}

// Session reads an inquiry, as Read does, and writes its file if a crash or a stop prevented that. An *UnwrittenError
// comes with the session.
func (d *Desk) Session(ctx context.Context, owner journal.Owner, r journal.Run) (Session, error) {
	one, s, err := d.readShown(ctx, owner, r)
	if err != nil {
		return one, err
	}
	folder, err := d.Files(owner)
	if err == nil {
		err = folder.Write(ctx, s) // the same again changes nothing
	}
	if stale := (*record.Stale)(nil); errors.As(err, &stale) && s.Status == record.Running {
		err = nil // its driver has written a later state
	}
	if err != nil {
		err = &UnwrittenError{err}
	}
	return one, err
}

// Read reads an inquiry from the journal, ended or running. It writes nothing.
func (d *Desk) Read(ctx context.Context, owner journal.Owner, r journal.Run) (Session, error) {
	one, _, err := d.readShown(ctx, owner, r)
	return one, err
}

// readShown reads an inquiry as it is shown, and as its file has it.
func (d *Desk) readShown(
	ctx context.Context, owner journal.Owner, r journal.Run,
) (one Session, filed record.Session, err error) {
	if filed, err = d.read(ctx, owner, r); err != nil {
		return Session{Session: filed}, filed, err
	}
	standings, err := d.Standings(ctx, owner, r)
	if err != nil {
		return Session{Session: filed}, filed, err
	}
	return shown(filed, standings[0]), filed, nil
}

// shown is a session as it is shown: one that is paused can be resumed. A file does not always say so, since none is
// written when a process dies.
func shown(s record.Session, standing run.Standing) Session {
	s.Resumable = s.Resumable || s.Status == record.Running && standing.State == run.StatePaused
	return Session{s, standing}
}

// read reads an inquiry as its file has it.
func (d *Desk) read(ctx context.Context, owner journal.Owner, r journal.Run) (record.Session, error) {
	end, err := run.ReadEnd(ctx, d.Store, owner, r.ID)
	if errors.Is(err, journal.ErrNotFound) {
		return d.runningSession(ctx, r)
	}
	if err != nil {
		return record.Session{}, err
	}
	var o Outcome
	if err := json.Unmarshal(end.Outcome, &o); err != nil || o.Session.ID == "" {
		return record.Session{}, fmt.Errorf("outcome of run %s: %w: %w", r.ID, journal.ErrCorrupt,
			cmp.Or(err, errors.New(cmp.Or(o.Problem, "it has no session"))))
	}
	return o.Session, nil
}

// recorded reads the records of a run.
func (d *Desk) recorded(ctx context.Context, r journal.Run) (*run.Assistant, *run.View, error) {
	records, err := d.Store.Records(ctx, r.Owner, r.ID, 0)
	if err != nil {
		return nil, nil, err
	}
	a, err := New(d.Deps)
	if err != nil {
		return nil, nil, err
	}
	v, err := a.Recorded(d.Store, r, records)
	return a, v, err
}

// runningSession computes the session of a running inquiry by folding its run's records.
func (d *Desk) runningSession(ctx context.Context, r journal.Run) (s record.Session, err error) {
	a, v, err := d.recorded(ctx, r)
	if err != nil {
		return s, err
	}
	text, err := d.Store.Blob(ctx, r.Owner, v.Start().Tree)
	if err != nil {
		return s, err
	}
	tree, err := a.Leaves.Load(v.Start().TreeFile, text, a.Options)
	if err != nil {
		return s, err
	}
	f := run.NewFold(a, tree)
	for n, body := range v.Bodies() {
		if _, err := f.Take(int64(n), body); err != nil {
			return s, err
		}
	}
	p := &performer{Deps: d.Deps, view: v}
	if err := p.readStart(); err != nil {
		return s, err
	}
	var w treeResult
	e := f.Ending()
	e.Tree.Read(e.State, &w)
	payload := WritePayload{Turns: w.Turns, Opened: w.Opened, Trail: w.Trail}
	if w.Summary != 0 { // the inquiry has ended, and its file may say so
		payload.Summary, payload.Reason = w.Summary, w.Reason
	}
	return p.projectSession(payload, p.suspendFault())
}
