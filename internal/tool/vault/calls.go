package vault

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"sibyl/internal/files"
	"sibyl/internal/tool"
)

// reader makes a repeatable tool of the vault.
func reader[A any](spec tool.Spec, run func(context.Context, A) (tool.Result, error)) tool.Tool {
	spec.Source, spec.Effect = tool.Vault, tool.Repeatable
	return tool.New(spec, func(ctx context.Context, _ tool.Call, args A) (tool.Result, error) {
		res, err := run(ctx, args)
		return res, failure(err)
	})
}

// writer makes a once tool of the vault. plan says what is to change, without looking at the vault: it gives the same change whenever
// it is asked.
func writer[A any](v *Vault, spec tool.Spec, plan func(key string, args A) (change, error)) tool.Tool {
	spec.Source, spec.Effect = tool.Vault, tool.Once
	planned := func(call tool.Call, args A) (change, error) {
		c, err := plan(call.Key, args)
		if err != nil {
			return change{}, err
		}
		canonical, err := json.Marshal(args)
		c.Action, c.Key, c.Digest = spec.Name, call.Key, files.Hash(canonical)
		return c, err
	}
	return tool.New(spec, func(ctx context.Context, call tool.Call, args A) (tool.Result, error) {
		c, err := planned(call, args)
		if err != nil {
			return tool.Result{}, err
		}
		res, err := v.writes.Perform(ctx, c)
		return res, failure(err)
	}, tool.WithFound(func(ctx context.Context, call tool.Call, args A) (tool.Result, bool, error) {
		c, err := planned(call, args)
		if err != nil {
			return tool.Result{}, false, nil //nolint:nilerr // the refusal is Call's to report
		}
		res, done, err := v.writes.Found(ctx, c)
		return res, done, failure(err)
	}))
}

// change is a planned write of a note.
type change = files.Change[tool.Result]

// failure gives an error of the file system the kind that says what can be done about it.
func failure(err error) error {
	if refused, ok := errors.AsType[*files.Error](err); ok {
		return refusal(refused)
	}
	_, known := errors.AsType[*tool.Error](err)
	switch {
	case err == nil, known, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return tool.Errorf(tool.Failed, "free some space; the vault is as it was", "there is no space left for the note: %w", err)
	case errors.Is(err, syscall.EROFS):
		return tool.Errorf(tool.Denied, "", "the vault is on read-only media: %w", err)
	case errors.Is(err, fs.ErrPermission):
		return tool.Errorf(tool.Denied, "check who may read and write the vault's files", "the vault refuses: %w", err)
	case errors.Is(err, os.ErrClosed):
		return tool.Errorf(tool.Unavailable, "", "the vault is closed: %w", err)
	case errors.Is(err, fs.ErrNotExist):
		return tool.Errorf(tool.NotFound, "", "it is not there any more: %w", err)
	}
	return tool.Errorf(tool.Failed, "", "the vault failed: %w", err)
}

// refusal says what can be done about a note that was not read or written.
func refusal(err *files.Error) error {
	kind, hint := tool.Denied, ""
	switch err.Reason {
	case files.Linked:
		hint = "put the note itself into the vault"
	case files.ReadOnly:
		hint = "write to another note"
	case files.TooLarge:
		kind, hint = tool.TooLarge, "write to another note"
	case files.Changed:
		kind, hint = tool.Conflict, "read it again"
	case files.KeyReused:
		kind = tool.Conflict
	case files.Unclear:
		kind, hint = tool.Conflict, "look at the note, and write again only what it lacks"
	case files.NoRoot:
		kind, hint = tool.Unavailable, missingHint
	case files.Busy:
		kind, hint = tool.Timeout, "try again"
	case files.NotSynced:
		kind = tool.Failed
	}
	return tool.Errorf(kind, hint, "%w", err)
}

// answer makes a result of text and data.
func answer(text string, data any, refs []tool.Ref, items int, truncated bool) (tool.Result, error) {
	return tool.Result{Text: text, Refs: refs, Items: items, Truncated: truncated}.WithData(data)
}
