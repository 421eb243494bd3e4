package talk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"sibyl/internal/oracle"
	"sibyl/internal/render"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

// live is the answer that is under way.
type live struct {
	words, material string

	begun time.Time
	stop  context.CancelCauseFunc
	left  chan struct{} // closed when nobody looks at the updates any more

	begins   chan startedMsg
	run      Run
	updates  chan service.Update
	stopping bool

	text     strings.Builder // provisional
	stream   *render.Stream
	stable   []string // of the text, laid out
	tail     []string
	progress []string // what happened, a line each
	under    string   // what is under way
	wait     *run.Wait
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

// atOnce bounds how many updates are taken in between two frames.
const atOnce = 256

// ask begins the answer to a question.
func (m *model) ask(words, material string) tea.Cmd {
	ctx, stop := context.WithCancelCause(m.ctx)
	l := &live{words: words, material: material, begun: m.now(), stop: stop, left: make(chan struct{}), begins: make(chan startedMsg, 1), updates: make(chan service.Update, atOnce), under: "reading the question"}
	l.stream = render.NewStream(m.layout(m.answerWidth()))
	m.live, m.leaving = l, time.Time{}
	o, session := m.options, m.session
	o.Material = material
	return tea.Batch(m.print(append([]string{""}, m.question(words)...)...), l.tick(), func() tea.Msg { return m.begin(ctx, l, session, o) })
}

func (m *model) begin(ctx context.Context, l *live, session string, o oracle.Options) tea.Msg {
	r, err := m.sibyl.Start(ctx, session, l.words, o)
	l.begins <- startedMsg{l, r, err}
	return startedMsg{l, r, err}
}

// tick comes each second, so that seconds can be seen to pass.
func (l *live) tick() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{l} })
}

// started is told whether the run of the answer has begun.
func (m *model) started(msg startedMsg) tea.Cmd {
	l := msg.of
	if l != m.live {
		return nil
	}
	if msg.err != nil {
		l.stop(nil)
		m.live = nil
		if m.input.Value() == "" { // nothing that was typed is lost
			m.setInput(l.words)
		}
		if l.stopping {
			return m.say("stopped before it began")
		}
		var choice *ChoiceError
		if errors.As(msg.err, &choice) {
			return m.chooseModel(choice, l)
		}
		return m.fail(msg.err)
	}
	l.run = msg.run
	m.session, m.answers = msg.run.Session, msg.run.Model
	return tea.Batch(l.pump(m.ctx), l.next(m.ctx))
}

// chooseModel has the person choose who is to answer, and asks again.
func (m *model) chooseModel(choice *ChoiceError, l *live) tea.Cmd {
	items := make([]item, len(choice.Models))
	for i, name := range choice.Models {
		items[i] = item{name, name}
	}
	return m.pick(pickMsg{title: choice.Title, items: items, chosen: func(m *model, id string) tea.Cmd {
		named, told := choice.Chosen(id)
		m.options.Model = named
		if m.input.Value() == l.words {
			m.setInput("")
		}
		return tea.Batch(m.say(told), m.ask(l.words, l.material))
	}})
}

// pump takes the updates of the run to the conversation.
func (l *live) pump(ctx context.Context) tea.Cmd {
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

// next waits for updates, and takes all that are there, so that a frame is drawn for many.
func (l *live) next(ctx context.Context) tea.Cmd {
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

// take takes updates in.
func (l *live) take(all []service.Update, o render.Options) {
	for _, u := range all {
		l.wait = u.Wait
		switch {
		case u.Retract, u.Left:
			l.retract(o)
		case u.Text != "":
			l.text.WriteString(u.Text)
			l.stable = append(l.stable, l.stream.Write(u.Text)...)
		case u.Step != nil && u.Step.Status == "RUNNING" && len(u.Step.Started) > 0:
			l.retract(o) // what was said was a step on the way
			var all []string
			for _, asked := range u.Step.Started {
				all = append(all, UnderWay(asked))
			}
			l.under = strings.Join(all, ", ")
		}
		for _, line := range Progress(u) {
			l.progress = append(l.progress, render.Clean(line))
		}
	}
	l.tail = l.stream.Tail()
}

// retract takes the provisional text back.
func (l *live) retract(o render.Options) {
	if l.text.Len() == 0 {
		return
	}
	l.text.Reset()
	l.relay(o)
}

// relay lays the text out anew.
func (l *live) relay(o render.Options) {
	l.stream = render.NewStream(o)
	l.stable = l.stream.Write(l.text.String())
	l.tail = l.stream.Tail()
}

// last gives the last lines of the text, at most so many, and how many are above them.
func (l *live) last(most int) (lines []string, above int) {
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
func (l *live) status(now time.Time) string {
	what := l.under
	switch {
	case l.stopping:
		what = "stopping; Ctrl-C again leaves without waiting"
	case l.wait != nil:
		what = fmt.Sprintf("asking again in %d s: %s", max(0, int(math.Ceil(l.wait.Until.Sub(now).Seconds()))), render.Clean(l.wait.Why))
	}
	return fmt.Sprintf("%s · %s", clock(now.Sub(l.begun)), what)
}

// clock writes seconds, and minutes from the first on.
func clock(d time.Duration) string {
	if s := int(d.Seconds()); s >= 60 {
		return fmt.Sprintf("%d:%02d min", s/60, s%60)
	}
	return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
}
