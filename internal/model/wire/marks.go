package wire

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark is a mark of a template at the beginning of a text: n bytes.
type mark struct {
	kind markKind
	n    int
	name string // of a special token, in lower case
	role string // of beginsMessage, where the token itself names it
	weak bool   // it is an ordinary element elsewhere
}

type markKind uint8

const (
	opensThinking markKind = iota + 1
	closesThinking
	emptyThinking // an element without content
	channel       // a header follows, with the name of the channel
	beginsMessage // a header follows, with the role, unless the token names it
	endsMessage
	separator // between a header and its text
	opensAnswer
	closesAnswer
)

type verdict uint8

const (
	no verdict = iota
	maybe
	yes
)

// readMark reads a mark: an element (<think>), a special token (<|im_end|>, with one bar or two, of any width), a word
// in square brackets, or one between triangles. Others than those of thinking and messages are none.
func readMark(text string) (m mark, v verdict) {
	switch first, size := utf8.DecodeRuneInString(text); first {
	case '[':
		return readEnclosed(text, size, "]", bracketMark)
	case '◁':
		return readEnclosed(text, size, "▷", func(word string, closing bool) mark {
			if !isThinkingName(word) {
				return mark{}
			}
			return thinkingMark(closing)
		})
	case '<':
		return readEnclosed(text, size, ">", func(inner string, closing bool) mark {
			name, opens := cutBar(inner, strings.TrimLeft)
			name, shuts := cutBar(name, strings.TrimRight)
			if opens || shuts {
				name, slash := strings.CutPrefix(name, "/")
				return tokenMark(strings.ToLower(strings.ReplaceAll(name, "▁", "_")), closing || slash, opens, shuts)
			}
			return elementMark(inner, closing)
		})
	case utf8.RuneError:
		return m, maybe // the beginning of a character
	}
	return m, no
}

// maxInner bounds what stands between the brackets of a mark.
const maxInner = 160

// readEnclosed reads what stands up to shut, and has classify say what it is. A slash at the beginning makes it a
// closing mark.
func readEnclosed(text string, from int, shut string, classify func(inner string, closing bool) mark) (mark, verdict) {
	at := strings.Index(text[from:], shut)
	inner := text[from:]
	if at >= 0 {
		inner = inner[:at]
	}
	if len(inner) > maxInner || strings.ContainsAny(inner, "<[\n") {
		return mark{}, no
	}
	if at < 0 {
		return mark{}, maybe
	}
	inner, closing := strings.CutPrefix(strings.TrimSpace(inner), "/")
	m := classify(strings.TrimSpace(inner), closing)
	if m.kind == 0 {
		return m, no
	}
	m.n = from + at + len(shut)
	return m, yes
}

// bars are the signs of special tokens.
const bars = "|\uff5c"

func cutBar(text string, cut func(text, cutset string) string) (rest string, has bool) {
	rest = cut(text, bars)
	return rest, rest != text
}

func thinkingMark(closing bool) mark {
	if closing {
		return mark{kind: closesThinking}
	}
	return mark{kind: opensThinking}
}

// isThinkingName says whether a name is one under which models think: a word for it, perhaps behind the model's own
// name. Some names join the two.
func isThinkingName(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 || strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-:.", r)
	}) {
		return false
	}
	switch words[len(words)-1] {
	case "think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "antthinking",
		"思考", "反思", "推理", "推敲":
		return true
	}
	return strings.HasPrefix(strings.ToLower(name), "think_") // think_fast
}

func bracketMark(word string, closing bool) mark {
	name, opens := cutBar(word, strings.TrimLeft)
	name, shuts := cutBar(name, strings.TrimRight)
	switch {
	case opens && shuts:
		return tokenMark(strings.ToLower(name), closing, opens, shuts)
	case word == "INST" && closing:
		return mark{kind: endsMessage, weak: true}
	case word == "INST":
		return mark{kind: beginsMessage, role: "user"}
	case word == strings.ToUpper(word) && isThinkingName(word):
		return thinkingMark(closing)
	}
	return mark{}
}

// elementMark is what an element is. One of thinking may have attributes.
func elementMark(inner string, closing bool) mark {
	inner, empty := strings.CutSuffix(inner, "/")
	name, attributes, has := strings.Cut(strings.TrimSpace(inner), " ")
	switch lower := strings.ToLower(name); {
	case has && !strings.Contains(attributes, "="):
	case isThinkingName(name) && empty:
		return mark{kind: emptyThinking}
	case isThinkingName(name):
		return thinkingMark(closing)
	case has:
	case slices.Contains([]string{"answer", "response", "output", "final", "final_answer", "solution"}, lower):
		if closing {
			return mark{kind: closesAnswer}
		}
		return mark{kind: opensAnswer}
	case name == "s" && closing, lower == "eos":
		return mark{kind: endsMessage, weak: true}
	case name == "end_of_turn", name == "end_of_utterance", name == "endoftext", name == "end_of_text":
		return mark{kind: endsMessage}
	case name == "start_of_turn":
		return mark{kind: beginsMessage}
	case lower == "bos":
		return mark{kind: beginsMessage, role: ownRole}
	case name == "unused94": // MedGemma
		return mark{kind: opensThinking}
	case name == "unused95":
		return mark{kind: closesThinking}
	}
	return mark{}
}

// ownRole is the role of the model in the marks of its messages.
const ownRole = "assistant"

// roleOf is the role that the words of a special token name, perhaps behind the model's own name; "" if they name none.
func roleOf(words []string) string {
	if n := len(words); n > 0 && words[n-1] == "token" {
		words = words[:n-1]
	}
	if len(words) == 0 || len(words) > 2 {
		return ""
	}
	switch role := words[len(words)-1]; role {
	case ownRole, "user", "system", "human", "model", "content":
		return role
	case "chatbot":
		return ownRole
	}
	return ""
}

// tokenMark is what a special token is. opens and shuts say on which side of the name it has a bar: some templates
// write a pair of tokens so.
func tokenMark(name string, closing, opens, shuts bool) mark {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) })
	has := func(some ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(some, w) })
	}
	m := mark{name: name}
	ends := closing || has("end", "close", "suffix", "stop") || shuts && !opens
	switch {
	case has("tool", "tools", "call", "calls", "arg", "python"):
	case has("think", "thinking", "thought", "thoughts", "reasoning", "inner") ||
		name == "channel" && shuts && !opens:
		m.kind = thinkingMark(ends).kind
	case name == "channel", name == "open":
		m.kind = channel
	case name == "message", name == "sep", name == "im_middle", name == "end_header_id", name == "end_of_role":
		m.kind = separator
	case name == "turn" && ends, name == "return", name == "endoftext", name == "endofturn", name == "im_end",
		has("eot", "eom", "eos", "eod", "end", "close"):
		m.kind = endsMessage
	case roleOf(words) != "":
		if m.kind = beginsMessage; words[0] != "im" { // the role follows once more
			m.role = roleOf(words)
		}
	case name == "startoftext", has("bos"), has("begin", "start") && has("text", "sentence", "response", "solution"):
		m.kind, m.role = beginsMessage, ownRole
	case name == "turn", name == "im_start", has("begin", "start"):
		m.kind = beginsMessage
	}
	return m
}
