package cli

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/render"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

// progress tells on stderr what a run does, and shows the answer on stdout.
type progress struct {
	*command
	screen *screen
	step   *service.Step // whose trace is to be shown behind its lines
	work   []work        // that is under way, the oldest first
	told   []string      // lines that were printed: what is said again at the end is left out
}

// work is an effect that is under way.
type work struct {
	op    uint64
	what  string
	since time.Time
}

func (c *command) newProgress() *progress {
	return &progress{command: c, screen: c.newScreen()}
}

// newScreen is a screen on the terminal of the command. Citations lead to files below its folders.
func (c *command) newScreen() *screen {
	dumb := c.env("TERM") == "dumb"
	look := render.Options{Links: c.OutTTY && render.CanLink(c.env)}
	if here, err := os.Getwd(); look.Links && err == nil {
		look.Cite = render.Citer(c.env, append(slices.Clone(c.folders), here)...)
	}
	return &screen{Streams: c.Streams, colour: c.colour() && !dumb, still: dumb, look: look}
}

// colour says whether stderr and stdout may be painted.
func (c *command) colour() bool { return c.env("NO_COLOR") == "" }

func (p *progress) update(u service.Update) {
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
		return
	case u.Step != nil && u.Step.Status == "RUNNING" && len(u.Step.Started) > 0:
		p.screen.retract() // what was said was a step on the way
	}
	p.follow(u)
	lines := u.Lines
	if !p.verbose && !p.trace {
		lines = conversation.Progress(u)
	}
	for _, line := range lines {
		p.say("%s", printable(line))
	}
	if p.trace && u.Step != nil {
		p.step = u.Step
	}
}

// follow keeps what is under way, and has a line tell it.
func (p *progress) follow(u service.Update) {
	switch {
	case u.Step != nil:
		for _, asked := range u.Step.Started {
			p.work = append(p.work, work{asked.Op, conversation.UnderWay(asked), time.Now()})
		}
		p.ended(u.Step.Withdrawn...)
	case u.Record != nil && u.Record.Kind == run.KindCompletion:
		if body, err := run.Read(*u.Record); err == nil {
			p.ended(body.(*run.CompletionRecord).Op)
		}
	case u.Text == "":
		return
	}
	all := slices.Clone(p.work)
	if u.Text != "" && len(all) > 0 {
		all[0].what = "writing"
	}
	switch {
	case p.quiet:
	case len(all) == 0:
		p.screen.alive(nil)
	default:
		p.screen.alive(func() string { return livingLine(all, p.screen.width()) })
	}
}

func (p *progress) ended(ops ...uint64) {
	p.work = slices.DeleteFunc(p.work, func(w work) bool { return slices.Contains(ops, w.op) })
}

// livingLine tells what is under way, and for how long, in less than width columns.
func livingLine(all []work, width int) string {
	const turning = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	passed := time.Since(all[0].since)
	sign := []rune(turning)[int(passed/pace)%len([]rune(turning))]
	end := fmt.Sprintf(" … %d s", int(passed.Seconds()))
	if more := len(all) - 1; more > 0 {
		end = fmt.Sprintf(" and %d more", more) + end
	}
	return clipLine(string(sign)+" "+all[0].what, width-ansi.StringWidth(end)) + end
}

// countDown tells of a pause: on a terminal by a line that counts the seconds until the next update, elsewhere once.
func (p *progress) countDown(w *run.Wait) {
	line := func() string {
		return fmt.Sprintf("asking again in %d s: %s", max(0, int(math.Ceil(time.Until(w.Until).Seconds()))), printable(w.Why))
	}
	if !p.ErrTTY || p.screen.still {
		p.say("%s", line())
		return
	}
	p.screen.alive(func() string { return "· " + line() })
}

// end takes away what lives, and shows what is left to tell.
func (p *progress) end() {
	p.screen.close()
	p.showTrace()
}

// showTrace shows what the last step came to, once all its lines are told.
func (p *progress) showTrace() {
	if p.step == nil {
		return
	}
	p.screen.beside(func() { fmt.Fprintf(p.Err, "step on record %d\n%s", p.step.Record, stepText(*p.step)) })
	p.step = nil
}

func (p *progress) say(format string, args ...any) {
	if p.quiet {
		return
	}
	line := "· " + fmt.Sprintf(format, args...)
	p.told = append(p.told, line)
	if p.ErrTTY {
		line = clipLine(line, p.screen.width())
	}
	p.screen.beside(func() { fmt.Fprintln(p.Err, p.screen.dim(line, p.ErrTTY)) })
}

// show prints the answer, then on stderr what the person should know beside it.
func (p *progress) show(r service.Result) {
	if r.Answer != "" {
		p.screen.answer(r.Answer)
	}
	notes := slices.DeleteFunc(slices.Clone(r.Warnings), func(line string) bool { return slices.Contains(p.told, "· "+line) })
	notes = append(waitingLines(r), notes...)
	if !p.quiet {
		notes = append(notes, r.Notes...)
		if costs := costsOf(p.prices, r.Usage); costs != "" {
			notes = append(notes, costs)
		}
	}
	for _, line := range notes {
		if p.ErrTTY {
			line = strings.Join(render.Wrap(line, p.screen.width()-3), "\n  ")
		}
		fmt.Fprintln(p.Err, p.screen.dim("· "+line, p.ErrTTY))
	}
}

// waitingLines say what waits for the person, and how it is answered.
func waitingLines(r service.Result) (lines []string) {
	for n, w := range r.Waiting {
		line := conversation.AskFor(w)
		if len(r.Waiting) > 1 || r.Asks {
			line = fmt.Sprintf("%d. %s", n+1, line)
		}
		lines = append(lines, line)
	}
	switch {
	case len(r.Waiting) > 0 && r.Asks:
		return append(lines, "the answer also asks you something: ‘yes’ with a number approves this, as in ‘sibyl ask -c \"yes 1\"’; any other reply answers the question")
	case len(r.Waiting) > 1:
		return append(lines, "reply with the numbers you approve, as in ‘sibyl ask -c \"yes 1\"’")
	case len(r.Waiting) == 1:
		return append(lines, "‘sibyl ask -c yes’ approves it")
	case r.Asks:
		return append(lines, "it asks you something: answer with ‘sibyl ask -c’")
	}
	return nil
}
