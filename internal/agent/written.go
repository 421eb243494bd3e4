package agent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"sibyl/internal/model"
	"sibyl/internal/signal"
	"sibyl/internal/text/markdown"
	"sibyl/internal/tool"
)

// maxWritten bounds, in bytes, the text in which calls are looked for; mostMarks how many of its last marks may begin
// them, as each may be read up to the end.
const (
	maxWritten = 64 << 10
	mostMarks  = 256
)

// The marks of calls in text. signal.Neutralise makes all of them inert in the text of tools.
const (
	hermes, endOfHermes       = "<tool_call>", "</tool_call>"
	function, endOfFunction   = "<function=", "</function>"
	parameter, endOfParameter = "<parameter=", "</parameter>"
	pythonTag                 = "<|python_tag|>"
	mistral                   = "[TOOL_CALLS]"
	fence                     = "```"
)

var opening = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^" + fence + `(?:json|tool_call)?[ \t]*\n`)
})

// begins is where calls may begin.
var begins = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<tool_call>|<function=|<\|python_tag\|>|\[TOOL_CALLS\]|` + fence +
		`|\{\s*"(?:name|type)"`)
})

// WrittenCalls finds the calls that a model wrote as text, as models do whose server does not read their template, and
// gives the text before them. text is a reply without its signal. The forms are in docs/signals.md. Calls count where
// the text ends with them and nothing else; what stands before prose, in a quoted line or in other code is a quotation.
// A call names an offered tool that only reads, and has the arguments that its schema requires. Anything else stays
// text.
func WrittenCalls(text string, offered []tool.Spec) (calls []model.ToolCall, rest string) {
	if len(text) > maxWritten {
		return nil, text
	}
	tried := 0 // what begins before it comes to the same end as calls that were read already
	marks := begins().FindAllStringIndex(text, -1)
	for _, mark := range marks[max(0, len(marks)-mostMarks):] {
		at := mark[0]
		if at < tried {
			continue
		}
		before := text[:at]
		w := writing{offered: offered}
		left := w.toTheEnd(text[at:], beginsLine(before))
		if left == 0 && !quoted(before) {
			return w.calls, before
		}
		if left > 0 {
			tried = len(text) - left
		}
	}
	return nil, text
}

// quoted says whether what follows stands in an open code block or in a quoted line.
func quoted(before string) bool {
	at := strings.LastIndexByte(before, '\n') + 1
	var f markdown.Fence
	for line := range strings.Lines(before[:at]) {
		f.Covers(strings.TrimSuffix(line, "\n"))
	}
	return f.Covers("") || strings.HasPrefix(strings.TrimSpace(before[at:]), ">")
}

func beginsLine(before string) bool {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return len(line) <= 3 && strings.Trim(line, " ") == ""
}

// writing collects the calls of a text.
type writing struct {
	offered []tool.Spec
	calls   []model.ToolCall
}

// toTheEnd reads calls, one after the other, and gives how many bytes of the text are left where there is something
// else.
func (w *writing) toTheEnd(text string, beginsLine bool) (left int) {
	for ; text != ""; beginsLine = true {
		n := w.next(text, beginsLine)
		if n == 0 {
			return len(text)
		}
		text = strings.TrimLeftFunc(text[n:], unicode.IsSpace)
	}
	return 0
}

// next reads what stands first, and gives its length; 0 where it is no call. Without a mark of its own it has to begin
// a line, and the object has to begin as signal.BeginsCall knows it.
func (w *writing) next(text string, beginsLine bool) int {
	if inner, n := between(text, hermes, endOfHermes); n > 0 {
		inner = strings.TrimSpace(inner)
		if read := w.function(inner) + w.value(inner, false, false); read == 0 || read < len(inner) {
			return 0
		}
		return n
	}
	if n := w.function(text); n > 0 {
		return n
	}
	for _, mark := range []string{pythonTag, mistral} {
		if inner, is := strings.CutPrefix(text, mark); is {
			if n := w.value(inner, mark == mistral, false); n > 0 {
				return len(mark) + n
			}
			return 0
		}
	}
	if !beginsLine {
		return 0
	}
	if inner, n := between(text, opening().FindString(text), "\n"+fence); n > 0 && strings.HasPrefix(text, fence) {
		if read := w.value(inner, true, true); read == 0 || strings.TrimSpace(inner[read:]) != "" {
			return 0
		}
		return n
	}
	return w.value(text, false, true)
}

// between gives what stands between two marks at the beginning of a text, and the length of all three; 0 where they
// don't stand there.
func between(text, open, shut string) (inner string, n int) {
	rest, opened := strings.CutPrefix(text, open)
	inner, _, closed := strings.Cut(rest, shut)
	if !opened || !closed {
		return "", 0
	}
	return inner, len(open) + len(inner) + len(shut)
}

// value reads a call that is a JSON object, or a list of them, and gives its length; 0 where it is none.
func (w *writing) value(text string, list, bare bool) int {
	d := json.NewDecoder(strings.NewReader(text))
	var value json.RawMessage
	if d.Decode(&value) != nil {
		return 0
	}
	calls := []json.RawMessage{value}
	if value[0] == '[' && (!list || json.Unmarshal(value, &calls) != nil || len(calls) == 0) {
		return 0
	}
	for _, c := range calls {
		if bare && !signal.BeginsCall(string(c)) || !w.object(c) {
			return 0
		}
	}
	return int(d.InputOffset())
}

// object takes a call that is a JSON object with a name and arguments.
func (w *writing) object(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return false
	}
	var name string
	var args json.RawMessage
	for key, value := range object {
		switch {
		case key == "name" && json.Unmarshal(value, &name) == nil:
		case (key == "arguments" || key == "parameters") && args == nil:
			args = value
		case key == "id" || key == "type" && string(value) == `"function"`:
		default:
			return false
		}
	}
	return w.call(name, args)
}

// function reads a call that is an element with the tool's name: its arguments are a JSON object, or elements with
// their names.
func (w *writing) function(text string) int {
	name, n := between(text, function, ">")
	if n == 0 {
		return 0
	}
	body, m := between(text[n:], "", endOfFunction)
	body = strings.TrimSpace(body)
	args := json.RawMessage(body)
	if !strings.HasPrefix(body, "{") {
		args = w.parameters(name, body)
	}
	if m == 0 || !w.call(name, args) {
		return 0
	}
	return n + m
}

// parameters makes an object of elements with the names of arguments; nil where they are something else. A value is
// JSON where the tool wants anything but a text.
func (w *writing) parameters(name, text string) json.RawMessage {
	_, wants := w.tool(name)
	args := map[string]json.RawMessage{}
	for text != "" {
		key, n := between(text, parameter, ">")
		if n == 0 {
			return nil
		}
		value, m := between(text[n:], "", endOfParameter)
		if _, twice := args[key]; m == 0 || twice {
			return nil
		}
		value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
		if args[key] = json.RawMessage(value); wants.Properties[key].Type == "string" || !json.Valid(args[key]) {
			args[key], _ = json.Marshal(value)
		}
		text = strings.TrimSpace(text[n+m:])
	}
	object, _ := json.Marshal(args)
	return object
}

// wanted is what of a tool's schema says which arguments make a call.
type wanted struct {
	Properties map[string]struct {
		Type any `json:"type"`
	} `json:"properties"`
	Required []string `json:"required"`
}

// tool finds an offered tool that only reads.
func (w *writing) tool(name string) (is bool, wants wanted) {
	for _, s := range w.offered {
		if s.Name == name && s.Effect != tool.Once {
			return json.Unmarshal(s.Schema, &wants) == nil, wants
		}
	}
	return false, wants
}

// call takes a call, if it is one that counts.
func (w *writing) call(name string, args json.RawMessage) bool {
	is, wants := w.tool(name)
	var given map[string]json.RawMessage
	if !is || json.Unmarshal(args, &given) != nil || given == nil {
		return false
	}
	for _, key := range wants.Required {
		if _, there := given[key]; !there {
			return false
		}
	}
	w.calls = append(w.calls, model.ToolCall{ID: fmt.Sprintf("call_written_%d", len(w.calls)+1), Name: name,
		Arguments: string(args)})
	return true
}
