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

// cooledModel says until when a model is left alone, and why.
type cooledModel struct {
	until time.Time
	kind  Kind
}

// NewCooling returns an empty Cooling.
func NewCooling() *Cooling { return &Cooling{models: map[string]cooledModel{}} }

// add leaves a model alone from now until then, unless it is left alone for longer already. Models whose time is over
// are forgotten, since names come from anywhere and would add up.
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

// reason returns why a model is left alone at a time, and whether it is.
func (c *Cooling) reason(id string, now time.Time) (Kind, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, known := c.models[id]
	return at.kind, known && now.Before(at.until)
}

// ChainPolicy says when a chain tries its next model, and which ones it may try.
type ChainPolicy struct {
	CoolDown time.Duration    // how long a model that failed is left alone, unless it asks for longer
	Cooling  *Cooling         // shared by chains; nil: this chain's own
	Now      func() time.Time // nil: time.Now

	// LocalToCloud is the person's consent to send what was meant for a model on their machine to one elsewhere.
	LocalToCloud bool

	// AnyFailure makes the chain move on after every failure but Cancelled, also after a refused key of the first
	// model. Only a caller who reports this to the person may set it.
	AnyFailure bool
}

// Chain returns a model that asks the given models in order. It asks the next one after a temporary failure
// (Error.Retryable) or Payment, and after Auth or Invalid of a model other than the first; so a wrong key of the first
// model is an error at once. Guarantees besides those of package model:
//   - Waits for a model are cut short, but those for the last one.
//   - A model that failed is left alone for a while, in later answers too. If all are, they are asked in order all the
//     same.
//   - An error is the last model's, and names the models that failed or were left alone before it.
//   - Text of a model that failed is retracted before the next one is asked.
//   - From a local model the chain moves on to local ones only, unless the person has consented to more.
//   - Response.Model is the model that answered, Response.Tries are those before it; Usage and Attempts count all.
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
	withheld []string // because LocalToCloud is not set
}

func (c *chain) Chat(ctx context.Context, req Request, emit func(Delta) error) (Response, error) {
	out := relay{emit: emit}
	models, tries := c.modelsToAsk()
	total := Response{Model: c.ID()} // with the usage of all that failed
	var err error
	for i, m := range models {
		if i < len(models)-1 {
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

// movesOnAfter says whether the chain asks the next model after such a failure of m.
func (c *chain) movesOnAfter(m Model, kind Kind) bool {
	fallback := m.ID() != c.ID()
	if c.policy.AnyFailure {
		return kind != Cancelled
	}
	return (&Error{Kind: kind}).Retryable() && kind != Garbled || kind == Payment ||
		fallback && (kind == Auth || kind == Invalid)
}

// modelsToAsk leaves out the models that are left alone for a while, unless those are all.
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

// withTries adds to a model's error what became of those before it.
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

// withWithheld adds to the last error of a chain which models were not asked for want of consent.
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
