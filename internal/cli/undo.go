package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/files"
)

func (c *command) undoCommand() *cobra.Command {
	list := false
	cmd := &cobra.Command{
		Use:   "undo [WRITE]",
		Short: "Put back what a write to a note replaced",
		Long: "Puts a note back as it was before an assistant wrote to it; a note that the write made goes. Without WRITE it takes back the last write that\n" +
			"is not taken back yet. A note that was changed since is left as it is: you see the difference, and where the text lies.",
		Args: cobra.MaximumNArgs(1),
		RunE: c.onPrepared(func(ctx context.Context, a *app.App, args []string) error {
			if list {
				return c.listWrites(ctx, a)
			}
			return c.undo(ctx, a, nameOr(args, ""))
		}),
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the writes of which it is kept what they replaced, the last one first")
	return c.withJSON(cmd, "a list of objects with --list, else one object")
}

func (c *command) listWrites(ctx context.Context, a *app.App) error {
	all, err := a.Writes(ctx, c.owner())
	if err != nil {
		return err
	}
	if c.asJSON {
		return newJSON(c.Out).Encode(append([]files.Replaced{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintln(c.Err, "· no assistant has written to a note lately")
	}
	for _, w := range all {
		fmt.Fprintln(c.Out, printable(writeLine(w)))
	}
	return nil
}

// writeLine is a write in a line: its id, when, what, and where.
func writeLine(w files.Replaced) string {
	what := w.Action
	switch {
	case w.Action == files.ActionUndo:
		what = "undo of " + w.Of
	case w.Action == files.ActionRescue:
		what = "kept, as another program wrote it"
	case w.Undone != "":
		what += ", undone"
	case w.Before == "":
		what += ", a new note"
	}
	return fmt.Sprintf("%s  %s  %s  (%s)", w.ID, moment(w.At), filepath.Join(w.Folder, filepath.FromSlash(w.Path)), what)
}

func (c *command) undo(ctx context.Context, a *app.App, id string) error {
	w, done, err := a.Undo(ctx, c.owner(), id)
	var changed *files.UndoError
	switch {
	case errors.Is(err, app.ErrNoWrite):
		return withCode(ExitUsage, fmt.Errorf("%w; ‘sibyl undo --list’ shows what can be undone", err))
	case errors.As(err, &changed):
		fmt.Fprint(c.Err, printable(changed.Diff))
		return withCode(ExitFailed, err)
	case err != nil:
		return withCode(ExitFailed, err)
	}
	if c.asJSON {
		return newJSON(c.Out).Encode(struct {
			files.Replaced
			Done bool `json:"done"`
		}{w, done})
	}
	fmt.Fprintln(c.Out, printable(undone(w, done)))
	return nil
}

// undone says what became of a write that was taken back.
func undone(w files.Replaced, done bool) string {
	words := "is as it was before"
	switch {
	case !done:
		words = "was put back before; nothing was changed"
	case w.Before == "":
		words = "was made by this write, and is gone"
	}
	return w.Path + " " + words
}
