package signal

import (
	"strings"
	"unicode"
)

// State is what the signals of a run say over time. It is a value: methods return the next state and do not change it.
type State struct {
	SignalsEmitted        []Signal `json:"signals_emitted"`
	LastSignal            *Signal  `json:"last_signal,omitempty"`
	ConsecutiveSameReason int      `json:"consecutive_same_reason"`
	TurnsWithoutSignal    int      `json:"turns_without_signal"`
}

// OnSignal adds a signal. A need_turn has the same reason as the one before if both reasons are equal after trimming
// and case-folding. If no source was read between them, digits don't matter, so that "page 3" and "page 4" are the same
// reason for a run that reads nothing. Another type of signal ends the series: the next need_turn is the first again.
func (s State) OnSignal(sig Signal, newSource bool) State {
	next := s
	next.SignalsEmitted = append(s.SignalsEmitted[:len(s.SignalsEmitted):len(s.SignalsEmitted)], sig)
	switch {
	case sig.Type != NeedTurn:
		next.ConsecutiveSameReason = 0
	case s.LastSignal != nil && s.LastSignal.Type == NeedTurn && s.ConsecutiveSameReason > 0 &&
		comparableReason(*s.LastSignal, !newSource) == comparableReason(sig, !newSource):
		next.ConsecutiveSameReason++
	default:
		next.ConsecutiveSameReason = 1
	}
	next.LastSignal = &sig
	next.TurnsWithoutSignal = 0
	return next
}

// OnSilentTurn counts a turn without a signal.
func (s State) OnSilentTurn() State {
	s.TurnsWithoutSignal++
	s.ConsecutiveSameReason = 0
	return s
}

func comparableReason(s Signal, maskNumbers bool) string {
	text := strings.ToLower(strings.Join(strings.Fields(s.Text("reason")), " "))
	if !maskNumbers {
		return text
	}
	b := &strings.Builder{}
	inNumber := false
	for _, r := range text {
		if unicode.IsDigit(r) {
			if !inNumber {
				b.WriteByte('#')
			}
			inNumber = true
			continue
		}
		inNumber = false
		b.WriteRune(r)
	}
	return b.String()
}
