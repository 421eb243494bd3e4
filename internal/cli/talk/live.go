package talk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"sibyl/internal/render"
	"sibyl/internal/service"
)

// live is the answer in progress.
type live struct {
	Asked
	asTyped string // the input, with its command
	Work

	begun time.Time
	stop  context.CancelCauseFunc
	left  chan struct{} // closed when nobody reads the updates any more

	startResults chan startedMsg
	run          Run
	updates      chan service.Update
	stopping     bool

	text     strings.Builder // provisional
	stream   *render.Stream
	stable   []string // lines of the text that won't change
	tail     []string
	printed  []string // parts of the answer already in the scrollback
	progress []string // what was done, a line each
	activity string   // the last one, shown while no effect is in progress
}

// Messages about an answer; those of any but the one in progress are ignored.
type (
	startedMsg struct {
		of  *live
		run Run
		err error
	}
	updatesMsg struct {
		of  *live
		all []service.Update
	}
	endedMsg struct {
		of  *live
		res service.Result
		err error
	}
	tickMsg struct{ of *live }
)

// atOnce limits the updates that are applied between two frames.
const atOnce = 256

// ask prints a question as it was typed, and starts the run that answers it.
func (m *model) ask(a Asked, typed string) tea.Cmd {
	if m.open != a.Of {
		m.open = ""
	}
	return m.start(a, typed, append([]string{""}, m.question(m.promptFor(m.addressee().Name), typed)...)...)
}

// start prints lines, and starts the run of a question. If the run can't start, typed returns to the input.
func (m *model) start(a Asked, typed string, above ...string) tea.Cmd {
	a.Session, a.With = m.Sessions[a.Of], m.With
	ctx, stop := context.WithCancelCause(m.ctx)
	l := &live{Asked: a, asTyped: typed, begun: m.Now(), activity: "reading the question", stop: stop,
		left: make(chan struct{}), startResults: make(chan startedMsg, 1), updates: make(chan service.Update, atOnce)}
	l.stream = render.NewStream(m.layout(m.answerWidth()))
	m.live, m.leaving, m.missing = l, time.Time{}, nil
	m.setPrompt()
	return tea.Batch(m.print(above...), l.tick(), func() tea.Msg { return m.startRun(ctx, l) })
}

func (m *model) startRun(ctx context.Context, l *live) tea.Msg {
	r, err := m.Sibyl.Start(ctx, l.Asked)
	l.startResults <- startedMsg{l, r, err}
	return startedMsg{l, r, err}
}

// tick sends a tickMsg after a second, so that the time in the status line advances.
func (l *live) tick() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{l} })
}

// handleStarted follows a started run; else it asks for what is missing, or prints the error and restores the input.
func (m *model) handleStarted(msg startedMsg) tea.Cmd {
	l := msg.of
	if l != m.live {
		return nil
	}
	if msg.err == nil {
		l.run, l.Language = msg.run, msg.run.Language
		m.language = l.Language
		m.Sessions[l.Of], m.lastModel = msg.run.Session, msg.run.Model
		return tea.Batch(l.forwardUpdates(m.ctx), l.waitForUpdates(m.ctx))
	}
	l.stop(nil)
	m.live = nil
	if kept, isKept := errors.AsType[*KeptError](msg.err); isKept {
		m.Sessions[l.Of] = kept.Session
		return m.fail(msg.err)
	}
	if missing, isMissing := errors.AsType[*MissingError](msg.err); isMissing && !l.stopping {
		m.missing = &missingValue{missing.Flag, l.Asked, l.asTyped}
		m.setPrompt()
		return m.say(missing.Title)
	}
	if over, isOver := errors.AsType[*service.LimitError](msg.err); isOver && !l.stopping {
		m.askOverLimit(over, l)
		return nil
	}
	m.restoreInput(l.asTyped, l.Material)
	if l.stopping {
		return m.tell("stopped before it began")
	}
	if choice, isChoice := errors.AsType[*ChoiceError](msg.err); isChoice {
		return m.chooseModel(choice, l)
	}
	if l.Replaces != "" && l.asTyped == l.Words { // it was edited
		m.hint = "Enter asks it as a new question"
	}
	return m.fail(msg.err)
}

// askOverLimit asks whether to start a question although the day's limit of costs is reached.
func (m *model) askOverLimit(over *service.LimitError, l *live) {
	giveUp := func(m *model) tea.Cmd {
		m.restoreInput(l.asTyped, l.Material)
		return m.tell("not asked")
	}
	m.asking = append(m.asking, question{words: l.asTyped, title: over.Error() + ". Go on?", enterMeansNo: true,
		giveUp: giveUp,
		onAnswer: func(m *model, yes bool) tea.Cmd {
			if !yes {
				return giveUp(m)
			}
			again := l.Asked
			again.OverLimit = true
			return m.start(again, l.asTyped)
		}})
}

// missingValue is a question that waits until the user types the value of a flag.
type missingValue struct {
	flag  Flag
	asked Asked
	typed string
}

// fillMissing adds the flag with its value to the waiting question, and asks it.
func (m *model) fillMissing(value string) tea.Cmd {
	was := *m.missing
	was.asked.Flagged = true
	was.asked.Words = fmt.Sprintf("--%s \"%s\" %s", was.flag.Name, expandHome(m.env("HOME"), strings.Trim(value, `"`)),
		was.asked.Words)
	return m.start(was.asked, was.typed, m.question(m.namedPrompt(was.flag.Name), value)...)
}

// dropMissing cancels the question whose flag is missing, if there is one, and returns it to the input.
func (m *model) dropMissing() {
	if m.missing == nil {
		return
	}
	was := *m.missing
	m.missing = nil
	m.setPrompt()
	m.setInput("")
	m.restoreInput(was.typed, was.asked.Material)
}

// restoreInput puts back what was typed and pasted, where nothing newer has taken its place.
func (m *model) restoreInput(typed, pasted string) {
	if m.input.Value() == "" {
		m.setInput(typed)
	}
	if pasted != "" && len(m.pasted) == 0 {
		m.pasted = []string{pasted}
	}
}

// chooseModel lets the user choose a model, also for later questions, and asks again.
func (m *model) chooseModel(choice *ChoiceError, l *live) tea.Cmd {
	return m.pick(pickMsg{title: choice.Title, items: itemsOf(choice.Models), chosen: func(m *model, id string) tea.Cmd {
		named, told := choice.Chosen(id)
		m.With.Model = named
		if m.input.Value() == l.asTyped {
			m.setInput("")
			m.pasted = nil
		}
		var note []string
		if told != "" {
			note = m.note(told)
		}
		return m.start(l.Asked, l.asTyped, note...)
	}})
}

// forwardUpdates sends the run's updates to l.updates, and then closes it; once l.left is closed, it drops them.
func (l *live) forwardUpdates(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		defer close(l.updates)
		for u := range l.run.Watch(context.WithoutCancel(ctx)) {
			select {
			case l.updates <- u:
			case <-l.left:
			}
		}
		return nil
	}
}

// waitForUpdates waits, and sends all updates that have arrived, up to atOnce, or the result once the run has ended.
func (l *live) waitForUpdates(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		var all []service.Update
		u, more := <-l.updates
		for more {
			if all = append(all, u); len(all) == atOnce {
				return updatesMsg{l, all}
			}
			select {
			case u, more = <-l.updates:
			default:
				return updatesMsg{l, all}
			}
		}
		res, err := l.run.Wait(context.WithoutCancel(ctx))
		return endedMsg{l, res, err}
	}
}

// showUpdates applies updates to the answer in progress, and prints the parts that are final.
func (m *model) showUpdates(l *live, all []service.Update) tea.Cmd {
	if l != m.live {
		return nil
	}
	var lines []string
	for _, markdown := range l.apply(all, m.layout(m.answerWidth())) {
		lines = append(append(lines, ""), render.Lines(markdown, m.layout(m.answerWidth()))...)
	}
	if lines == nil {
		return nil
	}
	return m.print(lines...)
}

// apply applies updates to text, progress and counts, and returns the partial answers that are now final.
func (l *live) apply(all []service.Update, o render.Options) (finalParts []string) {
	for _, u := range all {
		l.Track(u)
		l.activity = cmp.Or(l.What(), l.activity)
		switch {
		case u.Retract, u.Left:
			l.retract(o)
		case u.Text != "":
			l.text.WriteString(u.Text)
			l.stable = append(l.stable, l.stream.Write(u.Text)...)
		case u.Step != nil && u.Step.Status == "RUNNING" && len(u.Step.Started) > 0:
			l.retract(o) // the text so far was not the answer
		case u.Early != nil:
			finalParts = append(finalParts, u.Early.Markdown)
			if answered := l.AnswerCount(); answered != "" {
				l.progress = append(l.progress, answered)
			}
		}
		if line := Progress(u, false, l.run.Language); line != "" {
			l.progress = append(l.progress, render.Clean(line))
		}
	}
	l.tail = l.stream.Tail()
	l.printed = append(l.printed, finalParts...)
	return finalParts
}

// retract discards the provisional text.
func (l *live) retract(o render.Options) {
	if l.text.Len() == 0 {
		return
	}
	l.text.Reset()
	l.layoutAgain(o)
}

// layoutAgain lays out all of the text again, with other options.
func (l *live) layoutAgain(o render.Options) {
	l.stream = render.NewStream(o)
	l.stable = l.stream.Write(l.text.String())
	l.tail = l.stream.Tail()
}

// lastLines returns the last lines of the text, at most most, and the number of lines above them.
func (l *live) lastLines(most int) (lines []string, above int) {
	above = max(0, len(l.stable)+len(l.tail)-most)
	for i := above; i < len(l.stable)+len(l.tail); i++ {
		if i < len(l.stable) {
			lines = append(lines, l.stable[i])
		} else {
			lines = append(lines, l.tail[i-len(l.stable)])
		}
	}
	return lines, above
}

// status returns the line that shows the time, activity and tokens of the answer in progress.
func (l *live) status(now time.Time, width int) string {
	instead := ""
	switch {
	case l.stopping:
		instead = l.words("stopping; Ctrl-C again leaves without waiting")
	case l.What() == "" && l.Waiting(now) == "":
		instead = l.activity
	}
	return l.Line(l.begun, now, width, instead)
}
