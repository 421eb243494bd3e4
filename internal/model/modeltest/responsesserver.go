package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"

	"sibyl/internal/model"
)

// ResponseItem is one item of the input of a request for a response.
type ResponseItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    string          `json:"output"`
	Encrypted string          `json:"encrypted_content"`
}

// Items are those of a request for a response.
func (r OpenAIRequest) Items() []ResponseItem {
	var items []ResponseItem
	_ = json.Unmarshal(r.Input, &items) // which has been checked
	return items
}

// checkItems says which of the rules for a stateless conversation a request breaks: each call has its result, and reasoning comes whole
// and before an item of the same turn.
func checkItems(req OpenAIRequest) error {
	var items []ResponseItem
	if err := json.Unmarshal(req.Input, &items); err != nil {
		return errors.New("Invalid type for 'input': " + err.Error())
	}
	if f := req.Text.Format; f != nil && (f.Type != "json_schema" || f.Name == "" || !isObject(f.Schema)) {
		return errors.New("Invalid value: 'text.format' wants a name and a schema")
	}
	open := map[string]bool{}
	for i, item := range items {
		switch {
		case item.Type == "reasoning" && item.Encrypted == "":
			return fmt.Errorf("Item with id '%s' not found. Items are not persisted when `store` is set to false", item.ID)
		case item.Type == "reasoning" && (i+1 == len(items) || items[i+1].Role == "user" || items[i+1].Type == "function_call_output"):
			return fmt.Errorf("Item '%s' of type 'reasoning' was provided without its required following item", item.ID)
		case item.Type == "function_call" && (item.Name == "" || item.CallID == "" || open[item.CallID]):
			return fmt.Errorf("Invalid function call at 'input[%d]'", i)
		case item.Type == "function_call":
			open[item.CallID] = true
		case item.Type == "function_call_output" && !open[item.CallID]:
			return fmt.Errorf("No tool call found for function call output with call_id %s", item.CallID)
		case item.Type == "function_call_output":
			delete(open, item.CallID)
		}
	}
	for id := range open {
		return fmt.Errorf("No tool output found for function call %s", id)
	}
	return nil
}

// responseStream gives a message for the text, if there is any, and an item for each call.
func responseStream(a Answer, _ OpenAIRequest) (parts, end [][]byte) {
	number := 0
	event := func(kind string, fields map[string]any) []byte {
		fields["type"], fields["sequence_number"] = kind, number
		number++
		return []byte("event: " + kind + "\ndata: " + encode(fields) + "\n\n")
	}
	send := func(kind string, fields map[string]any) { parts = append(parts, event(kind, fields)) }
	answer := func(status string) map[string]any {
		return map[string]any{"id": "resp_fake", "object": "response", "status": status, "error": nil, "incomplete_details": nil, "usage": nil}
	}
	send("response.created", map[string]any{"response": answer("in_progress")})
	var output []any
	text := ""
	if len(a.Chunks) > 0 {
		message := map[string]any{"id": "msg_fake", "type": "message", "role": "assistant", "status": "in_progress", "content": []any{}}
		send("response.output_item.added", map[string]any{"output_index": 0, "item": message})
		for _, chunk := range a.Chunks {
			text += chunk
			send("response.output_text.delta", map[string]any{
				"output_index": 0, "content_index": 0, "item_id": "msg_fake", "delta": chunk, "logprobs": []any{}})
		}
		output = append(output, map[string]any{"id": "msg_fake", "type": "message", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}}})
	}
	first := len(output)
	call := func(i int, arguments, status string) map[string]any {
		c := a.Calls[i]
		return map[string]any{"id": fmt.Sprintf("fc_%d", i), "type": "function_call", "status": status, "call_id": c.ID, "name": c.Name, "arguments": arguments}
	}
	for i := range a.Calls {
		send("response.output_item.added", map[string]any{"output_index": first + i, "item": call(i, "", "in_progress")})
	}
	interleaved(a.Calls, func(i int, piece string) {
		send("response.function_call_arguments.delta", map[string]any{"output_index": first + i, "item_id": fmt.Sprintf("fc_%d", i), "delta": piece})
	})
	for i, c := range a.Calls {
		output = append(output, call(i, c.Arguments, "completed"))
	}
	for i, item := range output {
		end = append(end, event("response.output_item.done", map[string]any{"output_index": i, "item": item}))
	}
	last := answer("completed")
	last["output"] = output
	if reason := map[model.Finish]string{model.FinishLength: "max_output_tokens", model.FinishFilter: "content_filter"}[a.Finish]; reason != "" {
		last["status"], last["incomplete_details"] = "incomplete", map[string]string{"reason": reason}
	}
	if a.Usage != (model.Usage{}) {
		last["usage"] = map[string]any{
			"input_tokens": a.Usage.InputTokens, "output_tokens": a.Usage.OutputTokens,
			"total_tokens":          a.Usage.InputTokens + a.Usage.OutputTokens,
			"input_tokens_details":  map[string]int{"cached_tokens": a.Usage.CachedTokens},
			"output_tokens_details": map[string]int{"reasoning_tokens": 0},
		}
	}
	status, _ := last["status"].(string)
	return parts, append(end, event("response."+status, map[string]any{"response": last}))
}
