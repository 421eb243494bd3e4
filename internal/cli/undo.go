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
		Short: "Undo a write to a note",
		Args:  cobra.MaximumNArgs(1),
		RunE: c.onPrepared(func(ctx context.Context, a *app.App, args []string) error {
			if list {
				return c.listWrites(ctx, a)
			}
			return c.undo(ctx, a, nameOr(args, ""))
		}),
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the writes that can be undone, the latest first")
	return c.withJSON(cmd, "a list of objects with --list, otherwise one object")
}

func (c *command) listWrites(ctx context.Context, a *app.App) error {
	all, err := a.Writes(ctx, c.owner())
	if err != nil {
		return err
	}
	if len(all) == 0 && !c.asJSON {
		c.note("there are no recent writes to notes")
	}
	return printList(c, all, writeLine)
}

// writeLine is a line for a write to a note: id, time, path and action.
func writeLine(w files.Replaced) string {
	what := w.Action
	switch {
	case w.Action == files.ActionUndo:
		what = "undo of " + w.Of
	case w.Undone != "":
		what += ", undone"
	case w.Before == "":
		what += ", a new note"
	}
	return printable(fmt.Sprintf("%s  %s  %s  (%s)", w.ID, moment(w.At),
		filepath.Join(w.Folder, filepath.FromSlash(w.Path)), what))
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
	return c.printResult(struct {
		files.Replaced
		Done bool `json:"done"`
	}{w, done}, printable(undoneText(w, done)))
}

// undoneText says what an undo did to the note.
func undoneText(w files.Replaced, done bool) string {
	words := "was restored"
	switch {
	case !done:
		words = "was already restored; nothing was changed"
	case w.Before == "":
		words = "was created by this write and has been removed"
	}
	return w.Path + " " + words
}
