package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"sibyl/internal/tool"
)

// reader is a repeatable tool with arguments of type A.
type reader[A any] struct {
	spec tool.Spec
	run  func(context.Context, A) (tool.Result, error)
}

func (r reader[A]) Spec() tool.Spec { return r.spec }

func (r reader[A]) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	args, err := tool.DecodeArgs[A](call.Args)
	if err != nil {
		return tool.Result{}, err
	}
	res, err := r.run(ctx, args)
	if err != nil {
		return tool.Result{}, failure(err)
	}
	return res, nil
}

// writer is a once tool with arguments of type A. plan checks them and says what is to change, without looking at the
// vault: it gives the same change whenever it is asked.
type writer[A any] struct {
	spec  tool.Spec
	vault *Vault
	plan  func(key string, args A) (change, error)
}

func (w writer[A]) Spec() tool.Spec { return w.spec }

func (w writer[A]) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	c, err := w.change(call)
	if err != nil {
		return tool.Result{}, err
	}
	res, err := w.vault.perform(ctx, c)
	if err != nil {
		return tool.Result{}, failure(err)
	}
	return res, nil
}

// Found implements tool.Finder. Arguments that Call refuses were never performed.
func (w writer[A]) Found(ctx context.Context, call tool.Call) (tool.Result, bool, error) {
	c, err := w.change(call)
	if err != nil {
		return tool.Result{}, false, nil //nolint:nilerr // the refusal is Call's to report
	}
	res, done, err := w.vault.found(ctx, c)
	if err != nil {
		return tool.Result{}, false, failure(err)
	}
	return res, done, nil
}

func (w writer[A]) change(call tool.Call) (change, error) {
	args, err := tool.DecodeArgs[A](call.Args)
	if err != nil {
		return change{}, err
	}
	if call.Key == "" {
		return change{}, tool.Errorf(tool.Failed, "", "%s was called without an idempotency key", w.spec.Name)
	}
	c, err := w.plan(call.Key, args)
	if err != nil {
		return change{}, err
	}
	canonical, err := json.Marshal(args)
	if err != nil {
		return change{}, tool.Errorf(tool.Failed, "", "the arguments cannot be encoded: %w", err)
	}
	c.tool, c.key, c.args = w.spec.Name, call.Key, hashOf(canonical)
	return c, nil
}

// required refuses an argument that is missing or blank.
func required(name, value string) error {
	if strings.TrimSpace(value) == "" {
		return tool.Errorf(tool.InvalidArgs, "", "%s is missing", name)
	}
	return nil
}

// bounded returns the number of items to give: standard where none was asked for, most at the most.
func bounded(limit, standard, most int) (int, error) {
	switch {
	case limit < 0:
		return 0, tool.Errorf(tool.InvalidArgs, "", "limit is %d; it must be at least 1", limit)
	case limit == 0:
		return standard, nil
	}
	return min(limit, most), nil
}

// failure gives err the kind that says what can be done about it.
func failure(err error) error {
	var known *tool.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return tool.Errorf(tool.Cancelled, "", "the call was withdrawn before it was done: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return tool.Errorf(tool.Timeout, "", "the call was ended before it was done: %w", err)
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

// answer makes a result of text, which it bounds, and data.
func answer(text string, data any, refs []tool.Ref, items int, truncated bool) (tool.Result, error) {
	if cut := clip(text, tool.MaxText); len(cut) < len(text) {
		text, truncated = cut, true
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return tool.Result{}, fmt.Errorf("encode the result: %w", err)
	}
	return tool.Result{Text: text, Refs: refs, Items: items, Truncated: truncated, Data: encoded}, nil
}
