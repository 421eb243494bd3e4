package talk

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"sibyl/internal/assistant"
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
	m.last = Exchange{Run: l.run.ID, Question: l.words, Answer: res.Answer, Sources: res.Sources}
	lines := m.outcome(res)
	if err := m.sibyl.Ended(l.run, res); err != nil {
		lines = append(lines, m.faint("· "+render.Clean(err.Error())))
	}
	for n, w := range res.Waiting {
		m.asking = append(m.asking, question{words: fmt.Sprintf("%d. %s", n+1, AskFor(w)), number: n + 1})
	}
	return m.print(lines...)
}

// outcome lays a result out as it is printed.
func (m *model) outcome(res service.Result) (lines []string) {
	lines = append(lines, "")
	if res.Answer != "" {
		lines = append(lines, m.columns(render.Lines(res.Answer, m.layout(m.answerWidth())), m.sources(res.Sources))...)
	}
	beside := slices.Clone(res.Warnings)
	if f := res.Failure; f != nil {
		beside = append(beside, f.Message)
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
func AskFor(w assistant.Waiting) string {
	what := "calling"
	if w.Writes {
		what = "writing"
	}
	return "Waiting for your approval before " + what + ": " + w.String()
}

// question is something to be answered with yes or no.
type question struct {
	words  string
	number int    // of a call that is held: what was said yes to is told to the Oracle
	undo   string // or the write that is put back
	title  string // the line that asks
}

// answered takes a yes or no to the first question that is open.
func (m *model) answered(yes bool) tea.Cmd {
	q := m.asking[0]
	m.asking = m.asking[1:]
	if q.undo != "" {
		if !yes {
			return m.say("nothing was changed")
		}
		return m.tell(func() ([]string, error) {
			line, err := m.sibyl.Undo(m.ctx, q.undo)
			return []string{line}, err
		})
	}
	if yes {
		m.allowed = append(m.allowed, q.number)
	}
	if len(m.asking) > 0 {
		return nil
	}
	allowed := m.allowed
	m.allowed = nil
	if len(allowed) == 0 {
		return m.say("not done")
	}
	return m.ask("yes "+numbers(allowed), "")
}

// numbers are numbers as a yes names them.
func numbers(all []int) string {
	words := make([]string, len(all))
	for i, n := range all {
		words[i] = itoa(n)
	}
	return strings.Join(words, " ")
}
