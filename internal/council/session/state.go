package session

import "context"

// State is the state of a session.
type State string

// The states of a session. An unknown one counts as Collecting.
const (
	Collecting   State = "COLLECTING"   // something was added since the last transcribing
	Transcribing State = "TRANSCRIBING" // a run transcribes it; that run also ends this state
	Transcribed  State = "TRANSCRIBED"  // everything is transcribed, but not yet answered
	Ready        State = "READY"        // an oracle has answered with everything in its context
	Interrupted  State = "INTERRUPTED"  // transcribing stopped before everything was transcribed
	Failed       State = "ERROR"        // an entry could not be transcribed
)

func (s State) isKnown() bool {
	switch s {
	case Collecting, Transcribing, Transcribed, Ready, Interrupted, Failed:
		return true
	}
	return false
}

// markAdded sets the state to Collecting after something was added, unless it is Transcribing.
func (s *Session) markAdded() {
	if s.State != Transcribing {
		s.State = Collecting
	}
}

// markWaiting is markAdded after a recording became PENDING again; Interrupted stays, too.
func (s *Session) markWaiting() {
	if s.State != Interrupted {
		s.markAdded()
	}
}

// markAnswered sets Ready after an answer that covers everything, unless Transcribing, Failed or an entry is PENDING. A
// recording that FAILED is in no context: with one the session is Failed.
func (s *Session) markAnswered() {
	switch {
	case s.State == Transcribing || s.State == Failed || s.hasStatus(Pending):
	case s.hasStatus(Failure):
		s.State = Failed
	default:
		s.State = Ready
	}
}

// Ended gives the state after transcribing, from the entries: Interrupted, Failed or Transcribed. It does not set it.
func (s *Session) Ended() State {
	switch {
	case s.hasStatus(Pending):
		return Interrupted
	case s.hasStatus(Failure):
		return Failed
	}
	return Transcribed
}

// BeginTranscribing sets the state to Transcribing.
func (s *Store) BeginTranscribing(ctx context.Context, id string) (Session, error) {
	return s.change(ctx, id, "beginning to transcribe", func(h *lockedSession) (bool, error) {
		was := h.State
		h.State = Transcribing
		return was != Transcribing, nil
	})
}

// EndTranscribing sets the state to Ended if it is Transcribing or Interrupted; any other state stays.
func (s *Store) EndTranscribing(ctx context.Context, id string) (Session, error) {
	return s.change(ctx, id, "ending to transcribe", func(h *lockedSession) (bool, error) {
		was := h.State
		if was == Transcribing || was == Interrupted {
			h.State = h.Ended()
		}
		return was != h.State, nil
	})
}
