package talk

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/agent"
	"sibyl/internal/oracle"
	"sibyl/internal/render"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/text"
)

// Progress are the lines of an update in words for people. What only says how the work is controlled is left out:
// turns, signals, classes and the arguments of calls as they were written.
func Progress(u service.Update) []string {
	if u.Event == nil {
		if u.Record != nil && u.Record.Kind == run.KindSuspend { // what came of the run tells it
			return nil
		}
		return u.Lines
	}
	switch u.Event.Type {
	case (oracle.TurnTaken{}).EventType(), (oracle.SignalHeard{}).EventType():
		return nil
	case (oracle.ClassChosen{}).EventType():
		return u.Lines[min(1, len(u.Lines)):] // the model that is asked
	case (agent.CallDone{}).EventType():
		var done agent.CallDone
		if err := json.Unmarshal(u.Event.Data, &done); err != nil {
			return u.Lines
		}
		name := strings.ReplaceAll(done.Tool, "_", " ")
		return []string{"  " + WithDuration(strings.Replace(done.Story().Text, done.Tool, name, 1), done.TookMS)}
	}
	return u.Lines
}

// WithDuration adds to what was done how many milliseconds it took, where anybody felt them.
func WithDuration(what string, ms int64) string {
	const shortest = 100
	if ms < shortest {
		return what
	}
	return fmt.Sprintf("%s (%s)", what, agent.Seconds(ms))
}

// WithoutShown is an answer without the parts of it that were shown before.
func WithoutShown(answer string, shown []string) string {
	for _, part := range shown {
		answer = strings.TrimSpace(strings.Replace(answer, strings.TrimSpace(part), "", 1))
	}
	return answer
}

// Work is what a run is at, as the line that lives tells it.
type Work struct {
	wait   *run.Wait // for which it pauses; nil: it does not
	ops    []run.RequestedEffect
	early  int // parts of the answer so far, and of how many
	of     int
	tokens int // that models took
	said   int // bytes of what is being said
}

// Track takes an update in.
func (w *Work) Track(u service.Update) {
	w.wait = u.Wait
	switch {
	case u.Step != nil:
		if len(u.Step.Started) > 0 {
			w.of, w.early = len(u.Step.Started), 0
		}
		w.end(u.Step.Withdrawn...)
		w.ops = append(w.ops, u.Step.Started...)
	case u.Record != nil && u.Record.Kind == run.KindCompletion:
		if body, err := run.Read(*u.Record); err == nil {
			w.end(body.(*run.CompletionRecord).Op)
		}
		w.tokens, w.said = w.tokens+u.Used.Input+u.Used.Output, 0
		if u.Early != nil {
			w.early++
			w.tokens += u.Early.Used.Input + u.Early.Used.Output
		}
	case u.Text != "":
		w.said += len(u.Text)
	case u.Retract:
		w.said = 0
	}
}

func (w *Work) end(ops ...uint64) {
	w.ops = slices.DeleteFunc(w.ops, func(a run.RequestedEffect) bool { return slices.Contains(ops, a.Op) })
}

// bytesOfToken is what a token is taken for while a model speaks.
const bytesOfToken = 4

// What says in a few words what is under way, of several the first; "" for nothing.
func (w *Work) What() string {
	switch {
	case len(w.ops) == 0:
		return ""
	case w.said > 0:
		return "writing"
	}
	return UnderWay(w.ops[0])
}

// Waiting says for what the run pauses; "" where it does not.
func (w *Work) Waiting(now time.Time) string {
	if w.wait == nil {
		return ""
	}
	return fmt.Sprintf("asking again in %d s: %s",
		max(0, int(math.Ceil(w.wait.Until.Sub(now).Seconds()))), oneLine(w.wait.Why))
}

// Line tells for how long something is under way, what it is, and how many tokens there were so far, in less than width
// columns. What is said instead stands in place of that.
func (w *Work) Line(begun, now time.Time, width int, instead string) string {
	what, end := cmp.Or(instead, w.Waiting(now), w.What()), ""
	if more := len(w.ops) - 1; more > 0 && what == w.What() {
		end = fmt.Sprintf(" and %d more", more)
	}
	if n := w.tokens + w.said/bytesOfToken; n > 0 {
		end += " · " + text.Count(n, "token")
	}
	return ansi.Truncate(clock(now.Sub(begun))+" · "+what, width-1-ansi.StringWidth(end), "…") + end
}

// AnswerCount says how many have answered of several; "" where nobody has, or there is one alone.
func (w *Work) AnswerCount() string {
	if w.early == 0 || w.of < 2 {
		return ""
	}
	return fmt.Sprintf("%d of %d have answered", w.early, w.of)
}

// clock writes seconds, and minutes from the first on.
func clock(d time.Duration) string {
	if s := int(d.Seconds()); s >= 60 {
		return fmt.Sprintf("%d:%02d min", s/60, s%60)
	}
	return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
}

// UnderWay says in a few words what an effect does.
func UnderWay(asked run.RequestedEffect) string {
	if asked.Kind == agent.EffectTurn {
		return "thinking, " + oneLine(asked.Name())
	}
	tool, arguments, isCall := strings.Cut(asked.Name(), " {")
	if !isCall {
		return oneLine(asked.Name())
	}
	return callText(tool, "{"+arguments)
}

// callText is the call of a tool with the first text among its arguments, in one line.
func callText(tool, arguments string) string {
	return oneLine(strings.ReplaceAll(tool, "_", " ") + firstText(arguments))
}

// firstText is the first text among the arguments of a call, behind a colon; "" where there is none, or they were cut
// before its end.
func firstText(arguments string) string {
	d := json.NewDecoder(strings.NewReader(arguments))
	_, _ = d.Token() // the brace
	for name := true; ; name = !name {
		switch token, err := d.Token(); text := token.(type) {
		case string:
			if !name && text != "" {
				return ": " + text
			}
		default:
			if err != nil || name {
				return ""
			}
			if _, nests := token.(json.Delim); nests {
				return ""
			}
		}
	}
}

// oneLine is a text from elsewhere where it must not begin a line of its own.
func oneLine(text string) string { return strings.Join(strings.Fields(render.Clean(text)), " ") }
