package council

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// Desk is where a person's acts begin that are no runs.
type Desk struct{ Deps }

// ErrNone says that there are no sessions yet.
var ErrNone = errors.New("there are no Council sessions yet")

// AmbiguousError is a name that several sessions have.
type AmbiguousError struct {
	Query    string
	Sessions []session.Session
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d sessions match “%s”", len(e.Sessions), e.Query)
}

// Opened is a session as it stands. Mended says what was put right: an answer that could not be written before, a transcription that has ended
// short.
type Opened struct {
	session.Session
	Mended []string
}

// Open finds a session by its id, the beginning of one, or a part of its name; "" is the latest, if that can be read. What a crash, a stop or a full disk has left is
// put right first.
func (d *Desk) Open(ctx context.Context, owner journal.Owner, query string) (Opened, error) {
	folder, err := d.Sessions(owner)
	if err != nil {
		return Opened{}, err
	}
	found, err := d.find(ctx, folder, query)
	if err != nil {
		return Opened{}, err
	}
	return d.mend(ctx, folder, owner, found)
}

// OpenID opens the session of this very id, as Open does.
func (d *Desk) OpenID(ctx context.Context, owner journal.Owner, id string) (Opened, error) {
	folder, err := d.Sessions(owner)
	if err != nil {
		return Opened{}, err
	}
	found, err := folder.Get(ctx, id)
	if err != nil {
		return Opened{}, err
	}
	return d.mend(ctx, folder, owner, found)
}

func (d *Desk) find(ctx context.Context, folder *session.Store, query string) (session.Session, error) {
	if query == "" {
		return d.latest(ctx, folder)
	}
	found, err := folder.Find(ctx, query)
	switch {
	case err != nil:
		return session.Session{}, err
	case len(found) == 0:
		return session.Session{}, fmt.Errorf("“%.80s”: %w", query, session.ErrNotFound)
	}
	exact := slices.DeleteFunc(slices.Clone(found), func(s session.Session) bool { return !strings.EqualFold(s.Name, query) })
	switch {
	case len(exact) == 1:
		return exact[0], nil
	case len(found) > 1:
		return session.Session{}, &AmbiguousError{query, found}
	}
	return found[0], nil
}

// latest is the session that was begun last. One that can't be read is an error: what is meant for it must not go to another.
func (d *Desk) latest(ctx context.Context, folder *session.Store) (session.Session, error) {
	all, skipped, err := folder.List(ctx)
	if err != nil {
		return session.Session{}, err
	}
	for _, one := range skipped {
		if one.Err != nil && (len(all) == 0 || session.Newer(one.ID, all[0].ID)) {
			return session.Session{}, one.Err
		}
	}
	if len(all) == 0 {
		return session.Session{}, ErrNone
	}
	return all[0], nil
}

// mend puts right what the runs about a session have left.
func (d *Desk) mend(ctx context.Context, folder *session.Store, owner journal.Owner, s session.Session) (o Opened, err error) {
	o.Session = s
	runs, err := d.JournalSession(ctx, owner, s.ID)
	if err != nil {
		return o, err
	}
	died, err := d.died(ctx, owner, s, runs)
	if died && err == nil {
		_, err = settle(ctx, folder, s.ID)
	}
	if err != nil {
		return o, err
	}
	if died {
		o.Mended = append(o.Mended, "its transcription was interrupted")
	}
	lines, err := d.saveAll(ctx, folder, owner, runs)
	if err != nil {
		return o, err
	}
	o.Mended = append(o.Mended, lines...)
	if len(o.Mended) > 0 {
		o.Session, err = folder.Get(ctx, s.ID)
	}
	return o, err
}

// died tells whether a session is said to be transcribed, and nobody drives a run that does it any more.
func (d *Desk) died(ctx context.Context, owner journal.Owner, s session.Session, runs string) (bool, error) {
	if s.State != session.Transcribing {
		return false, nil
	}
	open, err := d.Store.Runs(ctx, owner, journal.Filter{Session: runs, Assistant: TranscriptionName, Status: journal.Running, Limit: mostRuns})
	return err == nil && !slices.ContainsFunc(open, d.Driven), err
}

// mostRuns is how many rows of runs are read at once.
const mostRuns = 200

// saveAll writes the answers that could not be written before, and says of each what became of it. It asks the rows of all runs about a session: a
// pending row would be void as soon as another run begins.
func (d *Desk) saveAll(ctx context.Context, folder *session.Store, owner journal.Owner, runs string) (lines []string, err error) {
	for f := (journal.Filter{Session: runs, Limit: mostRuns, Summaries: true}); ; {
		rows, err := d.Store.Runs(ctx, owner, f)
		if err != nil {
			return lines, err
		}
		for _, row := range rows {
			var t Turn
			if row.Status == journal.Running || json.Unmarshal(row.Summary, &t) != nil || !t.Unsaved {
				continue
			}
			saved, err := d.saveLate(ctx, folder, owner, row.ID)
			switch {
			case err != nil: // it stays where it is
				lines = append(lines, fmt.Sprintf("an answer is waiting in the journal (run %s) because it can't be written to the session's folder: %v", row.ID, err))
			case saved != "":
				lines = append(lines, "an answer that could not be written before is now in the session's folder: "+saved)
			}
		}
		if len(rows) < mostRuns {
			return lines, nil
		}
		f.After = rows[len(rows)-1].Cursor()
	}
}

// saveLate writes the answer of a run that could not be written before, and says as which file; "" if it lies there already.
func (d *Desk) saveLate(ctx context.Context, folder *session.Store, owner journal.Owner, id string) (file string, err error) {
	end, err := run.ReadEnd(ctx, d.Store, owner, id)
	if err != nil {
		return "", err
	}
	var o Outcome
	if err := json.Unmarshal(end.Outcome, &o); err != nil {
		return "", fmt.Errorf("%w: %w", journal.ErrCorrupt, err)
	}
	left := o.Unsaved
	if left == nil {
		return "", nil
	}
	if _, was, err := folder.FindResponse(ctx, left.Session, left.Entry.Operation); err != nil || was {
		return "", err
	}
	e, err := folder.SaveResponse(ctx, left.Session, session.Response{LlmEntry: left.Entry, Slug: left.Slug, Text: left.Text})
	return e.File, err
}
