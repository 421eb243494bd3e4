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

// live is the answer that is under way.
type live struct {
	Asked
	asTyped string // as it was said, with its command
	Work

	begun time.Time
	stop  context.CancelCauseFunc
	left  chan struct{} // closed when nobody looks at the updates any more

	startResults chan startedMsg
	run          Run
	updates      chan service.Update
	stopping     bool

	text     strings.Builder // provisional
	stream   *render.Stream
	stable   []string // of the text, laid out
	tail     []string
	printed  []string // parts of the answer that were printed
	progress []string // what happened, a line each
	activity string   // shown while no call is under way
}

// What a conversation is told of an answer.
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
		all []service.Update
		res service.Result
		err error
	}
	tickMsg struct{ of *live }
)

// atOnce bounds how many updates are applied between two frames.
const atOnce = 256

// ask shows a question as it was typed, and begins the answer.
func (m *model) ask(a Asked, typed string) tea.Cmd {
	if m.open != a.Of {
		m.open = ""
	}
	return m.start(a, typed, append([]string{""}, m.question(m.promptFor(m.addressee().Name), typed)...)...)
}

// start begins the answer to a question, and prints lines above it. If it can't begin, typed goes back into the input.
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

// tick comes each second, so that seconds can be seen to pass.
func (l *live) tick() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{l} })
}

// handleStarted watches the run if it has begun, and else asks for what is missing or says what went wrong.
func (m *model) handleStarted(msg startedMsg) tea.Cmd {
	l := msg.of
	if l != m.live {
		return nil
	}
	if msg.err == nil {
		l.run = msg.run
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
		return m.say("stopped before it began")
	}
	if choice, isChoice := errors.AsType[*ChoiceError](msg.err); isChoice {
		return m.chooseModel(choice, l)
	}
	if l.Replaces != "" && l.asTyped == l.Words { // it was edited
		m.hint = "Enter asks it as a new question"
	}
	return m.fail(msg.err)
}

// askOverLimit asks whether a question is to begin although the day has cost what it may.
func (m *model) askOverLimit(over *service.LimitError, l *live) {
	giveUp := func(m *model) tea.Cmd {
		m.restoreInput(l.asTyped, l.Material)
		return m.say("not asked")
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

// missingValue is a question that is asked once the value of a flag is typed.
type missingValue struct {
	flag  Flag
	asked Asked
	typed string
}

// fillMissing takes the value of the flag, and asks.
func (m *model) fillMissing(value string) tea.Cmd {
	was := *m.missing
	was.asked.Flagged = true
	was.asked.Words = fmt.Sprintf("--%s \"%s\" %s", was.flag.Name, expandHome(m.env("HOME"), strings.Trim(value, `"`)),
		was.asked.Words)
	return m.start(was.asked, was.typed, m.question(m.namedPrompt(was.flag.Name), value)...)
}

// dropMissing gives up the question whose flag is missing: it stands to be typed again.
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

// restoreInput puts what was typed and pasted where it was, as it led to nothing: none of it is lost.
func (m *model) restoreInput(typed, pasted string) {
	if m.input.Value() == "" {
		m.setInput(typed)
	}
	if pasted != "" && len(m.pasted) == 0 {
		m.pasted = []string{pasted}
	}
}

// chooseModel has the person choose who is to answer, and asks again.
func (m *model) chooseModel(choice *ChoiceError, l *live) tea.Cmd {
	return m.pick(pickMsg{title: choice.Title, items: itemsOf(choice.Models), chosen: func(m *model, id string) tea.Cmd {
		named, told := choice.Chosen(id)
		m.With.Model = named
		if m.input.Value() == l.asTyped {
			m.setInput("")
			m.pasted = nil
		}
		return m.start(l.Asked, l.asTyped, m.note(told)...)
	}})
}

// forwardUpdates sends the updates of the run to l.updates, until nobody reads them.
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

// waitForUpdates waits for updates, and gives all that have arrived, so that one frame is drawn for many.
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
		return endedMsg{l, all, res, err}
	}
}

// showUpdates applies updates of an answer, and prints the parts that are final.
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

// apply applies updates, and returns the partial answers that are final.
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
			l.retract(o) // what was said was a step on the way
		case u.Early != nil:
			finalParts = append(finalParts, u.Early.Markdown)
			if answered := l.AnswerCount(); answered != "" {
				l.progress = append(l.progress, answered)
			}
		}
		for _, line := range Progress(u) {
			l.progress = append(l.progress, render.Clean(line))
		}
	}
	l.tail = l.stream.Tail()
	l.printed = append(l.printed, finalParts...)
	return finalParts
}

// retract takes the provisional text back.
func (l *live) retract(o render.Options) {
	if l.text.Len() == 0 {
		return
	}
	l.text.Reset()
	l.layoutAgain(o)
}

// layoutAgain lays the text out anew.
func (l *live) layoutAgain(o render.Options) {
	l.stream = render.NewStream(o)
	l.stable = l.stream.Write(l.text.String())
	l.tail = l.stream.Tail()
}

// lastLines gives the last lines of the text, at most so many, and how many are above them.
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

// status is the line that lives while an answer is under way.
func (l *live) status(now time.Time, width int) string {
	instead := ""
	switch {
	case l.stopping:
		instead = "stopping; Ctrl-C again leaves without waiting"
	case l.What() == "" && l.Waiting(now) == "":
		instead = l.activity
	}
	return l.Line(l.begun, now, width, instead)
}
