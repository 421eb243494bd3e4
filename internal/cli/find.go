package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
)

// groupRun serves a command that only holds others: bare it shows its help, and a name it does not know is an error.
func groupRun(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var all []string
	for _, sub := range cmd.Commands() {
		all = append(all, sub.Name())
	}
	hint := "; there are: " + strings.Join(all, ", ")
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = ": did you mean " + strings.Join(near, " or ") + "?"
	}
	return withCode(ExitUsage, fmt.Errorf("there is no ‘%s %s’%s", cmd.CommandPath(), args[0], hint))
}

// findRun finds a run by its id, the beginning or end of one, or "last".
func findRun(ctx context.Context, store journal.Store, wish string) (journal.Run, error) {
	r, err := store.Run(ctx, app.Owner, wish)
	if !errors.Is(err, journal.ErrNotFound) {
		return r, err
	}
	runs, err := store.Runs(ctx, app.Owner, journal.Filter{Limit: 1000})
	if err != nil {
		return journal.Run{}, err
	}
	if wish == "last" { // of the person's own doing
		runs = slices.DeleteFunc(runs, func(r journal.Run) bool { return r.Assistant == oracle.ShadowName })
	}
	return pick("run", wish, runs, func(r journal.Run) string { return r.ID })
}

// findSession finds a session in the same ways. One that was removed is a journal.RemovedError.
func findSession(ctx context.Context, store journal.Store, wish string) (journal.Session, error) {
	s, err := store.Session(ctx, app.Owner, wish)
	var removed *journal.RemovedError
	if !errors.Is(err, journal.ErrNotFound) || errors.As(err, &removed) {
		return s, err
	}
	sessions, err := store.Sessions(ctx, app.Owner, journal.SessionFilter{Limit: 1000})
	if err != nil {
		return journal.Session{}, err
	}
	if wish == "last" { // of the person's own doing
		sessions = slices.DeleteFunc(sessions, func(s journal.Session) bool { return s.Assistant == oracle.ShadowName })
	}
	s, err = pick("session", wish, sessions, func(s journal.Session) string { return s.ID })
	if wish == "last" || !errors.Is(err, journal.ErrNotFound) {
		return s, err
	}
	left, lookErr := store.Tombstones(ctx, app.Owner, journal.SessionFilter{Limit: 1000})
	if t, pickErr := pick("session", wish, left, func(t journal.Tombstone) string { return t.ID }); lookErr == nil && pickErr == nil {
		return s, &journal.RemovedError{Tombstone: t}
	}
	return s, errors.Join(err, lookErr)
}

// mostNamed bounds how many of the things that a wish fits are named.
const mostNamed = 5

// pick takes the first for "last", else the only one whose id begins or ends with the wish.
func pick[T any](what, wish string, all []T, id func(T) string) (found T, err error) {
	switch {
	case wish == "":
		return found, fmt.Errorf("no %s is named: say last, or an id that ‘sibyl %s list’ shows", what, what)
	case wish == "last" && len(all) == 0:
		return found, fmt.Errorf("there is no %s yet: %w", what, journal.ErrNotFound)
	case wish == "last":
		return all[0], nil
	}
	var ids []string
	for _, one := range all {
		if strings.HasPrefix(id(one), wish) || strings.HasSuffix(id(one), wish) {
			found = one
			ids = append(ids, id(one))
		}
	}
	switch len(ids) {
	case 1:
		return found, nil
	case 0:
		return found, fmt.Errorf("%s %q: %w; ‘sibyl %s list’ shows all", what, wish, journal.ErrNotFound, what)
	}
	more := ""
	if n := len(ids) - mostNamed; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return found, fmt.Errorf("%s %q is not one but %d: %s%s", what, wish, len(ids), strings.Join(ids[:min(mostNamed, len(ids))], ", "), more)
}

// checkLimit wants a list to have room for something.
func checkLimit(limit int) error {
	if limit < 1 {
		return withCode(ExitUsage, fmt.Errorf("--limit is %d: at least 1 is listed", limit))
	}
	return nil
}
