package model

import "context"

// relay passes text on to a receiver, and withdraws what it has passed on before something else is tried.
type relay struct {
	emit    func(Delta) error // nil: nobody listens
	emitted bool              // text that is not retracted
}

// ask asks m, once what was emitted is withdrawn. Usage, Attempts and Tries of the response are those of the one before, too.
func (r *relay) ask(ctx context.Context, m Model, req Request, before Response) (Response, error) {
	resp := Response{Model: before.Model}
	err := r.retract(m.ID())
	if err == nil {
		resp, err = m.Chat(ctx, req, r.receiver())
	}
	resp.Usage, resp.Attempts = resp.Usage.Add(before.Usage), resp.Attempts+before.Attempts
	resp.Tries = append(before.Tries[:len(before.Tries):len(before.Tries)], resp.Tries...)
	return resp, err
}

// receiver is emit, watched for text that may have to be retracted.
func (r *relay) receiver() func(Delta) error {
	if r.emit == nil {
		return nil
	}
	return func(d Delta) error {
		r.emitted = !d.Retract
		return r.emit(d)
	}
}

// retract withdraws what was emitted. An error is the receiver's, who wants no more.
func (r *relay) retract(model string) error {
	if !r.emitted {
		return nil
	}
	r.emitted = false
	if err := r.emit(Delta{Retract: true}); err != nil {
		return &Error{Kind: Cancelled, Model: model, Message: "the receiver ended the answer: " + err.Error(), Err: err}
	}
	return nil
}
