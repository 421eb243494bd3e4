package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/text"
)

func (c *command) journalCommand() *cobra.Command {
	return group(&cobra.Command{Use: "journal", Short: "Copy everything from one database to another"},
		c.journalCopy())
}

// here is the name for the database of the settings.
const here = "here"

func (c *command) journalCopy() *cobra.Command {
	cmd := &cobra.Command{
		Use: "copy FROM TO", Short: "Copy everything from one database into an empty one, and check it",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.copyJournal(cmd.Context(), args[0], args[1])
		},
	}
	return c.withJSON(cmd, "a JSON array with one object per table")
}

func (c *command) copyJournal(ctx context.Context, from, to string) (err error) {
	source, err := c.openNamed(ctx, from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := c.openNamed(ctx, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	began := time.Now()
	all, err := app.CopyDatabase(ctx, source, target)
	if err != nil {
		return err
	}
	err = printList(c, all, func(t app.Copied) string {
		return fmt.Sprintf("%-13s %s", t.Table, text.Count(int(t.Rows), "row"))
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Err, "· copied and compared in %s\n", time.Since(began).Round(time.Millisecond))
	return nil
}

// openNamed opens a database by its name, or by here.
func (c *command) openNamed(ctx context.Context, name string) (app.Database, error) {
	cfg, err := c.settings()
	if err != nil {
		return nil, err
	}
	if name != here {
		if cfg.Database, err = config.ParseDatabase(name); err != nil {
			return nil, withCode(ExitUsage, fmt.Errorf("the name of a database %w, or ‘here’", err))
		}
	}
	db, err := app.OpenDatabase(ctx, cfg, c.Trial())
	return db, withCode(ExitJournal, err)
}
