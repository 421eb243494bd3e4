package agent

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// The forms of calls that are marked with special tokens or elements of a template. A text of a tool can't hold any:
// signal.Neutralise makes their first bracket inert.
var (
	// specialToken matches a special token, or the frame of calls; the tokens of calls name them.
	specialToken = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`<[|｜][^<>|｜"]{1,60}[|｜]?>|<\w{1,60}[|｜]>|</?[|｜]+DSML[|｜]+|` + callFrameForm)
	})
	callToken = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:<[|｜](?:[^<>]*(?:tool|call|function|action|plugin)|channel|start[|｜])|` +
			openFrameForm + `)`)
	})
	// addressee matches what stands before the arguments of a call between tokens: the tool's name.
	addressee = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:assistant\s*|commentary\s*|analysis\s*)*(?:to=)?([A-Za-z_][\w.:-]*)(?:\s+(?:json|code))?$`)
	})
	callFrame  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*` + callFrameForm) })
	invocation = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)^\s*<(?:\w+:)?invoke name=["“]([^"”<>]+)["”]\s*>(.*?)</(?:\w+:)?invoke>`)
	})
	namedParameter = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)^\s*<(?:\w+:)?parameter name=["“]([^"”<>]+)["”][^<>]*>(.*?)</(?:\w+:)?parameter>`)
	})
	keyAndValue = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)^\s*<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>`)
	})
	// dialectMark matches what DeepSeek writes before the names of these elements.
	dialectMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([</])[|｜]+DSML[|｜]+\s*`) })
	// gemmaCall matches a call as Gemma writes it, and gemmaKey the name of an argument in it.
	gemmaCall  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^call:([\w.:-]+)\{(.*)\}$`) })
	gemmaKey   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s,]*(\w+)\s*:\s*`) })
	pythonCall = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(?:print\()?([A-Za-z_][\w.]*)\(`)
	})
)

// callFrameForm matches the elements that templates put around calls, and openFrameForm those that begin them.
const (
	frameNames    = `(?:\w+:)?(?:tool_?calls?|tool_use|function_calls?)>)`
	callFrameForm = `(?i:</?` + frameNames
	openFrameForm = `(?i:<` + frameNames
)

// readMarked reads calls that a template marks, up to the end of the text; 0 if there are none, or something else.
func (w *callParser) readMarked(text string) int {
	n := len(w.calls)
	if w.readTokens(text) || w.readInvocations(text) {
		return len(text)
	}
	w.calls = w.calls[:n]
	return 0
}

// readTokens reads calls between special tokens: a name and its arguments, or a list of calls.
func (w *callParser) readTokens(text string) bool {
	if !callToken().MatchString(text) {
		return false
	}
	name, before := "", len(w.calls)
	for _, part := range specialToken().Split(text, -1) {
		part = strings.TrimSpace(strings.Trim(strings.TrimSpace(part), "`"))
		part = strings.TrimSpace(strings.TrimPrefix(part, "json\n"))
		first, rest, _ := strings.Cut(part, "\n")
		if found := addressee().FindStringSubmatch(strings.TrimSpace(first)); found != nil && rest != "" {
			name = found[1]
			part = strings.TrimSpace(strings.TrimPrefix(strings.TrimLeft(strings.TrimSpace(rest), "`"), "json"))
		}
		switch found := addressee().FindStringSubmatch(part); {
		case part == "", part == "json", part == "code", part == "function", part == "assistant", part == "commentary":
		case found != nil:
			name = found[1]
		case name != "" && strings.ContainsAny(part[:1], `{"`):
			var inText string
			if json.Unmarshal([]byte(part), &inText) == nil {
				part = inText
			}
			if !w.takeCall(w.meant(name), json.RawMessage(part)) {
				return false
			}
			name = ""
		default:
			if !w.readBody(part) {
				return false
			}
		}
	}
	return len(w.calls) > before && name == ""
}

// readBody reads what stands between the marks of calls, whole, in any of the forms.
func (w *callParser) readBody(body string) bool {
	before := len(w.calls)
	list := strings.TrimSuffix(strings.TrimPrefix(body, "["), "]")
	for _, read := range []func() bool{
		func() bool { return w.readObjects(body) }, func() bool { return w.readInvocations(body) },
		func() bool { return w.readNamed(body) }, func() bool { return w.readPython(list) },
		func() bool { return w.readGemma(body) },
	} {
		if read() {
			return true
		}
		w.calls = w.calls[:before]
	}
	return false
}

// readObjects reads calls as JSON or as elements of functions, one after the other.
func (w *callParser) readObjects(text string) bool {
	before := len(w.calls)
	for text != "" {
		n := w.readFunction(text) + w.readJSON(text, true, false)
		if n == 0 {
			return false
		}
		text = strings.TrimLeft(text[n:], ";, \t\n")
	}
	return len(w.calls) > before
}

// The quotation marks of texts in Gemma's calls.
const gemmaQuote, gemmaEscape = `<|"|>`, "<escape>"

// readGemma reads a call as Gemma writes it: call:NAME{key:value,…}. Texts stand between quotation marks of its own.
func (w *callParser) readGemma(text string) bool {
	found := gemmaCall().FindStringSubmatch(text)
	if found == nil {
		return false
	}
	args, rest := map[string]json.RawMessage{}, strings.ReplaceAll(found[2], gemmaEscape, gemmaQuote)
	for strings.TrimSpace(rest) != "" {
		key := gemmaKey().FindStringSubmatch(rest)
		if key == nil || args[key[1]] != nil {
			return false
		}
		rest = rest[len(key[0]):]
		value, n := readLiteral(rest)
		if inner, m := between(rest, gemmaQuote, gemmaQuote); m > 0 {
			value, _ = json.Marshal(inner) // a text
			n = m
		}
		if n == 0 {
			return false
		}
		args[key[1]], rest = value, rest[n:]
	}
	object, _ := json.Marshal(args) // values are JSON
	return w.takeCall(w.meant(found[1]), object)
}

// readInvocations reads calls as elements: an invocation with named parameters, alone or in a frame.
func (w *callParser) readInvocations(text string) bool {
	text = dialectMark().ReplaceAllString(text, "$1")
	before := len(w.calls)
	for strings.TrimSpace(text) != "" {
		if n := len(callFrame().FindString(text)); n > 0 {
			text = text[n:]
			continue
		}
		found := invocation().FindStringSubmatch(text)
		if found == nil {
			return false
		}
		name, args := w.meant(found[1]), json.RawMessage(strings.TrimSpace(found[2]))
		if !strings.HasPrefix(string(args), "{") {
			args = w.readPairs(name, found[2], namedParameter())
		}
		if !w.takeCall(name, args) {
			return false
		}
		text = text[len(found[0]):]
	}
	return len(w.calls) > before
}

// readPairs makes a JSON object of names and values in a form; nil if the text has anything else.
func (w *callParser) readPairs(name, text string, form *regexp.Regexp) json.RawMessage {
	_, wants := w.readingTool(name)
	args := map[string]json.RawMessage{}
	for strings.TrimSpace(text) != "" {
		found := form.FindStringSubmatch(text)
		if found == nil || args[found[1]] != nil {
			return nil
		}
		args[strings.TrimSpace(found[1])] = wants.value(strings.TrimSpace(found[1]), found[2])
		text = text[len(found[0]):]
	}
	object, _ := json.Marshal(args) // values are JSON
	return object
}

// value is an argument that was written as plain text: it is read as JSON if the schema wants anything but a string.
func (s argumentSchema) value(name, text string) json.RawMessage {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "\n"), "\n")
	if value := json.RawMessage(text); s.Properties[name].Type != "string" && json.Valid(value) {
		return value
	}
	value, _ := json.Marshal(text) // a text
	return value
}

// readPython reads calls as Python code: a list of them or, in a block, one to a line. Arguments have names and are
// literals.
func (w *callParser) readPython(text string) bool {
	before := len(w.calls)
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeft(text, ", \t\n") {
		found := pythonCall().FindStringSubmatch(text)
		if found == nil {
			return false
		}
		args, n := readKeywords(text[len(found[0]):])
		if n == 0 || !w.takeCall(w.meant(strings.TrimSuffix(found[1], ".call")), args) {
			return false
		}
		if text = text[len(found[0])+n:]; strings.HasPrefix(strings.TrimSpace(found[0]), "print(") {
			text = strings.TrimPrefix(text, ")")
		}
	}
	return len(w.calls) > before
}

// readKeywords reads name=value pairs up to the closing bracket; n is 0 if there is anything else.
func readKeywords(text string) (object json.RawMessage, n int) {
	args, rest := map[string]json.RawMessage{}, text
	for {
		rest = strings.TrimLeftFunc(rest, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
		if after, closed := strings.CutPrefix(rest, ")"); closed {
			object, _ = json.Marshal(args) // values are JSON
			return object, len(text) - len(after)
		}
		name, value, is := strings.Cut(rest, "=")
		name = strings.TrimSpace(name)
		if !is || name == "" || plainToolName(name) != strings.ToLower(strings.ReplaceAll(name, "_", "")) ||
			args[name] != nil {
			return nil, 0
		}
		literal, read := readLiteral(strings.TrimLeft(value, " "))
		if read == 0 {
			return nil, 0
		}
		args[name], rest = literal, strings.TrimLeft(value, " ")[read:]
	}
}

// readLiteral reads a literal of Python as JSON, and returns its length; 0 if it is none that JSON has.
func readLiteral(text string) (json.RawMessage, int) {
	for word, is := range map[string]string{"True": "true", "False": "false", "None": "null"} {
		if strings.HasPrefix(text, word) {
			return json.RawMessage(is), len(word)
		}
	}
	if strings.HasPrefix(text, "'") {
		if end := strings.IndexByte(text[1:], '\''); end >= 0 && !strings.Contains(text[:end+1], `\`) {
			return json.RawMessage(strconv.Quote(text[1 : end+1])), end + 2
		}
		return nil, 0
	}
	d := json.NewDecoder(strings.NewReader(text))
	var value json.RawMessage
	if d.Decode(&value) != nil {
		return nil, 0
	}
	return value, int(d.InputOffset())
}

// readNamed reads what stands in an element of calls besides JSON: a name, and arguments as elements or as JSON.
func (w *callParser) readNamed(inner string) bool {
	name, rest, _ := strings.Cut(inner, "\n")
	if at := strings.IndexAny(name, "<{"); at >= 0 {
		name, rest = inner[:at], inner[at:]
	}
	name, rest = w.meant(strings.TrimSpace(name)), strings.TrimSpace(rest)
	if strings.HasPrefix(rest, "{") {
		return w.takeCall(name, json.RawMessage(rest))
	}
	return w.takeCall(name, w.readPairs(name, rest, keyAndValue()))
}

// meant is the offered tool that a marked call means.
func (w *callParser) meant(name string) string {
	names := make([]string, len(w.offered))
	for i, s := range w.offered {
		names[i] = s.Name
	}
	return offeredName(name, names)
}
