package record

import (
	"fmt"
	"strings"

	"sibyl/internal/text"
)

// NotAudited is the verdict of a session without a detective.
const NotAudited = "Collected, not audited: a detective needs a model."

// Verdict says in one line how a session ended, whether it was judged, and the result. Screen, list, page and files
// show the same line.
func Verdict(s *Session) string {
	parts := []string{endingSentence(s)}
	a := s.Audit()
	switch {
	case !s.Judged() && s.EndReason != Collected:
		return strings.Join(append(parts, NotAudited), " ")
	case a == nil || !s.Judged():
		return parts[0]
	case s.JudgedPairs() == 0:
		return parts[0] + " No answer was judged."
	case s.Silent() && a.ConsistencyScore == nil && s.EndReason != Broken && s.EndReason != TimedOut:
		return parts[0] + " No answer said anything, so nothing was compared, and there is no score: look at the witness, " +
			"or put the hypothesis in its words."
	}
	if a.ConsistencyScore == nil && len(a.Evidence) == 0 && len(a.Contradictions) == 0 && s.EndReason != Broken &&
		s.EndReason != TimedOut {
		return parts[0] + " The hypothesis is open: no answer bears on it, so there is no score. " + findingsSentence(a)
	}
	score := "No score."
	if a.ConsistencyScore != nil {
		score = fmt.Sprintf("Consistency %d of 100.", *a.ConsistencyScore)
	}
	if (s.AuditResult == nil || s.JudgedPairs() < len(s.Pairs)) && a.ConsistencyScore != nil {
		score = fmt.Sprintf("Provisional: consistency %d of 100.", *a.ConsistencyScore)
	}
	return strings.Join(append(parts, score, findingsSentence(a)), " ")
}

// endingSentence says how a session ended, or that it is running.
func endingSentence(s *Session) string {
	after := "after " + text.Count(len(s.Pairs), "question")
	if len(s.Pairs) == 0 {
		after = "before the first answer"
	}
	unjudged := len(s.Pairs) - s.JudgedPairs()
	switch s.EndReason {
	case Satisfied:
		if unjudged > 0 {
			return fmt.Sprintf("It ended %s: the detective asks no more, but %d of %d answers could not be judged.", after,
				unjudged, len(s.Pairs))
		}
		return "The detective is satisfied " + after + "."
	case Limit:
		return "The limit was reached " + after + "."
	case NoProgress:
		return "It ended " + after + ": the last answers brought nothing new."
	case Repeated:
		return "It ended " + after + ": the detective, " + s.Detective + ", only repeated its questions; another one may " +
			"get further (‘--detective’)."
	case Collected:
		return NotAudited
	case Stopped:
		return "It was stopped " + after + "."
	case Broken, TimedOut:
		return failureSentence(s, after)
	}
	if s.Status == Running && s.Resumable {
		return "It is paused " + after + ": the program that ran it ended." + waysOn(s)
	}
	if s.Status == Running {
		return "It goes on, " + after + "."
	}
	return "It ended " + after + ": " + string(s.Status) + "."
}

// failureSentence says why a session failed, and how to resume it.
func failureSentence(s *Session, after string) string {
	line := "It failed " + after
	if s.Resumable {
		line = "It is paused " + after
	}
	if a := s.Audit(); a != nil && a.Unjudged != "" {
		line += ": " + strings.TrimRight(a.Unjudged, ".")
	}
	line += "."
	return line + waysOn(s)
}

// waysOn says how to go on with a paused session, and how to end it.
func waysOn(s *Session) string {
	if !s.Resumable || s.Run == "" {
		return ""
	}
	return " ‘sibyl run resume " + s.Run + "’ goes on with it, ‘sibyl run stop " + s.Run + "’ ends it."
}

// findingsSentence counts the contradictions and gaps of an audit.
func findingsSentence(a *Audit) string {
	unconfirmed, high := 0, 0
	for _, c := range a.Contradictions {
		if c.Unconfirmed {
			unconfirmed++
		}
	}
	for _, g := range a.RemainingGaps {
		if g.Severity == High {
			high++
		}
	}
	line := text.Count(len(a.Contradictions), "contradiction")
	if unconfirmed > 0 {
		line += fmt.Sprintf(" (%d unconfirmed)", unconfirmed)
	}
	line += ", " + text.Count(len(a.RemainingGaps), "open gap")
	if high > 0 {
		line += fmt.Sprintf(" (%d high)", high)
	}
	if n := len(a.Unverified); n > 0 {
		line += fmt.Sprintf(", %d not verifiable", n)
	}
	return line + "."
}
