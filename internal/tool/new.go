package tool

import (
	"context"
	"errors"
	"strings"

	"sibyl/internal/schema"
)

// New makes a tool whose arguments are the struct A, which also gives the Schema of its Spec: see package schema for
// the tags. call gets checked arguments and, in a Once tool, always a key. The text of its result is cut to MaxText
// between lines, and its errors become *Error.
func New[A any](spec Spec, call func(context.Context, Call, A) (Result, error)) Tool {
	return newTyped(spec, call)
}

// NewFinder is New for a tool that is a Finder and a Previewer: find says whether a call took effect, preview what it
// would change. A call whose arguments are refused was never performed.
func NewFinder[A any](
	spec Spec, call func(context.Context, Call, A) (Result, error),
	find func(context.Context, Call, A) (Result, bool, error),
	preview func(context.Context, Call, A) (Change, error),
) Tool {
	return finder[A]{newTyped(spec, call), find, preview}
}

type typed[A any] struct {
	spec Spec
	args *schema.Object
	call func(context.Context, Call, A) (Result, error)
}

func newTyped[A any](spec Spec, call func(context.Context, Call, A) (Result, error)) typed[A] {
	t := typed[A]{spec: spec, args: schema.Of[A](), call: call}
	t.spec.Schema = t.args.JSON()
	return t
}

func (t typed[A]) Spec() Spec { return t.spec }

func (t typed[A]) Call(ctx context.Context, call Call) (Result, error) {
	args, err := t.decodeCall(call)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Result{}, AsError(err)
	}
	res, err := t.call(ctx, call, args)
	if err != nil {
		return Result{}, AsError(err)
	}
	return res.withUncovered(), nil
}

func (t typed[A]) decodeCall(call Call) (args A, err error) {
	into := t.args.New(nil).(*A) //nolint:forcetypeassert // it is of A
	if err := decodeArgs(t.args, call.Args, into); err != nil {
		return args, err
	}
	if t.spec.Effect == Once && call.Key == "" {
		return args, Errorf(Failed, "", "%s was called without an idempotency key", t.spec.Name)
	}
	return *into, nil
}

// finder is a tool that can look up what it did.
type finder[A any] struct {
	typed[A]
	find    func(context.Context, Call, A) (Result, bool, error)
	preview func(context.Context, Call, A) (Change, error)
}

func (f finder[A]) Preview(ctx context.Context, call Call) (*Change, error) {
	args, err := f.decodeCall(call)
	if err != nil {
		return nil, AsError(err)
	}
	c, err := f.preview(ctx, call, args)
	switch {
	case err != nil:
		return nil, AsError(err)
	case max(len(c.Before), len(c.Now)) > MaxText:
		return nil, nil //nolint:nilnil // the call may be made, and what it changes is too long to show
	}
	return &c, nil
}

func (f finder[A]) Found(ctx context.Context, call Call) (Result, bool, error) {
	args, err := f.decodeCall(call)
	if err != nil {
		return Result{}, false, nil //nolint:nilerr // the refusal is Call's to report
	}
	res, performed, err := f.find(ctx, call, args)
	if err != nil {
		return Result{}, false, AsError(err)
	}
	return res, performed, nil
}

// CutText cuts a result's text to MaxText, between lines; only a line longer than half of that is cut between
// characters.
func CutText(res Result) Result { return cutText(res, MaxText) }

func cutText(res Result, most int) Result {
	const note = "(the rest is left out)\n"
	if len(res.Text) > most {
		kept := Clip(res.Text, most-len(note)-1)
		if end := strings.LastIndexByte(kept, '\n'); end >= len(kept)/2 {
			kept = kept[:end]
		}
		res.Text, res.Truncated = kept+"\n"+note, true
	}
	return res
}

// AsError makes an *Error of an error of a call, with the kind that says what can be done about it.
func AsError(err error) *Error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	switch {
	case errors.Is(err, context.Canceled):
		return Errorf(Cancelled, "", "the call was withdrawn: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return Errorf(Timeout, "ask for less", "time ran out: %w", err)
	}
	return Errorf(Failed, "", "%w", err)
}
