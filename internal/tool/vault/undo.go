package vault

import (
	"context"
	"errors"

	"github.com/aymanbagabas/go-udiff"

	"sibyl/internal/files"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// Undo takes a write back: the note holds again what the write replaced, or is gone where there was none. What it holds
// until then is kept like what any write replaces. Done is false where the write was undone before. A note that was
// changed since is an *files.UndoError.
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

// unifiedDiff is from one text to another, in the unified form.
func unifiedDiff(from, to string) string {
	d, err := udiff.ToUnified("the note as it is", "what the write replaced", from, udiff.Lines(from, to), 0)
	if err != nil { // its edits are its own
		return ""
	}
	return text.Clip(d, tool.MaxText)
}
