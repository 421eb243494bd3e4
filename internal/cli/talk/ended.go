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
	"sibyl/web/src/words/sentences"
)

// handleEnded keeps an answer as the last exchange, prints its result, and asks about calls that wait for a yes.
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
	m.askWaiting(l.Of, l.run.ID, l.run.Language, res.Waiting)
	m.open = ""
	if res.Asks && l.Of != m.To {
		m.open = l.Of
	}
	m.setPrompt()
	return m.print(m.resultLines(res, l.run.Language)...)
}

// resultLines lays out a result: answer, sources, warnings, failure, and the last of its notes.
func (m *model) resultLines(res service.Result, language string) (lines []string) {
	lines = append(lines, "")
	if res.Answer != "" {
		lines = append(lines, m.columns(render.Lines(res.Answer, m.layout(m.answerWidth())), m.sources(res.Sources))...)
	}
	say := Speaker(language)
	beside := Warnings(res, language)
	if f := res.Failure; f != nil {
		message, hint := f.In(say)
		if f.Message != res.Answer {
			beside = append(beside, message)
		}
		if hint != "" {
			beside = append(beside, hint)
		}
	} else if res.Status == journal.Cancelled {
		beside = append(beside, say("stopped; what it found is kept"))
	}
	if res.Asks {
		beside = append(beside, say("it asks you something: type your answer"))
	}
	if notes := Notes(res, language); len(notes) > 0 { // the last one says what was done, and how long it took
		beside = append(beside, notes[len(notes)-1])
	}
	if res.Answer != "" && len(beside) > 0 {
		lines = append(lines, "")
	}
	for _, line := range beside {
		lines = append(lines, m.note(line)...)
	}
	return append(lines, "")
}

// AskFor returns the question, in a language, whether a call may be performed.
func AskFor(w assistant.Waiting, language string) string {
	say := Speaker(language)
	w.Text = sentences.Say(w.Why, language)
	return say("May I?") + " " + w.In(say)
}

// Notes are the notes of a result in a language; what the assistant gives only in English stays so.
func Notes(res service.Result, language string) []string {
	notes := slices.Clone(res.Notes)
	for i, line := range res.Noted {
		notes[i] = line.In(Speaker(language))
	}
	return notes
}

// Speaker fills in formats in a language.
func Speaker(language string) func(format string, values ...any) string {
	return func(format string, values ...any) string { return sentences.Format(language, format, values...) }
}

// question is a yes-or-no question to the user.
type question struct {
	words        string // what it is about
	title        string // the line that asks
	enterMeansNo bool
	// when a question came unrequested: for a moment it ignores keys (tooSoon); zero: the user's input led to it
	since    time.Time
	onAnswer func(m *model, yes bool) tea.Cmd
	// giveUp is called at Ctrl-C, and at Esc where Enter means no, instead of onAnswer; nil: Esc is a no.
	giveUp func(m *model) tea.Cmd
}

// askWaiting asks about each call of a run that waits for a yes. After the last, it sends the numbers of the allowed
// calls to the assistant. If there are none, or the user gives up, it declines them all.
func (m *model) askWaiting(of, run, language string, waiting []assistant.Waiting) {
	decline := func(m *model) tea.Cmd {
		return tea.Batch(m.say(sentences.Format(language, "not done")), func() tea.Msg {
			if err := m.Sibyl.Decline(m.ctx, run); err != nil {
				return toldMsg{err: err}
			}
			return nil
		})
	}
	var allowed []int
	for n, call := range waiting {
		m.asking = append(m.asking, question{words: fmt.Sprintf("%d. %s", n+1, AskFor(call, language)), since: m.Now(),
			title: sentences.Format(language, "Do it?"), giveUp: decline, onAnswer: func(m *model, yes bool) tea.Cmd {
				if yes {
					allowed = append(allowed, n+1)
				}
				switch {
				case n+1 < len(waiting):
					return nil
				case len(allowed) == 0:
					return decline(m)
				}
				words := "yes " + numbers(allowed)
				return m.ask(Asked{Of: of, Words: words}, words)
			}})
	}
}

// numbers joins numbers with spaces.
func numbers(all []int) string {
	words := make([]string, len(all))
	for i, n := range all {
		words[i] = itoa(n)
	}
	return strings.Join(words, " ")
}
