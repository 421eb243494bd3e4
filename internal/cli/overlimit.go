package cli

import (
	"context"
	"errors"
	"fmt"

	"sibyl/internal/app"
	"sibyl/internal/service"
	"sibyl/web/src/words/sentences"
)

// start starts a run, and says which model is remembered by it. If today's limit of costs is reached, it asks first; a
// refusal, or nobody to ask, is an error.
func (c *command) start(ctx context.Context, a *app.App, r service.Request) (*service.Run, error) {
	begun, err := c.startWithin(ctx, a, r)
	if err == nil && begun.Remembered != "" && !c.converses && !c.asJSON {
		c.note("%s", rememberedLine(begun, c.spoken(begun.Spec.Title)))
	}
	return begun, err
}

// rememberedLine says which model new sessions have from a run on, and how to end that.
func rememberedLine(r *service.Run, language string) string {
	return sentences.Format(language, "new sessions begin with %s; ‘sibyl config unset models.remember’ ends that",
		r.Remembered)
}

// startWithin starts a run within today's limit of costs, or beyond it if the person agrees.
func (c *command) startWithin(ctx context.Context, a *app.App, r service.Request) (*service.Run, error) {
	r.OverLimit = r.OverLimit || c.overLimit
	begun, err := a.Service.Start(ctx, c.owner(), r)
	over, isOver := errors.AsType[*service.LimitError](err)
	switch {
	case !isOver || c.converses:
		return begun, err
	case !c.InTTY || !c.ErrTTY || c.asJSON:
		return nil, withCode(ExitFailed, fmt.Errorf("%w; --over-limit goes on", err))
	}
	yes, err := c.confirm(ctx, "· "+over.Error()+"\nGo on? [y/N] ")
	if err != nil {
		return nil, err
	}
	if !yes {
		return nil, withCode(ExitFailed, errors.New("not asked: today's limit of costs is reached"))
	}
	r.OverLimit = true
	return a.Service.Start(ctx, c.owner(), r)
}
