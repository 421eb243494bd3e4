package agent

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/model"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// asText ends the name of a call that was written as text and can't be performed so: no tool has such a name.
const asText = "_as_text"

// maxRefused bounds what is kept of a call that can't be performed, in bytes.
const maxRefused = 2000

var (
	// calledName matches the name of a tool in the forms of calls.
	calledName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`"(?:name|tool|tool_name)"\s*:\s*"([^"\n]+)"|<function=([^>\n]+)>|invoke name=["“]([^"”\n]+)|` +
			`to=([\w.:-]+)|functions\.([\w-]+)|(?:begin|sep)[|｜]>\s*(?:function)?\s*([\w.:-]+)|^\[TOOL_CALLS\]\s*([\w.:-]+)|` +
			`^<tool_call>\s*([\w.:-]+)`)
	})
	oddInName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_-]+`) })
)

// RefusedCalls finds a call with which a reply ends, but which can't be performed: WrittenCalls has not read it. It is
// no answer, so it is returned as a call of a name that is never offered, and the text before it. Marks of templates
// count with or without their ends; JSON counts if it names an offered tool. The call of an offered tool that writes is
// only taken out of a reply that has other text: what the text says of it is answered as any such claim is.
func RefusedCalls(whole string, offered []tool.Spec) (calls []model.ToolCall, rest string) {
	if len(whole) > maxWritten {
		return nil, whole
	}
	w := callParser{offered: offered}
	for _, at := range callPlaces(whole) {
		before, call := whole[:at], whole[at:]
		line := before[strings.LastIndexByte(before, '\n')+1:]
		if isQuoted(before) || strings.Count(line, "`")%2 == 1 {
			continue
		}
		marked := isMarkedCall(call)
		if !marked && !beginsLine(before) || !endsWithCall(call, marked) {
			continue
		}
		name := "call"
		if found := calledName().FindStringSubmatch(call); found != nil {
			name = strings.TrimSpace(strings.Join(found[1:], ""))
		}
		name = w.meant(name)
		at := slices.IndexFunc(offered, func(s tool.Spec) bool { return s.Name == name })
		isOffered := at >= 0
		if !marked && (!isOffered || !strings.Contains(call, `"arguments"`) && !strings.Contains(call, `"parameters"`)) {
			continue
		}
		if isOffered && offered[at].Effect == tool.Once && strings.TrimSpace(before) != "" {
			return nil, before
		}
		if colon := strings.LastIndexByte(name, ':'); colon > 0 && !isOffered {
			name = name[:colon]
		}
		name = strings.Trim(oddInName().ReplaceAllString(name[strings.LastIndexByte(name, '.')+1:], "_"), "_")
		if isOffered {
			name += asText
		}
		written, _ := json.Marshal(map[string]string{"text": text.Clip(call, maxRefused)}) // a text
		return []model.ToolCall{{ID: writtenID + "1", Name: name, Arguments: string(written)}}, before
	}
	return nil, whole
}

// WasToldOfCalls says whether a request tells of a call that RefusedCalls has found. A model that writes another one is
// not told again.
func WasToldOfCalls(req model.Request) bool {
	return slices.ContainsFunc(req.Messages, func(m model.Message) bool {
		return m.Role == model.ToolRole && m.IsError && strings.HasPrefix(m.ToolCallID, writtenID)
	})
}

// isMarkedCall says whether a call begins with a mark of a template.
func isMarkedCall(call string) bool {
	switch call[0] {
	case '<':
		return !strings.HasPrefix(call, "<|") && !strings.HasPrefix(call, "<｜") || callToken().MatchString(call)
	case '[':
		return strings.HasPrefix(call, mistral)
	}
	return false
}

// endsWithCall says whether nothing but the call comes up to the end: a form that has an end ends with it.
func endsWithCall(call string, marked bool) bool {
	end := strings.LastIndexByte(call, '>')
	switch {
	case !marked && strings.HasPrefix(call, fence):
		return strings.HasSuffix(strings.TrimSpace(call[len(fence):]), fence)
	case !marked:
		return json.Valid([]byte(call))
	case !strings.Contains(call, "</") && call[0] == '<' || end < 0:
		return true
	}
	return strings.TrimSpace(call[end+1:]) == ""
}
