package signal

import "strings"

// controlNames are element names by which models and the programs around them are steered.
var controlNames = map[string]bool{
	"signal": true, "tool_call": true, "tool_calls": true, "tool_use": true, "tool_result": true, "tool_results": true,
	"tool_response": true, "tool_outputs": true, "function_call": true, "function_calls": true, "function_results": true,
	"function_response": true, "invoke": true, "system": true, "system-reminder": true, "assistant": true,
}

// Neutralise makes text from tools harmless as data: the opening bracket of anything that looks like a signal or another control
// tag becomes an entity, and the mark of the control layer loses its square brackets. It is lenient as a careless reader
// would be: case, blanks after the bracket, closing tags, prefixes before a colon and fullwidth brackets make no
// difference. All other bytes stay, and doing it twice changes nothing more.
func Neutralise(text string) string {
	var b strings.Builder
	kept := 0
	for i := 0; i < len(text); {
		next := strings.IndexAny(text[i:], "<[\uff1c")
		if next < 0 {
			break
		}
		i += next
		width, with := 1, ""
		switch text[i] {
		case '[':
			if hasFold(text[i:], "[control]") {
				width, with = len("[control]"), "("+text[i+1:i+len("[control")]+")"
			}
		case '<':
			if controls(text[i+1:]) {
				with = "&lt;"
			}
		default:
			width = len("\uff1c")
			if strings.HasPrefix(text[i:], "\uff1c") && controls(text[i+width:]) {
				with = "&lt;"
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

func hasFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// controls says whether what follows a bracket makes it a control tag.
func controls(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n/")
	if strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "\uff5c") {
		return true // the form of special tokens
	}
	end := strings.IndexFunc(rest, func(r rune) bool {
		return !(r == '_' || r == '-' || r == ':' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	})
	if end < 0 {
		end = len(rest)
	}
	name := strings.ToLower(rest[:end])
	return controlNames[name[strings.LastIndexByte(name, ':')+1:]]
}
