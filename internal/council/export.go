package council

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/council/prompt"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/text/markdown"
)

// Export is a session with all its words.
type Export struct {
	Session  session.Session `json:"session"`
	Folder   string          `json:"folder"`
	Entries  []prompt.Entry  `json:"entries"`  // in the order of time
	Problems []string        `json:"problems"` // what breaks the rules of its form
	Left     []string        `json:"left_out"`
}

// Export reads a session whole.
func (d *Desk) Export(ctx context.Context, owner journal.Owner, id string) (x Export, err error) {
	folder, err := d.Sessions(owner)
	if err != nil {
		return x, err
	}
	if x.Session, err = folder.Get(ctx, id); err != nil {
		return x, err
	}
	said, err := d.said(ctx, folder, x.Session)
	if err != nil {
		return x, err
	}
	list, err := d.Oracles.List(ctx)
	known := func(id string) bool {
		for _, p := range list.Oracles {
			if p.ID == id {
				return true
			}
		}
		return false
	}
	if err != nil {
		known = nil // whose answers they are can't be checked now, and all else can
	}
	if x.Problems, err = folder.Check(ctx, id, known); err != nil {
		return x, err
	}
	x.Folder, x.Left, x.Problems = folder.Path(id), append([]string{}, said.left...), append([]string{}, x.Problems...) // never null in JSON
	x.Entries = append([]prompt.Entry{}, prompt.InOrder(said.entries)...)
	return x, nil
}

// Markdown is the session for people. Nothing in it is fetched or run where it is shown.
func (x *Export) Markdown() string {
	b := &strings.Builder{}
	s := &x.Session
	fmt.Fprintf(b, "# %s\n\n%s, %s, %d said, %d answered\n", cmp.Or(s.Name, s.ID), s.ID, s.State, len(s.Audio), len(s.Answers))
	for _, e := range x.Entries {
		at := e.At.Local().Format(time.DateTime)
		if e.Oracle == "" {
			fmt.Fprintf(b, "\n## %d, %s\n\n%s\n", e.Sequence, at, x.body(e))
		} else {
			fmt.Fprintf(b, "\n## %s, %s\n\n%s\n", e.Oracle, at, x.body(e))
		}
	}
	for _, e := range s.Audio {
		if e.Status != session.Success {
			fmt.Fprintf(b, "\n## %d, %s\n\n*%s: %s*\n", e.Sequence, e.ReceivedAt.Local().Format(time.DateTime), e.File, cmp.Or(e.Error, "not transcribed yet"))
		}
	}
	if len(x.Problems) > 0 {
		fmt.Fprintf(b, "\n## Problems\n\n- %s\n", strings.Join(x.Problems, "\n- "))
	}
	return markdown.Inert(b.String())
}

// body is what was said, or why there is nothing to show.
func (x *Export) body(e prompt.Entry) string {
	if e.Missing {
		return "*its file is missing*"
	}
	if text := strings.TrimSpace(e.Text); text != "" {
		return below(text)
	}
	if slices.ContainsFunc(x.Session.Audio, func(a session.AudioEntry) bool { return a.ID() == e.ID && a.Silent }) {
		return "*silence*"
	}
	return "*nothing was heard*"
}

// Repaired is what was found in one session, and put right.
type Repaired struct {
	Session string `json:"session_id"`
	session.Report
	Mended []string `json:"mended,omitempty"`
}

// Repair checks sessions against their folders, all where none is named, and puts right what can be. One that can't be repaired keeps no other from it;
// then there is what was done, and an error.
func (d *Desk) Repair(ctx context.Context, owner journal.Owner, queries []string) (all []Repaired, err error) {
	folder, err := d.Sessions(owner)
	if err != nil {
		return nil, err
	}
	ids, err := d.toRepair(ctx, folder, queries)
	if err != nil {
		return nil, err
	}
	all = []Repaired{}
	var failed []error
	for _, id := range ids {
		one, err := d.repair(ctx, folder, owner, id)
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

func (d *Desk) repair(ctx context.Context, folder *session.Store, owner journal.Owner, id string) (r Repaired, err error) {
	r.Session = id
	if r.Report, err = folder.Repair(ctx, id); err != nil {
		return r, err
	}
	s, err := folder.Get(ctx, id)
	if err != nil {
		return r, err
	}
	o, err := d.mend(ctx, folder, owner, s)
	r.Mended = o.Mended
	return r, err
}

// toRepair gives the ids of sessions. One whose metadata can't be read has no name any more, and is found by its id alone.
func (d *Desk) toRepair(ctx context.Context, folder *session.Store, queries []string) (ids []string, err error) {
	sessions, skipped, err := folder.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, query := range queries {
		id := ""
		for _, one := range skipped {
			if one.ID == query && one.Repairable() {
				id = query
			}
		}
		if id == "" {
			s, err := d.find(ctx, folder, query)
			if err != nil {
				return nil, err
			}
			id = s.ID
		}
		ids = append(ids, id)
	}
	if len(queries) > 0 {
		return ids, nil
	}
	for _, s := range sessions {
		ids = append(ids, s.ID)
	}
	for _, one := range skipped {
		if one.Repairable() {
			ids = append(ids, one.ID)
		}
	}
	return ids, nil
}
