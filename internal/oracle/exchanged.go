package oracle

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// showEffect shows a turn of the model or a call of a tool.
func showEffect(ctx context.Context, v *run.View, c *run.CompletionRecord) (assistant.ShownEffect, error) {
	switch asked := c.Asked.(type) {
	case agent.TurnPayload:
		return showTurn(ctx, v, asked, c)
	case agent.CallPayload:
		return showCall(c, asked), nil
	}
	return assistant.ShownEffect{}, nil
}

func showTurn(
	ctx context.Context, v *run.View, p agent.TurnPayload, c *run.CompletionRecord,
) (x assistant.ShownEffect, err error) {
	r, _, err := rebuildRequest(ctx, v, p)
	if err != nil {
		return x, err
	}
	x.LeftOut = r.Prompt.LeftOut
	for i, id := range r.Prompt.Segments {
		x.Sent = append(x.Sent, newPart(assistant.PartSegment, id, r.Prompt.Texts[i]))
	}
	for _, t := range r.Request.Tools {
		x.Sent = append(x.Sent, newPart(assistant.PartTool, t.Name, t.Description+"\n\n"+agent.Indented(t.Schema)))
	}
	asked := lastWithNote(r.Messages) // whose note is among the segments
	for i, m := range r.Messages {
		if note, words := agent.SplitNote(m.Text); m.Role == model.User && note != "" {
			m.Text = words
			if i != asked {
				x.Sent = append(x.Sent, newPart(assistant.PartSegment, "note", note))
			}
		}
		x.Sent = append(x.Sent, messageParts(m)...)
	}
	got, ok := c.Value.(agent.TurnReceipt[Heard])
	if !ok {
		return x, nil
	}
	x.To, x.Changed = got.Model, got.Prompt != "" && got.Prompt != r.Prompt.Hash
	report := got.Report.Said()
	x.Got = messageParts(model.Message{Role: model.Assistant, Text: strings.TrimSpace(got.Text + "\n" + report),
		ToolCalls: got.Calls})
	return x, nil
}

// lastWithNote is the index of the last message of the user that has a note: the question; -1 for none.
func lastWithNote(messages []model.Message) int {
	for i, m := range slices.Backward(messages) {
		if note, _ := agent.SplitNote(m.Text); m.Role == model.User && note != "" {
			return i
		}
	}
	return -1
}

// messageParts are the parts of a message of the conversation.
func messageParts(m model.Message) (all []assistant.Part) {
	kind, name := assistant.PartModel, ""
	switch {
	case m.Role == model.ToolRole:
		kind, name = assistant.PartResult, m.ToolName
	case m.Role == model.User && agent.IsControl(m.Text):
		kind = assistant.PartControl
	case m.Role == model.User:
		kind = assistant.PartPerson
	}
	if m.Text != "" {
		all = append(all, newPart(kind, name, m.Text))
	}
	for _, call := range m.ToolCalls {
		all = append(all, newPart(assistant.PartCall, call.Name, agent.Indented(json.RawMessage(call.Arguments))))
	}
	return all
}

func showCall(c *run.CompletionRecord, p agent.CallPayload) assistant.ShownEffect {
	x := assistant.ShownEffect{To: p.Name}
	name, arguments, gave, ok := agent.ShownCall(c)
	if !ok {
		return x
	}
	x.Sent = []assistant.Part{newPart(assistant.PartCall, name, arguments)}
	if gave != "" {
		x.Got = []assistant.Part{newPart(assistant.PartResult, name, gave)}
	}
	return x
}

func newPart(kind assistant.PartKind, name, text string) assistant.Part {
	return assistant.Part{Kind: kind, Name: name, Text: text, Tokens: agent.Tokens(text)}
}
