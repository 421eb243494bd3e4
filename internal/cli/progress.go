package cli

import (
	"fmt"
	"math"
	"time"

	"sibyl/internal/run"
	"sibyl/internal/service"
)

// progress tells on stderr what a run does, and shows the answer on stdout.
type progress struct {
	*command
	screen *screen
	step   *service.Step // whose trace is to be shown behind its lines
	pause  func()        // ends the line that counts; nil: none does
}

func (c *command) newProgress() *progress {
	return &progress{command: c, screen: &screen{Streams: c.Streams, colour: c.colour()}}
}

// colour says whether stderr and stdout may be painted.
func (c *command) colour() bool { return c.env("NO_COLOR") == "" }

func (p *progress) update(u service.Update) {
	p.endPause()
	if u.Event == nil {
		p.showTrace()
	}
	switch {
	case p.OutTTY && !p.asJSON && u.Retract:
		p.screen.retract()
	case p.OutTTY && !p.asJSON && u.Text != "":
		p.screen.provisional(u.Text)
	case u.Wait != nil && !p.quiet:
		p.countDown(u.Wait)
	case u.Step != nil && u.Step.Status == "RUNNING" && len(u.Step.Start) > 0:
		p.screen.retract() // what was said was a step on the way
	}
	for _, line := range u.Lines {
		p.say("%s", printable(line))
	}
	if p.trace && u.Step != nil {
		p.step = u.Step
	}
}

// countDown tells of a pause: on a terminal by a line that counts the seconds until the next update, elsewhere once.
func (p *progress) countDown(w *run.Wait) {
	line := func() string {
		return fmt.Sprintf("asking again in %d s: %s", max(0, int(math.Ceil(time.Until(w.Until).Seconds()))), printable(w.Why))
	}
	if !p.ErrTTY {
		p.say("%s", line())
		return
	}
	p.screen.makeRoom()
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		second := time.NewTicker(time.Second)
		defer second.Stop()
		for {
			fmt.Fprint(p.Err, "\r\x1b[K"+p.screen.dim(clipLine("· "+line(), p.screen.width()), true))
			select {
			case <-second.C:
			case <-ended:
				fmt.Fprint(p.Err, "\r\x1b[K")
				return
			}
		}
	}()
	p.pause = func() { close(ended); <-over }
}

// endPause takes the line that counts away.
func (p *progress) endPause() {
	if p.pause != nil {
		p.pause()
		p.pause = nil
	}
}

// showTrace shows what the last step came to, once all its lines are told.
func (p *progress) showTrace() {
	if p.step == nil {
		return
	}
	if p.ErrTTY {
		p.screen.makeRoom()
	}
	fmt.Fprintf(p.Err, "step on record %d\n%s", p.step.Record, stepText(*p.step))
	p.step = nil
}

func (p *progress) say(format string, args ...any) {
	if p.quiet {
		return
	}
	line := "· " + fmt.Sprintf(format, args...)
	if p.ErrTTY {
		line = clipLine(line, p.screen.width())
		p.screen.makeRoom()
	}
	fmt.Fprintln(p.Err, p.screen.dim(line, p.ErrTTY))
}

// show prints the answer, then on stderr what the person should know beside it.
func (p *progress) show(r service.Result) {
	if r.Answer != "" {
		p.screen.answer(r.Answer)
	}
	notes := r.Warnings
	if !p.quiet {
		notes = append(notes[:len(notes):len(notes)], r.Notes...)
	}
	for _, line := range notes {
		fmt.Fprintln(p.Err, p.screen.dim("· "+line, p.ErrTTY))
	}
}

func clipLine(s string, width int) string {
	if r := []rune(s); len(r) > width-1 {
		return string(r[:width-2]) + "…"
	}
	return s
}
