package talk

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/service"
)

// ended prints what came of an answer, and asks what it leaves open.
func (m *model) ended(msg endedMsg) tea.Cmd {
	if msg.of != m.live {
		return nil
	}
	l := m.live
	l.stop(nil)
	m.live = nil
	if msg.err != nil {
		return m.fail(msg.err)
	}
	res := msg.res
	m.last = Exchange{Run: l.run.ID, Question: l.Words, Answer: res.Answer, Sources: res.Sources}
	res.Answer = Rest(res.Answer, l.early)
	m.askHeld(l.Of, res.Held)
	m.open = ""
	if res.Asks && l.Of != m.to {
		m.open = l.Of
	}
	m.setPrompt()
	return m.print(m.outcome(res)...)
}

// outcome lays a result out as it is printed.
func (m *model) outcome(res service.Result) (lines []string) {
	lines = append(lines, "")
	if res.Answer != "" {
		lines = append(lines, m.columns(render.Lines(res.Answer, m.layout(m.answerWidth())), m.sources(res.Sources))...)
	}
	var beside []string
	for _, w := range res.Warnings {
		if w != res.HowTo && !slices.Contains(res.Held, w) { // they are asked below the answer
			beside = append(beside, w)
		}
	}
	if f := res.Failure; f != nil {
		if f.Message != res.Answer {
			beside = append(beside, f.Message)
		}
		if f.Hint != "" {
			beside = append(beside, f.Hint)
		}
	} else if res.Status == journal.Cancelled {
		beside = append(beside, "stopped; what it found is kept")
	}
	if res.Asks {
		beside = append(beside, "it asks you something: type your answer")
	}
	if n := len(res.Notes); n > 0 { // the last one counts turns, tokens and time
		beside = append(beside, res.Notes[n-1])
	}
	if res.Answer != "" && len(beside) > 0 {
		lines = append(lines, "")
	}
	for _, line := range beside {
		lines = append(lines, m.note(line)...)
	}
	return append(lines, "")
}

// question is something to be answered with yes or no.
type question struct {
	words string // what it is about
	title string // the line that asks
	usual bool   // Enter is a no
	then  func(m *model, yes bool) tea.Cmd
}

// askHeld asks about calls that are held. What was said yes to is told to the assistant that wants them.
func (m *model) askHeld(of string, held []string) {
	var allowed []int
	for n, call := range held {
		m.asking = append(m.asking, question{words: call, title: "Do it?", then: func(m *model, yes bool) tea.Cmd {
			if yes {
				allowed = append(allowed, n+1)
			}
			switch {
			case n+1 < len(held):
				return nil
			case len(allowed) == 0:
				return m.say("not done")
			}
			words := "yes " + numbers(allowed)
			return m.ask(Asked{Of: of, Words: words}, words)
		}})
	}
}

// numbers are numbers as a yes names them.
func numbers(all []int) string {
	words := make([]string, len(all))
	for i, n := range all {
		words[i] = itoa(n)
	}
	return strings.Join(words, " ")
}
