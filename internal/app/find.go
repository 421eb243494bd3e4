package app

import (
	"cmp"
	"context"
	"errors"

	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/redact"
	"sibyl/internal/service"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
)

// finders find what assistants keep outside of runs: tasks and sessions of the council.
func (a *App) finders() []service.Finder {
	return []service.Finder{{Assistant: taskchat.Name, Find: a.findTasks},
		{Assistant: council.Name, Find: a.findCouncil}}
}

func (a *App) findTasks(
	ctx context.Context, owner journal.Owner, has func(string) bool, titles bool,
) (hits []service.Hit, err error) {
	page, err := a.Tasks.List(ctx, string(owner), task.Query{})
	for _, t := range page.Tasks {
		one := service.Hit{Kind: "task", Assistant: taskchat.Name, Task: t.ID, Name: t.Title, At: t.CreatedAt}
		if t.Description != nil {
			one.Words = *t.Description
		}
		switch inTitle := has(t.Title); {
		case titles && inTitle:
			one.Words = ""
			hits = append(hits, one)
		case !titles && !inTitle && has(t.Title+"\n"+one.Words):
			hits = append(hits, one)
		}
	}
	return hits, err
}

// findCouncil searches the files of sessions, which are authoritative. It also finds places in a session, which can be
// long.
func (a *App) findCouncil(
	ctx context.Context, owner journal.Owner, has func(string) bool, titles bool,
) (hits []service.Hit, err error) {
	desk, err := a.Council.Desk(owner)
	if errors.Is(err, session.ErrAway) {
		return nil, nil // a node without the sessions finds all else
	}
	if err != nil {
		return nil, err
	}
	all, _, err := desk.Store.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		one := service.Hit{Kind: "council", Assistant: council.Name, Session: s.ID,
			Name: redact.Text(cmp.Or(s.Name, s.ID)), At: s.Began()}
		if titles {
			if has(one.Name) {
				hits = append(hits, one)
			}
			continue
		}
		for place, text := range desk.Texts(ctx, s) {
			if has(text) {
				one.Entry, one.At, one.Words = place.ID, place.At, text
				hits = append(hits, one)
			}
		}
	}
	return hits, ctx.Err()
}
