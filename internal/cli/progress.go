package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/signal"
)

// progress tells on stderr what a run does, and shows the answer on stdout.
type progress struct {
	viewOptions
	c      *command
	screen *screen
	model  string
	turn   int
	max    int
	steps  map[int64]bool
}

func (c *command) newProgress(live *run.Live, v viewOptions) *progress {
	return &progress{viewOptions: v, c: c, screen: &screen{Streams: c.Streams, colour: c.colour()}, steps: map[int64]bool{}}
}

// colour says whether stderr and stdout may be painted.
func (c *command) colour() bool {
	for _, v := range c.environ {
		if name, value, _ := strings.Cut(v, "="); name == "NO_COLOR" && value != "" {
			return false
		}
	}
	return true
}

func (p *progress) update(u run.Update) {
	switch {
	case u.Piece != nil:
		if p.c.OutTTY && !p.asJSON {
			if u.Piece.Retract {
				p.screen.retract()
			}
			p.screen.provisional(u.Piece.Text)
		}
	case u.Step != nil:
		p.step(*u.Step)
	case u.Record != nil:
		p.record(u)
	}
}

func (p *progress) record(u run.Update) {
	switch u.Record.Kind {
	case run.KindStart:
		var s run.StartRecord
		if json.Unmarshal(u.Record.Data, &s) == nil {
			_ = json.Unmarshal(s.Given["max_turns"], &p.max) // shown only, as is the model
			var env oracle.Env
			_ = json.Unmarshal(s.Env, &env)
			p.model = env.Model
		}
	case run.KindTrace:
		var t run.TraceRecord
		if json.Unmarshal(u.Record.Data, &t) == nil {
			for _, s := range t.Steps {
				p.step(s)
			}
		}
	case run.KindCompletion:
		var r run.CompletionRecord
		if json.Unmarshal(u.Record.Data, &r) == nil {
			p.completion(r)
		}
	case run.KindResume:
		var r run.ResumeRecord
		if json.Unmarshal(u.Record.Data, &r) == nil {
			p.say("resumed; %s performed again", counted(len(r.Repeated), "effect"))
		}
	}
}

// step tells what a step decided, once: as it happens, or from its trace record.
func (p *progress) step(s run.TraceStep) {
	if p.steps[s.Record] {
		return
	}
	p.steps[s.Record] = true
	for _, e := range s.Events {
		switch _, refused, _ := strings.Cut(e.Note, "; refused: "); {
		case strings.HasSuffix(e.Path, "/Classify") && e.Status != "":
			p.say("%s", e.Note)
			p.say("asking %s", p.model)
		case strings.HasSuffix(e.Path, "/RunTools") && refused != "":
			p.say("  refused: %s", refused)
		case strings.HasSuffix(e.Path, "/NoteReply") && strings.Contains(e.Note, "not well-formed"):
			p.say("  %s", e.Note)
		}
	}
	if p.trace {
		if p.c.ErrTTY {
			p.screen.makeRoom()
		}
		fmt.Fprintf(p.c.Err, "step on record %d\n%s", s.Record, stepText(s))
	}
}

func (p *progress) completion(r run.CompletionRecord) {
	took := fmt.Sprintf("%.1f s", float64(r.TookMS)/1000)
	switch r.Kind {
	case agent.EffectTurn:
		p.turn++
		var t agent.TurnReceipt[oracle.Heard]
		if json.Unmarshal(r.Result, &t) != nil || r.Err != nil {
			return
		}
		sig := "no signal"
		if t.Signal != nil {
			sig = string(t.Signal.Type)
		}
		if t.Attempts > 1 {
			sig += fmt.Sprintf(", %d attempts", t.Attempts)
		}
		if len(t.Calls) > 0 || sig == string(signal.NeedTurn) {
			p.screen.retract() // a step on the way
		}
		p.say("turn %d of %d: %s (%s, %s)", p.turn, p.max, sig, t.Model, took)
	case agent.EffectCall:
		var call agent.CallReceipt
		if r.Err != nil || json.Unmarshal(r.Result, &call) != nil {
			p.say("  %s: failed", r.Label)
			return
		}
		switch {
		case call.Error != nil:
			p.say("  %s: %s", r.Label, call.Error.Message)
		default:
			p.say("  %s: %d found, %s, %s", r.Label, call.Result.Items, size(len(call.Result.Text)), took)
		}
	}
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func size(bytes int) string {
	if bytes < 1024 {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f KB", float64(bytes)/1024)
}

func (p *progress) say(format string, args ...any) {
	if p.quiet {
		return
	}
	line := "· " + fmt.Sprintf(format, args...)
	if p.c.ErrTTY {
		line = clipLine(line, p.c.Width)
		p.screen.makeRoom()
	}
	fmt.Fprintln(p.c.Err, p.screen.dim(line, p.c.ErrTTY))
}

// show prints the answer, then on stderr what the person should know beside it.
func (p *progress) show(a oracle.Answer) {
	if a.Answer != "" {
		p.screen.answer(a.Answer)
	}
	note := func(format string, args ...any) {
		fmt.Fprintln(p.c.Err, p.screen.dim("· "+fmt.Sprintf(format, args...), p.c.ErrTTY))
	}
	if a.Caveat != "" {
		note("not the whole answer: %s", a.Caveat)
	}
	for _, u := range a.Unsupported {
		note("cited, but not read: %s", u)
	}
	if a.StopReason == oracle.StopNeedsUser {
		note("it asks you something: answer with ‘sibyl ask -c’")
	}
	for _, n := range a.Notices {
		if n.Severity != agent.Info {
			note("%s", n.Text)
		}
	}
	if p.quiet {
		return
	}
	var also []string
	for _, s := range a.Sources {
		if !s.Cited {
			also = append(also, s.Cite)
		}
	}
	if len(also) > 0 {
		note("also read: %s", strings.Join(also, ", "))
	}
	note("%s after %d of %d turns, %s; %s; %d+%d tokens; run %s", a.StopReason, a.Turns, a.MaxTurns, counted(len(a.ToolCalls), "tool call"),
		a.Model, a.Usage.InputTokens, a.Usage.OutputTokens, a.RunID)
}

func statusMark(status string) string {
	switch status {
	case "SUCCESS":
		return "✓"
	case "FAILURE":
		return "✗"
	case "RUNNING":
		return "…"
	case "SKIPPED":
		return "⊘"
	}
	return "■"
}

func clipLine(s string, width int) string {
	if width == 0 {
		width = 80
	}
	if r := []rune(s); len(r) > width-1 {
		return string(r[:width-2]) + "…"
	}
	return s
}
