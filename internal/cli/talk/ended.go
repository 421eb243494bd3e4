package talk

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// handleEnded prints what came of an answer, and asks what it leaves open.
func (m *model) handleEnded(msg endedMsg) tea.Cmd {
	if msg.of != m.live {
		return nil
	}
	l := m.live
	l.stop(nil)
	m.live = nil
	res := msg.res
	m.last = Exchange{Of: l.Of, Run: l.run.ID, Question: l.Words, Flagged: l.Flagged, Answer: res.Answer,
		Sources: res.Sources}
	if msg.err != nil {
		return m.fail(msg.err)
	}
	res.Answer = WithoutShown(res.Answer, l.printed)
	m.askWaiting(l.Of, l.run.ID, res.Waiting)
	m.open = ""
	if res.Asks && l.Of != m.To {
		m.open = l.Of
	}
	m.setPrompt()
	return m.print(m.resultLines(res)...)
}

// resultLines lays a result out as it is printed.
func (m *model) resultLines(res service.Result) (lines []string) {
	lines = append(lines, "")
	if res.Answer != "" {
		lines = append(lines, m.columns(render.Lines(res.Answer, m.layout(m.answerWidth())), m.sources(res.Sources))...)
	}
	beside := slices.Clone(res.Warnings)
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

// AskFor asks for a yes to a call.
func AskFor(w assistant.Waiting) string { return "May I? " + w.String() }

// question is something to be answered with yes or no.
type question struct {
	words        string // what it is about
	title        string // the line that asks
	enterMeansNo bool   // Enter is a no
	// when it came by itself, while the person may have been typing; zero: it follows from what they did
	since    time.Time
	onAnswer func(m *model, yes bool) tea.Cmd
	// giveUp does neither, at Esc and Ctrl-C; nil: it is a no.
	giveUp func(m *model) tea.Cmd
}

// askWaiting asks about calls of a run that wait for a yes. What was said yes to is told to the assistant that wants
// them.
func (m *model) askWaiting(of, run string, waiting []assistant.Waiting) {
	var allowed []int
	for n, call := range waiting {
		m.asking = append(m.asking, question{words: fmt.Sprintf("%d. %s", n+1, AskFor(call)), since: m.Now(),
			title: "Do it?", onAnswer: func(m *model, yes bool) tea.Cmd {
				if yes {
					allowed = append(allowed, n+1)
				}
				switch {
				case n+1 < len(waiting):
					return nil
				case len(allowed) == 0:
					return tea.Batch(m.say("not done"), func() tea.Msg {
						if err := m.Sibyl.Decline(m.ctx, run); err != nil {
							return toldMsg{err: err}
						}
						return nil
					})
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
