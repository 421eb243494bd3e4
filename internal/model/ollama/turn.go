package ollama

import (
	"encoding/json"
	"strings"

	"sibyl/internal/model"
)

// finishFilter is no word of Ollama's own; gateways pass it on from providers that filter.
const finishFilter = "content_filter"

// turn is an answer that is coming in.
type turn struct {
	emit     func(model.Delta) error
	text     strings.Builder
	thinking strings.Builder
	calls    []model.ToolCall
	usage    model.Usage
	finish   string // the protocol's own word; older servers have none
	done     bool   // the last part has come
}

// argumentsText is the arguments as they were sent, or, where a server passes on what its model wrote, as it wrote them.
func argumentsText(raw json.RawMessage) string {
	var written string
	if len(raw) > 0 && json.Unmarshal(raw, &written) != nil {
		return unescapeHTML(raw)
	}
	return written // empty for null and where they are left out
}

// unescapeHTML writes <, > and & in JSON as themselves. Ollama escapes them, as encoding/json does, which means the same
// but is hard to read.
func unescapeHTML(raw []byte) string {
	return strings.NewReplacer(
		`\\`, `\\`, // an escaped backslash begins no other escape
		`\u003c`, "<", `\u003C`, "<", `\u003e`, ">", `\u003E`, ">", `\u0026`, "&",
	).Replace(string(raw))
}

// fill writes what has come in so far to resp.
func (t *turn) fill(resp *model.Response, provider string) {
	resp.Text = t.text.String()
	resp.ToolCalls = t.calls
	resp.Usage = t.usage
	if t.done {
		resp.Finish = t.finished()
	}
	if t.thinking.Len() == 0 {
		return
	}
	if native, err := json.Marshal(thought{t.thinking.String()}); err == nil { // a string always encodes
		resp.Native = &model.Native{Provider: provider, Turn: native}
	}
}

// finished is the finish in the contract's words. Ollama stops with "stop" after a tool call too.
func (t *turn) finished() model.Finish {
	switch t.finish {
	case "stop", "":
		if len(t.calls) > 0 {
			return model.FinishTools
		}
		return model.FinishStop
	case "length":
		return model.FinishLength
	case finishFilter:
		return model.FinishFilter
	}
	return model.FinishOther
}
