package signal

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// controlNames are element names that steer models and the programs around them.
var controlNames = map[string]bool{
	"signal": true, "tool_call": true, "tool_calls": true, "tool_use": true, "tool_result": true, "tool_results": true,
	"tool_response": true, "tool_outputs": true, "function_call": true, "function_calls": true,
	"function_results":  true,
	"function_response": true, "invoke": true, "system": true, "system-reminder": true, "assistant": true,
	"toolcall": true, "start_of_turn": true, "end_of_turn": true, "think": true, "thinking": true,
	"thought": true, "reasoning": true, "sys": true,
}

// assignedNames are names that steer if a value follows them at once, and are ordinary names otherwise.
var assignedNames = map[string]bool{"function": true, "parameter": true}

// bracketWords are the words that steer in square brackets: those of local models, which their programs turn into
// special tokens. “control”, in any case, is one too.
var bracketWords = map[string]bool{
	"INST": true, "TOOL_CALLS": true, "AVAILABLE_TOOLS": true, "TOOL_RESULTS": true, "SYSTEM_PROMPT": true,
	"TOOL_CONTENT": true,
}

// callBeginning matches the beginning of a call that is written as JSON.
var callBeginning = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:\s*"[^"\\]*"\s*,\s*"(?:arguments|parameters)"\s*:\s*\{`)
})

// BeginsCall says whether text begins with a call that is written as JSON: a name, then arguments or parameters. Code
// that reads calls from text must use it, so that Neutralise knows all of them.
func BeginsCall(text string) bool {
	return strings.HasPrefix(text, "{") && callBeginning().MatchString(text)
}

// pythonCall matches a list of calls in Python's form, and toolFence opens a block with such calls.
var pythonCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\[\s*[A-Za-z_][\w.]*\((?:\s*\)|\s*[A-Za-z_]\w*\s*=[^=])`)
})

const toolFence = "```tool_" + "code"

// Neutralise makes text from tools harmless: the opening bracket of anything that looks like a signal, a call or
// another control tag becomes an entity, and bracketWords get round brackets. It recognises tags as a careless reader
// would, in any case, with blanks and invisible characters after the bracket and in the name, as closing tags, with
// prefixes before a colon, and with other forms of the bracket. An escaped bracket becomes an entity from which no
// signal is read. All other bytes stay, and a second call changes nothing.
func Neutralise(text string) string {
	var b strings.Builder
	kept := 0
	for i := 0; i < len(text); {
		next := strings.IndexAny(text[i:], "<[&{`\uff1c\ufe64\uff3b")
		if next < 0 {
			break
		}
		i += next
		r, size := utf8.DecodeRuneInString(text[i:])
		width, with := size, ""
		switch r {
		case '[', '\uff3b':
			if pythonCall().MatchString(text[i:]) {
				with = "&#91;"
			} else if n := bracketWordLength(text[i+size:]); n > 0 {
				inner, closing := text[i+size:i+size+n], 1
				if !strings.HasPrefix(text[i+size+n:], "]") {
					closing = len("\uff3d")
				}
				width, with = size+n+closing, "("+inner+")"
			}
		case '`':
			if code, is := strings.CutPrefix(text[i:], toolFence); is {
				width, with = len(text)-i-len(code), "```tool&#95;code"
			}
		case '{':
			if beginsObject(text[i:]) == yes || BeginsCall(text[i:]) {
				with = "&#123;"
			}
		case '&':
			if n, v := readWord(text[i:], 0, escaped); v == yes && isControlTag(text[i+n:]) {
				width, with = n, "&#60;"
			}
		default:
			if isControlTag(text[i+size:]) {
				with = "&#60;"
			}
		}
		if with != "" {
			b.WriteString(text[kept:i])
			b.WriteString(with)
			kept = i + width
		}
		i += width
	}
	if kept == 0 {
		return text
	}
	b.WriteString(text[kept:])
	return b.String()
}

// maxName bounds the search for a name: it is a word, with blanks and invisible characters around and in it.
const maxName = 64

// bracketWordLength is the length of a word of bracketWords, up to the closing bracket; 0 if there is none.
func bracketWordLength(rest string) int {
	end := strings.IndexAny(rest[:min(len(rest), maxName)], "]\uff3d")
	if end <= 0 {
		return 0
	}
	word := strings.TrimPrefix(visible(rest[:end]), "/")
	if bracketWords[word] || strings.EqualFold(word, "control") {
		return end
	}
	return 0
}

// visible is a text without blanks and invisible characters.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if isHidden(r) {
			return -1
		}
		return r
	}, text)
}

func isHidden(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

// isControlTag says whether a bracket with this text after it is a control tag.
func isControlTag(rest string) bool {
	if strings.HasPrefix(rest, "s>") || strings.HasPrefix(rest, "/s>") {
		return true // begin and end of a text, in this one spelling: as S it is any language's type
	}
	rest = strings.TrimLeftFunc(rest, func(r rune) bool { return r == '/' || isHidden(r) })
	if strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "\uff5c") {
		return true // the form of special tokens
	}
	end := strings.IndexFunc(rest, func(r rune) bool {
		return !(r == '_' || r == '-' || r == ':' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' ||
			unicode.Is(unicode.Cf, r))
	})
	if end < 0 {
		end = len(rest)
	}
	name := strings.ToLower(visible(rest[:end]))
	name = name[strings.LastIndexByte(name, ':')+1:]
	return controlNames[name] || assignedNames[name] && strings.HasPrefix(rest[end:], "=")
}
