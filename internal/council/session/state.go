package session

import "fmt"

// State of a session.
type State string

// The states of a session.
const (
	Collecting   State = "COLLECTING"   // it takes in what is said
	Transcribing State = "TRANSCRIBING" // a run transcribes
	Transcribed  State = "TRANSCRIBED"  // all of it is transcribed, and nothing was asked since
	Ready        State = "READY"        // an oracle has answered all that was said
	Interrupted  State = "INTERRUPTED"  // the run that transcribed it died or was stopped
	Failed       State = "ERROR"        // some of it could not be transcribed
)

// Act is what moves a session from one state to another.
type Act string

// The acts. Those that add, answer and try again are done with what they are about, the others by Move.
const (
	Add                 Act = "add"
	TranscriptionBegins Act = "transcription begins"
	TranscriptionEnds   Act = "transcription ends"  // nothing FAILED
	TranscriptionFails  Act = "transcription fails" // something FAILED
	TranscriptionStops  Act = "transcription stops" // its process died, or was stopped
	Retried             Act = "retry"               // entries that were transcribed, or FAILED, are PENDING again
	Answered            Act = "answer"              // an answer holds all that was said
)

// transitions say where an act leads from a state: to the first state, or to the second while something is PENDING. What is not here is refused.
var transitions = map[State]map[Act][2]State{
	Collecting: {
		Add:                 {Collecting, Collecting},
		TranscriptionBegins: {Transcribing, Transcribing},
		Retried:             {Collecting, Collecting},
		Answered:            {Ready, Collecting},
	},
	Transcribing: {
		Add:                 {Transcribing, Transcribing},
		TranscriptionBegins: {Transcribing, Transcribing}, // by the run that goes on after a crash
		TranscriptionEnds:   {Transcribed, Collecting},
		TranscriptionFails:  {Failed, Failed},
		TranscriptionStops:  {Interrupted, Interrupted},
		Retried:             {Transcribing, Transcribing},
		Answered:            {Transcribing, Transcribing},
	},
	Transcribed: {
		Add:               {Collecting, Collecting},
		TranscriptionEnds: {Transcribed, Transcribed},
		Retried:           {Collecting, Collecting},
		Answered:          {Ready, Ready},
	},
	Ready: {
		Add:      {Collecting, Collecting},
		Retried:  {Collecting, Collecting},
		Answered: {Ready, Ready},
	},
	Interrupted: {
		Add:                 {Collecting, Collecting},
		TranscriptionBegins: {Transcribing, Transcribing},
		TranscriptionEnds:   {Transcribed, Interrupted}, // by the run that goes on after a crash
		TranscriptionFails:  {Failed, Failed},
		TranscriptionStops:  {Interrupted, Interrupted},
		Retried:             {Interrupted, Interrupted},
		Answered:            {Ready, Interrupted},
	},
	Failed: {
		Add:                 {Collecting, Collecting},
		TranscriptionBegins: {Transcribing, Transcribing},
		TranscriptionFails:  {Failed, Failed},
		Retried:             {Collecting, Collecting},
		Answered:            {Failed, Failed},
	},
}

// Next is the state that an act leads to from this one; pending says that something waits to be transcribed. An act that is not legal is an
// *Illegal.
func (s State) Next(act Act, pending bool) (State, error) {
	to, legal := transitions[s][act]
	switch {
	case !legal:
		return s, &Illegal{State: s, Act: act}
	case pending:
		return to[1], nil
	}
	return to[0], nil
}

// Illegal is an act that the state of a session does not allow.
type Illegal struct {
	State State
	Act   Act
}

func (e *Illegal) Error() string {
	if _, known := transitions[e.State]; !known {
		return fmt.Sprintf("the session is in the state “%s”, which is not known; repair the session to give it one that is", short(string(e.State)))
	}
	return fmt.Sprintf("“%s” is not possible while the session is %s", e.Act, e.State)
}

// Ending is how the transcribing of a session ends, by what its recordings say.
func (s *Session) Ending() Act {
	act := TranscriptionEnds
	for _, e := range s.Audio {
		switch e.Status {
		case Pending:
			return TranscriptionStops
		case Failure:
			act = TranscriptionFails
		}
	}
	return act
}

// Ended is the state that its transcribing ends in.
func (s *Session) Ended() (State, error) { return s.State.Next(s.Ending(), s.pending()) }

// follow moves s by an act that has happened. A state that is not known stays: what was said must not be lost for it.
func (s *Session) follow(act Act) {
	if next, err := s.State.Next(act, s.pending()); err == nil {
		s.State = next
	}
}
