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
	"sibyl/internal/bt"
	"sibyl/internal/render"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/web/src/words/sentences"
)

// Progress returns what an update tells whoever waits for the run, in their language, with how long it took; "" for
// nothing. What is told of the run's control is left out unless control is set.
func Progress(u service.Update, control bool, language string) string {
	if u.Told.Text == "" || u.Told.OfControl() && !control {
		return ""
	}
	var took struct {
		MS int64 `json:"took_ms"`
	}
	if u.Event != nil {
		_ = json.Unmarshal(u.Event.Data, &took) // events without that field took no time
	}
	return WithDuration(sentences.SayFirst(u.Told, language), took.MS)
}

// WithDuration appends to what was done how long it took, if that was at least 100 ms.
func WithDuration(what string, ms int64) string {
	const shortest = 100
	if ms < shortest {
		return what
	}
	return fmt.Sprintf("%s (%s)", what, agent.Seconds(ms))
}

// WithoutShown removes from an answer the parts that were shown before.
func WithoutShown(answer string, shown []string) string {
	for _, part := range shown {
		answer = strings.TrimSpace(strings.Replace(answer, strings.TrimSpace(part), "", 1))
	}
	return answer
}

// Work follows what a run is doing, for a status line.
type Work struct {
	Language string // of its words; "": English

	wait   *run.Wait             // the pause before a retry; nil: none
	reads  *run.Reading          // by a model; nil: none reads
	ops    []run.RequestedEffect // in progress
	early  int                   // partial answers so far; of: how many are expected
	of     int
	tokens int // that models used
	said   int // bytes of the text that is streaming in
}

// Track updates w with an update of the run.
func (w *Work) Track(u service.Update) {
	w.wait = u.Wait
	switch {
	case u.Reading != nil:
		if w.reads = u.Reading; u.Reading.Tokens == 0 {
			w.reads = nil
		}
	case u.Step != nil:
		if len(u.Step.Started) > 0 {
			w.of, w.early = len(u.Step.Started), 0
		}
		w.end(u.Step.Withdrawn...)
		w.ops = append(w.ops, u.Step.Started...)
	case u.Record != nil && u.Record.Kind == run.KindCompletion:
		w.reads = nil
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
		w.reads = nil
	case u.Retract:
		w.said, w.reads = 0, nil
	}
}

func (w *Work) end(ops ...uint64) {
	w.ops = slices.DeleteFunc(w.ops, func(a run.RequestedEffect) bool { return slices.Contains(ops, a.Op) })
}

// bytesOfToken is the estimate of a token's bytes while text streams in.
const bytesOfToken = 4

// What describes in a few words the first effect in progress; "": none.
func (w *Work) What() string {
	switch {
	case len(w.ops) == 0:
		return ""
	case w.said > 0:
		return w.words("writing")
	}
	return UnderWay(w.ops[0], w.Language)
}

// Waiting says when a paused run retries, and why it pauses; "": it doesn't pause.
func (w *Work) Waiting(now time.Time) string {
	if w.wait == nil {
		return ""
	}
	return w.words("asking again in %d s: %s",
		max(0, int(math.Ceil(w.wait.Until.Sub(now).Seconds()))), oneLine(w.wait.Why))
}

// readsAtOnce is how long a model reads before that is told, where its server does not tell how far it is.
const readsAtOnce = 3 * time.Second

// Reading says that a model reads what it was sent, and how far it is if its server tells that; "": none reads, or not
// for long.
func (w *Work) Reading(now time.Time) string {
	switch r := w.reads; {
	case r == nil:
		return ""
	case r.Read > 0:
		return w.words("reading the prompt, %d %%", min(100, r.Read*100/r.Tokens))
	case now.Sub(r.Since) >= readsAtOnce:
		return w.words("reading the prompt, about %s", w.tokenCount(r.Tokens))
	}
	return ""
}

// Line returns the status line: the time since begun, what is in progress, and the tokens so far, in less than width
// columns. A text in instead replaces what is in progress.
func (w *Work) Line(begun, now time.Time, width int, instead string) string {
	what, end := cmp.Or(instead, w.Waiting(now), w.Reading(now), w.What()), ""
	if more := len(w.ops) - 1; more > 0 && what == w.What() {
		end = w.words(" and %d more", more)
	}
	if n := w.tokens + w.said/bytesOfToken; n > 0 {
		end += " · " + w.tokenCount(n)
	}
	return ansi.Truncate(clock(now.Sub(begun))+" · "+what, width-1-ansi.StringWidth(end), "…") + end
}

// AnswerCount says how many of several have answered; "": none yet, or only one was asked.
func (w *Work) AnswerCount() string {
	if w.early == 0 || w.of < 2 {
		return ""
	}
	return w.words("%d of %d have answered", w.early, w.of)
}

// words fills in a format in the language of the work.
func (w *Work) words(format string, values ...any) string {
	return sentences.Format(w.Language, format, values...)
}

func (w *Work) tokenCount(n int) string {
	if n == 1 {
		return w.words("1 token")
	}
	return w.words("%d tokens", n)
}

// Warnings are the warnings of a result in a language.
func Warnings(res service.Result, language string) (all []string) {
	for i, line := range res.Warnings {
		if i < len(res.WarningCodes) {
			line = sentences.Say(bt.Why{Text: line, Coded: res.WarningCodes[i]}, language)
		}
		all = append(all, line)
	}
	return all
}

// clock formats a duration in seconds, or from a minute on in minutes and seconds.
func clock(d time.Duration) string {
	if s := int(d.Seconds()); s >= 60 {
		return fmt.Sprintf("%d:%02d min", s/60, s%60)
	}
	return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
}

// UnderWay describes in a few words, in a language, an effect in progress.
func UnderWay(asked run.RequestedEffect, language string) string {
	if asked.Kind == agent.EffectTurn {
		return sentences.Format(language, "thinking, %s", oneLine(asked.Name()))
	}
	tool, arguments, isCall := strings.Cut(asked.Name(), " {")
	if !isCall {
		return oneLine(asked.Name())
	}
	return callText(tool, "{"+arguments)
}

// callText describes a call in one line: the tool, and the first text among its arguments.
func callText(tool, arguments string) string {
	return oneLine(strings.ReplaceAll(tool, "_", " ") + firstText(arguments))
}

// firstText returns a colon and the first text among the arguments of a call; "" if none comes before a nested value,
// or if they were cut before its end.
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

// oneLine cleans a text, and joins its lines into one.
func oneLine(text string) string { return strings.Join(strings.Fields(render.Clean(text)), " ") }
