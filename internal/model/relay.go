package model

// relay passes text on to a receiver, and withdraws what it has passed on before something else is tried.
type relay struct {
	emit    func(Delta) error // nil: nobody listens
	emitted bool              // text that is not retracted
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
