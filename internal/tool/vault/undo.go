package vault

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sibyl/internal/files"
	"sibyl/internal/tool"
)

// Undo takes a write back: the note holds again what the write replaced, or is gone where there was none. What it holds until then is kept
// like what any write replaces. Done is false where the write was undone before. A note that was changed since is an *files.UndoError.
func (v *Vault) Undo(ctx context.Context, w files.Replaced) (done bool, err error) {
	shelf := v.writes.Shelf
	if shelf == nil || w.Action == files.ActionUndo || w.Action == files.ActionRescue {
		return false, tool.Errorf(tool.InvalidArgs, "‘sibyl undo --list’ shows what can be undone", "%s is no write that can be undone", w.ID)
	}
	if w.Undone != "" {
		return false, nil
	}
	var text []byte
	if w.Before != "" {
		if text, err = shelf.Text(w); err != nil {
			return false, err
		}
	}
	c := change{Key: "undo " + w.ID, Action: files.ActionUndo, Digest: files.Hash([]byte(w.Before + w.After)), Owner: w.Owner, Of: w.ID, Removes: w.Before == "",
		Locate: func() (string, error) { return w.Path, nil },
		Apply: func(name string, now files.File) ([]byte, tool.Result, error) {
			if !now.Exists() || files.Hash(now.Content) != w.After {
				return nil, tool.Result{}, v.refuseUndo(w, string(now.Content), string(text))
			}
			done = true
			return text, tool.Result{Text: name}, nil
		}}
	v.wrote.Store(true)
	if _, err = v.writes.Perform(ctx, c); err != nil {
		var refused *files.UndoError
		if errors.As(err, &refused) {
			return false, refused
		}
		return false, failure(err)
	}
	return done, shelf.MarkUndone(ctx, w, files.WriteID(c.Key))
}

func (v *Vault) refuseUndo(w files.Replaced, now, kept string) error {
	e := &files.UndoError{Write: w, Diff: difference(now, kept)}
	if w.Before != "" {
		e.Kept = v.writes.Shelf.TextPath(w.Before)
	}
	return e
}

// mostShown is how many lines of each side a difference has.
const mostShown = 20

// difference shows the lines in which two texts differ: what stands between those that are the same at their beginning and their end.
func difference(from, to string) string {
	a, b := strings.Split(from, "\n"), strings.Split(to, "\n")
	first := 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	last := 0
	for last < min(len(a), len(b))-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	var out strings.Builder
	side := func(mark string, lines []string) {
		for i, line := range lines {
			if i == mostShown {
				fmt.Fprintf(&out, "%s … %d lines more\n", mark, len(lines)-i)
				return
			}
			out.WriteString(mark + " " + line + "\n")
		}
	}
	side("-", a[first:len(a)-last])
	side("+", b[first:len(b)-last])
	return out.String()
}
