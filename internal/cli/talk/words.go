package talk

import (
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/oracle"
	"sibyl/internal/render"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

// Progress are the lines of an update in words for people. What only says how the work is controlled is left out:
// turns, signals, classes and
// the arguments of calls as they were written.
func Progress(u service.Update) []string {
	if u.Event == nil {
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
		came := fmt.Sprintf("%d found", done.Items)
		if done.Error != "" {
			came = done.Error
		}
		return []string{fmt.Sprintf("  %s (%s, %s)", call(done.Tool, done.Arguments), came, agent.Seconds(done.TookMS))}
	}
	return u.Lines
}

// UnderWay says in a few words what an effect does.
func UnderWay(asked run.Asked) string {
	if asked.Kind == agent.EffectTurn {
		return "thinking, " + line(asked.Name())
	}
	tool, arguments, isCall := strings.Cut(asked.Name(), " {")
	if !isCall {
		return line(asked.Name())
	}
	return call(tool, "{"+arguments)
}

// call is the call of a tool with the first text among its arguments, in one line.
func call(tool, arguments string) string {
	return line(strings.ReplaceAll(tool, "_", " ") + firstText(arguments))
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

// line is a text from elsewhere where it must not begin a line of its own.
func line(text string) string { return strings.Join(strings.Fields(render.Clean(text)), " ") }
