package agent

import (
	"bytes"
	"encoding/json"

	"sibyl/internal/run"
)

// CallTold is a call of a tool as people read it.
type CallTold struct {
	Tool      string
	Arguments string
	Gave      string // its result, or why there is none
}

// ToldCall reads the receipt of a call; false if it is none.
func ToldCall(c *run.CompletionRecord) (t CallTold, ok bool) {
	got, ok := c.Value.(CallReceipt)
	if !ok {
		return t, false
	}
	t = CallTold{Tool: got.Tool, Arguments: Indented(json.RawMessage(got.Arguments))}
	switch {
	case got.Error != nil:
		t.Gave = got.Error.Error()
	case got.Result != nil:
		t.Gave = got.Result.Text
	}
	return t, true
}

// Indented is JSON as people read it; what is none stays as it is.
func Indented(raw json.RawMessage) string {
	b := &bytes.Buffer{}
	if json.Indent(b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
