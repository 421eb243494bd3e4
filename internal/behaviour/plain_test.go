package behaviour_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

// mostPlain bounds a plain loop, which knows no end of its own.
const mostPlain = 40

// plainly asks as a plain loop does: it goes on while there are calls, and the first reply without one is the answer.
func (s *stage) plainly(t *testing.T, id, question, vault string) {
	t.Helper()
	m := assert.Must(s.Models.Open(id))(t)
	tools, closeTools, err := s.Tools(t.Context(), oracle.Env{CodeRoot: s.code, Vault: vault})
	assert.NoError(t, err)
	defer closeTools()
	req := model.Request{System: "Answer the question. Use the tools.",
		Messages: []model.Message{{Role: model.User, Text: question}}}
	for _, spec := range tools.Specs() {
		req.Tools = append(req.Tools, model.Tool{Name: spec.Name, Description: spec.Description, Schema: spec.Schema})
	}
	for range mostPlain {
		resp, err := m.Chat(t.Context(), req, nil)
		if err != nil || len(resp.ToolCalls) == 0 {
			return // a failure is its end, too
		}
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: resp.Text,
			ToolCalls: resp.ToolCalls, Native: resp.Native})
		for _, call := range resp.ToolCalls {
			req.Messages = append(req.Messages, called(t, tools, call))
		}
	}
	t.Errorf("a plain loop does not end: give the behaviour an end")
}

func called(t *testing.T, tools *tool.Set, call model.ToolCall) model.Message {
	answer := model.Message{Role: model.ToolRole, ToolCallID: call.ID, ToolName: call.Name}
	one, known := tools.Get(call.Name)
	err := fmt.Errorf("there is no tool %s", call.Name)
	var result tool.Result
	if known {
		result, err = one.Call(t.Context(), tool.Call{Args: json.RawMessage(call.Arguments), Key: call.ID,
			Owner: "plain"})
	}
	if answer.Text = result.Text; err != nil {
		answer.Text, answer.IsError = err.Error(), true
	}
	return answer
}
