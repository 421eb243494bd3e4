package session

import "context"

// State of a session.
type State string

// The states of a session. One that is not known is taken for Collecting.
const (
	Collecting   State = "COLLECTING"   // it takes in what is said
	Transcribing State = "TRANSCRIBING" // a run transcribes, and ends that state
	Transcribed  State = "TRANSCRIBED"  // all of it is transcribed, and nothing was asked since
	Ready        State = "READY"        // an oracle has answered all that was said
	Interrupted  State = "INTERRUPTED"  // the run that transcribed it died or was stopped
	Failed       State = "ERROR"        // some of it could not be transcribed
)

func (s State) isKnown() bool {
	switch s {
	case Collecting, Transcribing, Transcribed, Ready, Interrupted, Failed:
		return true
	}
	return false
}

// markAdded sets the state after something was added.
func (s *Session) markAdded() {
	if s.State != Transcribing {
		s.State = Collecting
	}
}

// markWaiting sets the state after a recording waits to be transcribed once more.
func (s *Session) markWaiting() {
	if s.State != Interrupted {
		s.markAdded()
	}
}

// markAnswered sets the state after an answer whose context held all that was said.
func (s *Session) markAnswered() {
	if s.State != Transcribing && s.State != Failed && !s.hasStatus(Pending) {
		s.State = Ready
	}
}

// Ended is the state in which the transcribing of a session ends, by how its recordings stand.
func (s *Session) Ended() State {
	switch {
	case s.hasStatus(Pending):
		return Interrupted
	case s.hasStatus(Failure):
		return Failed
	}
	return Transcribed
}

// BeginTranscribing says that a run transcribes the session from now on.
func (s *Store) BeginTranscribing(ctx context.Context, id string) (Session, error) {
	return s.change(ctx, id, "beginning to transcribe", func(h *lockedSession) (bool, error) {
		was := h.State
		h.State = Transcribing
		return was != Transcribing, nil
	})
}

// EndTranscribing says that no run transcribes the session any more. One that none has transcribed stays as it is.
func (s *Store) EndTranscribing(ctx context.Context, id string) (Session, error) {
	return s.change(ctx, id, "ending to transcribe", func(h *lockedSession) (bool, error) {
		was := h.State
		if was == Transcribing || was == Interrupted {
			h.State = h.Ended()
		}
		return was != h.State, nil
	})
}
