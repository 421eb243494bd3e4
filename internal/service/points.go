package service

import (
	"fmt"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/assistant"
)

// mostTold is how many of the events of a run are told that has no points of its own.
const mostTold = 5

// inShort is the run in short: what its assistant tells of it, or else what was decided last, and what was refused and sent away.
func (x Explanation) inShort() (all []assistant.Point) {
	var told, refused []string
	for _, s := range x.Steps {
		for _, e := range s.Events {
			switch {
			case e.Type == agent.CallRefused{}.EventType() || e.Type == agent.CallHeld{}.EventType():
				refused = append(refused, e.Words)
			case e.Type != "" && e.Words != "":
				told = append(told, e.Words)
			}
		}
	}
	if x.Shown != nil && len(x.Shown.Points) > 0 {
		all, told = x.Shown.Points, nil
	}
	for i, words := range told[max(0, len(told)-mostTold):] {
		all = append(all, assistant.Point{What: map[bool]string{true: "decided"}[i == 0], Text: words})
	}
	if (x.Shown == nil || len(x.Shown.Points) == 0) && len(x.Ending) > 0 {
		all = append(all, assistant.Point{What: "state", Text: strings.Join(x.Ending, "; ")})
	}
	if n := len(refused); n > 0 {
		all = append(all, assistant.Point{What: "refused", Text: refused[0] + map[bool]string{true: fmt.Sprintf("; and %d more", n-1)}[n > 1]})
	}
	if sent := sentAway(x.Left); sent != "" {
		all = append(all, assistant.Point{What: "sent to", Text: sent})
	}
	return all
}

// sentAway says to whom something was sent, and how often.
func sentAway(left []assistant.Left) string {
	var to []string
	times := map[string]int{}
	for _, l := range left {
		one := l.Kind + " " + l.To
		if times[one]++; times[one] == 1 {
			to = append(to, one)
		}
	}
	for i, one := range to {
		if n := times[one]; n > 1 {
			to[i] += fmt.Sprintf(" (%d times)", n)
		}
	}
	return strings.Join(to, ", ")
}
