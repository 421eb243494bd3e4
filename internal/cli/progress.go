package cli

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"sibyl/internal/bt"
	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/render"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/web/src/words/sentences"
)

// progress prints on stderr what a run does, and on stdout its answer.
type progress struct {
	*command
	screen *screen
	reply  string        // the flag with which ‘sibyl ask’ continues the session
	before int64         // how many records the run had when it was resumed: an earlier resume is not told again
	step   *service.Step // the trace of which is printed after its lines
	begun  time.Time
	told   []string // lines that were printed; show leaves out warnings that repeat them

	mu   sync.Mutex
	work conversation.Work
}

func (c *command) newProgress() *progress {
	return &progress{command: c, screen: c.newScreen(), begun: time.Now()}
}

// newScreen is a screen for the command. Citations link to files in its folders and the working directory.
func (c *command) newScreen() *screen {
	dumb := c.env("TERM") == "dumb"
	look := render.Options{Links: c.OutTTY && render.CanLink(c.env)}
	if here, err := os.Getwd(); look.Links && err == nil {
		look.Cite = render.Citer(c.env, append(slices.Clone(c.folders), here)...)
	}
	return &screen{Streams: c.Streams, colour: c.colour() && !dumb, still: dumb, look: look}
}

// colour says whether the environment allows colours.
func (c *command) colour() bool { return c.env("NO_COLOR") == "" }

func (p *progress) update(u service.Update) {
	if u.Record != nil && u.Record.Kind == run.KindResume && u.Record.Seq < p.before {
		u.Told = bt.Why{}
	}
	if u.Event == nil {
		p.showTrace()
	}
	switch {
	case p.OutTTY && !p.asJSON && !p.codeOnly && u.Retract:
		p.screen.retract()
	case p.OutTTY && !p.asJSON && !p.codeOnly && u.Text != "":
		p.screen.showProvisional(u.Text)
	case !p.OutTTY && !p.asJSON && !p.codeOnly && u.Stands > 0:
		p.screen.writeStanding(string(u.Draft[:u.Stands]))
	case u.Step != nil && u.Step.Status == "RUNNING" && len(u.Step.Started) > 0:
		p.screen.retract() // the text was not the answer
	}
	p.trackWork(u)
	var lines []string
	if line := conversation.Progress(u, p.verbose || p.trace, p.work.Language); line != "" {
		lines = append(lines, line)
	}
	if u.Early != nil {
		if !p.asJSON {
			p.screen.writeAnswer(u.Early.Markdown)
		}
		if heard := p.work.AnswerCount(); heard != "" {
			lines = append(lines, heard)
		}
	}
	for _, line := range lines {
		p.say("%s", printable(line))
	}
	if p.trace && u.Step != nil {
		p.step = u.Step
	}
}

// trackWork records what is under way and shows it in the status line; where there can be none, it prints pauses.
func (p *progress) trackWork(u service.Update) {
	p.mu.Lock()
	p.work.Track(u)
	busy, waiting := p.work.What() != "", p.work.Waiting(time.Now())
	p.mu.Unlock()
	switch {
	case p.quiet:
	case waiting != "" && (!p.ErrTTY || p.screen.still):
		p.say("%s", waiting)
	case busy || waiting != "":
		p.screen.setStatusLine(p.statusLine)
	default:
		p.screen.setStatusLine(nil)
	}
}

// statusLine says what is under way, and for how long.
func (p *progress) statusLine() string {
	const turning = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	now := time.Now()
	sign := []rune(turning)[int(now.Sub(p.begun)/pace)%len([]rune(turning))]
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(sign) + " " + p.work.Line(p.begun, now, p.screen.width()-2, "")
}

// end closes the screen and prints the trace of the last step.
func (p *progress) end() {
	p.screen.close()
	p.showTrace()
}

// showTrace prints the trace of the last step, if --trace is on and it was not printed yet.
func (p *progress) showTrace() {
	if p.step == nil {
		return
	}
	p.screen.printBeside(func() { fmt.Fprintf(p.Err, "step on record %d\n%s", p.step.Record, stepText(*p.step)) })
	p.step = nil
}

func (p *progress) say(format string, args ...any) {
	if p.quiet {
		return
	}
	line := "· " + fmt.Sprintf(format, args...)
	p.told = append(p.told, line)
	p.screen.printBeside(func() { fmt.Fprintln(p.Err, p.screen.dim(line, p.ErrTTY)) })
}

// show prints the answer, then on stderr what waits for the person, warnings, notes and costs.
func (p *progress) show(r service.Result) {
	if !p.screen.goesOn(r.Answer) {
		fmt.Fprintln(p.Err, "· "+sentences.Format(p.work.Language, "the text so far is not the answer"))
	}
	if r.Answer != "" {
		p.showAnswer(p.screen, r.Answer)
	}
	notes := slices.DeleteFunc(conversation.Warnings(r, p.work.Language), func(line string) bool {
		return slices.Contains(p.told, "· "+line)
	})
	notes = append(waitingLines(r, cmp.Or(p.reply, "-c"), p.work.Language), notes...)
	if !p.quiet {
		notes = append(notes, conversation.Notes(r, p.work.Language)...)
		if costs := costsOf(p.prices, r.Usage, p.work.Language); costs != "" {
			notes = append(notes, costs)
		}
		if p.verbose {
			notes = append(notes, "run "+r.Run)
		}
	}
	for _, line := range notes {
		fmt.Fprintln(p.Err, p.screen.dim("· "+line, p.ErrTTY))
	}
}

// waitingLines say what the person is asked to approve or answer, and how to reply with a flag of ‘sibyl ask’.
func waitingLines(r service.Result, reply, language string) (lines []string) {
	say := func(format, words string) string {
		return sentences.Format(language, format, strings.TrimSpace("sibyl ask "+reply+" "+words))
	}
	for n, w := range r.Waiting {
		line := conversation.AskFor(w, language)
		if len(r.Waiting) > 1 || r.Asks {
			line = fmt.Sprintf("%d. %s", n+1, line)
		}
		lines = append(lines, line)
	}
	switch {
	case len(r.Waiting) > 0 && r.Asks:
		return append(lines, say("the answer also asks you something: ‘yes’ with a number approves this, as in ‘%s’; any "+
			"other reply answers the question", `"yes 1"`))
	case len(r.Waiting) > 1:
		return append(lines, say("reply with the numbers you approve, as in ‘%s’", `"yes 1"`))
	case len(r.Waiting) == 1:
		return append(lines, say("‘%s’ approves it", "yes"))
	case r.Asks:
		return append(lines, say("it asks you something: answer with ‘%s’", ""))
	}
	return nil
}
