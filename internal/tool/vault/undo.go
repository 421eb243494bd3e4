package vault

import (
	"context"
	"errors"

	"github.com/aymanbagabas/go-udiff"

	"sibyl/internal/files"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// Undo reverts a write: the note gets the content that the write replaced, or is removed if the write created it. The
// content that Undo replaces is kept on the shelf, like that of any write. done is false if the write was undone
// before. If the note was changed since, the error is a *files.UndoError.
func (v *Vault) Undo(ctx context.Context, w files.Replaced) (done bool, err error) {
	shelf := v.writes.Shelf
	if shelf == nil || w.Action == files.ActionUndo {
		return false, tool.Errorf(tool.InvalidArgs, "‘sibyl undo --list’ shows what can be undone",
			"%s is no write that can be undone", w.ID)
	}
	if w.Undone != "" {
		return false, nil
	}
	var before []byte
	if w.Before != "" {
		if before, err = shelf.Text(w); err != nil {
			return false, err
		}
	}
	c := change{
		Key: "undo " + w.ID, Action: files.ActionUndo, Digest: files.Hash([]byte(w.Before + w.After)),
		Owner: w.Owner, Of: w.ID, Removes: w.Before == "",
		Locate: func() (string, error) { return w.Path, nil },
		Apply: func(name string, now files.File) ([]byte, tool.Result, error) {
			if !now.Exists() || files.Hash(now.Content) != w.After {
				e := &files.UndoError{Write: w, Diff: unifiedDiff(string(now.Content), string(before))}
				if w.Before != "" {
					e.Kept = shelf.TextPath(w.Before)
				}
				return nil, tool.Result{}, e
			}
			done = true
			return before, tool.Result{Text: name}, nil
		},
	}
	if _, err = v.writes.Perform(ctx, c); err != nil {
		var refused *files.UndoError
		if errors.As(err, &refused) {
			return false, refused
		}
		return false, toolError(err)
	}
	return done, shelf.MarkUndone(ctx, w, files.WriteID(c.Key))
}

// unifiedDiff returns the differences from one text to another.
func unifiedDiff(from, to string) string {
	d, err := udiff.ToUnified("the note as it is", "what the write replaced", from, udiff.Lines(from, to), 0)
	if err != nil { // can't happen: the edits are the library's own
		return ""
	}
	return text.Clip(d, tool.MaxText)
}
