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

// What stands in place of an answer that the model did not give.
const (
	mostPassages  = 3   // that are shown, the last that were read
	passageLength = 400 // characters
)

// found puts what was found in place of a forced answer without words or that only announces, and beside one that cites
// nothing after a loop.
func (a *Answer) found(v *run.View, best Words) {
	forced := a.StopReason == StopLoop || a.StopReason == StopStuck || a.StopReason == StopBudget
	switch {
	case a.Answer == "" || forced && best.Announces:
		a.Answer, a.Composed = a.summary(v), true
		a.lacks(bt.Why{})
	case a.StopReason == StopLoop && !best.Cites:
		a.Answer = paragraphs(a.Answer, lastRead(v))
	}
}

func (a *Answer) summary(v *run.View) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "I have no answer. The model gave none in %s.", text.Count(a.Turns, "turn"))
	for _, t := range a.Tried {
		fmt.Fprintf(b, " %s: %s, %s, %s read.", t.Source, text.Count(t.Calls, "call"), text.Count(t.Hits, "hit"),
			text.Count(t.Opened, "place"))
	}
	if a.Blocker != "" {
		fmt.Fprintf(b, " What blocked it: %s.", strings.TrimRight(a.Blocker, "."))
	}
	return paragraphs(b.String(), lastRead(v))
}

// lastRead shows the beginnings of what was read last, and names what else was read; empty if nothing was.
func lastRead(v *run.View) string {
	var shown, named []string
	for _, c := range latestCalls(v) {
		for _, ref := range c.Result.Refs {
			cite := ref.String()
			if !ref.Opened || slices.Contains(named, cite) {
				continue
			}
			if named = append(named, cite); len(named) <= mostPassages {
				lines := strings.Split(signal.Neutralise(text.Clip(strings.TrimSpace(c.Result.Text), passageLength)),
					"\n")
				shown = append(shown, "`"+cite+"`:\n\n    "+strings.Join(lines, "\n    "))
			}
		}
	}
	if len(named) == 0 {
		return ""
	}
	if len(named) > mostPassages {
		shown = append(shown, "Also read: "+few(named[mostPassages:])+".")
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

// paragraphs puts two texts one below the other, where there are two.
func paragraphs(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n\n" + second
}

// few are the first of texts, and how many more there are.
func few(texts []string) string {
	const most = 4
	if left := len(texts) - most; left > 0 {
		texts = append(slices.Clone(texts[:most]), fmt.Sprintf("and %d more", left))
	}
	return strings.Join(texts, ", ")
}
