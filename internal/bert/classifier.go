package bert

import (
	"context"
	"errors"
	"path/filepath"
	"time"
)

// rest is how long a model that failed is left alone.
const rest = time.Minute

// Classifier asks the model in a folder. Close it when it is no longer needed.
type Classifier struct {
	cfg    Config
	turn   chan struct{} // holds one: whoever took it out may use what is below
	child  *child
	fault  *Error    // the last lasting one
	faulty time.Time // when it came

	open  context.Context // until it is closed
	close context.CancelFunc
	now   func() time.Time
}

// New returns a classifier and starts nothing.
func New(cfg Config) *Classifier {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 15 * time.Second
	}
	if cfg.LoadTimeout <= 0 {
		cfg.LoadTimeout = 30 * time.Second
	}
	// The child must not take it for an option, nor start elsewhere.
	if dir, err := filepath.Abs(cfg.Dir); err == nil && cfg.Dir != "" {
		cfg.Dir = dir
	}
	c := &Classifier{cfg: cfg, turn: make(chan struct{}, 1), now: time.Now}
	c.open, c.close = context.WithCancel(context.Background())
	c.turn <- struct{}{}
	return c
}

// Classify returns a score for each label, best first. With a zero-shot model, each label needs its hypothesis; with another,
// the labels must be the model's own, where case does not matter, and dash, space and underscore are alike.
func (c *Classifier) Classify(ctx context.Context, text string, labels []Label) ([]Score, error) {
	q, err := newQuestion(text, labels)
	if err != nil {
		return nil, c.failure(err)
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return nil, c.failure(err)
	}
	defer done()
	if c.fault != nil && c.now().Sub(c.faulty) < rest {
		return nil, c.fault
	}
	scores, err := c.ask(ctx, q)
	return scores, c.settle(err)
}

// Check loads the model, asks it about a short text with these labels, and tells how that went. It tries even where a failure
// is not long ago. With an error, Info holds what had been found out by then.
func (c *Classifier) Check(ctx context.Context, labels []Label) (Info, error) {
	q, err := newQuestion("I have found what you asked for, and nothing is missing.", labels)
	if err != nil {
		return Info{}, c.failure(err)
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return Info{}, c.failure(err)
	}
	defer done()
	if err := c.ensure(ctx); err != nil {
		return Info{}, c.settle(err)
	}
	info := Info{Kind: c.child.model.Kind, Labels: c.child.model.Labels, LoadTime: c.child.loadTime}
	began := time.Now()
	_, err = c.ask(ctx, q)
	if err == nil {
		info.AnswerTime = time.Since(began)
	}
	return info, c.settle(err)
}

// Close ends the child and waits until it is gone. A question under way fails with Closed, as does any later one.
func (c *Classifier) Close() {
	c.close()
	<-c.turn
	if c.child != nil {
		c.child.hangUp()
		c.child = nil
	}
	c.turn <- struct{}{}
}

var errClosed = &problem{Closed, "the classifier is closed"}

// begin waits for the turn. The context it returns ends with the one given, and when the classifier is closed; done gives the
// turn to the next.
func (c *Classifier) begin(ctx context.Context) (life context.Context, done func(), err error) {
	busy := c.cfg.LoadTimeout + c.cfg.Timeout
	timer := time.NewTimer(busy)
	defer timer.Stop()
	select {
	case <-c.turn:
	case <-ctx.Done():
		return ctx, nil, ctx.Err()
	case <-timer.C:
		return ctx, nil, problemf(Timeout, "other questions kept the model busy for %v", busy)
	}
	life, cancel := context.WithCancelCause(ctx)
	unwatch := context.AfterFunc(c.open, func() { cancel(errClosed) })
	done = func() {
		unwatch()
		cancel(nil)
		c.turn <- struct{}{}
	}
	switch {
	case c.open.Err() != nil:
		err = errClosed
	case ctx.Err() != nil:
		err = ctx.Err()
	default:
		return life, done, nil
	}
	done()
	return ctx, nil, err
}

// ask puts the question to the child that is there, or to a fresh one. Only a child that had been there is replaced when it
// dies: a text that ends a fresh one would end the next.
func (c *Classifier) ask(ctx context.Context, q question) ([]Score, error) {
	for {
		fresh := c.child == nil || c.child.isGone()
		if err := c.ensure(ctx); err != nil {
			return nil, err
		}
		scores, err := c.child.ask(ctx, c.cfg.Timeout, q)
		if err == nil || !ends(err) {
			return scores, err
		}
		c.drop()
		if kindOf(err) != Died || fresh {
			return nil, err
		}
	}
}

// ensure sees to it that there is a child that has loaded its model.
func (c *Classifier) ensure(ctx context.Context) error {
	if c.child != nil && !c.child.isGone() {
		return nil
	}
	c.drop()
	started, err := startChild(c.cfg)
	if err != nil {
		return err
	}
	c.child = started
	if err := started.ready(ctx, c.cfg.LoadTimeout); err != nil {
		c.drop()
		return err
	}
	return nil
}

func (c *Classifier) drop() {
	if c.child != nil {
		c.child.kill()
		c.child = nil
	}
}

// ends says whether the child is of no more use after this error: the model's own words about a question are the exception.
func ends(err error) bool {
	switch kindOf(err) {
	case WrongLabels, Unanswered, Invalid:
		return false
	}
	return true
}

// settle concludes a question that had its turn: it remembers a failure that lasts, and returns the error as the caller's.
func (c *Classifier) settle(err error) error {
	if err == nil {
		c.fault = nil
		return nil
	}
	e := c.failure(err)
	switch {
	case e.lasting():
		c.fault, c.faulty = e, c.now()
	case !ends(err):
		c.fault = nil // the model answered, if not what was hoped for
	}
	return e
}

// failure is the error as the caller's.
func (c *Classifier) failure(err error) *Error {
	e := &Error{Kind: kindOf(err), Dir: c.cfg.Dir, Message: err.Error()}
	if e.Kind == "" {
		e.Kind, e.Message, e.Err = Cancelled, "the question was withdrawn", err
	}
	return e
}

// kindOf is "" for an error that is no problem: a context's.
func kindOf(err error) ErrorKind {
	var p *problem
	if errors.As(err, &p) {
		return p.Kind
	}
	return ""
}
