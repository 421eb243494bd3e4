package oracle

import (
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/run"
	"sibyl/internal/signal"
	"sibyl/internal/text"
)

// Bounds of what is shown when the model gave no answer.
const (
	maxPassages      = 3   // those that were read last
	maxPassageLength = 400 // characters
)

// supplementAnswer replaces a forced answer without text, or one that is only an announcement, by a summary of what was
// found. After a loop, it adds what was read last to an answer that cites nothing.
func (a *Answer) supplementAnswer(v *run.View, best Words) {
	forced := a.StopReason == StopLoop || a.StopReason == StopStuck || a.StopReason == StopBudget
	switch {
	case a.Answer == "" || forced && best.Announces:
		a.Answer, a.Summarised = a.noAnswerText(v), true
		a.addCaveat(bt.Why{})
	case a.StopReason == StopLoop && !best.Cites:
		a.Answer = paragraphs(a.Answer, lastReadText(v))
	}
}

func (a *Answer) noAnswerText(v *run.View) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "I have no answer. The model gave none in %s.", text.Count(a.Turns, "turn"))
	for _, t := range a.Tried {
		fmt.Fprintf(b, " %s: %s, %s, %s read.", t.Source, text.Count(t.Calls, "call"), text.Count(t.Hits, "hit"),
			text.Count(t.Opened, "place"))
	}
	if a.Blocker != "" {
		fmt.Fprintf(b, " What blocked it: %s.", strings.TrimRight(a.Blocker, "."))
	}
	return paragraphs(b.String(), lastReadText(v))
}

// lastReadText shows the beginnings of what was read last, and names what else was read; empty if nothing was.
func lastReadText(v *run.View) string {
	var shown, cited []string
	for _, c := range latestCalls(v) {
		for _, ref := range c.Result.Refs {
			cite := ref.String()
			if !ref.Opened || slices.Contains(cited, cite) {
				continue
			}
			if cited = append(cited, cite); len(cited) <= maxPassages {
				lines := strings.Split(signal.Neutralise(text.Clip(strings.TrimSpace(c.Result.Text), maxPassageLength)),
					"\n")
				shown = append(shown, "`"+cite+"`:\n\n    "+strings.Join(lines, "\n    "))
			}
		}
	}
	if len(cited) == 0 {
		return ""
	}
	if len(cited) > maxPassages {
		shown = append(shown, "Also read: "+firstFew(cited[maxPassages:])+".")
	}
	return "What was read last:\n\n" + strings.Join(shown, "\n\n")
}

func latestCalls(v *run.View) (all []agent.CallReceipt) {
	for _, c := range v.Receipts() {
		if r, ok := c.Value.(agent.CallReceipt); ok && r.Result != nil {
			all = append(all, r)
		}
	}
	slices.Reverse(all)
	return all
}

// paragraphs puts one text below the other, if both are there.
func paragraphs(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n\n" + second
}

// firstFew lists the first few texts, and says how many more there are.
func firstFew(texts []string) string {
	const most = 4
	if left := len(texts) - most; left > 0 {
		texts = append(slices.Clone(texts[:most]), fmt.Sprintf("and %d more", left))
	}
	return strings.Join(texts, ", ")
}
