package inquiry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// Desk reads what was inquired.
type Desk struct{ Deps }

// ErrNone says that there was no inquiry yet.
var ErrNone = errors.New("there was no inquiry yet")

// List gives the inquiries, the latest first, of their rows alone.
func (d *Desk) List(ctx context.Context, owner journal.Owner, f journal.Filter) (items []Item, err error) {
	f.Assistant, f.Summaries = Name, true
	rows, err := d.Store.Runs(ctx, owner, f)
	for _, r := range rows {
		items = append(items, itemOf(r))
	}
	return items, err
}

// summary is what the row of a run keeps.
type summary Item

// itemOf is an inquiry by its row. One that goes on has no summary yet.
func itemOf(r journal.Run) Item {
	var kept summary
	i := Item{}
	if len(r.Summary) > 0 && json.Unmarshal(r.Summary, &kept) == nil {
		i = Item(kept)
	} else {
		i = Item{Hypothesis: r.Title, StartTime: r.StartedAt.UTC().Format("2006-01-02T15:04:05Z07:00"), Status: record.Running}
		if r.Status != journal.Running {
			i.Status = record.Failed
		}
	}
	i.Run = r.ID
	return i
}

// Find gives an inquiry by its id, the beginning of it, the id of its run, or, for "", the latest.
func (d *Desk) Find(ctx context.Context, owner journal.Owner, query string) (journal.Run, error) {
	const page = 200
	f := journal.Filter{Assistant: Name, Summaries: true, Limit: page}
	var found []journal.Run
	for {
		rows, err := d.Store.Runs(ctx, owner, f)
		if err != nil {
			return journal.Run{}, err
		}
		for _, r := range rows {
			i := itemOf(r)
			switch {
			case query == "" || i.ID == query || r.ID == query:
				return r, nil
			case strings.HasPrefix(i.ID, query) || strings.HasPrefix(r.ID, query):
				found = append(found, r)
			}
		}
		if len(rows) < page {
			break
		}
		f.After = rows[len(rows)-1].Cursor()
	}
	switch {
	case query == "":
		return journal.Run{}, ErrNone
	case len(found) == 0:
		return journal.Run{}, fmt.Errorf("inquiry “%.80s”: %w", query, journal.ErrNotFound)
	case len(found) > 1:
		return journal.Run{}, fmt.Errorf("%d inquiries begin with “%.80s”: give more of the id", len(found), query)
	}
	return found[0], nil
}

// Session reads an inquiry whole: of one that has ended from the journal, of another from its file. What a crash or a stop has kept from being
// written is written.
func (d *Desk) Session(ctx context.Context, owner journal.Owner, r journal.Run) (record.Session, error) {
	folder, err := d.Files(owner)
	if err != nil {
		return record.Session{}, err
	}
	end, err := run.ReadEnd(ctx, d.Store, owner, r.ID)
	if errors.Is(err, journal.ErrNotFound) {
		return d.underWay(ctx, owner, folder, r)
	}
	if err != nil {
		return record.Session{}, err
	}
	var o Outcome
	if err := json.Unmarshal(end.Outcome, &o); err != nil {
		return record.Session{}, fmt.Errorf("outcome of run %s: %w: %w", r.ID, journal.ErrCorrupt, err)
	}
	return o.Session, folder.Write(ctx, o.Session) // the same again changes nothing
}

// underWay is a session that goes on, as its file has it.
func (d *Desk) underWay(ctx context.Context, owner journal.Owner, folder *record.Folder, r journal.Run) (s record.Session, err error) {
	records, err := d.Store.Records(ctx, owner, r.ID, 0)
	if err != nil || len(records) == 0 {
		return s, err
	}
	body, err := run.Read(records[0])
	if err != nil {
		return s, err
	}
	start, ok := body.(*run.StartRecord)
	if !ok {
		return s, fmt.Errorf("run %s has no beginning: %w", r.ID, journal.ErrCorrupt)
	}
	id, err := idOf(start)
	if err != nil {
		return s, err
	}
	return folder.Read(ctx, id)
}
