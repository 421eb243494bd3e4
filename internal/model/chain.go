package model

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Cooling remembers which models failed a short time ago, for all chains that share it. It is safe for concurrent use.
type Cooling struct {
	mu     sync.Mutex
	models map[string]cooledModel // by Model.ID
}

// cooledModel is a model that is left alone.
type cooledModel struct {
	until time.Time
	kind  Kind
}

// NewCooling remembers nothing yet.
func NewCooling() *Cooling { return &Cooling{models: map[string]cooledModel{}} }

// add leaves a model alone from now until then; a longer time that it is left alone already stands. Those whose time
// is over are forgotten: names come from anywhere.
func (c *Cooling) add(id string, kind Kind, now, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.models, func(_ string, at cooledModel) bool { return !now.Before(at.until) })
	if c.models[id].until.After(until) {
		return
	}
	c.models[id] = cooledModel{until: until, kind: kind}
}

func (c *Cooling) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.models, id)
}

// reason says whether a model is left alone at a time, and why.
func (c *Cooling) reason(id string, now time.Time) (Kind, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, known := c.models[id]
	return at.kind, known && now.Before(at.until)
}

// ChainPolicy says when a chain moves on, and where to.
type ChainPolicy struct {
	CoolDown time.Duration    // how long a model that failed is left alone; what it asks for itself, if that is longer
	Cooling  *Cooling         // shared by chains; nil: this chain's own
	Now      func() time.Time // nil: time.Now

	// LocalToCloud is the person's consent that what was meant for a model on their machine goes to one elsewhere.
	LocalToCloud bool

	// AnyFailure moves on for every reason, also a refused key of the first model: for a caller who tells the person so.
	AnyFailure bool
}

// Chain asks models in order: the next one where one fails in a way that may pass (Error.Retryable) or for want of
// Payment, and where one other than the first is not usable here (Auth, Invalid); never for another reason: so a wrong
// key of the first model is an error at once. What holds beside package model's guarantees:
//   - A model that asks for patience has little of it, but the last.
//   - A model that was passed over is left alone for a while, in later answers too. If all are, they are asked in order
//     all the same.
//   - An error names the models that failed or were left alone before the one whose it is.
//   - Text of a model that failed is retracted before the next one is asked.
//   - From a local model the chain moves on to local ones only, unless the person has consented to more.
//   - Response.Model is the model that answered, Response.Tries those before it; Usage and Attempts count all of them.
//
// ID and Local are the first model's. A chain of one model is that model.
func Chain(p ChainPolicy, first Model, others ...Model) Model {
	if len(others) == 0 {
		return first
	}
	if p.Cooling == nil {
		p.Cooling = NewCooling()
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	c := &chain{Model: first, policy: p, models: []Model{first}}
	for _, m := range others {
		switch {
		case slices.ContainsFunc(c.models, func(o Model) bool { return o.ID() == m.ID() }):
		case first.Local() && !m.Local() && !p.LocalToCloud:
			c.withheld = append(c.withheld, m.ID())
		default:
			c.models = append(c.models, m)
		}
	}
	return c
}

type chain struct {
	Model
	policy   ChainPolicy
	models   []Model
	withheld []string // for want of consent
}

func (c *chain) Chat(ctx context.Context, req Request, emit func(Delta) error) (Response, error) {
	out := relay{emit: emit}
	asked, tries := c.modelsToAsk()
	total := Response{Model: c.ID()} // with what all that failed have cost
	var err error
	for i, m := range asked {
		if i < len(asked)-1 {
			m = withLessPatience(m)
		}
		total.Tries = tries
		total, err = out.retractAndAsk(ctx, m, req, total)
		var failed *Error
		switch {
		case err == nil:
			c.policy.Cooling.remove(m.ID())
			return total, nil
		case !errors.As(err, &failed) || !c.movesOnAfter(m, failed.Kind) || ctx.Err() != nil:
			return total, withTries(tries, err)
		}
		now := c.policy.Now()
		c.policy.Cooling.add(m.ID(), failed.Kind, now, now.Add(max(c.policy.CoolDown, failed.RetryAfter)))
		tries = append(tries, Try{Model: m.ID(), Kind: failed.Kind, Status: failed.Status, Message: failed.text(),
			Unsent: failed.Unsent})
	}
	return total, c.withWithheld(withTries(tries[:len(tries)-1], err))
}

// movesOnAfter says whether the chain goes on past a model that failed so.
func (c *chain) movesOnAfter(m Model, kind Kind) bool {
	fallback := m.ID() != c.ID()
	if c.policy.AnyFailure {
		return kind != Cancelled
	}
	return (&Error{Kind: kind}).Retryable() || kind == Payment || fallback && (kind == Auth || kind == Invalid)
}

// modelsToAsk puts those that are left alone for a while aside, unless that is all.
func (c *chain) modelsToAsk() (asked []Model, tries []Try) {
	now := c.policy.Now()
	for _, m := range c.models {
		if kind, cooling := c.policy.Cooling.reason(m.ID(), now); cooling && c.movesOnAfter(m, kind) {
			tries = append(tries, Try{Model: m.ID(), Kind: kind, Cooling: true})
		} else {
			asked = append(asked, m)
		}
	}
	if len(asked) == 0 {
		return c.models, nil
	}
	return asked, tries
}

// withTries is a model's error, with what became of those before it.
func withTries(tries []Try, err error) error {
	var before []string
	for _, t := range tries {
		before = append(before, t.String())
	}
	if before == nil {
		return err
	}
	return withNote(err, "before it, "+strings.Join(before, ", "))
}

// withWithheld is the error of a chain that has come to its end, with what was withheld from others.
func (c *chain) withWithheld(err error) error {
	if c.withheld == nil {
		return err
	}
	return withNote(err, fmt.Sprintf("not asked: %s, since what is meant for a model on this machine stays here "+
		"(fallback.local_to_cloud)", strings.Join(c.withheld, ", ")))
}

// withNote adds a note to a model's error.
func withNote(err error, note string) error {
	var of *Error
	if !errors.As(err, &of) {
		return err
	}
	annotated := *of
	annotated.Message = of.text() + "; " + note
	return &annotated
}
