package assistant

import "sibyl/internal/bt"

// Failures lists the sentences of faults by kind (bt.Fault.Why), those of models first.
func Failures() []bt.Reason {
	return []bt.Reason{
		"fail.rate_limit: the model’s provider takes no more requests for now",
		"fail.overloaded: the model’s provider has too much to do",
		"fail.payment: there is no credit left at the model’s provider",
		"fail.output_length: the model used up the length of its answer by thinking",
		"fail.auth: the model’s provider does not accept the key",
		"fail.context_length: this is too long for the model",
		"fail.timeout: there was no answer in time",
		"fail.server: the model’s provider failed, or can’t be reached",
		"fail.refused: the model refused to answer",
		"fail.invalid: the provider does not know this model, or does not take such a request",
		"fail.garbled: the model’s reply could not be read",
		"fail.repeated: the model repeated itself and was stopped",
		"fail.cancelled: it was stopped",
		"fail.witness: the witness can’t be asked",
		"fail.folder: the session’s folder can’t be used",
		"fail.file: the session’s file could not be written",
		"fail.tree: the tree gave up",
	}
}

// Why gives the failure as a sentence, the same as bt.Fault.Why for its kind and message.
func (f *Failure) Why() bt.Why {
	return (&bt.Fault{Kind: f.Kind, Reason: f.Message}).Why()
}
