package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/model/modeltest"
)

// raw is an answer of these events.
func raw(events ...string) modeltest.Answer {
	return modeltest.Answer{Raw: &modeltest.Raw{Body: strings.Join(events, "")}}
}

// event is one event whose data is fields, with its type added.
func event(kind, fields string) string {
	if fields != "" {
		fields = "," + fields
	}
	return fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, fields)
}

func begin(index int, block string) string {
	return event("content_block_start", fmt.Sprintf(`"index":%d,"content_block":{%s}`, index, block))
}

func delta(index int, fields string) string {
	return event("content_block_delta", fmt.Sprintf(`"index":%d,"delta":{%s}`, index, fields))
}

func textDelta(index int, text string) string {
	return delta(index, `"type":"text_delta","text":`+quoted(text))
}

func argumentsDelta(index int, text string) string {
	return delta(index, `"type":"input_json_delta","partial_json":`+quoted(text))
}

func end(index int) string { return event("content_block_stop", fmt.Sprintf(`"index":%d`, index)) }

func finish(reason string) string {
	return event("message_delta", `"delta":{"stop_reason":`+quoted(reason)+`,"stop_sequence":null},"usage":{"output_tokens":2}`)
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

var (
	start = event("message_start", `"message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":3,"output_tokens":1}}`)
	ping  = event("ping", "")
	stop  = event("message_stop", "")
)

const (
	textBlock     = `"type":"text","text":""`
	thinkingBlock = `"type":"thinking","thinking":"","signature":""`
)

func toolBlock(id, name string) string {
	return fmt.Sprintf(`"type":"tool_use","id":%q,"name":%q,"input":{}`, id, name)
}

func complaint(kind, message string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_1"}`
}
