package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/journal"
	"sibyl/internal/text"
)

// Limits of what one question removes.
const (
	sweepSessions = 20
	sweepTime     = 50 * time.Millisecond
)

// retire removes a few sessions and replaced notes that have outlived their retention, and prints how many sessions.
// What it can't remove within sweepTime, or while the journal can't be written, it leaves to the next question.
func (c *command) retire(ctx context.Context, a *app.App) error {
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	at, err := a.Settled()
	if err != nil {
		fmt.Fprintf(c.Err, "· retention is paused: %v\n", err)
		return nil
	}
	removed, err := a.Service.Retire(ctx, c.owner(), at, sweepSessions)
	for _, r := range removed {
		fmt.Fprintln(c.Err, "· "+removedWords(r.Sessions, r.Unused))
	}
	if err != nil && ctx.Err() == nil && !journal.CannotWrite(err) {
		return fmt.Errorf("removing old sessions: %w", err)
	}
	if err := a.ExpireWrites(ctx, at); err != nil && ctx.Err() == nil && !journal.CannotWrite(err) {
		fmt.Fprintf(c.Err, "· what was kept of old writes could not be removed: %v\n", err)
	}
	return nil
}

func removedWords(n int, age time.Duration) string {
	was := "were"
	if n == 1 {
		was = "was"
	}
	return fmt.Sprintf("%s not used for %s %s removed", text.Count(n, "session"), inDays(age), was)
}

const day = 24 * time.Hour

func inDays(age time.Duration) string {
	if age%day == 0 {
		return text.Count(int(age/day), "day")
	}
	return age.String()
}

// pruneFlags are the flags of ‘sibyl session prune’.
type pruneFlags struct {
	olderThan string
	dryRun    bool
}

func (c *command) sessionPrune() *cobra.Command {
	var f pruneFlags
	cmd := &cobra.Command{Use: "prune", Short: "Remove sessions that have not been used for a long time",
		Args: cobra.NoArgs,
		RunE: c.onApp(func(ctx context.Context, a *app.App, _ []string) error { return c.prune(ctx, a, f) })}
	cmd.Flags().StringVar(&f.olderThan, "older-than", "",
		"remove sessions unused for this long, such as 90d (default: the setting retention)")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only list them")
	return c.withJSON(cmd, "a JSON array")
}

func (c *command) prune(ctx context.Context, a *app.App, f pruneFlags) error {
	age := a.Config.Retention
	if f.olderThan != "" {
		var err error
		if age, err = config.Age(f.olderThan); err != nil || age < time.Hour {
			return withCode(ExitUsage, fmt.Errorf("--older-than is %q; use days such as 90d, or at least 1h",
				f.olderThan))
		}
	}
	if age <= 0 {
		return withCode(ExitUsage, errors.New("the setting retention is ‘never’: give --older-than, such as 90d"))
	}
	if f.dryRun {
		unused, err := a.Service.Unused(ctx, c.owner(), age)
		if err == nil {
			err = printList(c, unused, c.sessionLine)
		}
		if err != nil || c.asJSON {
			return err
		}
		fmt.Fprintf(c.Err, "%s not used for %s; nothing was removed\n", text.Count(len(unused), "session"), inDays(age))
		return nil
	}
	removed, err := a.Service.Prune(ctx, c.owner(), age)
	return errors.Join(err, c.printResult(removed, removedWords(len(removed), age)))
}
