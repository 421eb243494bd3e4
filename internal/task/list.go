package task

import (
	"context"
	"errors"
	"slices"
	"strings"

	"sibyl/internal/text/search"
)

// titleWeight is what a word in a title counts, where one in a description counts 1 at most.
const titleWeight = 3.0

// List lists tasks. Without Words a page has a Next as long as there are more; with them it has the best matches, up to
// the Limit. An *Invalid if the query asks for what can't be.
func (s *Service) List(ctx context.Context, owner string, q Query) (Page, error) {
	if err := q.check(); err != nil {
		return Page{}, err
	}
	if strings.TrimSpace(q.Words) != "" {
		return s.listMatches(ctx, owner, q)
	}
	more := q.Filter
	if q.Limit > 0 {
		more.Limit++ // tells whether there is a next page
	}
	found, err := s.store.Tasks(ctx, owner, more)
	if err != nil {
		return Page{}, err
	}
	p := Page{Tasks: found, Total: len(found)}
	if found == nil {
		p.Tasks = []Task{} // an empty array in JSON
	}
	if q.Limit > 0 && len(found) > q.Limit {
		p.Tasks = p.Tasks[:q.Limit:q.Limit]
		p.Next = p.Tasks[q.Limit-1].ID
	}
	if p.Next != 0 || q.After != 0 {
		p.Total, err = s.store.Count(ctx, owner, q.Filter)
	}
	if err == nil && q.After != 0 && len(found) == 0 {
		if _, err = s.store.History(ctx, owner, q.After); errors.Is(err, ErrNotFound) {
			err = &Invalid{"after", "does not match a task in this list; use the " +
				"value from the previous page, or leave it out"}
		}
	}
	return p, err
}

func (q Query) check() error {
	switch {
	case q.Limit < 0:
		return &Invalid{"limit", "must be 1 or more; 0 is no limit"}
	case q.After < 0:
		return &Invalid{"after", "must be a task's id, or 0 to begin at the first"}
	case q.Status != "":
		return checkStatus(q.Status)
	}
	return nil
}

// listMatches lists the tasks that have one of the words.
func (s *Service) listMatches(ctx context.Context, owner string, q Query) (Page, error) {
	all, err := s.store.Tasks(ctx, owner, Filter{Status: q.Status, IDs: q.IDs})
	if err != nil {
		return Page{}, err
	}
	found := matchingTasks(all, q.Words)
	p := Page{Tasks: found, Total: len(found)}
	if q.Limit > 0 && len(found) > q.Limit {
		p.Tasks = found[:q.Limit:q.Limit]
	}
	return p, nil
}

// matchingTasks returns the tasks that have one of the words in title or description, the best match first, ties as
// they stand in all.
func matchingTasks(all []Task, words string) []Task {
	q := search.NewQuery(words)
	finder, entries := q.Finder(), make([]search.Entry, len(all))
	for i, t := range all {
		d := search.Document{Fields: []search.Field{{Weight: titleWeight, Texts: []string{t.Title}}}}
		if t.Description != nil {
			d.Sections = []search.Section{{Lines: []string{*t.Description}}}
		}
		entries[i] = finder.Count(d)
	}
	byPlace := func(a, b search.Hit) int { return a.Document - b.Document }
	hits := search.Rank(q, entries, search.Others{}, 1, byPlace)
	found := make([]Task, len(hits))
	for i, h := range hits {
		found[i] = all[h.Document]
	}
	return slices.Clip(found)
}
