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

// maxWritten bounds, in bytes, the text that is searched for calls; maxMarks how many of its last marks are tried,
// since each may be read up to the end.
const (
	maxWritten = 64 << 10
	maxMarks   = 256
)

// writtenID begins the ids of calls that were written as text.
const writtenID = "call_written_"

// The marks of calls in text. signal.Neutralise makes all of them inert in the text of tools.
const (
	hermes, endOfHermes       = "<tool_call>", "</tool_call>"
	function, endOfFunction   = "<function=", "</function>"
	parameter, endOfParameter = "<parameter=", "</parameter>"
	pythonTag                 = "<|python_tag|>"
	mistral                   = "[TOOL_CALLS]"
	fence                     = "```"
)

var openingFence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^" + fence + `(?:json|tool_call|tool_code)?[ \t]*\n`)
})

// callMark matches what a call may begin with. All forms begin with one of callSigns.
var callMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A(?:` + hermes + "|" + function + "|" + regexp.QuoteMeta(pythonTag) + "|" +
		regexp.QuoteMeta(mistral) + "|" + fence + `|\{\s*"(?:name|type)"|<[|｜]|<(?:\w+:)?(?:function_calls|tool_calls|tool_call|invoke)\b|` +
		`\[\s*[A-Za-z_][\w.]*\(|` + openFrameForm + `)`)
})

const (
	callSigns   = "<[{`"
	longestMark = 100 // bytes
)

// callPlaces returns where calls may begin in a text, the last maxMarks places.
func callPlaces(text string) (all []int) {
	for from := 0; ; {
		next := strings.IndexAny(text[from:], callSigns)
		if next < 0 {
			return all[max(0, len(all)-maxMarks):]
		}
		from += next
		mark := callMark().FindString(text[from:min(len(text), from+longestMark)])
		if mark != "" {
			all = append(all, from)
		}
		from += max(len(mark), 1)
	}
}

// WrittenCalls finds calls that a model wrote as text, because its server does not read its template, and returns the
// text before them. text is a reply without its signal. The forms are in docs/signals.md. Calls count only if the text
// ends with them; before prose, in a quoted line or in other code they are quotations. A call has to name an offered
// tool that only reads, and to have the arguments that its schema requires. Anything else stays text.
func WrittenCalls(text string, offered []tool.Spec) (calls []model.ToolCall, rest string) {
	if len(text) > maxWritten {
		return nil, text
	}
	readUpTo := 0 // earlier marks would stop at the same place
	for _, at := range callPlaces(text) {
		if at < readUpTo {
			continue
		}
		before := text[:at]
		w := callParser{offered: offered}
		left := w.readAll(text[at:], beginsLine(before))
		if left == 0 && !isQuoted(before) {
			return w.calls, before
		}
		if left > 0 {
			readUpTo = len(text) - left
		}
	}
	return nil, text
}

// isQuoted says whether the text that follows is in an open code block or in a quoted line.
func isQuoted(before string) bool {
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

// callParser collects the calls that a text contains.
type callParser struct {
	offered []tool.Spec
	calls   []model.ToolCall
}

// readAll reads calls, one after the other, up to the end or to something else, and returns how many bytes are left.
func (w *callParser) readAll(text string, beginsLine bool) (left int) {
	for ; text != ""; beginsLine = true {
		n := w.readNext(text, beginsLine)
		if n == 0 {
			return len(text)
		}
		text = strings.TrimLeftFunc(text[n:], unicode.IsSpace)
	}
	return 0
}

// readNext reads the call that the text begins with, and returns its length; 0 if there is none. A call without a mark
// has to begin a line, and its object has to satisfy signal.BeginsCall.
func (w *callParser) readNext(text string, beginsLine bool) int {
	if inner, n := between(text, hermes, endOfHermes); n > 0 {
		inner = strings.TrimSpace(inner)
		read := w.readFunction(inner) + w.readJSON(inner, true, false)
		if inner != "" && (read == len(inner) || read == 0 && w.readNamed(inner)) {
			return n
		}
	}
	if n := w.readFunction(text); n > 0 {
		rest := strings.TrimLeftFunc(text[n:], unicode.IsSpace)
		if after, orphan := strings.CutPrefix(rest, endOfHermes); orphan { // the frame was opened in the prompt
			return len(text) - len(after)
		}
		return n
	}
	if n := w.readMarked(text); n > 0 {
		return n
	}
	for _, mark := range []string{pythonTag, mistral} {
		if inner, is := strings.CutPrefix(text, mark); is {
			if mark == pythonTag && w.readBody(strings.TrimSpace(inner)) {
				return len(text)
			}
			if n := w.readJSON(inner, mark == mistral, false); n > 0 {
				return len(mark) + n
			}
			if n := w.readNameAndArguments(inner); n > 0 && mark == mistral {
				return len(mark) + n
			}
			return 0
		}
	}
	if !beginsLine {
		return 0
	}
	if inner, n := between(text, openingFence().FindString(text), "\n"+fence); n > 0 && strings.HasPrefix(text, fence) {
		if strings.HasPrefix(text, fence+"tool_code") && w.readPython(inner) {
			return n
		}
		if read := w.readJSON(inner, true, true); read == 0 || strings.TrimSpace(inner[read:]) != "" {
			return 0
		}
		return n
	}
	if list := strings.TrimSpace(text); strings.HasPrefix(list, "[") && strings.HasSuffix(list, "]") &&
		w.readPython(list[1:len(list)-1]) {
		return len(text)
	}
	return w.readJSON(text, false, true)
}

// between returns the text between two marks, and the length of all three; 0 if the text does not begin with open, or
// has no shut.
func between(text, open, shut string) (inner string, n int) {
	rest, opened := strings.CutPrefix(text, open)
	inner, _, closed := strings.Cut(rest, shut)
	if !opened || !closed {
		return "", 0
	}
	return inner, len(open) + len(inner) + len(shut)
}

// readJSON reads a call that is a JSON object, or a list of such calls, and returns its length; 0 if it is none.
func (w *callParser) readJSON(text string, list, bare bool) int {
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
		if bare && !signal.BeginsCall(string(c)) || !w.takeObject(c, bare) {
			return 0
		}
	}
	return int(d.InputOffset())
}

// readNameAndArguments reads Mistral's newer form: a name, perhaps a mark, and arguments.
func (w *callParser) readNameAndArguments(text string) int {
	at := strings.IndexByte(text, '{')
	if at < 0 {
		return 0
	}
	name, _, _ := strings.Cut(text[:at], "[")
	d := json.NewDecoder(strings.NewReader(text[at:]))
	var args json.RawMessage
	if d.Decode(&args) != nil || !w.takeCall(w.meant(name), args) {
		return 0
	}
	return at + int(d.InputOffset())
}

// takeObject takes a call that is a JSON object with a name and arguments; false if it is none. A call that is not bare
// may have its parts under other names, and its arguments as a text.
func (w *callParser) takeObject(raw json.RawMessage, bare bool) bool {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return false
	}
	var name string
	var args json.RawMessage
	for key, value := range object {
		switch {
		case (key == "name" || !bare && (key == "tool" || key == "tool_name")) && json.Unmarshal(value, &name) == nil:
		case (key == "arguments" || key == "parameters" || !bare && (key == "args" || key == "input")) && args == nil:
			args = value
		case !bare && key == "function" && len(object) <= 3 && strings.HasPrefix(string(value), "{"):
			return w.takeObject(value, false)
		case !bare && key == "tool_call_id":
		case !bare && len(object) == 1 && strings.HasPrefix(string(value), "{"): // Apertus
			return w.takeCall(w.meant(key), value)
		case key == "id" || key == "type" && string(value) == `"function"`:
		default:
			return false
		}
	}
	if bare {
		return w.takeCall(name, args)
	}
	var text string
	if json.Unmarshal(args, &text) == nil {
		args = json.RawMessage(text)
	}
	return w.takeCall(w.meant(name), args)
}

// readFunction reads a call that is an element with the tool's name: its arguments are a JSON object, or elements with
// their names.
func (w *callParser) readFunction(text string) int {
	name, n := between(text, function, ">")
	if n == 0 {
		return 0
	}
	name = w.meant(name)
	body, m := between(text[n:], "", endOfFunction)
	body = strings.TrimSpace(body)
	args := json.RawMessage(body)
	if !strings.HasPrefix(body, "{") {
		args = w.readParameters(name, body)
	}
	if m == 0 || !w.takeCall(name, args) {
		return 0
	}
	return n + m
}

// readParameters makes a JSON object of elements with the names of arguments; nil if the text is something else. A
// value is read as JSON if the tool's schema wants anything but a string.
func (w *callParser) readParameters(name, text string) json.RawMessage {
	_, wants := w.readingTool(name)
	args := map[string]json.RawMessage{}
	for text != "" {
		key, n := between(text, parameter, ">")
		if n == 0 {
			return nil
		}
		value, m := between(text[n:], "", endOfParameter)
		if next := strings.Index(text[n:], parameter); m == 0 || next >= 0 && next < len(value) { // it is not closed
			value, m = text[n:], len(text)-n
			if next >= 0 {
				value, m = text[n:n+next], next
			}
		}
		if _, twice := args[key]; twice {
			return nil
		}
		args[key] = wants.value(key, value)
		text = strings.TrimSpace(text[n+m:])
	}
	object, _ := json.Marshal(args)
	return object
}

// argumentSchema is the part of a tool's schema that is checked.
type argumentSchema struct {
	Properties map[string]struct {
		Type any `json:"type"`
	} `json:"properties"`
	Required []string `json:"required"`
}

// readingTool finds an offered tool that only reads, and its schema.
func (w *callParser) readingTool(name string) (is bool, wants argumentSchema) {
	for _, s := range w.offered {
		if s.Name == name && s.Effect != tool.Once {
			return json.Unmarshal(s.Schema, &wants) == nil, wants
		}
	}
	return false, wants
}

// takeCall appends a call if its tool may be called and has the required arguments.
func (w *callParser) takeCall(name string, args json.RawMessage) bool {
	is, wants := w.readingTool(name)
	var given map[string]json.RawMessage
	if !is || json.Unmarshal(args, &given) != nil || given == nil {
		return false
	}
	for _, key := range wants.Required {
		if _, there := given[key]; !there {
			return false
		}
	}
	w.calls = append(w.calls, model.ToolCall{ID: fmt.Sprint(writtenID, len(w.calls)+1), Name: name,
		Arguments: string(args)})
	return true
}
