package agent

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"sibyl/internal/model"
)

// nameEnd matches where a name ends, and something of its model's template, a number or brackets follow.
var nameEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[<(\s|｜]|:\d+$`) })

// plainToolName is a name without case and what joins its words.
func plainToolName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// offeredName finds the one of the offered tools that a model means, which may write a name in a spelling of its own:
// behind a prefix (functions.read, default_api:read), before a part of its template (read<|channel|>commentary), with
// other signs or in another case. It is name itself if none, or more than one, is meant.
func offeredName(name string, offered []string) string {
	trimmed := strings.TrimSpace(name)
	if at := nameEnd().FindStringIndex(trimmed); at != nil && at[0] > 0 {
		trimmed = trimmed[:at[0]]
	}
	for rest := trimmed; rest != ""; {
		found := ""
		for _, o := range offered {
			switch {
			case o == name:
				return name
			case plainToolName(o) != plainToolName(rest):
			case found != "":
				return name
			default:
				found = o
			}
		}
		if found != "" {
			return found
		}
		at := strings.IndexAny(rest, ".:/")
		if at < 0 {
			break
		}
		rest = strings.TrimLeft(rest[at+1:], ".:/_")
	}
	return name
}

// nameCalls gives calls the names of the tools that are meant among those of a request.
func nameCalls(calls []model.ToolCall, tools []model.Tool) []model.ToolCall {
	offered := make([]string, len(tools))
	for i, t := range tools {
		offered[i] = t.Name
	}
	named := make([]model.ToolCall, len(calls))
	for i, c := range calls {
		c.Name = offeredName(c.Name, offered)
		named[i] = c
	}
	return named
}
